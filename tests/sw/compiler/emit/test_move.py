"""Copies between views, on the golden model, compared bit for bit."""

import numpy as np
import pytest
from moving import CORE, NANO, SMALL, Memory, everything, whole

from celosia.compiler.codegen.nodes import Base
from celosia.compiler.emit.move import emit_move
from celosia.compiler.errors import CompileError
from celosia.compiler.lowered import Access, Move, Region
from celosia.compiler.views import View


def moved(config, src, dst, memory, region=None):
    """Move, check everything, return the cycles."""
    wanted, _ = memory.seen(src)
    _, places = memory.seen(dst)
    size = dst.tensor.element_bytes
    emitted = emit_move(config, Move(src, dst, "move"), region or everything(config))
    after, _, _ = memory.run(emitted)
    overlapped, _, cycles = memory.run(emitted, scheduled=True)
    assert overlapped == after
    expected = np.frombuffer(bytes(memory.data) + bytes(64), np.uint8).copy()
    expected[places[..., np.newaxis] + np.arange(size)] = (
        np.ascontiguousarray(wanted).view(np.uint8).reshape(*wanted.shape, size))
    np.testing.assert_array_equal(np.frombuffer(after, np.uint8), expected[:len(after)])
    return cycles, emitted


def random_view(rng, shape, gaps):
    """A view of a shape with its dimensions in any order, and how many elements it spans."""
    strides = [0] * len(shape)
    step = 1
    for dim in rng.permutation(len(shape)):
        step *= int(rng.integers(1, 4)) if gaps and rng.random() < 0.4 else 1
        strides[dim] = step
        step *= shape[dim]
    return View(0, tuple(shape), tuple(strides)), step


@pytest.mark.parametrize("config", [SMALL, NANO], ids=lambda config: config.name)
@pytest.mark.parametrize("dtype", ["f32", "bf16", "i8"])
@pytest.mark.parametrize("seed", range(12))
def test_random_views(config, dtype, seed):
    if dtype == "bf16" and not config.bf16:
        pytest.skip("no bf16")
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(0, 5))
    shape = [int(n) for n in rng.integers(1, [64, 64, 32, 12, 6][rank], rank)]
    (src, size), (dst, to) = (random_view(rng, shape, gaps=True) for _ in range(2))
    src = src.reverse([dim for dim in range(rank) if rng.random() < 0.2])
    dst = dst.reverse([dim for dim in range(rank) if rng.random() < 0.2])
    src = View(src.offset, src.shape,
               tuple(0 if rng.random() < 0.1 and s > 0 else s for s in src.strides))
    memory = Memory(config, seed)
    values = rng.integers(0, 0x7F00, size).astype(np.uint16) if dtype == "bf16" else None
    if dtype == "bf16":
        values[values < 0x80] += 0x80
    a = memory.tensor("a", (size,), dtype, values=values, shift=4 * int(rng.integers(2)))
    b = memory.tensor("b", (to,), dtype)
    moved(config, Access(a, src), Access(b, dst), memory)


VIEWS = {
    "transposed": ((37, 50), lambda view: view.transpose((1, 0))),
    "pairs": ((36, 50), lambda view: view.transpose((1, 0))),
    "images": ((2, 5, 6, 9), lambda view: view.transpose((0, 3, 1, 2))),
    "backwards": ((10, 33), lambda view: view.reverse((1,))),
    "all backwards": ((150,), lambda view: view.reverse((0,))),
    "rows backwards": ((50, 3), lambda view: view.reverse((0,))),
    "every second": ((9, 70), lambda view: view.slice((0, 1), (9, 70), (1, 2))),
    "every third of one": ((250,), lambda view: view.slice((1,), (250,), (3,))),
    "every third, even": ((9, 96), lambda view: view.slice((0, 0), (9, 96), (1, 3))),
    "every 40th": ((5, 200), lambda view: view.slice((0, 3), (5, 200), (1, 40))),
    "backwards by two": ((6, 41), lambda view: view.reverse((1,)).slice((0, 0), (6, 41), (1, 2))),
    "columns": ((23,), lambda view: view.broadcast((23, 12), (0,))),
    "rows": ((23,), lambda view: view.broadcast((12, 23), (1,))),
    "one": ((1,), lambda view: view.broadcast((3, 50), (0,))),
    "scalar": ((), lambda view: view),
    "long": ((3000,), lambda view: view),
    "nothing": ((4, 0), lambda view: view.transpose((1, 0))),
}


@pytest.mark.parametrize("config", [SMALL, NANO], ids=lambda config: config.name)
@pytest.mark.parametrize("dtype", ["f32", "bf16", "i8"])
@pytest.mark.parametrize("name", VIEWS)
def test_views(config, dtype, name):
    if dtype == "bf16" and not config.bf16:
        pytest.skip("no bf16")
    shape, change = VIEWS[name]
    memory = Memory(config)
    rng = np.random.default_rng(0)
    values = rng.integers(0x80, 0x7F00, shape).astype(np.uint16) if dtype == "bf16" else None
    a = memory.tensor("a", shape, dtype, values=values)
    view = change(View.contiguous(shape))
    b = memory.tensor("b", view.shape, dtype)
    moved(config, Access(a, view), whole(b), memory)
    region = Region(range(11, 100), range(7, 180))
    moved(config, Access(a, view), whole(b), memory, region)


@pytest.mark.parametrize(("shape", "change"), [
    ((32, 18), lambda view: view), ((32, 17), lambda view: view),
    ((32, 18), lambda view: view.transpose((1, 0))),
    ((5, 64), lambda view: view.slice((0, 0), (5, 64), (1, 2))),
    ((5, 64), lambda view: view.reverse((1,))),
    ((40,), lambda view: view.broadcast((40, 6), (0,))),
    ((9, 65), lambda view: view.slice((0, 0), (9, 65), (1, 64)))])
def test_all_bits_of_bf16_survive(shape, change):
    memory = Memory(SMALL)
    values = np.random.default_rng(1).integers(0, 1 << 16, shape).astype(np.uint16)
    values.reshape(-1)[::3] &= 0x807F  # subnormal
    values.reshape(-1)[::5] |= 0x7F80  # infinite or a NaN
    a = memory.tensor("a", shape, "bf16", values=values)
    view = change(View.contiguous(shape))
    b = memory.tensor("b", view.shape, "bf16")
    moved(SMALL, Access(a, view), whole(b), memory)


@pytest.mark.parametrize(("dtype", "shape", "change", "most"), [
    ("f32", (512, 64), lambda view: view, 1.05), ("bf16", (512, 64), lambda view: view, 1.1),
    ("i8", (512, 256), lambda view: view, 1.05),
    ("f32", (256, 128), lambda view: view.transpose((1, 0)), 1.2),
    ("f32", (64, 16, 16), lambda view: view.transpose((0, 2, 1)), 1.2),
    ("bf16", (256, 128), lambda view: view.transpose((1, 0)), 2.0),
    ("f32", (8, 32, 4, 64), lambda view: view.transpose((0, 2, 1, 3)), 1.1),
    ("f32", (1, 64), lambda view: view.broadcast((512, 64), (0, 1)), 1.01)])
def test_the_bus_is_busy(dtype, shape, change, most):
    memory = Memory(CORE)
    a = memory.tensor("a", shape, dtype)
    view = change(View.contiguous(shape))
    b = memory.tensor("b", view.shape, dtype)
    memory.write(a, np.random.default_rng(0).integers(0x80, 0x7F00, a.nbytes // 2).astype(
        np.uint16).view(np.uint8).view({"f32": np.uint32, "bf16": np.uint16, "i8": np.uint8}[
            dtype]))
    cycles, _ = moved(CORE, Access(a, view), whole(b), memory)
    assert cycles < most * b.nbytes / CORE.bus_bytes + 200  # the latency of memory, twice


def test_bases_go_into_all_operations():
    memory = Memory(SMALL)
    a, b = memory.tensor("a", (20, 8), "i8"), memory.tensor("b", (4, 8), "i8")
    base = Base("start")
    src = Access(a, View(0, (4, 8), (8, 1)), base)
    emitted = emit_move(SMALL, Move(src, whole(b)), everything(SMALL))
    ops = [op for block in emitted.blocks for stage in block.stages for op in stage]
    first = a.home.offset
    assert {(op.mnemonic, op.base, op.reach) for op in ops} == {
        ("load", base, (first, first + 159)), ("store", None, None)}
    # The base may be any number of bytes, so nothing is taken for words.
    assert all(op.command.fields["fmt"] == a.format for op in ops)
    emitted = emit_move(SMALL, Move(whole(b), src), everything(SMALL))
    assert [(op.mnemonic, op.base) for op in emitted.blocks[0].stages[-1]] == [("store", base)]


def test_a_move_to_itself_is_nothing():
    memory = Memory(SMALL)
    a = memory.tensor("a", (20, 8))
    emitted = emit_move(SMALL, Move(whole(a), whole(a)), everything(SMALL))
    assert (emitted.before, emitted.blocks, emitted.after) == ([], [], [])


def test_rows_that_are_needed_are_named():
    memory = Memory(SMALL)
    a, b = memory.tensor("a", (20, 8)), memory.tensor("b", (8, 20))
    src = Access(a, View.contiguous((20, 8)).transpose((1, 0)))
    with pytest.raises(CompileError, match="^transpose at x.py:3 must have 18 rows of accumulators "
                                           "at least, not 9$"):
        emit_move(SMALL, Move(src, whole(b), "transpose at x.py:3"), Region(range(0), range(9)))
