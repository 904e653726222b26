"""Puts operations into an order in which the units of the chip overlap.

A program means what it does when its instructions run one after another; the scoreboard overlaps
what it finds in its window of a few instructions. So the order must bring side by side what can
run side by side. It is found by list scheduling: the operations, with what they must wait for, are
played on a model of the four tensor units, each of which takes the first one that is ready, and
then stand in the order in which they began.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field

from celosia.arch.config import TpuConfig
from celosia.arch.isa import BY_MNEMONIC, DmaFormat, Mem, Unit
from celosia.arch.vector import (
    INDEXED_OPS,
    LANE_BITS_LSB,
    LANE_ROW_SRCS,
    LANE_SRCS,
    MEMORY_SRCS,
    ROW_SRCS,
    Dst,
    Reduce,
    Src,
    VectorOp,
)
from celosia.codegen.nodes import Op, ceil_div
from celosia.model.timing import LOAD, MATMUL, STORE, Timing, vector_latency

__all__ = ["reorder"]

#: Cycles from the end of a vector instruction until one that waited for it begins.
_WAKE = 6
_TIMING = Timing()
_ELEMENT_BYTES = {DmaFormat.I8: 1, DmaFormat.BF16: 2, DmaFormat.W32: 4}


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of an on-chip memory that an operation touches."""

    mem: Mem
    first: int
    count: int
    written: bool


@dataclass(slots=True)
class _Task:
    """An operation on its way: what it costs, and who waits for it."""

    unit: Unit
    #: Cycles until the unit takes the next one, and until the results are there.
    occupied: int
    latency: int
    rows: list[_Rows]
    #: Bytes of the arena, first and last.
    span: tuple[int, int] | None = None
    followers: list[int] = field(default_factory=list)
    waits: int = 0
    ready: int = 0
    start: int = 0


def _pair(word: int) -> tuple[int, int]:
    return word & 0xFFFF, word >> 16


def _dma(config: TpuConfig, op: Op, fields: dict[str, int]) -> _Task:
    row, addr, shape, pitch, steps = op.operands
    (rows, cols), (row_step, group_step) = _pair(shape), _pair(steps)
    groups = ceil_div(cols, config.dim)
    row_bytes = cols * _ELEMENT_BYTES[DmaFormat(fields["fmt"])]
    occupied = rows * max(groups, ceil_div(row_bytes, config.bus_bytes))
    load = op.mnemonic == "load"
    touched = _Rows(Mem(fields["mem"]), row, (rows - 1) * row_step + (groups - 1) * group_step + 1,
                    load)
    latency = _TIMING.read_latency + LOAD if load else _TIMING.write_latency + STORE
    return _Task(Unit.LOAD if load else Unit.STORE, occupied, occupied + latency, [touched],
                 (addr, addr + (rows - 1) * pitch + row_bytes - 1))


def _matmul(config: TpuConfig, op: Op, fields: dict[str, int],
            strides: dict[int, tuple[int, ...]]) -> _Task:
    sums, acts, weights, counts, n2, depth = op.operands
    n0, n1 = _pair(counts)
    rows = n0 * n1 * n2
    s0, s1, s2 = strides[fields["xacts"]] if fields.get("xacts") else (1, n0, n0 * n1)
    last = (n0 - 1) * s0 + (n1 - 1) * s1 + (n2 - 1) * s2
    return _Task(Unit.MXU, max(rows, config.dim + 1), rows + 2 * config.dim + MATMUL,
                 [_Rows(Mem.ACC, sums, rows, True),
                  _Rows(Mem.UB, acts, last + 1, False),
                  _Rows(Mem.UB, weights, depth, False)])


def _vector(config: TpuConfig, op: Op, fields: dict[str, int]) -> _Task:
    strided = [name for name in ("xdst", "xa", "xb", "xc") if fields.get(name)]
    if strided or fields["op"] in INDEXED_OPS:
        raise ValueError(f"rows of a vector instruction must be consecutive to be reordered, not "
                         f"of {VectorOp(fields['op']).name.lower()} {' '.join(strided)}".rstrip())
    n0, n1 = _pair(op.operands[4])
    rows = n0 * n1
    shared = fields.get("reduce", 0) in (Reduce.ROWS, Reduce.COLLECT)
    to = Mem.ACC if fields["dst_kind"] == Dst.ACC else Mem.UB
    touched = [_Rows(to, op.operands[0], n1 if shared else rows, True)]
    for name, value in zip("abc", op.operands[1:4], strict=True):
        src = Src(fields.get(f"{name}_kind", Src.NONE))
        if src not in MEMORY_SRCS:
            continue
        if src in LANE_SRCS | LANE_ROW_SRCS:
            value &= (1 << LANE_BITS_LSB) - 1
        touched.append(_Rows(Mem.ACC if src.name.startswith("ACC") else Mem.UB, value,
                             1 if src in ROW_SRCS else rows, False))
    return _Task(Unit.VPU, rows, rows + vector_latency(config) + _WAKE, touched)


def _tasks(config: TpuConfig, ops: list[Op]) -> Iterator[_Task]:
    strides: dict[int, tuple[int, ...]] = {}
    for op in ops:
        fields = dict(op.fields)
        unit = BY_MNEMONIC[op.mnemonic].unit
        if op.mnemonic == "stride":
            strides[fields["x"]] = op.operands
            yield _Task(Unit.SCALAR, 0, 0, [])
        elif unit == Unit.MXU:
            yield _matmul(config, op, fields, strides)
        elif unit == Unit.VPU:
            yield _vector(config, op, fields)
        else:
            yield _dma(config, op, fields)


class _Memory:
    """Who wrote each row last, and who has read it since."""

    def __init__(self, rows: int):
        self.writer = [-1] * rows
        self.readers: list[list[int]] = [[] for _ in range(rows)]

    def read(self, first: int, count: int) -> set[int]:
        return set(self.writer[first:first + count])

    def reads(self, first: int, count: int, by: int) -> None:
        for readers in self.readers[first:first + count]:
            readers.append(by)

    def write(self, first: int, count: int, by: int) -> set[int]:
        rows = range(first, first + count)
        found = set(self.writer[first:first + count]).union(
            *(self.readers[row] for row in rows))
        for row in rows:
            self.writer[row] = by
            if self.readers[row]:
                self.readers[row] = []
        return found


def _link(config: TpuConfig, tasks: list[_Task]) -> None:
    """Find for each task those that must wait for it.

    Bytes of external memory count as the scoreboard has them: from the first to the last.
    """
    memories = {Mem.UB: _Memory(config.ub_rows), Mem.ACC: _Memory(config.acc_rows)}
    spans: list[tuple[int, int, bool, int]] = []
    for i, task in enumerate(tasks):
        before: set[int] = set()
        for rows in task.rows:
            if not rows.written:
                before |= memories[rows.mem].read(rows.first, rows.count)
                memories[rows.mem].reads(rows.first, rows.count, i)
        for rows in task.rows:
            if rows.written:
                before |= memories[rows.mem].write(rows.first, rows.count, i)
        if task.span is not None:
            first, last = task.span
            store = task.unit == Unit.STORE
            before.update(j for low, high, stored, j in spans
                          if (store or stored) and low <= last and first <= high)
            spans.append((first, last, store, i))
        before -= {-1, i}
        task.waits = len(before)
        for j in before:
            tasks[j].followers.append(i)


def _play(tasks: list[_Task]) -> None:
    """Give each task the cycle in which it starts."""
    free = dict.fromkeys(Unit, 0)
    #: Of each unit: tasks by when they are ready, and those that are, by their place.
    waiting: dict[Unit, list[tuple[int, int]]] = {unit: [] for unit in Unit}
    ready: dict[Unit, list[int]] = {unit: [] for unit in Unit}
    for i, task in enumerate(tasks):
        if not task.waits:
            heapq.heappush(waiting[task.unit], (0, i))
    for _ in tasks:
        start, unit = min((max(free[unit], 0 if ready[unit] else waiting[unit][0][0]), unit)
                          for unit in Unit if ready[unit] or waiting[unit])
        while waiting[unit] and waiting[unit][0][0] <= start:
            heapq.heappush(ready[unit], heapq.heappop(waiting[unit])[1])
        i = heapq.heappop(ready[unit])
        task = tasks[i]
        task.start = start
        free[unit] = start + task.occupied
        for j in task.followers:
            follower = tasks[j]
            # Instructions of one unit follow each other through it; only the vector unit waits.
            same = follower.unit == unit and unit != Unit.VPU
            end = start + (task.occupied if same else task.latency + 1)
            follower.ready = max(follower.ready, end)
            follower.waits -= 1
            if not follower.waits:
                heapq.heappush(waiting[follower.unit], (follower.ready, j))


def reorder(config: TpuConfig, ops: list[Op]) -> list[Op]:
    """Return the operations in an order that does the same, with the units side by side.

    Stride registers must be set once each, and before they are used; of them only the activations
    of a matmul may make use.

    Raises
    ------
    ValueError
        If a vector instruction gathers, scatters or has a stride register.
    """
    tasks = list(_tasks(config, ops))
    _link(config, tasks)
    _play(tasks)
    order = sorted(range(len(ops)), key=lambda i: (tasks[i].start, i))
    return [ops[i] for i in order]
