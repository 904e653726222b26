"""Tensors on chip: where elements are, and which views the units reach."""

import itertools
import random

import pytest
from moving import CORE

from celosia.arch.isa import DmaFormat, Mem
from celosia.compiler.codegen.nodes import Base
from celosia.compiler.errors import CompileError
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.layout import Layout, along_lanes, has_one_stride, operand_home
from celosia.compiler.lowered import Access, External, OnChip, Tensor, rows_of
from celosia.compiler.views import View
from celosia.graph import DType

FULL, COLUMN, ROW, SCALAR = Extent.FULL, Extent.ROWS, Extent.LANES, Extent.SCALAR


def tensor(*shape: int) -> Tensor:
    return Tensor("x", shape, DType.BF16, DmaFormat.BF16, OnChip(Mem.UB, 100))


def test_a_tensor_is_a_matrix_in_panels():
    layout = Layout.of(tensor(2, 5, 40), 16)
    assert (layout.rows, layout.columns, layout.size) == (10, 40, 30)
    assert layout.find(0) == (0, 0)
    assert layout.find(7 * 40 + 37) == (2 * 10 + 7, 5)
    assert layout.steps((200, 40)) == (5, 1)
    assert Layout.of(tensor(), 16).size == 1


@pytest.mark.parametrize("seed", range(300))
def test_what_is_reached_lies_in_whole_rows_from_a_panel_on(seed):
    rng = random.Random(seed)
    columns = rng.choice([1, 4, 7, 8, 12])
    layout = Layout.of(tensor(6, columns), 4)
    extent = rng.choice([FULL, COLUMN, ROW])
    shape = [rng.randrange(1, 4) for _ in range(2 * (Extent.ROWS in extent))]
    strides = [rng.choice([0, 1, columns, 2 * columns]) for _ in shape]
    if Extent.LANES in extent:
        shape.append(rng.choice([1, 4, columns]))
        strides.append(rng.choice([1, 1, 2]))
    view = View(rng.choice([0, 4, 5, columns, columns + 4]), tuple(shape), tuple(strides))
    if not layout.reaches(Access(tensor(6, columns), view), extent):
        return
    rows = rows_of(view, extent)
    start, lane = layout.find(view.offset)
    assert lane == 0 or Extent.LANES not in extent or shape[-1] == 1
    for index in itertools.product(*map(range, rows.shape)):
        element = view.offset + sum(i * s for i, s in zip(index, rows.strides, strict=True))
        at = start + sum(i * s for i, s in zip(index, layout.steps(rows.strides), strict=True))
        assert layout.find(element) == (at, lane)
        for j in range(view.shape[-1] if Extent.LANES in extent else 0):
            assert layout.find(element + j * view.strides[-1]) == (
                at + (lane + j) // 4 * layout.rows, (lane + j) % 4)


@pytest.mark.parametrize(("view", "extent", "reached"), [
    (View(0, (6, 8), (8, 1)), FULL, True),
    (View(4, (6, 4), (8, 1)), FULL, True),
    (View(3, (6, 4), (8, 1)), FULL, False),
    (View(4, (6, 8), (8, 1)), FULL, False),  # into the next row
    (View(0, (6, 4), (8, 2)), FULL, False),
    (View(0, (12, 4), (4, 1)), FULL, False),  # half rows
    (View(3, (6,), (8,)), COLUMN, True),
    (View(0, (6,), (4,)), COLUMN, False),
    (View(8, (8,), (1,)), ROW, True),
    (View(11, (), ()), SCALAR, True)], ids=str)
def test_what_is_reached(view, extent, reached):
    access = Access(tensor(6, 8), view)
    assert Layout.of(access.tensor, 4).reaches(access, extent) is reached
    assert not Layout.of(access.tensor, 4).reaches(Access(access.tensor, view, Base("b")), extent)


def test_rows_of_one_stride():
    assert has_one_stride(View(0, (4, 5, 8), (40, 8, 1)), FULL)
    assert not has_one_stride(View(0, (4, 5, 8), (48, 8, 1)), FULL)
    assert not has_one_stride(View(0, (4, 5), (48, 8)), COLUMN)
    assert has_one_stride(View(0, (8,), (1,)), ROW)


@pytest.mark.parametrize(("shape", "strides", "found"), [
    ((1, 5, 8), (40, 8, 1), True), ((1, 5, 8), (40, 1, 5), False), ((1, 5, 8), (80, 16, 2), None),
    ((1, 5, 1), (5, 1, 1), False), ((1, 5, 1), (40, 8, 3), True), ((1, 1, 1), (1, 1, 1), True)])
def test_the_dimension_along_lanes(shape, strides, found):
    assert along_lanes(View(0, shape, strides)) is found


def test_operands_on_chip():
    x = tensor(10, 32)
    view = View(0, (1, 10, 32), (320, 32, 1))
    assert operand_home(Access(x, view), 16, right=True, source="test") == (
        100, Layout(10, 32, 16))
    apart = View(0, (1, 5, 32), (320, 64, 1))
    assert operand_home(Access(x, apart), 16, right=False, source="test")
    for bad in (View(0, (1, 32, 10), (320, 1, 32)), View(8, (1, 10, 16), (320, 32, 1))):
        with pytest.raises(CompileError, match=r"^test: the left operand on chip must be whole "
                                               r"rows of the unified buffer, from a multiple of 16 "
                                               r"lanes on and not transposed, not View\("):
            operand_home(Access(x, bad), 16, right=False, source="test")
    with pytest.raises(CompileError, match="^test: the right operand on chip must be whole rows "
                                           "of the unified buffer in order, from "):
        operand_home(Access(x, apart), 16, right=True, source="test")
    x.home = OnChip(Mem.ACC, 0)
    with pytest.raises(CompileError, match="^test: the left operand on chip"):
        operand_home(Access(x, view), 16, right=False, source="test")
    x.home = External(0)
    assert operand_home(Access(x, view), CORE.dim, right=True, source="test") is None
