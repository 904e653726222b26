"""Vector instructions over rows that lie anywhere: strides, single rows, counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from celosia.arch.config import COUNT_MAX
from celosia.arch.isa import N2_BITS
from celosia.arch.streams import Stream, Strides
from celosia.arch.vector import (
    LANE_BITS_LSB,
    Dst,
    Post,
    Reduce,
    ReduceOp,
    Src,
    VectorOp,
    operand_names,
)
from celosia.arch.words import WORD_MASK
from celosia.compiler.codegen.nodes import CodeOp, vector
from celosia.compiler.views import merged

__all__ = ["Immediate", "Ref", "OperandSource", "issue", "moving_streams"]

#: Limit of n2.
_MOST_N2 = (1 << N2_BITS) - 1
#: Walks that are kept: most instructions of a work differ in their rows alone.
_KEPT = 1 << 12


class Ref(NamedTuple):
    """Rows of a value: row ``row + i * strides[0] + j * strides[1] + ..`` for index (i, j, ..).

    Attributes
    ----------
    strides
        Of values: from a row of the space to the next, and from a panel to the next.
    kind
        Which memory, and as what.
    lane
        The one lane that goes with all lanes, or None.
    """

    row: int
    strides: tuple[int, ...]
    kind: Dst = Dst.ACC
    lane: int | None = None

    def at(self, *indexes: int) -> Ref:
        """Return the same rows from another one on."""
        more = sum(index * stride for index, stride in zip(indexes, self.strides, strict=True))
        return Ref(self.row + more, self.strides, self.kind, self.lane)

    @property
    def at_zero(self) -> Ref:
        """The same rows from the first one of the memory on."""
        return Ref(0, self.strides, self.kind, self.lane)

    @property
    def operand(self) -> int:
        """The operand word: the first row, and the lane above it."""
        return self.row | (self.lane or 0) << LANE_BITS_LSB

    def along(self, *strides: int) -> Ref:
        """Return rows from the same one on with other strides."""
        return Ref(self.row, strides, self.kind, self.lane)


class Immediate(NamedTuple):
    """An operand without rows: a word, or an index that is added to it."""

    kind: Src
    word: int

    @property
    def at_zero(self) -> Immediate:
        """The same with the word 0."""
        return Immediate(self.kind, 0)

    @property
    def operand(self) -> int:
        """The operand word."""
        return self.word & WORD_MASK


OperandSource = Ref | Immediate


def _moves(ref: Ref, counts: Sequence[int]) -> bool:
    return any(stride and count > 1 for stride, count in zip(ref.strides, counts, strict=True))


def moving_streams(sources: Sequence[OperandSource], counts: Sequence[int]) -> int:
    """Return how many of the sources are streams in a walk of so many rows."""
    return sum(isinstance(source, Ref) and _moves(source, counts) for source in sources)


def _merged(counts: Sequence[int], refs: Sequence[Ref],
            groups: bool) -> tuple[list[int], list[list[int]]]:
    """Return a walk of fewer dimensions over the same rows: counts, and strides of each ref.

    With ``groups`` the first dimension, along which a reduction's target stands still, stays alone.
    """
    sizes, steps = merged(counts[groups:][::-1], *(ref.strides[groups:][::-1] for ref in refs))
    if not sizes and not groups:
        return [1], [[1] for _ in refs]
    return [*counts[:groups], *sizes[::-1]], [
        [*ref.strides[:groups], *step[::-1]] for ref, step in zip(refs, steps, strict=True)]


def _triple(strides: Sequence[int], counts: Sequence[int]) -> Strides | None:
    """Return the strides for the instruction; None where the rows are consecutive."""
    more = 3 - len(counts)
    return Stream(0, (*counts, *[1] * more), (*strides, *[0] * more)).triple


class _Walk(NamedTuple):
    """The walk of an instruction: its sizes, strides by the name of their field, and sources."""

    sizes: tuple[int, int, int]
    strides: dict[str, Strides]
    kinds: tuple[Src, ...]


@lru_cache(maxsize=_KEPT)
def _walk(names: str, dst: Ref, sources: tuple[OperandSource, ...], counts: tuple[int, ...],
          groups: bool) -> _Walk:
    """Return the walk over rows that lie like these, wherever they begin."""
    moving = [isinstance(ref, Ref) and _moves(ref, counts) for ref in sources]
    refs = [ref for ref, moves in zip(sources, moving, strict=True)
            if isinstance(ref, Ref) and moves]
    sizes, (target, *steps) = _merged(counts, [dst, *refs], groups)
    assert len(refs) <= 2, (names, sources, counts)
    assert len(sizes) <= 3, sizes
    n0, n1, n2 = (*sizes, 1, 1)[:3]
    assert max(n0, n1) <= COUNT_MAX, sizes
    assert n2 <= _MOST_N2, sizes
    strides: dict[str, Strides] = {}
    triple = _triple(target[1:], sizes[1:]) if groups else _triple(target, sizes)
    if triple is not None:
        strides["xdst"] = (0, *triple[:2]) if groups else triple
    kinds = []
    for name, taken, moves in zip(names, sources, moving, strict=True):
        if isinstance(taken, Immediate):
            kinds.append(taken.kind)
            continue
        kinds.append(Src[taken.kind.name + ("" if taken.lane is None else "_LANE")
                         + ("" if moves else "_ROW")])
        if moves and (triple := _triple(steps.pop(0), sizes)) is not None:
            strides[f"x{name}"] = triple
    return _Walk((n0, n1, n2), strides, tuple(kinds))


def issue(op: VectorOp, dst: Ref, sources: Sequence[OperandSource], counts: Sequence[int],
          post: Post = Post.NONE, param: int = 0, reduce: Reduce = Reduce.NONE,
          reduce_op: ReduceOp = ReduceOp.SUM_I, source: str = "") -> CodeOp:
    """Return one instruction.

    Parameters
    ----------
    op, post, param, reduce, reduce_op
        As `celosia.compiler.codegen.nodes.vector` has them.
    dst, sources
        The rows; a stride for each of ``counts``. With ``reduce`` rows the first stride of ``dst``
        is 0.
    counts
        Sizes of the walk, innermost first: at most three. With ``reduce`` rows the first is what is
        joined.
    source
        What the operation comes from.
    """
    walk = _walk(operand_names(op, post), dst.at_zero, tuple([each.at_zero for each in sources]),
                 tuple(counts), reduce == Reduce.ROWS)
    n0, n1, n2 = walk.sizes
    words = tuple([(kind, taken.operand) for kind, taken in zip(walk.kinds, sources, strict=True)])
    return vector(op, dst.kind, dst.row, n0, words, post, param, source, n1=n1, n2=n2,
                  reduce=reduce, reduce_op=reduce_op if reduce else ReduceOp.SUM_I, **walk.strides)
