"""Instructions before they have registers: operations on plain numbers, and counted loops."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from celosia.arch.commands import Command, Dma, Load, Matmul, Store, Stride, Vector
from celosia.arch.config import COUNT_MAX
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem
from celosia.arch.streams import Strides
from celosia.arch.vector import Dst, Post, Reduce, ReduceOp, Src, VectorOp, operand_names

__all__ = ["Base", "CodeNode", "CodeOp", "Loop", "WordSteps", "load", "matmul", "store", "stride",
           "vector"]

#: Operand of `load` and `store` that is an offset into the arena.
ARENA_OPERAND = 1
#: Commands that are kept: many operations share one, and what is known of it.
_KEPT = 1 << 14

#: What is added to the varying operands of an operation from one turn of a loop to the next.
WordSteps = tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Base:
    """A scalar register that holds bytes to be added to addresses; equal to itself only."""

    name: str


class CodeOp(NamedTuple):
    """One tensor instruction (or one that sets a stride register): a command, and where it works.

    Attributes
    ----------
    command
        What it does, with all rows and addresses 0.
    varying
        Its first operand words, which a loop may change from turn to turn: rows and addresses.
    base
        What is added to the address of a load or store at run time.
    reach
        With ``base``: first and last byte of the arena that it may touch.
    registers
        Stride registers of the streams of the command, in order; none before
        `celosia.compiler.codegen.strides` gives them.
    """

    command: Command | Stride
    varying: tuple[int, ...]
    source: str = ""
    base: Base | None = None
    reach: tuple[int, int] | None = None
    registers: tuple[int, ...] = ()

    def with_varying(self, values: tuple[int, ...]) -> CodeOp:
        """Return the same operation at other rows and addresses."""
        return CodeOp(self.command, values + self.varying[len(values):], self.source, self.base,
                  self.reach, self.registers)

    def stepped(self, step: WordSteps, turns: int = 1) -> CodeOp:
        """Return the same operation so many turns later."""
        if not turns or not any(step):
            return self
        return self.with_varying(tuple([value + turns * each for value, each in
                                        zip(self.varying, step, strict=True)]))

    @property
    def mnemonic(self) -> str:
        """Name of the instruction."""
        return self.command.opcode.name.lower()

    @property
    def words(self) -> tuple[int, ...]:
        """All operand words."""
        return self.varying + self.command.words[len(self.varying):]

    @property
    def shape(self) -> tuple:
        """What two operations must share to be turns of one loop."""
        return self.command, self.source, self.base, self.registers

    @property
    def arena(self) -> tuple[bool, ...]:
        """Which of the varying operands are offsets into the arena."""
        return (False, True) if isinstance(self.command, Dma) else (False,) * len(self.varying)


@dataclass(frozen=True, slots=True)
class Loop:
    """A body that runs ``count`` times; ``steps`` is added to its varying operands each time.

    The body holds the values of the first turn.
    """

    count: int
    body: tuple[CodeNode, ...]
    steps: WordSteps

    @property
    def varying(self) -> tuple[int, ...]:
        """Varying operands of the whole body, in order."""
        return tuple(value for node in self.body for value in node.varying)

    def with_varying(self, values: tuple[int, ...]) -> Loop:
        """Return the same loop at other rows and addresses."""
        body, at = [], 0
        for node in self.body:
            count = len(node.varying)
            body.append(node.with_varying(values[at:at + count]))
            at += count
        return Loop(self.count, tuple(body), self.steps)

    @property
    def shape(self) -> tuple:
        """What two loops must share to be turns of an outer one."""
        return ("loop", self.count, tuple(node.shape for node in self.body), self.steps)

    @property
    def arena(self) -> tuple[bool, ...]:
        """Which of the varying operands are offsets into the arena."""
        return tuple(flag for node in self.body for flag in node.arena)


CodeNode = CodeOp | Loop


@lru_cache(maxsize=_KEPT)
def _dma(kind: type[Load | Store], mem: Mem, fmt: DmaFormat, rows: int, cols: int, pitch: int,
         row_step: int, group_step: int) -> Load | Store:
    assert 0 < rows <= COUNT_MAX, rows
    assert 0 < cols <= COUNT_MAX, cols
    assert 0 <= min(row_step, group_step) <= max(row_step, group_step) <= COUNT_MAX
    return kind(Mem(mem), DmaFormat(fmt), 0, 0, rows, cols, pitch, row_step, group_step)


@lru_cache(maxsize=_KEPT)
def _matmul(fmt: MatmulFormat, accumulate: bool, transpose: bool, counts: tuple[int, int, int],
            wrows: int | None, strides: tuple[Strides | None, ...]) -> Matmul:
    assert max(counts) <= COUNT_MAX, counts
    return Matmul.of(MatmulFormat(fmt), bool(accumulate), bool(transpose), (0, 0, 0), counts,
                     wrows, strides)


@lru_cache(maxsize=_KEPT)
def _vector(op: VectorOp, post: Post, dst_kind: Dst, kinds: tuple[Src, ...],
            counts: tuple[int, int, int], param: int, reduce: Reduce, reduce_op: ReduceOp,
            strides: tuple[Strides | None, ...]) -> tuple[Vector, tuple[int, ...]]:
    """Return the command, and which of a, b, c, as operand words, the sources are."""
    assert max(counts) <= COUNT_MAX, counts
    words = tuple(" abc".index(name) for name in operand_names(op, post))
    found = dict(zip(words, kinds, strict=True))
    return Vector.of(op, post, dst_kind, (0, 0, 0, 0), [found.get(i, Src.NONE) for i in (1, 2, 3)],
                     counts, param, reduce, reduce_op if reduce else ReduceOp.SUM_I, strides), words


def load(mem: Mem, fmt: DmaFormat, row: int, addr: int, rows: int, cols: int, pitch: int,
         row_step: int = 1, group_step: int = 0, source: str = "", *, base: Base | None = None,
         reach: tuple[int, int] | None = None) -> CodeOp:
    """Load ``rows`` x ``cols`` elements from the arena."""
    assert (base is None) == (reach is None)
    return CodeOp(_dma(Load, mem, fmt, rows, cols, pitch, row_step, group_step), (row, addr),
                  source, base, reach)


def store(mem: Mem, fmt: DmaFormat, row: int, addr: int, rows: int, cols: int, pitch: int,
          row_step: int = 1, group_step: int = 0, source: str = "", *, base: Base | None = None,
          reach: tuple[int, int] | None = None) -> CodeOp:
    """Store ``rows`` x ``cols`` elements to the arena."""
    assert (base is None) == (reach is None)
    return CodeOp(_dma(Store, mem, fmt, rows, cols, pitch, row_step, group_step), (row, addr),
                  source, base, reach)


def matmul(fmt: MatmulFormat, acc: int, acts: int, w: int, rows: int, wrows: int,
           accumulate: bool = False, transpose: bool = False, source: str = "", *,
           n1: int = 1, n2: int = 1, wload: bool = True, xacc: Strides | None = None,
           xacts: Strides | None = None, xw: Strides | None = None) -> CodeOp:
    """Multiply ``rows`` * ``n1`` * ``n2`` rows by the tile of ``wrows`` rows at ``w``.

    The rows are consecutive, unless ``xacc``, ``xacts``, ``xw`` are strides. Without ``wload`` the
    tile of the matmul before is kept; ``w`` and ``wrows`` are 0 then.
    """
    return CodeOp(_matmul(fmt, accumulate, transpose, (rows, n1, n2), wrows if wload else None,
                      (xacc, xacts, xw)), (acc, acts, w), source)


def vector(op: VectorOp, dst_kind: Dst, dst: int, rows: int,
           sources: tuple[tuple[Src, int], ...], post: Post = Post.NONE,
           param: int = 0, source: str = "", *, n1: int = 1, n2: int = 1,
           reduce: Reduce = Reduce.NONE, reduce_op: ReduceOp = ReduceOp.SUM_I,
           xdst: Strides | None = None, xa: Strides | None = None, xb: Strides | None = None,
           xc: Strides | None = None) -> CodeOp:
    """Run one operation over ``n1`` * ``n2`` groups of ``rows`` rows.

    ``sources`` are those of a, b, c that it takes: `celosia.arch.vector.operand_names`. The rows
    are consecutive, unless ``xdst``, ``xa``, ``xb``, ``xc`` are strides.
    """
    command, taken = _vector(op, post, dst_kind, tuple([kind for kind, _ in sources]),
                             (rows, n1, n2), param, reduce, reduce_op, (xdst, xa, xb, xc))
    words = [dst, 0, 0, 0]
    for i, (_, word) in zip(taken, sources, strict=True):
        words[i] = word
    return CodeOp(command, tuple(words), source)


def stride(x: int, s0: int, s1: int = 0, s2: int = 0, source: str = "") -> CodeOp:
    """Set a stride register."""
    return CodeOp(Stride(x, s0, s1, s2), (), source)
