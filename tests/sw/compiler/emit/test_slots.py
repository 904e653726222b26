"""Rows that are given out and taken back."""

import pytest

from celosia.compiler.emit.slots import FreeList


def test_rows_at_the_end_that_are_free_are_part_of_what_is_given():
    rows = FreeList()
    assert [rows.take(size) for size in (4, 3, 2)] == [0, 4, 7]
    rows.give(7, 2)
    assert rows.take(5) == 7  # two that were free, and three more
    assert rows.end == 12
    rows.give(7, 5)
    assert rows.take(1) == 7
    assert rows.take_free(5) is None
    assert rows.take_free(4) == 8
    assert rows.take(1) == 12  # nothing before it is free
    assert rows.take(1) == 13


def test_rows_within_are_given_first_where_they_fit():
    rows = FreeList()
    assert [rows.take(2) for _ in range(5)] == [0, 2, 4, 6, 8]
    rows.give(6, 2)
    rows.give(2, 2)
    assert rows.take(2) == 2
    rows.give(2, 2)
    rows.give(4, 2)  # beside both: six in a row
    assert rows.take(5) == 2
    assert rows.take(1) == 7
    assert rows.take_free(1) is None
    assert rows.end == 10


@pytest.mark.parametrize(("size", "found"), [(2, 6), (3, None)])
def test_no_more_than_there_are(size, found):
    rows = FreeList(8)
    assert [rows.take(each) for each in (5, 1, 1)] == [0, 5, 6]
    rows.give(6, 1)
    assert rows.take(size) == found
    assert rows.take(2) == (6 if found is None else None)
