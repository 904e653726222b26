"""When Ctrl-C is raised, and when it waits."""

import signal
import sys
import threading
import time

import pytest

from celosia.pjrt import interrupts
from celosia.pjrt.interrupts import Calls, watch


class Client:
    def __init__(self):
        self.interrupts = 0

    def interrupt(self) -> None:
        self.interrupts += 1


def let_inside(calls):
    """What ``let`` says in a function whose exceptions are caught."""
    return calls.let(sys._getframe())


def let_outside(calls, inner=None):
    """What it says in a function that C calls, and in what that calls."""
    return calls.let(sys._getframe()) if inner is None else inner(calls)


@pytest.fixture
def calls():
    calls = Calls()
    calls.code.add(let_outside.__code__)
    calls.guarded.add(let_inside.__code__)
    return calls


def test_an_interrupt_is_raised_where_nobody_called_from_c(calls):
    assert calls.let(sys._getframe())
    assert calls.let(None)


def test_an_interrupt_waits_for_the_end_of_a_call(calls):
    assert not let_outside(calls)
    assert not let_outside(calls, let_inside)
    assert calls.let(sys._getframe())


def test_a_long_call_is_interrupted_where_that_is_caught(calls, monkeypatch):
    monkeypatch.setattr(interrupts, "_PATIENCE", 0.02)
    assert not let_outside(calls, let_inside)
    time.sleep(0.03)
    assert not let_outside(calls)
    assert let_outside(calls, let_inside)
    assert not let_outside(calls, let_inside)  # another one


@pytest.fixture
def handler():
    """Python's own handler, which a process in a shell's background has not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("handler")
def test_another_handler_stays(calls):
    def mine(number, frame):
        pass

    signal.signal(signal.SIGINT, mine)
    watch(calls, [])()
    assert signal.getsignal(signal.SIGINT) is mine


@pytest.mark.usefixtures("handler")
def test_what_waited_is_raised_in_the_caller(calls):
    client = Client()
    unwatch = watch(calls, [client])
    try:
        calls.later()
        with pytest.raises(KeyboardInterrupt):
            time.sleep(5)
        assert client.interrupts == 1
        calls.later()
        calls.forget()
        time.sleep(0.05)
        assert client.interrupts == 1
    finally:
        unwatch()


def test_other_threads_do_not_watch(calls):
    found = []
    thread = threading.Thread(target=lambda: found.append(watch(calls, [])))
    thread.start()
    thread.join()
    found[0]()
