"""The profiler as the other side of PJRT sees it: functions behind an address, given addresses."""

import ctypes
from typing import Any

import pytest

from celosia.pjrt import profiler
from celosia.pjrt.profiler import Profiler, extension, note, now

#: What ran: nobody looks.
PROGRAM: Any = None
FUNCTION = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_size_t)
#: In the order of the table.
NAMES = ("error_destroy", "error_message", "error_code", "create", "destroy", "start", "stop",
         "collect")


def words(address, count):
    return list((ctypes.c_size_t * count).from_address(address))


@pytest.fixture
def call():
    """A function that calls one of the table with words, and returns them and its result."""
    size, kind, following, table, _ = words(extension(), 5)
    assert (size, kind, following) == (40, 1, 0)
    size, more, *functions = words(table, 10)
    assert (size, more) == (80, 0)

    def by_name(name, *given):
        made = (ctypes.c_size_t * 8)(*given)
        result = FUNCTION(functions[NAMES.index(name)])(ctypes.addressof(made))
        return result, list(made)

    return by_name


def session(call):
    failed, made = call("create")
    assert not failed
    return made[3]


@pytest.fixture
def collected(monkeypatch):
    monkeypatch.setattr(Profiler, "collect", lambda self: bytes(
        each[3] for each in self._runs) + b"\0end")


def test_a_session_has_the_runs_from_its_start_to_its_stop(call, collected):
    one, two = session(call), session(call)
    assert one != two
    assert now() is None
    note(PROGRAM, 0, 0, 1)
    assert call("start", 0, one)[0] == 0
    assert (now() or 0) > 1_700_000_000 * 10**9
    note(PROGRAM, 0, 0, 2)
    assert call("start", 0, two)[0] == 0
    note(PROGRAM, 0, 0, 3)
    assert call("stop", 0, one)[0] == 0
    note(PROGRAM, 0, 0, 4)
    assert call("stop", 0, one)[0] == 0  # it may be stopped again
    for number, wanted in ((one, b"\2\3\0end"), (two, b"\3\4\0end")):
        failed, (_, _, place, size, *_) = call("collect", 0, number)
        assert (failed, ctypes.string_at(place, size)) == (0, wanted)
        room = ctypes.create_string_buffer(b"?" * 10, 10)
        failed, (_, _, place, again, *_) = call("collect", 0, number, ctypes.addressof(room))
        assert (failed, place, again) == (0, ctypes.addressof(room), size)
        assert room.raw == wanted + b"?" * (10 - size)
    assert call("destroy", 0, two)[0] == 0
    assert now() is None
    assert call("destroy", 0, one)[0] == 0
    assert call("destroy", 0, one)[0] == 0


def test_what_was_collected_stays(call, collected):
    number = session(call)
    call("start", 0, number)
    note(PROGRAM, 0, 0, 1)
    call("collect", 0, number)
    note(PROGRAM, 0, 0, 2)
    _, (_, _, place, size, *_) = call("collect", 0, number)
    assert ctypes.string_at(place, size) == b"\1\0end"
    call("destroy", 0, number)


@pytest.mark.parametrize("name", ["start", "stop", "collect"])
def test_an_error_has_a_message_and_a_code(call, name):
    assert call(name, 0, 12345)[0] == 1
    failed, made = call("error_message", 0, 0, 0)
    assert not failed
    assert ctypes.string_at(made[3]) == ctypes.string_at(made[3], made[4]) == (
        b"celosia: KeyError: 12345")
    failed, made = call("error_code", *[(1 << 64) - 1] * 8)
    assert not failed
    assert made == [*[(1 << 64) - 1] * 3, (0xFFFFFFFF << 32) + 13, *[(1 << 64) - 1] * 4]
    assert call("error_destroy")[0] == 0


def test_of_too_many_runs_the_first_are_kept(monkeypatch):
    monkeypatch.setattr(profiler, "_MOST_RUNS", 3)
    made = Profiler()
    for cycles in range(5):
        made.note(PROGRAM, 0, 0, cycles)
    assert ([run[3] for run in made._runs], made._lost) == ([0, 1, 2], 2)
    assert Profiler().collect() == b""
