"""Several "processes" in one: each a `Processes` of its own, with sockets between them."""

import threading
from contextlib import contextmanager

import numpy as np

from celosia.collectives import HostInterconnect
from celosia.collectives.meet import meet
from celosia.collectives.processes import ProcessName
from celosia.collectives.run import on_all

WAIT = 20


class Store:
    """A key-value store in memory."""

    def __init__(self):
        self.values, self.changed = {}, threading.Condition()

    def put(self, key, value):
        with self.changed:
            assert key not in self.values
            self.values[key] = value
            self.changed.notify_all()

    def get(self, key, seconds):
        with self.changed:
            self.changed.wait_for(lambda: key in self.values, seconds)
            return self.values.get(key)


def name(index):
    return ProcessName(index, 100 + index, "here")


def in_threads(count, work):
    """Return what ``work(i)`` returned or raised, each in a thread of its own."""
    found = [None] * count

    def run(i):
        try:
            found[i] = work(i)
        except Exception as error:
            found[i] = error

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT)
        assert not thread.is_alive(), "it hangs"
    return found


@contextmanager
def processes(count, **options):
    """Give so many, and the list of what they say."""
    store, said, before = Store(), [], set(threading.enumerate())
    made = in_threads(count, lambda i: meet(store, name(i), count, {}, seconds=WAIT,
                                            say=said.append, **options))
    try:
        yield made, said
    finally:
        for each in made:
            each.close()
        for thread in set(threading.enumerate()) - before:
            if thread.name.startswith("celosia-process-"):
                thread.join(WAIT)


def run(process, places, work, what="step", **options):
    """Run a program on the devices of one process; ``places`` has the process of each device."""
    far = process.begin(places, {"name": what, "devices": list(range(len(places))), "digest": what})
    net = HostInterconnect(len(places), WAIT, far=far, **options)
    here = sorted(far.here)
    found = in_threads(len(here), lambda i: _one(net, here[i], work))
    return dict(zip(here, found, strict=True))


def _one(net, device, work):
    with net.device(device) as peer:
        return work(device, peer)


def alone(places, work, **options):
    """Return what all devices in one process give, for comparison."""
    return dict(enumerate(on_all(HostInterconnect(len(places), WAIT, **options), work)))


def same(found, wanted):
    """Whether arrays, or tuples of them, are the same bit for bit."""
    return all(np.asarray(a).tobytes() == np.asarray(b).tobytes()
               and np.asarray(a).dtype == np.asarray(b).dtype
               for a, b in zip(found, wanted, strict=True))
