"""Tensor instructions with resolved operands: what a unit is told to do."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.arch.isa import DmaFormat, MatmulFormat, Mem
from celosia.arch.vector import MEMORY_SRCS, Dst, Post, Reduce, ReduceOp, Src, VectorOp
from celosia.model.streams import Stream

__all__ = ["Command", "Dma", "Matmul", "Operand", "Vector"]

#: Memory of a vector source or destination.
SRC_MEM = {src: Mem.ACC if src.name.startswith("ACC") else Mem.UB for src in MEMORY_SRCS}
DST_MEM = {Dst.ACC: Mem.ACC, Dst.UB_I8: Mem.UB, Dst.UB_BF16: Mem.UB}


@dataclass(frozen=True, slots=True)
class Dma:
    """A load or a store. ``chip`` has ``groups`` rows for each of ``rows`` external rows."""

    store: bool
    mem: Mem
    fmt: DmaFormat
    chip: Stream
    addr: int
    rows: int
    cols: int
    pitch: int

    @property
    def length(self) -> int:
        """Rows of the memory that it walks."""
        return self.chip.length

    @property
    def row_bytes(self) -> int:
        """Bytes of a row in external memory."""
        return self.cols * self.fmt.nbytes

    @property
    def acc_spans(self) -> list[tuple[int, int]]:
        """First and last rows of the accumulators that it reads or writes."""
        return [(self.chip.base, self.chip.last)] if self.mem == Mem.ACC else []

    @property
    def end(self) -> int:
        """First byte behind the transfer."""
        return self.addr + (self.rows - 1) * self.pitch + self.row_bytes


@dataclass(frozen=True, slots=True)
class Matmul:
    """A matmul. ``weights`` is None where the last tile is kept."""

    fmt: MatmulFormat
    accumulate: bool
    transpose: bool
    acc: Stream
    acts: Stream
    weights: Stream | None

    @property
    def length(self) -> int:
        """Rows of the memory that it walks."""
        return self.acts.length


@dataclass(frozen=True, slots=True)
class Operand:
    """A source of a vector instruction.

    ``stream``: the rows that it reads: one for each row of the walk, one row (a stream of length
    1), the index rows or the table of a gather or scatter; None for a value. ``lane``: the one lane
    that is used. ``ramp``: what is added to the value, for each row (rows, 1) or lane (1, D).
    """

    kind: Src
    value: int
    stream: Stream | None
    lane: int | None = None
    ramp: NDArray[np.uint32] | None = None


@dataclass(frozen=True, slots=True)
class Vector:
    """A vector instruction. ``dst`` of a scatter is its whole table."""

    op: VectorOp
    post: Post
    kind: Dst
    dst: Stream
    sources: tuple[Operand, ...]
    param: int
    counts: tuple[int, int, int]
    reduce: Reduce = Reduce.NONE
    reduce_op: ReduceOp = ReduceOp.SUM_I

    @property
    def length(self) -> int:
        """Rows of the walk."""
        n0, n1, n2 = self.counts
        return n0 * n1 * n2

    @property
    def acc_spans(self) -> list[tuple[int, int]]:
        """First and last rows of the accumulators that it reads or writes."""
        streams = [source.stream for source in self.sources
                   if source.stream is not None and SRC_MEM[source.kind] == Mem.ACC]
        if DST_MEM[self.kind] == Mem.ACC:
            streams.append(self.dst)
        return [(stream.base, stream.last) for stream in streams]


Command = Dma | Matmul | Vector
