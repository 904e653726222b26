"""Boxes of elements, and their loads and stores."""

import itertools
import random

import pytest

from celosia.arch.config import COUNT_MAX
from celosia.arch.isa import DmaFormat, Mem
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.nodes import Base
from celosia.compiler.emit.boxes import Box
from celosia.compiler.lowered import Access, External, OnChip, Tensor
from celosia.compiler.views import View
from celosia.graph import DType

TENSOR = Tensor("x", (100, 100), DType.BF16, DmaFormat.BF16, External(640))
BASE = Base("start")


def moved(ops, dim):
    """Return the byte and on-chip row and lane of each element, as the instructions say."""
    found = []
    for op in ops:
        row, addr, count, pitch, step = op.words
        unit = DmaFormat(op.command.fields["fmt"]).nbytes
        for i, column in itertools.product(range(count & 0xFFFF), range(count >> 16)):
            found.append((addr + i * pitch + column * unit, row + i * (step & 0xFFFF)
                          + column // dim * (step >> 16), column % dim))
    return sorted(found)


@pytest.mark.parametrize("seed", range(50))
def test_transfers_move_each_element_to_its_row(seed):
    rng = random.Random(seed)
    sizes = tuple(rng.randrange(1, 5) for _ in range(rng.randrange(4)))
    strides = tuple(rng.randrange(-3, 4) * 20 for _ in sizes)
    steps = tuple(rng.randrange(30) for _ in sizes)
    cols, group = rng.randrange(1, 12), rng.randrange(100, 200)
    box = Box(DmaFormat.BF16, 1000, sizes, strides)
    ops = box.transfers(nodes.load, Mem.UB, 5, steps, cols, group, 4, "test")
    places = [(1000 + 2 * (sum(i * s for i, s in zip(index, strides, strict=True)) + c),
               5 + sum(i * s for i, s in zip(index, steps, strict=True)) + c // 4 * group, c % 4)
              for index in itertools.product(*map(range, sizes)) for c in range(cols)]
    assert moved(ops, 4) == sorted(places)


def test_one_instruction_walks_the_longest_dimension_that_goes_forward():
    box = Box(DmaFormat.W32, 0, (2, 9, 5), (1000, -20, 100))
    ops = box.transfers(nodes.store, Mem.ACC, 0, 1, 3, 0, 4, "test")
    assert len(ops) == 18
    assert {op.mnemonic for op in ops} == {"store"}
    assert {op.words[2:] for op in ops} == {(5 | 3 << 16, 400, 1)}
    [op] = Box(DmaFormat.W32, 0, (3, 4, 5), (100, 25, 5)).transfers(
        nodes.load, Mem.ACC, 7, 2, 3, 0, 4, "test")
    assert op.words == (7, 0, 60 | 3 << 16, 20, 2)


def test_rows_that_are_wider_than_an_instruction_are_cut():
    ops = Box(DmaFormat.I8, 0, (2,), (10**6,)).transfers(
        nodes.load, Mem.ACC, 0, 1, COUNT_MAX + 5, 50, 16, "test")
    most = COUNT_MAX // 16 * 16
    assert [(op.words[0], op.words[1], op.words[2] >> 16) for op in ops] == [
        (0, 0, most), (most // 16 * 50, most, COUNT_MAX + 5 - most)]


def test_a_box_of_an_access():
    view = View(300, (10, 10), (100, 1))
    box = Box.of(Access(TENSOR, view))
    assert box == Box(DmaFormat.BF16, 640 + 600, (10, 10), (100, 1))
    assert box.moved(3).addr == box.addr + 6
    assert Box.of(Access(TENSOR, view), View(2, (), ())) == Box(DmaFormat.BF16, 644, (), ())
    op = Box.of(Access(TENSOR, view, BASE)).transfer(nodes.load, Mem.UB, 0, 10, 10, 100)
    assert (op.base, op.reach) == (BASE, (640, 640 + 20000 - 1))
    with pytest.raises(AssertionError):
        Box.of(Access(Tensor("y", (4,), DType.F32, DmaFormat.W32, OnChip(Mem.ACC, 3)), view))


@pytest.mark.parametrize(("box", "words"), [
    (Box(DmaFormat.I8, 8, (3, 8), (12, 1)), ((3, 2), (3, 1))),
    (Box(DmaFormat.BF16, 4, (2, 3, 2), (0, 10, 1)), ((2, 3, 1), (0, 5, 1))),
    (Box(DmaFormat.BF16, 2, (8,), (1,)), None),
    (Box(DmaFormat.BF16, 4, (7,), (1,)), None),
    (Box(DmaFormat.BF16, 4, (8,), (2,)), None),
    (Box(DmaFormat.I8, 4, (2, 4), (6, 1)), None),
    (Box(DmaFormat.I8, 4, (), ()), None),
    (Box(DmaFormat.I8, 4, (4,), (1,), BASE, (0, 9)), None),
    (Box(DmaFormat.W32, 4, (4,), (1,)), None)])
def test_words(box, words):
    assert box.words() == (words and Box(DmaFormat.W32, box.addr, *words))
