"""Tensor instructions with resolved operands: what a unit is told to do."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.arch.isa import DmaFormat, Dst, MatmulFormat, Mem, Post, Src, VectorOp
from celosia.model.streams import Stream

__all__ = ["Command", "Dma", "Matmul", "Operand", "Vector"]

#: Bytes of an element in external memory.
ELEMENT_BYTES = {DmaFormat.I8: 1, DmaFormat.BF16: 2, DmaFormat.W32: 4}
#: Memory of a vector source or destination.
SRC_MEM = {Src.ACC: Mem.ACC, Src.ACC_ROW: Mem.ACC, Src.UB_I8: Mem.UB, Src.UB_BF16: Mem.UB,
           Src.UB_I8_ROW: Mem.UB, Src.UB_BF16_ROW: Mem.UB}
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
        return self.cols * ELEMENT_BYTES[self.fmt]

    @property
    def touches_acc(self) -> bool:
        """Whether it reads or writes the accumulators."""
        return self.mem == Mem.ACC

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
    """A source of a vector instruction: a stream of rows, one row (a stream of length 1), or a
    value (``stream`` is None).
    """

    kind: Src
    value: int
    stream: Stream | None


@dataclass(frozen=True, slots=True)
class Vector:
    """A vector instruction."""

    op: VectorOp
    post: Post
    kind: Dst
    dst: Stream
    sources: tuple[Operand, ...]
    param: int

    @property
    def length(self) -> int:
        """Rows of the memory that it walks."""
        return self.dst.length

    @property
    def touches_acc(self) -> bool:
        """Whether it reads or writes the accumulators."""
        return DST_MEM[self.kind] == Mem.ACC or any(
            source.stream is not None and SRC_MEM[source.kind] == Mem.ACC
            for source in self.sources)


Command = Dma | Matmul | Vector
