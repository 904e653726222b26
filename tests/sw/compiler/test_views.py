"""Views against NumPy's."""

import itertools
import math
import random

import numpy as np
import pytest

from celosia.compiler.views import View, merged


def elements(view: View) -> np.ndarray:
    """Return the element that each index shows."""
    found = [view.offset + sum(i * s for i, s in zip(index, view.strides, strict=True))
             for index in itertools.product(*map(range, view.shape))]
    return np.array(found, dtype=int).reshape(view.shape)


def changed(rng: random.Random, view: View, array: np.ndarray) -> tuple[View, np.ndarray]:
    """Return a view and an array, both changed alike."""
    rank = len(view.shape)
    kind = rng.choice(["transpose", "reverse", "slice", "broadcast"])
    if kind == "transpose":
        order = rng.sample(range(rank), rank)
        return view.transpose(order), array.transpose(order)
    if kind == "reverse" and rank:
        dim = rng.randrange(rank)
        return view.reverse([dim]), np.flip(array, dim)
    if kind == "slice":
        start = [rng.randrange(n) for n in view.shape]
        step = [rng.choice([1, 2, 3]) for _ in view.shape]
        parts = tuple(slice(a, None, s) for a, s in zip(start, step, strict=True))
        return view.slice(start, view.shape, step), array[parts]
    at = rng.randrange(rank + 1)
    shape = (*view.shape[:at], 3, *view.shape[at:])
    dims = [i + (i >= at) for i in range(rank)]
    return view.broadcast(shape, dims), np.broadcast_to(np.expand_dims(array, at), shape)


def factors(rng: random.Random, size: int) -> tuple[int, ...]:
    """Return sizes of some shape of that many elements."""
    found = []
    while size > 1:
        factor = rng.choice([n for n in range(2, size + 1) if size % n == 0])
        found.append(factor)
        size //= factor
        if rng.random() < 0.3:
            found.append(1)
    return tuple(found)


@pytest.mark.parametrize("seed", range(300))
def test_views_show_what_numpy_shows(seed):
    rng = random.Random(seed)
    shape = tuple(rng.choice([1, 2, 3, 4]) for _ in range(rng.randrange(4)))
    view, array = View.contiguous(shape), np.arange(np.prod(shape, dtype=int)).reshape(shape)
    assert view.is_contiguous
    for _ in range(3):
        view, array = changed(rng, view, array)
        assert (elements(view) == array).all()
    sizes = factors(rng, view.size)
    found = view.reshape(sizes)
    if found is not None:
        assert (elements(found) == array.reshape(sizes)).all()
    # Every shape that keeps the dimensions is one that a view shows.
    assert view.reshape((1, *view.shape, 1)) is not None


def test_a_reshape_across_a_transpose_needs_a_copy():
    assert View.contiguous((2, 3)).transpose((1, 0)).reshape((6,)) is None


def test_every_reshape_of_what_lies_in_order_is_a_view():
    assert View.contiguous((4, 6)).reshape((3, 8)) == View.contiguous((3, 8))


@pytest.mark.parametrize("seed", range(100))
def test_merged_dimensions_walk_the_same_way(seed):
    rng = random.Random(seed)
    sizes = [rng.choice([1, 1, 2, 3, 4]) for _ in range(rng.randrange(5))]
    views = [View.contiguous(sizes) if rng.random() < 0.7 else
             View(0, tuple(sizes), tuple(rng.randrange(-9, 9) for _ in sizes))
             for _ in range(rng.randrange(1, 4))]
    found, sides = merged(sizes, *(view.strides for view in views))
    assert 1 not in found
    assert len(sides) == len(views)
    for view, strides in zip(views, sides, strict=True):
        assert (elements(View(0, tuple(found), tuple(strides))).ravel()
                == elements(view).ravel()).all()
    for i, size in enumerate(found[1:], 1):
        assert any(side[i - 1] != size * side[i] for side in sides)


def test_merged_dimensions_have_a_limit():
    assert merged((4, 5, 6), (30, 6, 1), most=20) == ([20, 6], [[6, 1]])
    assert merged((4, 5, 6), (30, 6, 1), most=119) == ([20, 6], [[6, 1]])
    assert merged((4, 5, 6), (30, 6, 1)) == ([120], [[1]])


@pytest.mark.parametrize("seed", range(60))
def test_parts_of_rows(seed):
    rng = random.Random(seed)
    shape = tuple(rng.randrange(1, 5) for _ in range(rng.randrange(4)))
    view = View(7, shape, tuple(rng.randrange(-9, 9) for _ in shape))
    every = elements(view).ravel()
    for dim in range(len(shape) + 1):  # parts of this dimension with all inside it
        inner = math.prod(shape[dim:])
        outer = shape[dim - 1] if dim else 1
        first = rng.randrange(len(every) // inner)
        count = rng.randrange(1, outer - first % outer + 1)
        part = view.part(first * inner, count * inner)
        assert (elements(part).ravel() == every[first * inner:(first + count) * inner]).all()


def test_a_part_must_be_a_box():
    with pytest.raises(AssertionError):
        View.contiguous((3, 4)).part(2, 4)
