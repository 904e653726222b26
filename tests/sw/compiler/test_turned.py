"""Which products leave the transposes of their activations, and which take these."""

from dataclasses import replace

import pytest
from copying import VALUE, tensor, whole

from celosia.arch.config import PRESETS
from celosia.arch.isa import MatmulFormat
from celosia.compiler.codegen.nodes import Base
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.lowered import Access, Cluster, Dot, Fill, Write
from celosia.compiler.lowering.tensors import Tensors
from celosia.compiler.lowering.turned import turned
from celosia.compiler.views import View
from celosia.graph import DType, TensorType, constant, op, parameter

CORE = PRESETS["core"]  # 16 lanes
ROWS, DEPTH = 32, 64
X = parameter(TensorType(DType.F32, (4,)))
STEP, NONE = op("exp", X).node, constant(1.0, DType.F32).node


def straight(of, rows=ROWS, depth=DEPTH):
    return Access(of, View(0, (1, rows, depth), (rows * depth, depth, 1)))


def across(of, rows=ROWS, depth=DEPTH):
    return Access(of, View(0, (1, depth, rows), (rows * depth, 1, depth)))


def product(lhs, columns=32, nodes=(), fmt=MatmulFormat.BF16, writes="out"):
    rhs = Access(tensor("w"), View.contiguous((1, lhs.view.shape[2], columns)))
    return Cluster((1, lhs.view.shape[1], columns), 2, Dot(fmt, lhs, rhs), None, tuple(nodes), (),
                   (Write(VALUE, Extent.FULL, whole(tensor(writes))),))


def run(*works):
    """Return the transposes that are left by work, and those that are read."""
    found = turned(CORE, works, Tensors(CORE))
    dots = [work.product if isinstance(work, Cluster) else None for work in found]
    left = [dot and dot.turned for dot in dots]
    return left, [i for i, (work, now) in enumerate(zip(works, found, strict=True))
                  if isinstance(work, Cluster) and work.product.lhs != now.product.lhs], dots


def good(*works):
    return run(*works)[1] != []


@pytest.mark.parametrize(("fmt", "dtype"), [(MatmulFormat.BF16, DType.BF16),
                                            (MatmulFormat.INT8, DType.I8)])
def test_a_transpose_is_left_once_for_all_that_want_it(fmt, dtype):
    x = tensor("x", (ROWS, DEPTH))
    works = [product(straight(x), fmt=fmt), product(across(x), fmt=fmt),
             Fill(whole(tensor("t")), 1), product(across(x), 48, fmt=fmt)]
    left, taken, dots = run(*works)
    assert taken == [1, 3]
    assert [each is None for each in left] == [False, True, True, True]
    assert (left[0].tensor.shape, left[0].tensor.dtype) == ((DEPTH, ROWS), dtype)
    assert left[0].tensor.name == "turned"
    for i in taken:
        assert dots[i].lhs == Access(left[0].tensor, View(0, (1, DEPTH, ROWS), (0, ROWS, 1)))
        assert (dots[i].rhs, dots[i].fmt) == (works[i].product.rhs, fmt)


@pytest.mark.parametrize(("columns", "steps", "depth", "time"), [
    (32, 0, 64, True), (32, 1, 64, True), (32, 2, 64, False), (16, 0, 64, False),
    (17, 0, 64, True), (16, 0, 16, False), (48, 2, 64, True), (48, 3, 64, False),
    (32, 1, 32, False), (32, 1, 33, True), (32, 1, 17, False), (48, 0, 16, True)])
def test_the_vector_unit_needs_the_time(columns, steps, depth, time):
    """Steps for each panel of columns, and the panels of the depth, in less than their product."""
    x = tensor("x", (ROWS, depth))
    nodes = [STEP] * steps + [NONE] * 9 + [op("broadcast", X, shape=(4, 4), dims=(0,)).node,
                                           op("reshape", X, shape=(2, 2)).node]
    assert good(product(straight(x, depth=depth), columns, nodes),
                product(across(x, depth=depth))) == time


@pytest.mark.parametrize("rows", [16, 31, 33, 48])
def test_whole_tiles_are_turned(rows):
    x = tensor("x", (rows, DEPTH))
    assert good(product(straight(x, rows)), product(across(x, rows))) == (rows % 16 == 0)


def test_what_is_no_transpose_of_it_stays():
    x, y = tensor("x", (ROWS, DEPTH)), tensor("y", (ROWS, DEPTH))
    first, second = product(straight(x)), product(across(x))
    assert good(first, second)
    assert not good(second, first)
    assert not good(first, product(across(y)))
    assert not good(first, first)
    base = Base("b")
    assert not good(product(replace(straight(x), base=base)), second)
    assert not good(first, product(replace(across(x), base=base)))
    view = across(x).view
    for other in (replace(view, offset=1), View(0, (1, DEPTH, 16), view.strides),
                  View(0, (1, 32, ROWS), view.strides), View(0, view.shape, (0, 2, DEPTH)),
                  View(0, view.shape, (0, 1, 32))):
        assert not good(first, product(Access(x, other)))
    far = replace(straight(x), view=View(0, (1, ROWS, DEPTH), (0, DEPTH * 2, 2)))
    assert not good(product(far), product(Access(x, View(0, view.shape, (0, 2, DEPTH * 2)))))
    two = Access(x, View(0, (2, ROWS, DEPTH), (0, DEPTH, 1)))
    assert not good(product(two), second)


def test_what_is_written_between_is_another_matrix():
    x = tensor("x", (ROWS, DEPTH))
    first, second = product(straight(x)), product(across(x))
    assert not good(first, Fill(whole(x), 0), second)
    assert good(first, Fill(whole(tensor("y")), 0), second)
    assert good(Fill(whole(x), 0), first, second)
    assert good(first, product(straight(tensor("y", (ROWS, DEPTH)))), second)
