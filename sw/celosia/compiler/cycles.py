"""Cost model of instructions that do not exist yet, for those who choose which to make.

All of them are of the cycle model, `celosia.model.timing`: the compiler has no other.
"""

from __future__ import annotations

from functools import lru_cache

from celosia.arch.commands import Command, Load, Matmul, Store, Vector
from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem, Unit
from celosia.arch.vector import Dst, Post, Reduce, ReduceOp, Src, VectorOp
from celosia.model.timing import ISSUES, Cost, Timing, cost

__all__ = ["behind", "issue", "matmul", "transfer", "vector"]

_TIMING = Timing()
_FORMATS = {fmt.nbytes: fmt for fmt in (DmaFormat.I8, DmaFormat.BF16, DmaFormat.W32)}


@lru_cache(maxsize=1 << 12)
def transfer(config: TpuConfig, kind: type[Load | Store], rows: int, columns: int,
             element_bytes: int) -> Cost:
    """Return the cost of a transfer of whole rows, one after another in memory."""
    return _cost(config, kind(Mem.ACC, _FORMATS[element_bytes], 0, 0, rows, columns,
                              columns * element_bytes))


@lru_cache
def matmul(config: TpuConfig, rows: int = 1) -> Cost:
    """Return the cost of a matmul with weights of its own."""
    return _cost(config, Matmul.of(MatmulFormat.INT8, False, False, (0, 0, 0), (rows, 1, 1),
                                   config.dim, (None, None, None)))


def issue(config: TpuConfig) -> int:
    """Return the cycles that a short matmul takes where it is waited for: it is checked, and issued
    to the array.
    """
    return matmul(config).check + ISSUES[Unit.MXU]


@lru_cache
def vector(config: TpuConfig, op: VectorOp = VectorOp.MOV, *sources: Src, rows: int = 1) -> Cost:
    """Return the cost of a vector instruction; without ``sources`` it has one, of rows."""
    kinds = (*(sources or (Src.ACC,)), Src.NONE, Src.NONE)[:3]
    return _cost(config, Vector.of(op, Post.NONE, Dst.ACC, (0, 0, 0, 0), kinds, (rows, 1, 1), 1,
                                   Reduce.NONE, ReduceOp.SUM_I, (None,) * 4))


def behind(found: Cost) -> int:
    """Return the cycles of an instruction beside its rows: when its unit is free, until its end."""
    return found.latency - found.occupied


def _cost(config: TpuConfig, command: Command) -> Cost:
    return cost(command, config, _TIMING)
