"""When what a handler of a signal raises is raised, and when it waits."""

import ctypes
import signal
import threading
import time

import pytest

from celosia.pjrt import interrupts
from celosia.pjrt.interrupts import Calls, watch

SIGNAL = signal.SIGUSR1


class Stop(Exception):
    """What a handler raises."""


class Client:
    def __init__(self):
        self.interrupts, self.doubts = 0, 0

    def interrupt(self) -> None:
        self.interrupts += 1

    def interrupt_unwanted(self) -> None:
        self.doubts += 1


def handler(number, frame):
    raise Stop


def outside(calls):
    """A function that C calls."""
    calls.adopt()
    signal.raise_signal(SIGNAL)
    return "not interrupted"


def inside(calls, seconds=0.0):
    """A function whose exceptions another catches."""
    signal.raise_signal(SIGNAL)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass
    return "not interrupted"


def guarding(calls, inner, *arguments):
    """A function that C calls and that calls another."""
    calls.adopt()
    return inner(calls, *arguments)


def waiting(calls):
    return inside(calls)


@pytest.fixture
def handlers():
    """Python's own handler of Ctrl-C, which a process in a shell's background has not."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, SIGNAL)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(SIGNAL, handler)
    yield
    for number, function in before.items():
        signal.signal(number, function)


@pytest.fixture
def client():
    return Client()


@pytest.fixture
def calls(handlers, client, monkeypatch):
    monkeypatch.setattr(interrupts, "_SOON", 10.0)  # nothing but what a test does raises it
    made = Calls()
    made.code |= {outside.__code__, guarding.__code__}
    made.guarded.add(inside.__code__)
    made.waits.add(waiting.__code__)
    unwatch = watch(made, [client])
    yield made
    unwatch()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def trip(calls):
    """Do what a guard does at the end of a call."""
    number = calls.due()
    assert number
    ctypes.pythonapi.PyErr_SetInterruptEx(number)
    for _ in range(2):
        time.sleep(0)


@pytest.mark.usefixtures("calls")
def test_it_is_raised_where_nobody_called_from_c(client):
    with pytest.raises(Stop):
        signal.raise_signal(SIGNAL)
    assert (client.interrupts, client.doubts) == (0, 1)


@pytest.mark.parametrize("function", [outside, lambda calls: guarding(calls, inside)])
def test_it_waits_for_the_end_of_a_call(calls, client, function):
    assert function(calls) == "not interrupted"
    assert (client.interrupts, client.doubts) == (0, 1)
    with pytest.raises(Stop):
        trip(calls)
    assert calls.due() == 0
    assert (client.interrupts, client.doubts) == (0, 2)  # a call may have given a run since then


def test_who_waits_for_runs_ends_them(calls, client):
    assert guarding(calls, waiting) == "not interrupted"
    assert client.interrupts == 1
    with pytest.raises(Stop):
        trip(calls)


def test_ctrl_c_ends_all_runs(calls, client):
    def press(_):
        signal.raise_signal(signal.SIGINT)

    guarding(calls, press)
    assert client.interrupts == 1
    with pytest.raises(KeyboardInterrupt):
        trip(calls)
    with pytest.raises(KeyboardInterrupt):
        press(calls)
    assert client.interrupts == 3


def test_a_long_call_is_interrupted_where_that_is_caught(calls, monkeypatch):
    monkeypatch.setattr(interrupts, "_PATIENCE", 0.02)
    monkeypatch.setattr(interrupts, "_SOON", 0.001)
    with pytest.raises(KeyboardInterrupt):
        guarding(calls, inside, 5.0)
    with pytest.raises(Stop):  # the caller is to get what the handler raised
        time.sleep(0.2)


def test_handlers_that_raise_nothing_run_at_once(calls, client):
    ran = []
    signal.signal(SIGNAL, lambda number, frame: ran.append(number))
    assert outside(calls) == "not interrupted"
    assert ran == [SIGNAL]
    assert (calls.due(), client.interrupts, client.doubts) == (0, 0, 0)


def test_a_trip_for_what_was_raised_calls_no_handler(calls):
    outside(calls)
    assert calls.due()
    with pytest.raises(Stop):
        signal.raise_signal(SIGNAL)
    ran = []
    signal.signal(SIGNAL, lambda number, frame: ran.append(number))
    calls.adopt()
    calls._tripped = True
    signal.raise_signal(SIGNAL)
    assert ran == []
    signal.raise_signal(SIGNAL)
    assert ran == [SIGNAL]


def test_handlers_are_put_back(handlers):
    calls = Calls()
    unwatch = watch(calls, [])
    assert signal.getsignal(SIGNAL) is not handler
    unwatch()
    assert signal.getsignal(SIGNAL) is handler
    calls.adopt()
    assert signal.getsignal(SIGNAL) is handler


def test_other_threads_change_no_handler(handlers):
    calls = Calls()
    thread = threading.Thread(target=lambda: watch(calls, [])())
    thread.start()
    thread.join()
    assert signal.getsignal(SIGNAL) is handler


# What C sees

def test_a_signal_before_the_first_instruction_of_a_call(calls, client, library):
    """The worst moment, with a handler that nobody stands before yet."""
    begun = []

    def compare(address):
        begun.append(address)
        # C alone is between this and the next call.
        return 0, SIGNAL if len(begun) == 1 else 0

    calls.code.add(compare.__code__)
    signal.signal(SIGNAL, handler)
    (place,) = library.functions([compare], calls.adopt, 0xE0)
    items = (ctypes.c_int * 3)(3, 2, 1)
    ctypes.CDLL(None).qsort(items, 3, 4, ctypes.c_void_p(place))
    assert list(items) == [3, 2, 1]  # all were called equal
    assert len(begun) == 2
    assert isinstance(calls.error, Stop)
    assert calls.error.__traceback__ is not None
    assert (client.interrupts, client.doubts) == (0, 1)
    with pytest.raises(Stop):
        trip(calls)
