import threading

from celosia.pjrt.errors import Code, PjrtError
from celosia.pjrt.events import Event


def test_callbacks_come_when_it_happens_and_at_once_after():
    event, seen = Event(), []
    event.then(seen.append)
    assert not event.done
    assert seen == []
    event.set()
    event.then(seen.append)
    assert event.done
    assert seen == [None, None]


def test_the_first_end_counts():
    event, error = Event(), PjrtError(Code.INTERNAL, "it broke")
    event.set(error)
    event.set()
    assert event.error is error


def test_waiting():
    event = Event()
    timer = threading.Timer(0.1, event.set)
    timer.start()
    event.wait()
    assert event.done
    event.wait()
    timer.join(10)


def test_no_callback_is_lost_among_threads():
    for _ in range(200):
        event, seen = Event(), []
        threads = [threading.Thread(target=event.then, args=(seen.append,)) for _ in range(4)]
        threads.insert(2, threading.Thread(target=event.set))
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
        assert seen == [None] * 4
