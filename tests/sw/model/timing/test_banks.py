"""Cycles lost to bank conflicts by the array, as measured on the RTL of core."""

import pytest

from celosia.arch.streams import Stream
from celosia.model.timing.banks import constant_bank, lost_by_repeats


def test_in_one_bank_all_rows_are_in_it():
    rows = Stream.linear(0, (96, 1, 1))
    assert constant_bank(rows, banks=1) == 0
    assert constant_bank(rows, banks=2) is None
    assert constant_bank(Stream(7, (1, 5, 2), (1, 4, 8))) == 3
    assert constant_bank(Stream(7, (1, 5, 2), (1, 4, 2))) is None


def test_additions_to_one_row_wait_for_each_other():
    assert lost_by_repeats(Stream(0, (16, 1, 1), (0, 0, 0)), 4) == 48
    assert lost_by_repeats(Stream(0, (2, 8, 1), (1, 0, 0)), 4) == 16
    assert lost_by_repeats(Stream(0, (4, 4, 1), (1, 0, 0)), 4) == 0
    assert lost_by_repeats(Stream(0, (16, 1, 1), (1, 0, 0)), 4) == 0


@pytest.mark.parametrize(("counts", "strides", "again", "lost"), [
    ((2, 8, 1), (0, 1, 0), 3, 32), ((2, 1, 1), (0, 0, 0), 2, 2), ((1, 8, 1), (0, 0, 1), 3, 16),
    ((1, 2, 1), (1, 0, 0), 3, 4), ((1, 8, 1), (0, 1, 0), 3, 0), ((3, 8, 1), (1, 0, 0), 3, 0),
    ((2, 8, 3), (1, 0, 16), 3, 24), ((2, 1, 8), (1, 0, 0), 3, 0)])
def test_how_soon_a_row_is_added_to_again(counts, strides, again, lost):
    assert lost_by_repeats(Stream(0, counts, strides), again) == lost
