"""Rows of transfers behind those of others."""

import pytest

from celosia.model.timing.transfers import loaded, stored

IN_STEP = bytes([1, 2, 4, 8] * 4)
FREE = b""


@pytest.mark.parametrize(("each", "last"), [(1, 15), (1.5, 22), (4, 60)])
def test_alone_rows_go_through_as_they_come(each, last):
    assert loaded(IN_STEP, each, 1, FREE) == stored(IN_STEP, each, 4, FREE) == last


def test_a_row_waits_until_its_bank_is_free():
    # The first is not for five cycles; the others find theirs free when they come.
    assert loaded(IN_STEP, 1, 1, bytes([1] * 5)) == stored(IN_STEP, 1, 4, bytes([1] * 5)) == 20
    # Those of a row a cycle in another bank are no matter.
    assert loaded(IN_STEP, 1, 1, bytes([2, 4, 8, 1] * 8)) == 15
    assert loaded(IN_STEP, 1, 1, bytes([15] * 30)) == 45


def test_behind_rows_that_stay_in_a_bank_it_is_as_slow_as_these():
    """As beside a vector unit whose rows have four beats: it runs into their bank, and follows."""
    beats = bytes(1 << row % 4 for row in range(32) for _ in range(4))
    assert loaded(IN_STEP, 1, 1, beats) == 4 + 4 * 15


@pytest.mark.parametrize(("each", "least", "busy", "last"), [
    (2, 1, 4, 30),  # what waited is made good, where the memory could be faster
    (2, 1, 20, 35),
    (2, 2, 20, 46),  # and not where it brings no more; four beats wait
    (4, 4, 20, 76),
])
def test_a_load_makes_good_what_its_memory_can(each, least, busy, last):
    assert loaded(IN_STEP, each, least, bytes([15] * busy)) == last


@pytest.mark.parametrize(("each", "ahead", "busy", "last"), [
    (2, 4, 20, 50),  # the bus has rows again as soon as one is read
    (2, 8, 20, 50), (1, 4, 20, 35),
])
def test_a_store_is_later_by_what_its_first_row_waits(each, ahead, busy, last):
    assert stored(IN_STEP, each, ahead, bytes([15] * busy)) == last


@pytest.mark.parametrize(("ahead", "last"), [(4, 38), (8, 36)])
def test_a_store_has_rows_in_store_while_it_is_held_up(ahead, last):
    """Those that it has read ahead go out meanwhile: the bus takes two cycles for each."""
    busy = bytes(8) + bytes([15] * 14)
    assert stored(IN_STEP, 2, ahead, busy) == last
