"""Rows cut into ranges, copies into pieces."""

from math import prod

import numpy as np
import pytest

from celosia.compiler.emit.pieces import cut, even, grids, groups_of, loops_of, most_rows


@pytest.mark.parametrize(("sizes", "steps"), [((7, 9), (2, 3)), ((5,), (8,)), ((), ()),
                                              ((3, 4, 5), (1, 4, 2))])
def test_pieces_cover_a_box_once(sizes, steps):
    seen = np.zeros(sizes, int)
    for lengths, grid in grids(sizes, steps):
        assert prod(lengths) == len(grid)
        for group in groups_of(grid, 3):
            assert len(group) <= 3
            for first, counts in group:
                assert counts == group[0][1]
                seen[tuple(slice(a, a + n) for a, n in zip(first, counts, strict=True))] += 1
    assert (seen == 1).all()


def test_groups_repeat_from_run_to_run():
    [(lengths, grid)] = grids((4, 5), (1, 1))
    assert lengths == [5, 4]
    # The dimension of 4 goes innermost: two groups of two in each run.
    groups = [[first for first, _ in group] for group in groups_of(grid, 3)]
    assert groups[:3] == [[(0, 0), (1, 0)], [(2, 0), (3, 0)], [(0, 1), (1, 1)]]


@pytest.mark.parametrize(("size", "most", "multiple", "step"), [
    (100, 30, 1, 25), (100, 30, 8, 24), (10, 30, 8, 10), (33, 16, 16, 16), (5, 2, 4, 4)])
def test_even(size, most, multiple, step):
    assert even(size, most, multiple) == step


@pytest.mark.parametrize(("sizes", "limit", "ranges"), [
    ((), 4, [(0, 1)]),
    ((10,), 4, [(0, 4), (4, 4), (8, 2)]),
    ((10,), 10, [(0, 10)]),
    ((3, 4), 4, [(0, 4), (4, 4), (8, 4)]),
    ((3, 4), 11, [(0, 8), (8, 4)]),
    ((3, 4), 3, [(0, 2), (2, 2), (4, 2), (6, 2), (8, 2), (10, 2)]),
    ((4, 5), 7, [(0, 5), (5, 5), (10, 5), (15, 5)]),
    ((0, 5), 7, []),
])
def test_cut(sizes, limit, ranges):
    assert cut(sizes, limit) == ranges


@pytest.mark.parametrize(("sizes", "limit", "loops"), [
    ((), 4, [1]), ((10,), 4, [3]), ((3, 4), 4, [1, 3]), ((3, 4), 11, [2]), ((3, 4), 3, [2, 3]),
    ((2, 3, 4), 3, [2, 3, 2]), ((0, 5), 7, [0])])
def test_loops_of_ranges(sizes, limit, loops):
    assert loops_of(sizes, len(cut(sizes, limit))) == loops


@pytest.mark.parametrize("seed", range(40))
def test_ranges_cover_all_rows_and_no_parts_of_two_groups(seed):
    rng = np.random.default_rng(seed)
    sizes = tuple(int(n) for n in rng.integers(1, 9, int(rng.integers(0, 4))))
    limit = int(rng.integers(1, 100))
    group = prod(sizes[int(rng.integers(0, len(sizes) + 1)):])
    ranges = cut(sizes, limit)
    assert [row for first, count in ranges for row in range(first, first + count)] == list(
        range(prod(sizes)))
    assert max(count for _, count in ranges) == most_rows(sizes, limit) <= limit
    for first, count in ranges:
        assert (first % group == 0 and count % group == 0
                or first // group == (first + count - 1) // group)


def test_ranges_of_another_size():
    assert cut((2, 10), 7, lambda size, inner: {5: 4}[size]) == [
        (0, 4), (4, 4), (8, 2), (10, 4), (14, 4), (18, 2)]
    assert cut((7, 5), 7, lambda size, inner: 0 if inner == 5 else size) == []
