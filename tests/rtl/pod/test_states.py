"""States that go from board to board."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from time import monotonic

import pytest

from celosia.collectives.wire import receive, send
from celosia_sim.pod import PodBoardError
from celosia_sim.pod.board import NeighbourLost
from celosia_sim.pod.door import Door, Hello, Role, enter
from celosia_sim.pod.states import States

TOKEN = bytes(range(32))
#: The number of a program's pod.
PROGRAM = 7


def refuse_nobody() -> None:
    """Look at nothing."""


@pytest.fixture
def doors() -> Iterator[list[Door]]:
    made = [Door(TOKEN) for _ in range(3)]
    yield made
    for each in made:
        each.close()


@pytest.fixture
def states(doors) -> list[States]:
    made = [States(door, TOKEN) for door in doors]
    for each in made:
        each.begin(PROGRAM, 2)
        threading.Thread(target=each.take, daemon=True).start()
    return made


def places(doors: list[Door], *numbers: int) -> list[tuple[int, str, int]]:
    return [(number, *doors[number].address) for number in numbers]


def test_a_state_is_with_all_to_whom_it_was_given(doors, states):
    parts = [b"runs", b"", bytes(range(256)) * 5000]
    states[0].put(3, 0, parts)
    states[0].give(3, 0, places(doors, 1, 2), refuse_nobody)
    assert [bytes(each) for each in states[1].get(3, 0)] == parts
    # And from there to the next one, who has come in the place of the first.
    states[0].end()
    states[0].begin(PROGRAM, 2)
    states[2].give(3, 0, places(doors, 0), refuse_nobody)
    assert [bytes(each) for each in states[0].get(3, 0)] == parts
    states[2].put(4, 8, [b"x"])
    assert states[2].sizes() == {0: 4 + 256 * 5000, 8: 1}
    states[2].forget(4)
    assert states[2].sizes() == {8: 1}


def test_a_state_that_is_not_there(states):
    states[0].put(3, 0, [b""])
    for number, chip in ((2, 0), (3, 4)):
        with pytest.raises(PodBoardError, match=(
                f"^a board must have state {number} of the board from chip {chip} on, but it has "
                "not$")):
            states[0].get(number, chip)


def test_what_is_of_another_program_is_not_kept(doors, states):
    states[0].put(1, 0, [b"x"])
    states[1].put(1, 0, [b"y"])
    states[1].begin(PROGRAM + 1, 2)
    assert states[1].sizes() == {}
    with pytest.raises(NeighbourLost, match=(
            "^the board from chip 1 on must keep a state within 2 s, but it is gone: the other end "
            "is gone$")):
        states[0].give(1, 0, places(doors, 1), refuse_nobody)
    assert states[1].sizes() == {}


@pytest.mark.parametrize("said", [
    [], [PROGRAM, 1, 0], [PROGRAM, 1, 0, [3]], [PROGRAM, 1, 0, 2], [PROGRAM, [], 0, [2]], None])
def test_what_is_no_state_is_not_kept(said, doors, states):
    with enter(doors[1].address, TOKEN, Hello(Role.STATE), 5) as connection:
        connection.settimeout(5)
        send(connection, said, b"xy")
        with pytest.raises(EOFError, match="^the other end is gone$"):
            receive(connection)
    # And the next one is.
    states[0].put(1, 0, [b"x"])
    states[0].give(1, 0, places(doors, 1), refuse_nobody)
    assert states[1].sizes() == {0: 1}


def test_who_does_not_take_a_state_is_waited_for_no_longer_than_it_may_take(doors):
    states = States(doors[0], TOKEN)
    states.begin(PROGRAM, .3)
    states.put(1, 0, [b"x"])
    begin = monotonic()
    with pytest.raises(NeighbourLost, match=(
            "^the board from chip 1 on must keep a state within 0.3 s, but it has not$")):
        states.give(1, 0, places(doors, 1), refuse_nobody)
    assert .2 < monotonic() - begin < 2


def test_who_sends_half_a_state_keeps_no_other_from_it(doors, states):
    with enter(doors[1].address, TOKEN, Hello(Role.STATE), 5) as connection:
        connection.sendall(b"\x04")
        states[0].put(1, 0, [b"x"])
        states[0].give(1, 0, places(doors, 1), refuse_nobody)
    assert states[1].sizes() == {0: 1}
