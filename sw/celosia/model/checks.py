"""The checks that need register values, and the command that passes them.

The order is that of docs/chip.md; the first check that fails names the fault.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from celosia.arch.config import TpuConfig
from celosia.arch.faults import Fault
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem, Opcode
from celosia.arch.vector import (
    INDEXED_OPS,
    LANE_BITS_LSB,
    LANE_ROW_SRCS,
    LANE_SRCS,
    STREAM_SRCS,
    TABLE_LIMIT,
    Dst,
    Post,
    Reduce,
    ReduceOp,
    Src,
)
from celosia.arch.vector import VectorOp as Op
from celosia.arch.words import WORD_MASK, ceil_div
from celosia.model.commands import (
    DST_MEM,
    SRC_MEM,
    Command,
    Dma,
    Matmul,
    Operand,
    Vector,
)
from celosia.model.decode import Decoded
from celosia.model.streams import Stream

__all__ = ["ROWS_LIMIT", "Strides", "Stop", "check"]

#: Rows of one instruction that the model is willing to walk; a walk may legally have 2**48.
ROWS_LIMIT = 1 << 22

#: x0..x7; the entry of x0 is not used.
Strides = Sequence[tuple[int, int, int]]
Windows = Sequence[tuple[int, int]]


class Stop(Exception):
    """A fault: cause, FAULT_ADDR, and of a count what it must be."""

    def __init__(self, fault: Fault, addr: int = 0, wanted: str = ""):
        super().__init__(fault.name)
        self.fault, self.addr, self.wanted = fault, addr & WORD_MASK, wanted


def check(config: TpuConfig, decoded: Decoded, values: list[int], strides: Strides,
          windows: Windows) -> Command:
    """Return the command of a tensor instruction with the given operand values.

    Raises
    ------
    Stop
        If a check fails.
    """
    if decoded.opcode == Opcode.MATMUL:
        return _matmul(config, decoded.fields, values, strides)
    if decoded.opcode == Opcode.VECTOR:
        return _vector(config, decoded.fields, values, strides)
    return _dma(config, decoded, values, windows)


def _in_range(config: TpuConfig, mem: Mem, stream: Stream) -> None:
    rows, fault = ((config.ub_rows, Fault.UB_RANGE) if mem == Mem.UB
                   else (config.acc_rows, Fault.ACC_RANGE))
    if stream.last >= rows:
        raise Stop(fault, stream.last)


def _count(wanted: str) -> Stop:
    return Stop(Fault.ILLEGAL_COUNT, wanted=wanted)


def _counts(word: int, n2: int) -> tuple[int, int, int]:
    counts = (word & 0xFFFF, word >> 16, n2)
    if 0 in counts or n2 > 0xFFFF:
        raise _count(f"n0, n1 and n2 must be 1 to 65535, not {', '.join(map(str, counts))}")
    return counts


def _stream(base: int, counts: tuple[int, int, int], number: int, strides: Strides) -> Stream:
    if number == 0:
        return Stream.linear(base, counts)
    return Stream(base, counts, strides[number])


def _dma(config: TpuConfig, decoded: Decoded, values: list[int], windows: Windows) -> Dma:
    row, addr, shape, pitch, steps = values
    mem, fmt = Mem(decoded.fields["mem"]), DmaFormat(decoded.fields["fmt"])
    rows, cols = shape & 0xFFFF, shape >> 16
    if rows == 0 or cols == 0:
        raise _count(f"rows and cols must be 1 to 65535, not {rows}, {cols}")
    size = fmt.nbytes
    if addr % size or pitch % size:
        raise Stop(Fault.MISALIGNED, addr)
    # Groups are the inner dimension: a row in external memory is finished before the next.
    chip = Stream(row, (ceil_div(cols, config.dim), rows), (steps >> 16, steps & 0xFFFF))
    _in_range(config, mem, chip)
    dma = Dma(decoded.opcode == Opcode.STORE, mem, fmt, chip, addr, rows, cols, pitch)
    if not any(base <= addr and dma.end - 1 <= last for base, last in windows):
        raise Stop(Fault.WINDOW, addr)
    return dma


def _matmul(config: TpuConfig, fields: Mapping[str, int], values: list[int],
            strides: Strides) -> Matmul:
    acc_row, acts_row, w_row, count_word, n2, wrows = values
    counts = _counts(count_word, n2)
    if fields["wload"] and not 1 <= wrows <= config.dim:
        raise _count(f"wrows must be 1 to {config.dim}, not {wrows}")
    acc = _stream(acc_row, counts, fields["xacc"], strides)
    acts = _stream(acts_row, counts, fields["xacts"], strides)
    weights = None
    _in_range(config, Mem.ACC, acc)
    _in_range(config, Mem.UB, acts)
    if fields["wload"]:
        weights = _stream(w_row, (wrows, 1, 1), fields["xw"], strides)
        _in_range(config, Mem.UB, weights)
    return Matmul(MatmulFormat(fields["fmt"]), bool(fields["accumulate"]),
                  bool(fields["transpose"]), acc, acts, weights)


def _vector(config: TpuConfig, fields: Mapping[str, int], values: list[int],
            strides: Strides) -> Vector:
    counts = _counts(values[4], fields["n2"])
    op, reduce, kind = Op(fields["op"]), Reduce(fields["reduce"]), Dst(fields["dst_kind"])
    param = values[5]
    grouped = op in INDEXED_OPS or reduce == Reduce.COLLECT
    if op == Op.TRANSPOSE and counts[0] % config.dim:
        raise _count(f"n0 of transpose must be a multiple of {config.dim}, not {counts[0]}")
    if grouped and counts[0] > config.dim:
        raise _count(f"n0 of gather, scatter and collect must be at most {config.dim}, not "
                     f"{counts[0]}")
    if op in INDEXED_OPS and not 1 <= param <= TABLE_LIMIT:
        raise _count(f"param, the rows of the table, must be 1 to {TABLE_LIMIT}, not {param}")
    sources = [(Src(fields[f"{name}_kind"]), fields[f"x{name}"], value)
               for name, value in zip("abc", values[1:4], strict=True)
               if fields[f"{name}_kind"] != Src.NONE]
    for src, _, value in sources:
        if src in LANE_SRCS | LANE_ROW_SRCS and value >> LANE_BITS_LSB >= config.dim:
            raise Stop(Fault.INDEX_RANGE, value >> LANE_BITS_LSB)

    table = Stream(values[0], (param,), (1,))
    groups = (1, *counts[1:])
    shared = op in INDEXED_OPS or reduce in (Reduce.ROWS, Reduce.COLLECT)  # never in place
    dst = table if op == Op.SCATTER else _stream(
        values[0], groups if reduce in (Reduce.ROWS, Reduce.COLLECT) else counts, fields["xdst"],
        strides)
    _in_range(config, DST_MEM[kind], dst)
    operands: list[Operand] = []
    for i, (src, x, value) in enumerate(sources):
        operand = _operand(config, src, value, counts, x, strides)
        if op == Op.GATHER and i == 0:
            operand = replace(operand, stream=Stream(value, (param,), (1,)))
        elif op in INDEXED_OPS and i == 1:
            operand = replace(operand, stream=_stream(value, groups, x, strides))
        if operand.stream is not None:
            _in_range(config, SRC_MEM[src], operand.stream)
        operands.append(operand)
    for operand in operands:
        if (operand.stream is not None and operand.kind in STREAM_SRCS
                and SRC_MEM[operand.kind] == DST_MEM[kind]
                and _overlap(dst, operand.stream, counts, shared)):
            raise Stop(Fault.OVERLAP, dst.base)
    return Vector(op, Post(fields["post"]), kind, dst, tuple(operands), param, counts, reduce,
                  ReduceOp(fields["reduce_op"]))


def _operand(config: TpuConfig, src: Src, value: int, counts: tuple[int, int, int], x: int,
             strides: Strides) -> Operand:
    if src == Src.LANE_INDEX:
        return Operand(src, value, None, None, np.arange(config.dim, dtype=np.uint32)[np.newaxis])
    if src == Src.ROW_INDEX:
        n0, n1, n2 = counts
        rows = min(n0 * n1 * n2, ROWS_LIMIT)
        return Operand(src, value, None, None, np.arange(rows, dtype=np.uint32)[:, np.newaxis])
    if src not in SRC_MEM:
        return Operand(src, value, None)
    lane = None
    if src in LANE_SRCS | LANE_ROW_SRCS:
        lane, value = value >> LANE_BITS_LSB, value & (1 << LANE_BITS_LSB) - 1
    if src in STREAM_SRCS:
        return Operand(src, value, _stream(value, counts, x, strides), lane)
    return Operand(src, value, Stream(value, (1,), (1,)), lane)


def _overlap(dst: Stream, src: Stream, counts: tuple[int, int, int], shared: bool) -> bool:
    if dst.last < src.base or src.last < dst.base:
        return False
    in_place = (not shared and dst.base == src.base and dst.strides[0] == src.strides[0] > 0
                and counts[1:] == (1, 1))
    return not in_place
