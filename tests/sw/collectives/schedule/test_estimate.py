"""Cycles of schedules: links are what they wait for, and nothing is faster than the bound."""

import pytest

from celosia.collectives import Topology
from celosia.collectives.schedule import (
    LinkModel,
    all_gather,
    all_reduce,
    all_to_all,
    bound,
    chain,
    estimate,
    permute,
    reduce_scatter,
)

RING = Topology.ring(8)
NEXT = [(i, (i + 1) % 8) for i in range(8)]


@pytest.mark.parametrize(("schedule", "least", "share"), [
    (all_reduce(RING, 2**14), 14336, 0.965),
    (all_reduce(RING, 2**16), 57344, 0.975),
    (all_reduce(Topology((4, 4)), 2**16), 30720, 0.95),
    (all_gather(RING, 2**16), 28672, 0.95),
    (reduce_scatter(RING, 2**16), 28672, 0.95),
    (all_to_all(RING, 2**16), 65536, 0.85),
    (permute(RING, NEXT, 2**16), 65536, 0.97),
    (permute(Topology.ring(2), [(0, 1), (1, 0)], 2**16), 32768, 0.97),
])
def test_share_of_the_bound(schedule, least, share):
    assert bound(schedule) == least
    assert least <= estimate(schedule) <= least / share


def test_cycles_by_hand():
    # 1,024 words of a chunk, 512 of a piece: fourteen turns of two pieces, a hop's way at the end.
    # Each has a word more, so five frames; the last one leaves the receiver at the end.
    turn, way = 2 * (513 + 5 * 2), 64 + 128 + 17
    assert estimate(all_reduce(RING, 2**14)) == 14 * turn + way
    # Whole chunks: each turn waits for the last word's way while sums go round; copies go both
    # ways, and one waits while the other is sent.
    turn = 1025 + 9 * 2
    assert estimate(all_reduce(RING, 2**14, 1)) == 7 * (turn + way + 24) + 7 * turn + way
    # A message of one word in each of seven hops, and in four.
    hop = 2 + 2 + 64 + 2 + 17
    assert estimate(all_reduce(RING, 16, 1)) == 7 * (hop + 24) + 4 * hop
    alone = all_reduce(Topology.ring(1), 16)
    assert estimate(alone) == bound(alone) == 0


def test_links():
    schedule = all_reduce(RING, 2**14)
    assert bound(schedule, LinkModel(bytes=8)) == bound(schedule) / 2
    assert LinkModel(bytes=16).cycles(129) == 33 + 1 + 2
    assert estimate(schedule, LinkModel(latency=1000)) > 14 * 1040


def test_a_window_of_few_steps_leaves_links_idle():
    schedule = all_reduce(RING, 2**14)
    found = [estimate(schedule, window=window) for window in (1, 4, 8, None)]
    assert found == sorted(found, reverse=True)
    assert found[0] > 2 * found[-1]
    assert found[2] == found[3]


def test_order_of_the_group_costs_bandwidth():
    ring, old = estimate(all_reduce(RING, 2**16)), estimate(chain(RING, 2**16, 256))
    assert 8 / 7 < old / ring < 1.3


@pytest.mark.parametrize(("words", "busy", "drain"), [
    # A word more, which a message begins with, in frames of two words beside theirs.
    (1, 2 + 2, 2), (128, 129 + 3 * 2, 44), (1024, 1025 + 9 * 2, 128)])
def test_a_message_by_hand(words, busy, drain):
    link = LinkModel()
    assert (link.bytes, link.word, link.latency, link.pipe, link.join) == (4, 4, 64, 17, 24)
    assert (link.cycles(words), link.drain(words)) == (busy, drain)
    assert link.way(words) == busy + 64 + 17 + drain
    assert link.way(words, joins=True) == busy + 64 + 17 + drain + 24
    assert LinkModel(latency=5, pipe=2, join=1).way(words, True) == busy + 5 + 2 + drain + 1
    # Twice as many words of half the bytes, and as many on a link twice as wide, are as long.
    assert LinkModel(word=2).cycles(2 * words) == LinkModel(bytes=8).cycles(2 * words) == busy
    assert LinkModel(bytes=8).cycles(2 * words - 1) == busy


@pytest.mark.parametrize(("schedule", "cycles"), [
    # 2 (n-1)/n S/(k W) and so on, with 960 words of 4 bytes; a dimension of one chip has no links.
    (all_reduce(Topology((3,)), 960), 2 * 2 / 3 * 960 / 2),
    (all_reduce(Topology((1, 3)), 960), 2 * 2 / 3 * 960 / 2),
    (all_reduce(Topology((2, 3)), 960), 2 * 5 / 6 * 960 / 4),
    (all_gather(Topology((2, 3)), 960), 5 / 6 * 960 / 4),
    (reduce_scatter(Topology((3,)), 960), 2 / 3 * 960 / 2),
    (all_to_all(Topology((4,)), 960), 960 * 4 / 8),
])
def test_bounds_by_hand(schedule, cycles):
    assert bound(schedule) == pytest.approx(cycles)
    assert bound(schedule, LinkModel(bytes=2)) == pytest.approx(2 * cycles)
    assert bound(schedule, LinkModel(word=12)) == pytest.approx(3 * cycles)
