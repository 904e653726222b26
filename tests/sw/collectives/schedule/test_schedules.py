"""Every algorithm passes the proof, and means what NumPy says."""

import numpy as np
import pytest

from celosia.collectives import ReplicaGroup, Topology
from celosia.collectives.schedule import (
    Action,
    all_gather,
    all_reduce,
    all_to_all,
    chain,
    check,
    meaning,
    permute,
    reduce_scatter,
    ring_sizes,
)
from celosia.collectives.schedule.table import BLOCK

TOPOLOGIES = ["1", "2", "3", "8", "1x4", "2x2", "4x3", "2x3x2"]


def flat(chips, words):
    return list(np.random.default_rng(words).standard_normal((chips, words)).astype(np.float32))


def equal(found, wanted):
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(a, b, strict=True)


@pytest.mark.parametrize("pieces", [1, 3])
@pytest.mark.parametrize("words", [0, 1, 7, 96, 250])
@pytest.mark.parametrize("text", TOPOLOGIES)
def test_all_reduce_and_its_halves(text, words, pieces):
    topology = Topology.parse(text)
    arrays = flat(topology.chips, words)
    sizes = ring_sizes(topology, words, BLOCK)
    whole, scatter, gather = (make(topology, sizes, pieces)
                              for make in (all_reduce, reduce_scatter, all_gather))
    for schedule in (whole, scatter, gather):
        check(schedule)
    shares = meaning(scatter, arrays, np.add)
    joined = meaning(whole, arrays, np.add)
    equal(joined, meaning(gather, shares, np.add))
    equal(joined, [np.concatenate(shares)] * topology.chips)
    np.testing.assert_allclose(joined[0], np.sum(arrays, 0), 1e-4, 1e-5)
    group = ReplicaGroup(tuple(range(topology.chips)), topology)
    equal(joined, group.all_reduce(arrays, "add"))


@pytest.mark.parametrize("make", [all_reduce, reduce_scatter, all_gather])
@pytest.mark.parametrize("text", ["1x4", "4x1", "1x1x4"])
def test_a_dimension_of_one_chip_has_no_part(text, make):
    """What has one dimension with links is the ring, on its ports."""
    topology, ring = Topology.parse(text), Topology.ring(4)
    first = 2 * topology.extents.index(4)
    made, wanted = make(topology, 100), make(ring, 100)
    assert made.steps == tuple(step._replace(port=step.port + first) for step in wanted.steps)
    assert list(made.words_of(2)) == list(wanted.words_of(2))


@pytest.mark.parametrize("chips", [1, 2, 5])
def test_a_chain_sums_in_the_order_of_the_group(chips):
    arrays = flat(chips, 50)
    schedule = chain(Topology.ring(chips), 50, 4)
    check(schedule)
    group = ReplicaGroup(tuple(range(chips)), order="group")
    equal(meaning(schedule, arrays, np.add), group.all_reduce(arrays, "add"))


@pytest.mark.parametrize("text", TOPOLOGIES)
def test_all_to_all(text):
    topology = Topology.parse(text)
    chips = topology.chips
    arrays = flat(chips, 6 * chips)
    schedule = all_to_all(topology, 6 * chips)
    check(schedule)
    equal(meaning(schedule, arrays, np.add),
          [each.ravel() for each in np.stack(arrays).reshape(chips, chips, 6).swapaxes(0, 1)])


@pytest.mark.parametrize("text", TOPOLOGIES)
def test_permute(text):
    topology = Topology.parse(text)
    chips = topology.chips
    targets = np.random.default_rng(chips).permutation(chips)
    pairs = [(a, int(b)) for a, b in enumerate(targets)][:-1]
    arrays = flat(chips, 10)
    schedule = permute(topology, pairs, 10)
    check(schedule)
    source = {b: a for a, b in pairs}
    equal(meaning(schedule, arrays, np.add),
          [arrays[source[b]] if b in source else arrays[b][:0] for b in range(chips)])


def test_steps_of_a_ring():
    program = all_reduce(Topology.ring(4), 8, 1).of_chip(1)
    sends = [(step.port, step.words.start) for step in program if step.action == Action.SEND]
    # Up: what 0 owns first, then 3, 2. Down begins with what 2 owns. At last the own results in
    # both directions, and once more what has come from behind.
    assert sends == [(0, 0), (1, 6), (0, 3), (1, 7), (0, 2), (1, 4),
                     (0, 1), (1, 5), (1, 1), (0, 5), (0, 0), (1, 6)]
    assert [step.action for step in program if step.port == 0 and step.action != Action.SEND] == [
        Action.JOIN] * 3 + [Action.SET] * 3
    assert str(program[0]) == "send of words 0:1 on port 0 in round 0"


@pytest.mark.parametrize(("make", "message"), [
    (lambda: all_reduce(Topology((4,)), -1),
     r"all_reduce must be of 0 or more words in 1 or more pieces, not of -1 in 2"),
    (lambda: all_gather(Topology((4,)), 8, 0),
     r"all_gather must be of 0 or more words in 1 or more pieces, not of 8 in 0"),
    (lambda: chain(Topology((2, 2)), 8),
     r"topology of sums in the order of the group must be a ring, not 2x2"),
    (lambda: all_to_all(Topology((4,)), 9),
     r"words of all_to_all must be a multiple of 4 chips, not 9"),
    (lambda: permute(Topology((4,)), [(0, 1), (2, 1)], 9),
     r"pairs must have each source and target once, not \[\(0, 1\), \(2, 1\)\]"),
    (lambda: meaning(all_reduce(Topology((2,)), 4), [np.zeros((2, 2))] * 2, np.add),
     r"array of all_reduce must be flat and of 4 words, not of shape \(2, 2\)"),
])
def test_what_cannot_be_made(make, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        make()


@pytest.mark.parametrize(("words", "pieces"), [(5, 2), (6, 3), (12, 3), (13, 2)])
def test_what_is_joined_and_short_is_cut_in_one_piece_more(words, pieces):
    """While one piece is joined and waits, the link has others."""
    schedule = reduce_scatter(Topology((4,)), ((words, 0),) * 4, 2, 32)
    sizes = [step.words.count for step in schedule.of_chip(1) if step.action == Action.SEND]
    assert len(sizes) == 3 * pieces
    assert sum(sizes) == 3 * words
    assert max(sizes) - min(sizes) <= 1
    gathered = all_gather(Topology((4,)), ((words, 0),) * 4, 2, 32)
    assert sum(step.action == Action.SEND for step in gathered.of_chip(1)) == 6
