"""Clusters without a product, on the golden model, bit for bit as NumPy evaluates their code."""

import numpy as np
import pytest
from coding import COLUMN, FULL, ROW, SCALAR, Coding
from moving import CORE, NANO, SMALL

from celosia.arch.isa import Mem
from celosia.arch.vector import Post, Reduce, ReduceOp, VectorOp
from celosia.compiler.emit.map import emit_map
from celosia.compiler.errors import CompileError
from celosia.compiler.kernels.terms import lane_index, row_index
from celosia.compiler.lowered import OnChip, Region
from celosia.compiler.views import View

SPACES = [(10,), (5, 10), (3, 4, 16), (70, 17), (40, 40), (2, 3, 5, 33), (200, 1), (1, 1)]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_broadcasts_of_every_extent(space):
    c = Coding(CORE, space)
    x, y = c.read(FULL), c.read(FULL)
    column, row, scalar = c.read(COLUMN), c.read(ROW), c.read(SCALAR)
    a = c.step(VectorOp.FMUL, x, row)
    b = c.step(VectorOp.FADD, a, column)
    d = c.step(VectorOp.FFMA, b, scalar, row)
    e = c.step(VectorOp.FSUB, d, y, post=Post.RELU_F)
    f = c.step(VectorOp.FMUL, column, scalar)
    g = c.step(VectorOp.FADD, row, scalar)
    for tile in (e, b, f, g):
        c.write(tile)
    c.write(c.step(VectorOp.FMUL, scalar, scalar))
    c.check()


@pytest.mark.parametrize("space", SPACES, ids=str)
@pytest.mark.parametrize("op", [ReduceOp.SUM_F, ReduceOp.MAX_F, ReduceOp.MIN_I])
def test_joins_of_lanes(space, op):
    c = Coding(CORE, space)
    x, row = c.read(FULL), c.read(ROW)
    largest = c.step(VectorOp.MOV, x, reduce=Reduce.LANES, reduce_op=op)
    less = c.step(VectorOp.FSUB, x, largest)
    c.write(less)
    c.write(c.step(VectorOp.FMUL, less, row, reduce=Reduce.LANES, reduce_op=op))
    c.write(largest)
    c.write(c.step(VectorOp.MOV, row, reduce=Reduce.LANES, reduce_op=op))
    c.check()


@pytest.mark.parametrize("space", [(7, 10), (40, 40), (3, 70, 17), (300, 64)], ids=str)
def test_indexes(space):
    c = Coding(CORE, space)
    x = c.read(FULL, "i32")
    a = c.step(VectorOp.IADD, x, lane_index(3))
    b = c.step(VectorOp.IADD, a, row_index(5))
    d = c.step(VectorOp.ILT, row_index(0), lane_index(0))
    c.write(c.step(VectorOp.SELECT, d, a, c.step(VectorOp.MOV, lane_index(9))))
    c.write(b)
    c.write(c.step(VectorOp.SHL, row_index(1), 2))
    c.write(c.step(VectorOp.IADD, x, lane_index(7), reduce=Reduce.LANES,
                   reduce_op=ReduceOp.MAX_I))
    c.check()


@pytest.mark.parametrize(("space", "kept"), [
    ((6, 10), 0), ((300, 40), 0), ((4, 8, 40), 1), ((4, 300, 17), 1), ((2, 3, 4, 5, 16), 2),
    ((512, 8, 64), 1), ((512, 8, 64), 2), ((3, 700, 64), 1), ((16, 40), 1), ((1, 1), 0),
    ((40, 300, 1), 1)], ids=str)
def test_joins_of_rows(space, kept):
    c = Coding(CORE, space, kept)
    x, y, column, row = c.read(FULL), c.read(FULL), c.read(COLUMN), c.read(ROW)
    c.write(x, FULL, join=ReduceOp.SUM_F)
    c.write(c.step(VectorOp.FMUL, x, y), FULL, join=ReduceOp.SUM_F)
    a = c.step(VectorOp.FFMA, x, row, column)
    c.write(a, FULL, join=ReduceOp.MAX_F)
    c.write(c.step(VectorOp.FADD, a, row), FULL, join=ReduceOp.MIN_F)
    c.write(a)
    c.check(pipelined=space[0] < 300)


@pytest.mark.parametrize(("space", "kept"), [((6, 10), 0), ((4, 300, 40), 1), ((512, 8, 33), 1)],
                         ids=str)
def test_joins_of_lanes_and_rows(space, kept):
    c = Coding(CORE, space, kept)
    x = c.read(FULL)
    a = c.step(VectorOp.FABS, x, reduce=Reduce.LANES, reduce_op=ReduceOp.SUM_F)
    c.write(a, COLUMN, join=ReduceOp.SUM_F)
    b = c.step(VectorOp.IADD, x, lane_index(0), extent=FULL)
    c.write(b, FULL, join=ReduceOp.SUM_I)
    c.write(c.step(VectorOp.MOV, row_index(0)), COLUMN, join=ReduceOp.MAX_I)
    c.check()


@pytest.mark.parametrize("config", [CORE, SMALL, NANO], ids=lambda config: config.name)
@pytest.mark.parametrize("dtype", ["f32", "bf16", "i8"])
@pytest.mark.parametrize("space", [(1,), (10,), (1000,), (3, 5, 7), (100, 16), (4000,)], ids=str)
def test_dense_tensors_are_one_row(config, dtype, space):
    if dtype == "bf16" and not config.bf16:
        pytest.skip("no bf16")
    c = Coding(config, space)
    x, y, scalar = c.read(FULL, dtype), c.read(FULL, dtype), c.read(SCALAR, dtype)
    a = c.step(VectorOp.IADD, x, 1) if dtype == "i8" else c.step(VectorOp.MOV, x)
    b = c.step(VectorOp.XOR, a, scalar)
    c.write(c.step(VectorOp.SELECT, b, a, y) if dtype == "i8" else a, dtype=dtype)
    c.write(c.step(VectorOp.ILT, b, y))
    c.write(y, dtype=dtype)
    emitted = c.check()
    ops = [op for block in emitted.blocks for stage in block.stages for op in stage]
    assert all(op.words[2] & 0xFFFF == 1 for op in ops if op.mnemonic in ("load", "store"))


@pytest.mark.parametrize("dtype", ["bf16", "i8"])
def test_short_elements_of_every_extent(dtype):
    c = Coding(CORE, (5, 6, 40))
    x, column, row = c.read(FULL, dtype), c.read(COLUMN, dtype), c.read(ROW, dtype)
    scalar = c.read(SCALAR, dtype)
    a = c.step(VectorOp.IADD if dtype == "i8" else VectorOp.FADD, x, column)
    b = c.step(VectorOp.IMUL if dtype == "i8" else VectorOp.FMUL, a, row)
    c.write(b, dtype=dtype)
    c.write(c.step(VectorOp.IMAX if dtype == "i8" else VectorOp.FMAX, column, scalar), dtype=dtype)
    c.write(c.step(VectorOp.ILT, x, row), dtype="i8")
    c.write(row, dtype=dtype)
    c.check()


@pytest.mark.parametrize("config", [NANO, SMALL], ids=lambda config: config.name)
def test_integers_on_small_chips(config):
    c = Coding(config, (3, 50, 10), 1)
    x, column, row = c.read(FULL, "i32"), c.read(COLUMN, "i32"), c.read(ROW, "i8")
    a = c.step(VectorOp.IMUL, x, column)
    b = c.step(VectorOp.IADD, a, row)
    d = c.step(VectorOp.SAR, b, 24)
    c.write(d, dtype="i8")
    c.write(c.step(VectorOp.ISUB, d, row, reduce=Reduce.LANES, reduce_op=ReduceOp.MIN_I))
    c.write(c.step(VectorOp.IADD, b, x), FULL, join=ReduceOp.SUM_I)
    c.check()


def test_views_of_three_row_dimensions():
    c = Coding(CORE, (3, 4, 5, 20))
    # A transposed tensor, one that repeats, one backwards, every second row, a slice of lanes.
    a = c.read(FULL, whole=(5, 3, 4, 20), view=View(0, (3, 4, 5, 20), (80, 20, 240, 1)))
    b = c.read(FULL, whole=(4, 20), view=View(0, (3, 4, 5, 20), (0, 20, 0, 1)))
    d = c.read(FULL, whole=(3, 4, 5, 20),
               view=View.contiguous((3, 4, 5, 20)).reverse([0, 2]))
    e = c.read(FULL, whole=(3, 8, 5, 32), view=View(37, (3, 4, 5, 20), (1280, 320, 32, 1)))
    f = c.read(COLUMN, whole=(5, 4, 3), view=View(0, (3, 4, 5), (1, 3, 12)))
    g = c.read(COLUMN, whole=(60, 9), view=View(4, (3, 4, 5), (180, 45, 9)))
    total = c.step(VectorOp.FADD, a, b)
    for tile in (d, e, f, g):
        total = c.step(VectorOp.FADD, total, tile)
    c.write(total, whole=(4, 3, 5, 24), view=View(2, (3, 4, 5, 20), (120, 360, 24, 1)))
    c.write(f, whole=(3, 5, 4), view=View(0, (3, 4, 5), (20, 1, 4)))
    c.check()


@pytest.mark.parametrize("columns", [16, 32, 40, 1])
def test_tensors_in_the_accumulators(columns):
    c = Coding(CORE, (50, columns))
    x = c.read(FULL, home=OnChip(Mem.ACC, 0))
    column = c.read(COLUMN, whole=(50, 1), view=View(0, (50,), (1,)), home=OnChip(Mem.ACC, 200))
    row = c.read(ROW, home=OnChip(Mem.ACC, 300))
    scalar = c.read(SCALAR, home=OnChip(Mem.ACC, 310))
    y = c.read(FULL)
    a = c.step(VectorOp.FADD, x, column)
    b = c.step(VectorOp.FFMA, y, row, scalar)
    d = c.step(VectorOp.FADD, a, b)
    c.write(d, home=OnChip(Mem.ACC, 400))
    c.write(c.step(VectorOp.FMUL, d, scalar))
    c.write(x)
    c.write(y, home=OnChip(Mem.ACC, 600))
    c.write(c.step(VectorOp.FADD, column, scalar), whole=(50, 1), view=View(0, (50,), (1,)),
            home=OnChip(Mem.ACC, 800))
    c.write(row, home=OnChip(Mem.ACC, 900))
    c.write(c.step(VectorOp.FADD, row, row), home=OnChip(Mem.ACC, 910))
    c.check(Region(range(0), range(1000, 1600)))


@pytest.mark.parametrize("home", [None, OnChip(Mem.ACC, 0)], ids=["external", "chip"])
@pytest.mark.parametrize("space", [(1,), (3, 20), (300, 10), (4, 50, 40), (7, 1)], ids=str)
@pytest.mark.parametrize("late", [False, True])
def test_tensors_that_are_written_where_they_were_read(space, home, late):
    c = Coding(CORE, space)
    x, y = c.read(FULL, home=home), c.read(FULL)
    a = c.step(VectorOp.FADD, c.step(VectorOp.FMUL, x, 3.0), x)
    c.write(a, tensor=c.reads[0].access.tensor)
    c.write(c.step(VectorOp.FSUB, x if late else a, y))
    c.check(Region(range(0), range(800, 2048)))


def test_one_lane_is_the_same_in_all():
    c = Coding(CORE, (30, 1))
    a = c.step(VectorOp.IADD, c.read(FULL, "i32"), lane_index(5))
    c.write(a, home=OnChip(Mem.ACC, 0))
    c.check(Region(range(0), range(100, 2048)))


def test_lanes_beyond_the_last_column_are_zero_in_the_unified_buffer():
    c = Coding(CORE, (50, 40))
    x = c.read(FULL)
    a = c.step(VectorOp.FADD, x, 1.0)
    c.write(a, dtype="bf16", home=OnChip(Mem.UB, 0))
    row = c.step(VectorOp.FADD, c.read(ROW), 1.0)
    c.write(row, dtype="bf16", home=OnChip(Mem.UB, 200))
    c.write(c.step(VectorOp.FADD, a, row))
    c.check()


def test_rounding_in_the_unified_buffer_is_seen_by_nobody_else():
    c = Coding(CORE, (50, 32))
    a = c.step(VectorOp.FMUL, c.read(FULL), 1.001)
    c.write(a, dtype="bf16", home=OnChip(Mem.UB, 0))
    c.write(c.step(VectorOp.FSUB, a, 0.5))
    c.check()


def test_values_of_one_row_stay_until_the_last_block():
    c = Coding(CORE, (300, 40))
    row, scalar = c.read(ROW), c.read(SCALAR)
    first_row = c.step(VectorOp.FADD, row, scalar)
    second = c.step(VectorOp.FMUL, c.step(VectorOp.FMUL, first_row, 3.0), row)
    third = c.step(VectorOp.FADD, c.step(VectorOp.FSUB, second, row), scalar)
    total = c.read(FULL)
    for tile in (first_row, second, third):
        total = c.step(VectorOp.FADD, total, tile)
    c.write(total)
    c.check()


@pytest.mark.parametrize(("steps", "times"), [(1, 2), (6, 1)])
def test_work_on_columns_alone_is_not_done_again_for_other_lanes(steps, times):
    """Where it is most of the work: else blocks of tall panels take fewer instructions."""
    c = Coding(CORE, (512, 256))
    column, x = c.read(COLUMN, "i32"), c.read(FULL, "i32")
    for _ in range(steps):
        column = c.step(VectorOp.IADD, column, column)
    c.write(c.step(VectorOp.IADD, x, column))
    emitted = c.check(pipelined=False)
    loads = [op for block in emitted.blocks for op in block.stages[0]
             if op.words[2] >> 16 == 1]  # of one column
    rows = sum(op.words[2] & 0xFFFF for op in loads)
    assert rows == times * 512


@pytest.mark.parametrize("lanes", [3, 9])
def test_groups_of_rows_that_are_larger_than_a_block(lanes):
    c = Coding(SMALL, (40, 50, lanes), 1)
    x = c.read(FULL, "i32")
    c.write(x, join=ReduceOp.SUM_I)
    c.write(c.step(VectorOp.MOV, x, reduce=Reduce.LANES, reduce_op=ReduceOp.MIN_I),
            join=ReduceOp.SUM_I)
    emitted = c.check(Region(range(0), range(100)))
    stores = [op for block in emitted.blocks for op in block.stages[1] if op.mnemonic == "store"]
    assert len(stores) == 2 * 40


def test_blocks_take_turns_in_three_places():
    c = Coding(CORE, (9000,))
    c.write(c.step(VectorOp.FADD, c.read(FULL), 1.0))
    emitted = c.check()
    rows = [block.stages[0][0].words[0] for block in emitted.blocks]
    assert len(set(rows)) == 3
    assert rows[3:] == rows[:-3]


@pytest.mark.parametrize("dtype", ["bf16", "i8"])
@pytest.mark.parametrize("columns", [16, 40, 1])
def test_tensors_in_the_unified_buffer(columns, dtype):
    c = Coding(CORE, (50, columns))
    x = c.read(FULL, dtype, home=OnChip(Mem.UB, 0))
    y = c.read(FULL, dtype)
    row = c.read(ROW, dtype, home=OnChip(Mem.UB, 300))
    add = VectorOp.FADD if dtype == "bf16" else VectorOp.IADD
    a = c.step(add, x, y)
    b = c.step(add, a, row)
    c.write(a, dtype=dtype, home=OnChip(Mem.UB, 400))
    c.write(b, dtype=dtype, home=OnChip(Mem.UB, 600))
    c.write(y, dtype=dtype, home=OnChip(Mem.UB, 800))
    c.write(x, dtype=dtype)
    c.write(c.step(add, row, row), dtype=dtype, home=OnChip(Mem.UB, 1000))
    c.check()


def test_joins_are_written_on_chip():
    c = Coding(CORE, (5, 30, 40), 1)
    x = c.read(FULL)
    c.write(x, FULL, join=ReduceOp.SUM_F, home=OnChip(Mem.ACC, 1000))
    c.write(c.step(VectorOp.MOV, x, reduce=Reduce.LANES, reduce_op=ReduceOp.MAX_F), COLUMN,
            join=ReduceOp.MAX_F, whole=(5, 1), view=View(0, (5,), (1,)),
            home=OnChip(Mem.ACC, 1100))
    c.check(Region(range(0), range(1000)))


def test_many_temporaries_in_a_small_region():
    c = Coding(CORE, (37, 70))
    x, row = c.read(FULL), c.read(ROW)
    tiles = [c.step(VectorOp.FADD, x, float(i)) for i in range(6)]
    total = c.step(VectorOp.FMUL, x, row)
    for tile in tiles:
        total = c.step(VectorOp.FMAX, total, tile)
    c.write(total)
    c.check(Region(range(0), range(100, 190)))


def test_no_elements():
    c = Coding(CORE, (0, 16))
    c.write(c.read(FULL))
    emitted = emit_map(CORE, c.cluster, c.code, Region(range(0), range(64)))
    assert (emitted.before, emitted.blocks, emitted.after) == ([], [], [])


def test_scalar_chain_of_no_dimensions():
    c = Coding(CORE, ())
    x, y = c.read(FULL), c.read(SCALAR)
    c.write(c.step(VectorOp.FADD, c.step(VectorOp.FMUL, x, 3.0), y))
    emitted = c.check()
    assert len(emitted.blocks) == 1


def test_what_does_not_fit_is_refused():
    c = Coding(CORE, (8, 640))
    x = c.read(FULL)
    a = c.step(VectorOp.MOV, x, reduce=Reduce.LANES, reduce_op=ReduceOp.MAX_F)
    c.write(c.step(VectorOp.FSUB, x, a))
    with pytest.raises(CompileError, match=r"^test: a whole row of \[8, 640\] must fit 30 "
                                           r"accumulator rows, not take \d+$"):
        emit_map(CORE, c.cluster, c.code, Region(range(0), range(30)))


def test_values_that_lie_askew_on_chip_are_refused():
    c = Coding(CORE, (8, 16))
    c.write(c.read(FULL, whole=(8, 32), view=View(3, (8, 16), (32, 1)), home=OnChip(Mem.ACC, 0)))
    with pytest.raises(CompileError, match=r"^test: rows of in0 on chip must be whole rows and "
                                           r"begin with a panel, not have strides \[32, 1\] from "
                                           r"element 3 on of \[8, 32\]$"):
        emit_map(CORE, c.cluster, c.code, Region(range(0), range(100, 200)))


def test_tensors_on_chip_that_repeat():
    c = Coding(CORE, (3, 4, 5, 20))
    x = c.read(FULL)
    y = c.read(FULL, whole=(4, 20), view=View(0, (3, 4, 5, 20), (0, 20, 0, 1)),
               home=OnChip(Mem.ACC, 0))
    z = c.read(FULL, "bf16", whole=(5, 3, 4, 20), view=View(0, (3, 4, 5, 20), (80, 20, 240, 1)),
               home=OnChip(Mem.UB, 0))
    w = c.read(COLUMN, whole=(15, 1), view=View(0, (3, 4, 5), (5, 0, 1)), home=OnChip(Mem.ACC, 20))
    a = c.step(VectorOp.FADD, c.step(VectorOp.FADD, c.step(VectorOp.FADD, x, y), z), w)
    c.write(a)
    c.write(a, whole=(5, 3, 4, 20), view=View(0, (3, 4, 5, 20), (80, 20, 240, 1)),
            home=OnChip(Mem.ACC, 100))
    c.check(Region(range(0), range(300, 2000)))


@pytest.mark.parametrize("columns", [6000, 40000])
def test_rows_that_are_wider_than_the_chip(columns):
    c = Coding(CORE, (3, columns), 0)
    x, row, column = c.read(FULL, "i8"), c.read(ROW, "i8"), c.read(COLUMN, "i8")
    doubled = c.step(VectorOp.IADD, row, row)
    a = c.step(VectorOp.IADD, c.step(VectorOp.IMUL, x, doubled), column)
    c.write(c.step(VectorOp.IADD, a, lane_index(4)))
    c.write(a, join=ReduceOp.SUM_I)
    c.write(doubled)
    c.write(c.step(VectorOp.IADD, column, column))
    c.check()


def test_joins_of_what_is_the_same_in_all_rows():
    c = Coding(CORE, (4, 50, 40), 1)
    row, column, scalar = c.read(ROW), c.read(COLUMN), c.read(SCALAR)
    for tile in (row, column, scalar, c.step(VectorOp.FADD, row, scalar)):
        c.write(tile, FULL, join=ReduceOp.SUM_F)
        c.write(tile, FULL)
    c.check()


OPS = [VectorOp.IADD, VectorOp.ISUB, VectorOp.IMAX, VectorOp.XOR, VectorOp.ILT, VectorOp.SELECT]


@pytest.mark.parametrize("seed", range(30))
def test_random_code(seed):
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, 5))
    space = tuple(int(n) for n in rng.integers(1, 12, rank - 1)) + (int(rng.integers(1, 50)),)
    config = [SMALL, NANO, CORE][seed % 3]
    kept = int(rng.integers(0, rank)) if rank > 1 else 0
    c = Coding(config, space, kept, seed)
    tiles = [c.read(extent, "i32") for extent in (FULL, FULL, COLUMN, ROW, SCALAR)]
    wide = (FULL, COLUMN)
    for _ in range(int(rng.integers(1, 15))):
        op = OPS[int(rng.integers(len(OPS)))]
        count = 3 if op == VectorOp.SELECT else 2
        operands = [*tiles, lane_index(2), row_index(1), 77]
        taken = [operands[int(i)] for i in rng.integers(0, len(operands), count)]
        full = sum(tile.extent in wide for tile in taken if tile in c.values)
        if full > 2 or not any(hasattr(tile, "number") for tile in taken):
            continue
        reduce = Reduce.LANES if rng.random() < 0.2 else Reduce.NONE
        extents = [tile.extent for tile in taken if tile in c.values]
        if reduce and not {FULL, ROW} & set(extents):
            continue
        tiles.append(c.step(op, *taken, reduce=reduce, reduce_op=ReduceOp.MAX_I))
    for tile in [tiles[-1], *(tiles[int(i)] for i in rng.integers(0, len(tiles), 3))]:
        c.write(tile)
        if tile.extent in wide:
            c.write(tile, join=ReduceOp.SUM_I)
    c.check()
