"""Cost and footprint of an operation: its cycles, and the rows and bytes that it touches."""

from __future__ import annotations

import math
from dataclasses import dataclass

from celosia.arch.config import TpuConfig
from celosia.arch.isa import BY_MNEMONIC, DmaFormat, Mem, Unit
from celosia.arch.vector import (
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
from celosia.arch.words import ceil_div
from celosia.compiler.codegen.nodes import VARYING, Op, Strides
from celosia.model.timing import LOAD, MATMUL, STORE, Timing, vector_latency

__all__ = ["EXTERNAL", "TILE", "Cost", "Costs", "Touch", "counts_of", "normal", "streams"]

#: Spaces beside `Mem`: external memory, the weight tile that the array holds, stride registers.
EXTERNAL, TILE, REGISTERS = 2, 3, 4
#: Cycles from the end of a vector instruction until one that waited for it begins.
_WAKE = 6
_TIMING = Timing()
_ROW_BITS = (1 << LANE_BITS_LSB) - 1
_ALL_BITS = (1 << 64) - 1
_WHOLE = 1 << 20  # more rows than any memory has

#: Space, first and last row or byte, and whether it is written.
Touch = tuple[int, int, int, bool]


@dataclass(frozen=True, slots=True)
class Cost:
    """What all operations of a shape share.

    Attributes
    ----------
    unit
        What executes them.
    occupied, latency
        Cycles until the unit takes the next one, and until the results are there.
    touches
        Space; which operand names the first row or byte, and which of its bits; how far the last
        one is from there; whether they are written.
    fixed
        What is touched wherever the operands are.
    tile
        Whether a matmul uses the weight tile of the one before.
    """

    unit: Unit
    occupied: int
    latency: int
    touches: tuple[tuple[int, int, int, int, bool], ...]
    fixed: tuple[Touch, ...] = ()
    tile: bool = False

    def of(self, op: Op) -> list[Touch]:
        """Return what an operation of this shape touches."""
        operands = op.operands
        out = [*self.fixed]
        for space, operand, bits, extent, written in self.touches:
            if space == EXTERNAL and op.reach is not None:
                out.append((space, *op.reach, written))
                continue
            first = operands[operand] & bits
            out.append((space, first, first + extent, written))
        return out


def _named(fields: dict) -> tuple[Touch, ...]:
    """Stride registers that an operation names, where they are not triples."""
    return tuple((REGISTERS, value, value, False) for name, value in fields.items()
                 if name[0] == "x" and isinstance(value, int) and value)


def _pair(word: int) -> tuple[int, int]:
    return word & 0xFFFF, word >> 16


def normal(strides: Strides, counts: tuple[int, int, int]) -> Strides | None:
    """Return strides without those of dimensions of one row; None where rows are consecutive."""
    n0, n1, n2 = counts
    if ((n0 == 1 or strides[0] == 1) and (n1 == 1 or strides[1] == n0)
            and (n2 == 1 or strides[2] == n0 * n1)):
        return None
    return (strides[0] if n0 > 1 else 0, strides[1] if n1 > 1 else 0,
            strides[2] if n2 > 1 else 0)


def counts_of(op: Op) -> tuple[int, int, int]:
    """Rows of each dimension of a matmul or a vector instruction."""
    if op.mnemonic == "matmul":
        return (*_pair(op.operands[3]), op.operands[4])
    return (*_pair(op.operands[4]), int(dict(op.fields).get("n2", 1)))  # type: ignore[arg-type]


def streams(op: Op) -> dict[str, tuple[int, int, int]]:
    """Counts of each stream of a matmul or a vector instruction, by the name of its strides."""
    counts = counts_of(op)
    if op.mnemonic == "matmul":
        return {"xacc": counts, "xacts": counts, "xw": (op.operands[5], 1, 1)}
    fields = dict(op.fields)
    grouped = (1, *counts[1:])
    joined = fields.get("reduce", 0) in (Reduce.ROWS, Reduce.COLLECT)
    indexed = fields["op"] in (VectorOp.GATHER, VectorOp.SCATTER)
    return {"xdst": grouped if joined else counts, "xa": counts,
            "xb": grouped if indexed else counts, "xc": counts}


def _extent(strides: int | Strides, counts: tuple[int, int, int]) -> int:
    """How far the last row of a stream is from its first one."""
    if isinstance(strides, tuple):
        return sum((n - 1) * s for n, s in zip(counts, strides, strict=True))
    if strides:
        return _WHOLE  # a register that holds who knows what
    return counts[0] * counts[1] * counts[2] - 1


class Costs:
    """What operations cost on a chip."""

    def __init__(self, config: TpuConfig):
        self._config = config
        self._known: dict[tuple, Cost] = {}

    def __call__(self, op: Op) -> Cost:
        """Return what an operation costs."""
        key = (op.mnemonic, op.fields, op.operands[VARYING[op.mnemonic]:])
        cost = self._known.get(key)
        if cost is None:
            self._known[key] = cost = self._make(op)
        return cost

    def _make(self, op: Op) -> Cost:
        fields: dict = dict(op.fields)
        unit = BY_MNEMONIC[op.mnemonic].unit
        if unit == Unit.MXU:
            return self._matmul(op, fields)
        if unit == Unit.VPU:
            return self._vector(op, fields)
        if unit == Unit.SCALAR:
            return Cost(unit, 0, 0, (), ((REGISTERS, fields["x"], fields["x"], True),))
        return self._dma(op, fields)

    def _dma(self, op: Op, fields: dict) -> Cost:
        _, _, shape, pitch, steps = op.operands
        bus = self._config.bus_bytes
        (rows, cols), (row_step, group_step) = _pair(shape), _pair(steps)
        groups = ceil_div(cols, self._config.dim)
        row_bytes = cols * DmaFormat(fields["fmt"]).nbytes
        # Rows begin anywhere in a beat where they are no whole beats apart: an average.
        part = math.gcd(pitch, bus) if rows > 1 else bus
        beats = rows * sum(ceil_div(at + row_bytes, bus) for at in range(0, bus, part)) // (
            bus // part)
        occupied = max(rows * groups, beats)
        load = op.mnemonic == "load"
        latency = _TIMING.read_latency + LOAD if load else _TIMING.write_latency + STORE
        extent = (rows - 1) * row_step + (groups - 1) * group_step
        return Cost(Unit.LOAD if load else Unit.STORE, occupied, occupied + latency, (
            (fields["mem"], 0, _ALL_BITS, extent, load),
            (EXTERNAL, 1, _ALL_BITS, (rows - 1) * pitch + row_bytes - 1, not load)))

    def _matmul(self, op: Op, fields: dict) -> Cost:
        n0, n1, n2 = counts_of(op)
        rows, config = n0 * n1 * n2, self._config
        loads = bool(fields.get("wload", 1))
        touched = [("xacc", Mem.ACC, True), ("xacts", Mem.UB, False)]
        if loads:
            touched.append(("xw", Mem.UB, False))
        counts = streams(op)
        touches = tuple((int(mem), i, _ALL_BITS, _extent(fields.get(name, 0), counts[name]),
                         written) for i, (name, mem, written) in enumerate(touched))
        return Cost(Unit.MXU, max(rows, config.dim + 1), rows + 2 * config.dim + MATMUL, touches,
                    _named(fields), not loads)

    def _vector(self, op: Op, fields: dict) -> Cost:
        counts = streams(op)
        rows = counts["xa"][0] * counts["xa"][1] * counts["xa"][2]
        table = op.operands[5] - 1
        to = Mem.ACC if fields["dst_kind"] == Dst.ACC else Mem.UB
        extent = (table if fields["op"] == VectorOp.SCATTER
                  else _extent(fields.get("xdst", 0), counts["xdst"]))
        touches = [(int(to), 0, _ALL_BITS, extent, True)]
        for i, name in enumerate("abc", 1):
            src = Src(fields.get(f"{name}_kind", Src.NONE))
            if src not in MEMORY_SRCS:
                continue
            if src in ROW_SRCS:
                extent = 0
            elif name == "a" and fields["op"] == VectorOp.GATHER:
                extent = table
            else:
                extent = _extent(fields.get(f"x{name}", 0), counts[f"x{name}"])
            bits = _ROW_BITS if src in LANE_SRCS | LANE_ROW_SRCS else _ALL_BITS
            mem = Mem.ACC if src.name.startswith("ACC") else Mem.UB
            touches.append((int(mem), i, bits, extent, False))
        return Cost(Unit.VPU, rows, rows + vector_latency(self._config) + _WAKE, tuple(touches),
                    _named(fields))
