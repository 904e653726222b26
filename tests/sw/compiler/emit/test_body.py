"""Bodies of clusters with a product, whose sums are there already."""

from dataclasses import replace

import pytest
from coding import COLUMN, FULL, ROW, SCALAR, Coding
from moving import CORE

from celosia.arch.isa import DmaFormat, Mem
from celosia.arch.vector import Post, Reduce, ReduceOp, VectorOp
from celosia.compiler.codegen.blocks import Block, BlockRun, Emitted
from celosia.compiler.codegen.nodes import load
from celosia.compiler.emit.body import Body
from celosia.compiler.emit.boxes import Box
from celosia.compiler.emit.pieces import cut
from celosia.compiler.kernels.terms import lane_index, row_index


def emitted(c, sums, limit, width, apart=False):
    """Blocks of a body, whose first stage brings the sums from a tensor.

    ``apart``: their rows are used for nothing else, and blocks share what they do not store.
    """
    read = next(read for read in c.reads if c.inputs[read.value] is sums)
    cluster = replace(c.cluster, result=read.value,
                      reads=tuple(other for other in c.reads if other is not read))
    body = Body(c.config, cluster, c.code)
    panels = -(-c.space[-1] // c.config.dim)
    assert not body.whole_rows or width >= panels
    shapes = [(count, min(width, panels - first)) for _, count in cut(c.space[:-1], limit)
              for first in range(0, panels, width)]
    area = max(body.block_rows(*shape, apart=apart) for shape in shapes)
    places = [(i * (area + limit * width), i * (area + limit * width) + area) for i in range(2)]
    once = places[-1][1] + limit * width
    shared = once + body.once_rows() if apart else None
    rows = max(body.shared_rows(*shape) for shape in shapes) if apart else 0
    assert once + body.once_rows() + rows <= c.config.acc_rows
    out = Emitted(before=body.begin(once))
    turns = [(rows, (first, min(width, panels - first)))
             for rows in cut(c.space[:-1], limit) for first in range(0, panels, width)]
    for i, (rows, part) in enumerate(turns):
        at, result = places[i % 2]
        columns = min(c.space[-1], sum(part) * c.config.dim) - part[0] * c.config.dim
        pitch = 4 * c.space[-1]
        product = load(Mem.ACC, DmaFormat.W32, result,
                       Box.of(read.access).addr + rows[0] * pitch + part[0] * 4 * c.config.dim,
                       rows[1], columns, pitch, 1, rows[1])
        loads, work = body.block(at, rows, part, result, shared)
        assert all(op.mnemonic == "load" for op in loads)
        if apart:
            assert not any(result <= op.words[0] < result + limit * width
                           for op in work if op.mnemonic == "vector")
        out.runs.append(BlockRun([Block([[product], loads, work])]))
    out.after = body.end()
    return out


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(("space", "limit", "width"), [
    ((40, 40), 16, 3), ((40, 40), 40, 1), ((3, 30, 70), 30, 2), ((3, 30, 70), 60, 2),
    ((5, 10), 5, 1), ((2, 3, 20, 16), 20, 1), ((7, 1), 7, 1)], ids=str)
def test_epilogues(space, limit, width, apart):
    c = Coding(CORE, space, 0)
    sums = c.read(FULL)
    bias, residual = c.read(ROW), c.read(FULL, "bf16")
    scale, column = c.read(SCALAR), c.read(COLUMN)
    a = c.step(VectorOp.FADD, sums, bias, post=Post.RELU_F)
    b = c.step(VectorOp.FFMA, residual, scale, a)
    c.write(b, dtype="bf16")
    c.write(c.step(VectorOp.FADD, b, column))
    c.write(b, join=ReduceOp.SUM_F)
    c.write(c.step(VectorOp.FMUL, sums, residual), join=ReduceOp.MAX_F)
    c.write(c.step(VectorOp.SELECT, c.step(VectorOp.ILT, row_index(0), lane_index(3)), a, bias))
    c.check_emitted(emitted(c, sums, limit, width, apart))


@pytest.mark.parametrize("apart", [False, True])
def test_softmax_of_a_product(apart):
    c = Coding(CORE, (3, 20, 40))
    sums = c.read(FULL)
    largest = c.step(VectorOp.MOV, sums, reduce=Reduce.LANES, reduce_op=ReduceOp.MAX_F)
    powers = c.step(VectorOp.FSUB, sums, largest, post=Post.EXP2)
    total = c.step(VectorOp.MOV, powers, reduce=Reduce.LANES, reduce_op=ReduceOp.SUM_F)
    c.write(c.step(VectorOp.FMUL, powers, c.step(VectorOp.MOV, total, post=Post.RECIP)))
    c.check_emitted(emitted(c, sums, 20, 3, apart))


def test_blocks_share_what_is_not_stored():
    """Loads and stores have a place in each block, what lies between has one for all."""
    c = Coding(CORE, (96, 64))
    sums, weights = c.read(FULL), c.read(FULL)
    half, more = c.step(VectorOp.FMUL, sums, 0.5), c.step(VectorOp.FADD, sums, 1.0)
    c.write(c.step(VectorOp.FADD, weights, c.step(VectorOp.FMUL, half, more)))
    body = Body(CORE, replace(c.cluster, result=c.reads[0].value, reads=c.reads[1:]), c.code)
    assert body.block_rows(32, 4, apart=True) == 32 * 4
    assert body.shared_rows(32, 4) == 2 * 32 * 4
    assert body.sums_share == 2 / 5
    c.check_emitted(emitted(c, sums, 32, 4, apart=True))


def test_sums_are_written_as_they_are_and_their_rows_used_again():
    c = Coding(CORE, (64, 64))
    sums = c.read(FULL)
    c.write(c.step(VectorOp.FMUL, c.step(VectorOp.FADD, sums, 1.0), 2.0))
    body = Body(CORE, replace(c.cluster, result=c.reads[0].value, reads=()), c.code)
    assert body.block_rows(64, 4) == 0
    c.check_emitted(emitted(c, sums, 64, 4))
    c = Coding(CORE, (64, 64))
    sums = c.read(FULL)
    c.write(sums)
    c.check_emitted(emitted(c, sums, 32, 2))
