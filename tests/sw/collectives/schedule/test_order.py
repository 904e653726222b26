"""Schedules behind each other and beside each other."""

import numpy as np

from celosia.collectives import Topology
from celosia.collectives.schedule import (
    Action,
    LinkModel,
    all_gather,
    all_reduce,
    check,
    estimate,
    meaning,
    permute,
)
from celosia.collectives.schedule.order import merged


def test_merged_schedules_mean_what_they_mean_alone():
    topology = Topology((2, 4))
    parts = [all_reduce(topology, ((4,) * 4,) * 8, 1), all_reduce(topology, ((2,) * 4,) * 8, 2)]
    whole = merged(parts)
    check(whole)
    assert whole.words == sum(each.words for each in parts)
    arrays = list(np.random.default_rng(1).standard_normal((8, whole.words)).astype(np.float32))
    cut = parts[0].words
    wanted = [np.concatenate(each) for each in zip(
        meaning(parts[0], [a[:cut] for a in arrays], np.add),
        meaning(parts[1], [a[cut:] for a in arrays], np.add), strict=True)]
    for a, b in zip(meaning(whole, arrays, np.add), wanted, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


def test_one_waits_while_the_other_is_sent():
    topology = Topology((4, 4))
    one = all_reduce(topology, ((128,) * 4,) * 16, 1)
    alone, both = estimate(one), estimate(merged([one, one]))
    assert both < 1.6 * alone
    assert merged([one, one]).begins[-1] < both


def test_no_more_are_under_way_than_may_be():
    topology = Topology((4, 2))
    parts = [all_gather(topology, ((4,) * 4,) * 8, 1)] * 5
    cut = parts[0].words
    for together in (1, 2, 3):
        whole = merged(parts, together=together)
        check(whole)
        rounds = [[step.round for step in whole.of_chip(0) if step.action == Action.SEND
                   and step.words.start // cut == number] for number in range(5)]
        for early, late in zip(rounds, rounds[together:], strict=False):
            assert max(early) <= min(late)
    assert max(rounds[0]) > min(rounds[1])
    freely = merged(parts)
    assert len(freely.steps) == len(whole.steps)
    assert estimate(freely) <= estimate(whole) < estimate(merged(parts, together=1))


def test_what_is_not_alike_follows_each_other():
    topology = Topology.ring(4)
    some = permute(topology, [(0, 1)], 8)
    whole = merged([some, some])
    check(whole)
    assert [step.round for step in whole.of_chip(0)] == [0, 1, 2, 3]
    assert estimate(whole) <= 2 * estimate(some, LinkModel())
