import threading

from celosia.pjrt.errors import ErrorCode, PjrtError
from celosia.pjrt.events import Event, InFlight


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
    event, error = Event(), PjrtError(ErrorCode.INTERNAL, "it broke")
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


def test_no_more_work_than_there_may_be():
    work, events = InFlight(3), [Event() for _ in range(5)]
    for event in events[:3]:
        work.make_room()
        work.add([event])
    threading.Timer(0.1, events[0].set).start()
    work.make_room()
    assert events[0].done
    work.add([events[3]])
    events[1].set()
    work.make_room()  # does not wait: there is room
    work.add([events[4]])
    waiting = threading.Thread(target=work.make_room, daemon=True)
    waiting.start()
    waiting.join(0.2)
    assert waiting.is_alive()
    events[2].set()
    waiting.join(5)
    assert not waiting.is_alive()
