"""What is wrong with a schedule is found, and said."""

import re
from dataclasses import replace

import pytest

from celosia.collectives import Topology
from celosia.collectives.schedule import (
    Action,
    Held,
    LinkStep,
    Schedule,
    ScheduleError,
    Words,
    all_reduce,
    check,
)

GOOD = all_reduce(Topology.ring(3), 6, 1)
BOTH, A, B = Words(0, 2), Words(0, 1), Words(1, 2)


def two(*steps, words=2):
    """Return a schedule by which two chips are to have each other's words joined."""
    whole = Words(0, words)
    return Schedule("sum", Topology.ring(2), words, tuple(LinkStep(*each) for each in steps),
                    tuple((Held(whole, frozenset([chip])),) for chip in range(2)),
                    ((Held(whole, frozenset([0, 1])),),) * 2)


def refused(schedule, message):
    with pytest.raises(ScheduleError) as caught:
        check(schedule)
    assert str(caught.value) == message


@pytest.mark.parametrize("number", range(len(GOOD.steps)))
def test_every_step_is_needed_once(number):
    steps = list(GOOD.steps)
    for wrong in (steps[:number] + steps[number + 1:],
                  steps[:number + 1] + steps[number:]):
        with pytest.raises(ScheduleError):
            check(replace(GOOD, steps=tuple(wrong)))


@pytest.mark.parametrize("number", range(len(GOOD.steps)))
def test_every_action_is_needed(number):
    steps = list(GOOD.steps)
    step = steps[number]
    if step.action != Action.SEND:
        other = Action.SET if step.action == Action.JOIN else Action.JOIN
        steps[number] = step._replace(action=other)
        with pytest.raises(ScheduleError, match=re.escape(f"{GOOD.name}: chip")):
            check(replace(GOOD, steps=tuple(steps)))


def test_a_link_used_twice_at_once():
    refused(two((0, 0, 0, A, Action.SEND), (0, 0, 0, B, Action.SEND)),
            "sum: chip 0: send of words 1:2 on port 0 in round 0 must be alone there, and not "
            "before an earlier round")


def test_other_words_than_are_sent():
    refused(two((0, 0, 0, A, Action.SEND), (0, 1, 1, B, Action.JOIN)),
            "sum: chip 1: recv join of words 1:2 on port 1 in round 0 must be what chip 0 sends: "
            "send of words 0:1 on port 0 in round 0")


def test_a_step_that_nobody_serves():
    refused(two((0, 0, 0, A, Action.SEND), (0, 1, 1, A, Action.JOIN),
                (1, 0, 0, B, Action.JOIN)),
            "sum: a step must not wait for ever: chip 0: recv join of words 1:2 on port 0 in "
            "round 1, which waits: chip 1: nothing on port 1")


def test_steps_that_wait_for_each_other():
    # Each receives, by one link, the words that it is to send by the other one first.
    refused(two((0, 0, 1, BOTH, Action.JOIN), (0, 1, 1, BOTH, Action.JOIN),
                (1, 1, 0, BOTH, Action.SEND), (1, 0, 0, BOTH, Action.SEND)),
            "sum: a step must not wait for ever: chip 0: recv join of words 0:2 on port 1 in "
            "round 0, which waits: chip 1: send of words 0:2 on port 0 in round 1, which waits: "
            "chip 1: recv join of words 0:2 on port 1 in round 0, which waits: chip 0: send of "
            "words 0:2 on port 0 in round 1")


def test_parts_joined_twice():
    refused(two((0, 0, 0, BOTH, Action.SEND), (0, 1, 1, BOTH, Action.JOIN),
                (1, 1, 1, BOTH, Action.SEND), (1, 0, 0, BOTH, Action.JOIN)),
            "sum: chip 0: recv join of words 0:2 on port 0 in round 1 must join other chips' "
            "parts, not [0, 1] with [0]")


def test_parts_that_are_missing():
    refused(two((0, 0, 0, A, Action.SEND), (0, 1, 1, A, Action.JOIN),
                (1, 1, 1, A, Action.SEND), (1, 0, 0, A, Action.SET)),
            "sum: chip 0 must have the parts of [0, 1] in word 1 at the end, not [0]")


def test_words_that_a_chip_does_not_have():
    schedule = two((0, 0, 0, A, Action.SEND), (0, 1, 1, A, Action.SET))
    refused(replace(schedule, given=((), schedule.given[1])),
            "sum: chip 0: send of words 0:1 on port 0 in round 0 must be of words that the chip "
            "has, not of 0")
