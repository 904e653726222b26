"""Cycles lost to bank conflicts, as measured on the RTL of core with 96 rows of ``fadd``."""

from itertools import product

import pytest

from celosia.arch.config import BANKS
from celosia.arch.isa import Mem
from celosia.arch.streams import Stream
from celosia.model.timing.banks import (
    constant_bank,
    in_step,
    lost_beside,
    lost_between,
    lost_by_pair,
    lost_by_repeats,
    lost_by_singles,
    walked,
)

ROWS = (96, 1, 1)


@pytest.mark.parametrize(("counts", "p", "q", "apart", "measured"), [
    (ROWS, (2, 0, 0), (2, 0, 0), 0, 96),
    (ROWS, (4, 0, 0), (4, 0, 0), 0, 192),
    (ROWS, (4, 0, 0), (1, 96, 96), 500, 192),
    (ROWS, (1, 96, 96), (4, 0, 0), 500, 120),
    (ROWS, (1, 96, 96), (2, 0, 0), 500, 132),
    ((16, 6, 1), (0, 1, 0), (1, 16, 96), 256, 181),
    ((16, 6, 1), (1, 16, 96), (0, 1, 0), 256, 119),
    ((6, 16, 1), (1, 6, 96), (64, 1, 0), 500, 116),
    ((6, 16, 1), (16, 1, 0), (16, 1, 0), 500, 160),
])
def test_streams_that_meet(counts, p, q, apart, measured):
    _, lost = lost_by_pair(Stream(0, counts, p), Stream(apart, counts, q))
    assert 96 + lost == pytest.approx(measured, rel=0.06)


def test_streams_that_meet_once():
    linear = Stream.linear(0, ROWS)
    assert lost_by_pair(linear, Stream.linear(64, ROWS)) == (1, 0)
    assert lost_by_pair(linear, Stream.linear(65, ROWS)) == (0, 0)


@pytest.mark.parametrize(("rows", "fold", "banks", "lost"), [
    ((4, 8), 4, 4, 8), ((4, 8), 1, 4, 0), ((4, 9), 4, 4, 0), ((5, 9), 4, 4, 4), ((6, 8), 4, 4, 4),
    ((6, 8), 4, 2, 8), ((5, 6), 2, 1, 4), ((4,), 4, 4, 0)])
def test_a_single_row_waits_for_beats_in_its_bank(rows, fold, banks, lost):
    singles = [(Mem.ACC, Stream.linear(row, (1, 1, 1))) for row in rows]
    assert lost_by_singles(singles, [(Mem.ACC, Stream.linear(12, ROWS))], fold, banks) == lost
    assert lost_by_singles(singles, [(Mem.UB, Stream.linear(12, ROWS))], fold, banks) <= lost


def test_in_one_bank_all_meet():
    p, q = Stream.linear(0, ROWS), Stream.linear(65, ROWS)
    assert lost_by_pair(p, q, banks=1) == (0, 96)
    assert lost_by_pair(p, q, banks=2) == (0, 0)
    assert constant_bank(p, banks=1) == 0
    assert constant_bank(p, banks=2) is None
    walk = walked(Stream(0, (1, 128), (0, 1)), 1)
    assert lost_beside(walk, ((0, 1),), banks=1) == pytest.approx(1, abs=0.01)


def test_long_walks_go_on_as_they_began():
    def lost(rows: int) -> int:
        stride = (rows, 1, 1), (4, 0, 0)
        return lost_by_pair(Stream(0, *stride), Stream(4, *stride))[1]

    assert lost(8000) == pytest.approx(8000, rel=0.02)


def test_additions_to_one_row_wait_for_each_other():
    assert lost_by_repeats(Stream(0, (16, 1, 1), (0, 0, 0)), 4) == 48
    assert lost_by_repeats(Stream(0, (2, 8, 1), (1, 0, 0)), 4) == 16
    assert lost_by_repeats(Stream(0, (4, 4, 1), (1, 0, 0)), 4) == 0
    assert lost_by_repeats(Stream(0, (16, 1, 1), (1, 0, 0)), 4) == 0


@pytest.mark.parametrize(("cycles", "groups", "others", "measured"), [
    (1, 2, ((0, 1),), 1 / 8),
    (1, 2, ((0, 1), (1, 1)), 1 / 3),
    (1, 2, ((0, 1), (7, 1)), 1 / 3),
    (1, 1, ((0, 1), (7, 1)), 0),
    (2, 2, ((0, 1),), 0),
])
def test_transfers_beside_streams(cycles, groups, others, measured):
    """As a store of rows of ``groups`` in one bank, a beat or two each, beside ``fmul``."""
    chip = Stream(0, (groups, 128), (BANKS, 1))
    assert lost_beside(walked(chip, cycles), others) == pytest.approx(measured, abs=0.02)


def test_a_transfer_waits_for_a_bank_that_is_never_free():
    chip = Stream(0, (1, 128), (0, BANKS))
    assert lost_beside(walked(chip, 1), ((0, 0),)) == pytest.approx(1, abs=0.01)


#: Cycles that rows come later, and take longer, in all, by shape, beats of a row and banks.
PAIRS = {
    (20, 1, 1): [(0, 960), (2, 630), (1, 424), (0, 1920), (4, 1068), (2, 720)],
    (4, 5, 1): [(0, 960), (2, 506), (1, 324), (0, 1920), (4, 1062), (2, 571)],
    (3, 2, 4): [(0, 1152), (0, 520), (0, 332), (0, 2304), (0, 1146), (0, 647)],
    (1, 1, 30): [(0, 1440), (0, 836), (0, 499), (0, 2880), (0, 1510), (0, 898)]}


@pytest.mark.parametrize("counts", PAIRS, ids=str)
def test_what_streams_of_all_kinds_lose(counts):
    found = []
    for fold, banks in product((1, 2), (1, 2, 4)):
        each = [lost_by_pair(Stream(7, counts, p), Stream(7 + apart, counts, q), fold, banks)
                for p, q, apart in product(((0, 1, 4), (1, 4, 0), (2, 3, 6), (4, 0, 1)),
                                           ((0, 1, 4), (1, 4, 0), (3, 2, 5)), (0, 1, 2, 5))]
        found.append(tuple(map(sum, zip(*each, strict=True))))
    assert found == PAIRS[counts]


@pytest.mark.parametrize(("counts", "strides", "again", "lost"), [
    ((2, 8, 1), (0, 1, 0), 3, 32), ((2, 1, 1), (0, 0, 0), 2, 2), ((1, 8, 1), (0, 0, 1), 3, 16),
    ((1, 2, 1), (1, 0, 0), 3, 4), ((1, 8, 1), (0, 1, 0), 3, 0), ((3, 8, 1), (1, 0, 0), 3, 0),
    ((2, 8, 3), (1, 0, 16), 3, 24), ((2, 1, 8), (1, 0, 0), 3, 0)])
def test_how_soon_a_row_is_added_to_again(counts, strides, again, lost):
    assert lost_by_repeats(Stream(0, counts, strides), again) == lost


@pytest.mark.parametrize(("span", "beside", "rate", "lost"), [
    # As many cycles as are beside each other; those that are lost are so, too.
    ((0, 10), (20, 40), 0.0, 0), ((0, 10), (4, 40), 0.5, 6), ((0, 10), (4, 12), 0.5, 4),
    ((6, 10), (0, 40), 0.2, 1), ((6, 50), (0, 40), 0.2, 6.8), ((6, 10), (0, 40), 1.0, 34),
    ((6, 10), (8, 40), 1.5, 48)])
def test_a_transfer_waits_as_long_as_others_are_beside_it(span, beside, rate, lost):
    assert lost_between(*span, *beside, rate) == pytest.approx(lost)


def test_streams_in_step_are_known_by_their_banks():
    """The second of two that begin in one bank comes a step later; of rows, the first that step."""
    rows = Stream(6, (5, 2, 1), (3, 7, 0))
    assert in_step(rows) == ((0, 3),)
    assert in_step(rows, Stream(9, (1, 5, 2), (3, 6, 1))) == ((0, 3), (3, 2))
    assert in_step(rows, Stream(10, (1, 1, 5), (3, 6, 5))) == ((0, 3), (-3, 1))
    assert in_step(rows, Stream(2, (1, 1, 1), (1, 1, 1))) == ((0, 3), (-3, 0))
    assert [constant_bank(Stream(6, counts, (4, 1, 8))) for counts in (
        (5, 1, 2), (5, 2, 1), (1, 1, 1))] == [2, None, 2]
    assert walked(Stream(0, (300, 5), (6, 7)), 3) == (256, 2, 3, 3)
