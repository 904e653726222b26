"""Rows that a walk of three dimensions passes."""

import numpy as np
import pytest

from celosia.arch.streams import Stream


def walked(stream):
    (n0, n1, n2), (s0, s1, s2) = stream.counts, stream.strides
    return [stream.base + i0 * s0 + i1 * s1 + i2 * s2
            for i2 in range(n2) for i1 in range(n1) for i0 in range(n0)]


#: Counts, strides, what the stride register holds, and whether the rows are a slice.
WALKS = [
    ((1, 1, 1), (0, 0, 0), None, True), ((1, 1, 1), (5, 6, 7), None, True),
    ((4, 1, 1), (1, 0, 0), None, True), ((4, 1, 1), (2, 9, 9), (2, 0, 0), False),
    ((4, 1, 1), (0, 0, 0), (0, 0, 0), False), ((4, 3, 1), (1, 4, 0), None, True),
    ((4, 3, 1), (1, 5, 8), (1, 5, 0), False), ((4, 3, 2), (1, 4, 12), None, True),
    ((4, 3, 2), (1, 4, 11), (1, 4, 11), False), ((4, 3, 2), (1, 4, 13), (1, 4, 13), False),
    ((4, 3, 2), (2, 4, 12), (2, 4, 12), False), ((1, 3, 2), (9, 1, 3), None, True),
    ((1, 3, 2), (9, 2, 6), (0, 2, 6), False), ((4, 1, 2), (1, 9, 4), None, True),
    ((4, 1, 2), (1, 9, 5), (1, 0, 5), False), ((2, 2, 2), (0, 1, 0), (0, 1, 0), False)]


@pytest.mark.parametrize(("counts", "strides", "triple", "consecutive"), WALKS)
def test_rows_of_a_walk(counts, strides, triple, consecutive):
    stream = Stream(7, counts, strides)
    rows = walked(stream)
    assert (stream.base, stream.length, stream.last) == (7, len(rows), max(rows))
    assert stream.triple == triple
    assert isinstance(stream.index(), slice) == consecutive
    assert np.arange(100)[stream.index()].tolist() == rows
    assert stream.offsets().tolist() == [row - 7 for row in rows]


def test_rows_that_are_shared_are_not_to_be_changed():
    stream = Stream(0, (4, 3, 1), (2, 9, 0))
    with pytest.raises(ValueError, match="read-only"):
        stream.offsets()[0] = 1
    assert Stream(5, (4, 3, 1), (2, 9, 0)).offsets() is stream.offsets()


@pytest.mark.parametrize(("counts", "strides", "triple", "consecutive"), WALKS)
def test_a_walk_from_another_row_on(counts, strides, triple, consecutive):
    stream, wanted = Stream(7, counts, strides).at(30), Stream(30, counts, strides)
    assert stream == wanted
    assert (stream.last, stream.length) == (wanted.last, wanted.length)


def test_consecutive_rows():
    stream = Stream.linear(3, (4, 2, 5))
    assert repr(stream) == "Stream(3, (4, 2, 5), (1, 4, 8))"
    assert stream.index() == slice(3, 43)


def test_walks_are_equal_where_all_of_them_is():
    stream = Stream(3, (4, 2, 1), (1, 5, 0))
    same = Stream(3, (4, 2, 1), (1, 5, 0))
    assert (stream, hash(stream)) == (same, hash(same))
    for other in (Stream(2, (4, 2, 1), (1, 5, 0)), Stream(3, (4, 1, 1), (1, 5, 0)),
                  Stream(3, (4, 2, 1), (1, 6, 0)), (3, (4, 2, 1), (1, 5, 0))):
        assert stream != other
