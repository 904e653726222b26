"""What operations read and write, row by row and byte by byte."""

from __future__ import annotations

from typing import NamedTuple

from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from celosia.arch.commands import DST_MEM, ROW_MASK, SRC_MEM, Command, Dma, Matmul, Stride
from celosia.arch.config import TpuConfig
from celosia.arch.isa import Mem, Unit
from celosia.arch.streams import Index, Stream
from celosia.arch.vector import VectorOp
from celosia.compiler.codegen.nodes import CodeOp

__all__ = ["Bytes", "Footprints", "Rows"]


class Rows(NamedTuple):
    """Rows of a memory on chip, that operand word ``operand`` gives the first one of."""

    operand: int
    mem: Mem
    stream: Stream

    def index(self, words: tuple[int, ...]) -> Index:
        """Return what selects the rows in the memory, in order."""
        first = words[self.operand] & ROW_MASK
        if self.stream.triple is None:
            return slice(first, first + self.stream.length)
        return first + self.stream.offsets()

    def row(self, words: tuple[int, ...], number: int) -> int:
        """Return one of the rows."""
        return (words[self.operand] & ROW_MASK) + int(self.stream.offsets()[number])


class Bytes(NamedTuple):
    """What a transfer touches in external memory: rows of some bytes, and bytes between them."""

    rows: int
    row_bytes: int
    pitch: int

    def of(self, memory: NDArray, first: int, unit: int = 1) -> NDArray:
        """Return them as a view of memory that has an element for ``unit`` bytes."""
        step, = memory.strides
        return as_strided(memory[first // unit:], (self.rows, self.row_bytes // unit),
                          (self.pitch // unit * step, step))


class _Footprint(NamedTuple):
    """Rows that are read and written; bytes, and whether they are written."""

    reads: tuple[Rows, ...]
    writes: tuple[Rows, ...]
    external: Bytes | None
    #: Operand words without the rows: what an operation is, wherever its rows are.
    masks: tuple[int, ...]


class Footprints:
    """What the operations for a chip touch; the same for all that share a command."""

    def __init__(self, config: TpuConfig):
        self._dim = config.dim
        self._known: dict[Command, _Footprint] = {}

    def __call__(self, op: CodeOp) -> _Footprint:
        """Return what an operation touches."""
        assert not isinstance(op.command, Stride)
        found = self._known.get(op.command)
        if found is None:
            self._known[op.command] = found = self._make(op.command)
        return found

    def _make(self, command: Command) -> _Footprint:
        reads: list[Rows] = []
        external = None
        if isinstance(command, Dma):
            rows = Rows(0, command.mem, command.chip(self._dim))
            if command.unit is Unit.STORE:
                reads.append(rows)
            writes = (rows,) if command.unit is Unit.LOAD else ()
            external = Bytes(command.rows, command.row_bytes, command.pitch)
        elif isinstance(command, Matmul):
            writes = (Rows(0, Mem.ACC, command.acc),)
            if command.accumulate:
                reads += writes
            reads.append(Rows(1, Mem.UB, command.acts))
            if command.weights is not None:
                reads.append(Rows(2, Mem.UB, command.weights))
        else:
            writes = (Rows(0, DST_MEM[command.kind], command.dst),)
            if command.op is VectorOp.SCATTER:
                reads += writes
            for name, source in zip(command.names, command.sources, strict=True):
                stream = source.stream
                if stream is not None and command.op is VectorOp.TRANSPOSE:
                    # Rows beyond a matrix may be anything: what they become is not looked at.
                    stream = _tiles(stream, self._dim)
                if stream is not None:
                    reads.append(Rows(1 + "abc".index(name), SRC_MEM[source.kind], stream))
        masks = [-1] * command.places
        for rows in (*reads, *writes):
            masks[rows.operand] = ~ROW_MASK
        return _Footprint(tuple(reads), writes, external, tuple(masks))


def _tiles(stream: Stream, dim: int) -> Stream:
    """Return the first row of each tile of ``dim`` rows."""
    n0, *counts = stream.counts
    s0, *strides = stream.strides
    return Stream(stream.base, (n0 // dim, *counts), (s0 * dim, *strides))
