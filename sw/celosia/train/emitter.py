"""Appends the instructions of a training step, in an order in which they may run one by one."""

from __future__ import annotations

import struct

from celosia.arch.isa import DmaFormat, MatmulFormat, Mem
from celosia.arch.vector import LANE_BITS_LSB, Dst, Post, Reduce, ReduceOp, Src, VectorOp
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.nodes import Op
from celosia.train.places import Places

__all__ = ["Emitter", "Source", "acc", "buffer", "lane", "number", "row"]

#: Where an operand of a vector instruction comes from.
Source = tuple[Src, int]


def acc(first: int) -> Source:
    """Rows of the accumulators."""
    return Src.ACC, first


def buffer(first: int) -> Source:
    """Rows of bf16 of the unified buffer."""
    return Src.UB_BF16, first


def row(at: int) -> Source:
    """One accumulator row for all."""
    return Src.ACC_ROW, at


def lane(at: int, index: int) -> Source:
    """One lane of one accumulator row for all."""
    return Src.ACC_LANE_ROW, at | index << LANE_BITS_LSB


def number(value: float) -> Source:
    """A float."""
    return Src.SCALAR, int.from_bytes(struct.pack("<f", value), "little")


class Emitter:
    """Operations in ``out``, each with the name of the part of the step that it belongs to.

    Parameters
    ----------
    places
        Where everything lies.
    """

    def __init__(self, places: Places):
        self.places = places
        self.config, self.net, self.dim = places.config, places.net, places.config.dim
        self.out: list[Op] = []
        #: Name of what is computed.
        self.part = ""

    def load_acc(self, row: int, addr: int, rows: int, cols: int, pitch: int = 0,
                 row_step: int = 1, group_step: int = 1) -> None:
        """Load words into the accumulators."""
        self.out.append(nodes.load(Mem.ACC, DmaFormat.W32, row, addr, rows, cols, pitch, row_step,
                                   group_step, self.part))

    def load_ub(self, fmt: DmaFormat, row: int, addr: int, rows: int, cols: int, pitch: int,
                group_step: int, row_step: int = 1) -> None:
        """Load floats into the unified buffer; fp32 is rounded to bf16."""
        self.out.append(nodes.load(Mem.UB, fmt, row, addr, rows, cols, pitch, row_step, group_step,
                                   self.part))

    def store(self, row: int, addr: int, rows: int, cols: int, pitch: int = 0, row_step: int = 1,
              group_step: int = 1) -> None:
        """Store words from the accumulators."""
        self.out.append(nodes.store(Mem.ACC, DmaFormat.W32, row, addr, rows, cols, pitch, row_step,
                                    group_step, self.part))

    def matmul(self, sums: int, acts: int, weights: int, rows: int, depth: int, *,
               accumulate: bool, transpose: bool = False, n1: int = 1, n2: int = 1,
               xacts: nodes.Strides | None = None) -> None:
        """Multiply rows by a tile of ``depth`` stored rows."""
        self.out.append(nodes.matmul(MatmulFormat.BF16, sums, acts, weights, rows, depth,
                                     accumulate, transpose, self.part, n1=n1, n2=n2,
                                     xacts=xacts))

    def vector(self, op: VectorOp, dst: int, rows: int, *sources: Source, post: Post = Post.NONE,
               reduce: Reduce = Reduce.NONE, reduce_op: ReduceOp = ReduceOp.SUM_I,
               to: Dst = Dst.ACC) -> None:
        """Compute on rows."""
        self.out.append(nodes.vector(op, to, dst, rows, sources, post, source=self.part,
                                     reduce=reduce, reduce_op=reduce_op))
