"""The vector unit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.arch import numerics
from celosia.arch.commands import DST_MEM, SRC_MEM, Vector, VectorOperand
from celosia.arch.isa import Mem
from celosia.arch.numerics import U32
from celosia.arch.vector import INDEXED_OPS, INT8_SRCS, Dst, Reduce, Src
from celosia.arch.vector import VectorOp as Op
from celosia.model.lanes import PLAIN, Lanes

__all__ = ["execute", "indices", "values"]



def execute(command: Vector, ub: NDArray, acc: U32, lanes: Lanes = PLAIN) -> int | None:
    """Run one vector instruction on the two memories.

    ``lanes`` says what the lanes compute, or how.

    Returns
    -------
    int or None
        The first index of a gather or scatter that is not below the rows of its table.
    """
    # No stream overlaps the destination but in step with it, and single rows are read first:
    # reading everything before writing anything is the same as going row by row.
    op, bad, places = command.op, None, None
    if op in INDEXED_OPS:
        places = indices(command, acc)
        beyond = np.flatnonzero(places >= command.param)
        bad = int(places[beyond[0]]) if len(beyond) else None
    if op == Op.GATHER:
        assert places is not None
        operands = [_gathered(command, ub, acc, places)]
    else:
        taken = command.sources[:1] if op == Op.SCATTER else command.sources
        operands = [_read(source, command.length, ub, acc) for source in taken]
    if op == Op.TRANSPOSE:
        dim = acc.shape[1]
        tiles = operands[0].reshape(-1, dim, dim)
        operands = [np.ascontiguousarray(tiles.transpose(0, 2, 1)).reshape(-1, dim)]
    elif op == Op.ROTATE:
        operands = [np.roll(operands[0], -(command.sources[1].value % acc.shape[1]), axis=1)]
    result = lanes.compute(op, command.post, operands, command.param)
    result = _reduced(command, result, acc.shape[1], lanes)
    target = ub if DST_MEM[command.kind] == Mem.UB else acc
    if command.kind == Dst.UB_I8:
        result = lanes.to_i8(result.view(np.int32)).astype(ub.dtype)
    elif command.kind == Dst.UB_BF16:
        result = lanes.to_bf16(result)
    # Where a row repeats, NumPy keeps the last.
    if op == Op.SCATTER:
        assert places is not None
        good = places < command.param
        target[command.dst.base + places[good].astype(np.int64)] = result[good]
    else:
        target[command.dst.index()] = result
    return bad


def values(source: VectorOperand, length: int, dim: int) -> U32:
    """Return what an operand without rows is in a walk of ``length`` rows: (rows, D), or 1."""
    words = np.full((1, 1), source.value, np.uint32)
    if source.kind == Src.LANE_INDEX:
        return words + np.arange(dim, dtype=np.uint32)
    if source.kind == Src.ROW_INDEX:
        return words + np.arange(length, dtype=np.uint32)[:, np.newaxis]
    return words


def _read(source: VectorOperand, length: int, ub: NDArray, acc: U32) -> U32:
    """Return the operand as 32-bit words: shape (rows, D), or 1 where an axis does not matter."""
    if source.stream is None:
        return values(source, length, acc.shape[1])
    rows = _words(source, ub, acc)[source.stream.index()]
    rows = _widened(source, rows)
    return rows if source.lane is None else rows[:, source.lane, np.newaxis]


def _words(source: VectorOperand, ub: NDArray, acc: U32) -> NDArray:
    return acc if SRC_MEM[source.kind] == Mem.ACC else ub


def _widened(source: VectorOperand, rows: NDArray) -> U32:
    if SRC_MEM[source.kind] == Mem.ACC:
        return rows
    if source.kind in INT8_SRCS:
        return rows.astype(np.int8).astype(np.int32).view(np.uint32)
    return np.asarray(numerics.bf16_to_f32(rows))


def indices(command: Vector, acc: U32) -> U32:
    """Return the index of each row of a gather or scatter, good or bad."""
    stream = command.sources[1].stream
    assert stream is not None
    return acc[stream.index()][:, :command.counts[0]].reshape(-1)


def _gathered(command: Vector, ub: NDArray, acc: U32, places: U32) -> U32:
    """Return the rows of the table that the indices name, zeros for those that it has not."""
    table = command.sources[0]
    assert table.stream is not None
    good = places < command.param
    rows = _words(table, ub, acc)[table.stream.base + np.where(good, places, 0).astype(np.int64)]
    return np.where(good[:, np.newaxis], _widened(table, rows), np.uint32(0))


def _reduced(command: Vector, result: U32, dim: int, lanes: Lanes) -> U32:
    """Join rows or lanes as the instruction wants."""
    if command.reduce == Reduce.NONE:
        return result
    rows = np.broadcast_to(result, (command.length, dim))
    if command.reduce == Reduce.ROWS:
        return lanes.join_rows(command.reduce_op, rows.reshape(-1, command.counts[0], dim))
    words = lanes.join_lanes(command.reduce_op, rows)
    if command.reduce == Reduce.LANES:
        return np.broadcast_to(words[:, np.newaxis], rows.shape)
    collected = np.zeros((len(words) // command.counts[0], dim), np.uint32)
    collected[:, :command.counts[0]] = words.reshape(len(collected), -1)
    return collected
