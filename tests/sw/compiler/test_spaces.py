"""Spaces of shapes: their rows, their lanes, and which shapes run over the same."""

import pytest

from celosia.compiler.spaces import Space, squeezed


@pytest.mark.parametrize(("shape", "kept"), [
    ((), ()), ((1,), ()), ((0,), (0,)), ((1, 5, 1, 2), (5, 2)), ((3, 4), (3, 4))])
def test_dimensions_of_size_1_are_left_out(shape, kept):
    assert squeezed(shape) == kept


@pytest.mark.parametrize(("shape", "cuts", "lanes", "rows", "size", "dims"), [
    ((), set(), 1, 1, 1, (1,)),
    ((1, 1), set(), 1, 1, 1, (1,)),
    ((7,), set(), 7, 1, 7, (7,)),
    ((7, 1), set(), 7, 1, 7, (7,)),
    ((1, 12, 8), {12}, 8, 12, 96, (12, 8)),
    ((2, 6, 8), {6, 12}, 8, 12, 96, (2, 6, 8)),
    ((5, 1, 3, 2, 4), {2, 6, 30}, 4, 30, 120, (5, 3, 2, 4))])
def test_the_space_of_a_shape(shape, cuts, lanes, rows, size, dims):
    space = Space.of(shape)
    assert (space.cuts, space.lanes) == (cuts, lanes)
    assert (space.rows, space.size) == (rows, size)
    assert (space.row_dims, space.dims) == (dims[:-1], dims)


@pytest.mark.parametrize(("a", "b", "both"), [
    ((12, 8), (12, 8), (12, 8)), ((12, 8), (2, 6, 8), (2, 6, 8)),
    ((2, 6, 8), (4, 3, 8), (2, 2, 3, 8)),
    ((2, 6, 8), (3, 4, 8), None), ((4, 6, 8), (8, 3, 8), (4, 2, 3, 8)),
    ((2, 3, 4, 8), (6, 4, 8), (2, 3, 4, 8)), ((96,), (12, 8), None), ((96,), (96,), (96,)),
    ((12, 8), (12, 4), None), ((12, 8), (11, 8), None), ((), (1, 1), (1,)), ((5,), (1,), None)])
def test_what_refines_two_spaces(a, b, both):
    wanted = None if both is None else Space.of(both)
    assert Space.of(a).refined(Space.of(b)) == wanted
    assert Space.of(b).refined(Space.of(a)) == wanted


@pytest.mark.parametrize(("cuts", "dims"), [
    ({12}, (12, 8)), (set(), (12, 8)), ({4}, (3, 4, 8)), ({2, 4}, (3, 2, 2, 8)),
    ({2, 6, 12}, (2, 3, 2, 8)), ({5}, None), ({4, 6}, None), ({24}, None)])
def test_further_cuts_of_twelve_rows(cuts, dims):
    found = Space.of((12, 8)).cut(frozenset(cuts))
    assert found == (None if dims is None else Space.of(dims))


def test_one_row_has_no_cuts():
    one = Space.of((8,))
    assert one.cut(frozenset()) == one
    assert one.cut(frozenset({2})) is None
