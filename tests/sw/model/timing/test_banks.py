"""Cycles lost to bank conflicts, as measured on the RTL of core with 96 rows of ``fadd``."""

import pytest

from celosia.arch.config import BANKS
from celosia.arch.streams import Stream
from celosia.model.timing.banks import (
    constant_bank,
    lost_beside,
    lost_by_pair,
    lost_by_repeats,
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
