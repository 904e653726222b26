"""Instructions before they have registers: operations on plain numbers, and counted loops."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.arch import isa
from celosia.arch.vector import Dst, Post, Reduce, ReduceOp, Src, VectorOp, operand_names

__all__ = ["VARYING", "Base", "Loop", "Node", "Op", "Strides", "load", "matmul",
           "store", "stride", "vector"]

#: How many operands of each instruction, from the first, may change from one turn of a loop to
#: the next: its rows and addresses. Shapes and counts stay.
VARYING = {"load": 2, "store": 2, "matmul": 3, "vector": 4, "stride": 0}
#: Operand of `load` and `store` that is an offset into the arena.
ARENA_OPERAND = 1


@dataclass(frozen=True, eq=False, slots=True)
class Base:
    """A scalar register that holds bytes to be added to addresses; equal to itself only."""

    name: str


#: Rows from one row of a stream to the next, innermost dimension first.
Strides = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Op:
    """One tensor instruction: its fields that are not at their default, and its operand words.

    Attributes
    ----------
    fields
        Names and values. A field that names a stride register (``xacts`` ..) may hold `Strides`
        instead: `celosia.compiler.codegen.strides` gives it a register later.
    base
        What is added to the address of a load or store at run time.
    reach
        With ``base``: first and last byte of the arena that it may touch.
    """

    mnemonic: str
    fields: tuple[tuple[str, int | Strides], ...]
    operands: tuple[int, ...]
    source: str = ""
    base: Base | None = None
    reach: tuple[int, int] | None = None

    @property
    def varying(self) -> tuple[int, ...]:
        """The operands that a loop may change."""
        return self.operands[:VARYING[self.mnemonic]]

    def with_varying(self, values: tuple[int, ...]) -> Op:
        """Return the same operation at other rows and addresses."""
        return Op(self.mnemonic, self.fields, values + self.operands[len(values):], self.source,
                  self.base, self.reach)

    @property
    def shape(self) -> tuple:
        """What two operations must share to be turns of one loop."""
        return (self.mnemonic, self.fields, self.operands[VARYING[self.mnemonic]:], self.source,
                self.base)

    @property
    def arena(self) -> tuple[bool, ...]:
        """Which of the varying operands are offsets into the arena."""
        count = VARYING[self.mnemonic]
        return tuple(self.mnemonic in ("load", "store") and i == ARENA_OPERAND
                     for i in range(count))


@dataclass(frozen=True, slots=True)
class Loop:
    """A body that runs ``count`` times; ``steps`` is added to its varying operands each time.

    The body holds the values of the first turn.
    """

    count: int
    body: tuple[Node, ...]
    steps: tuple[int, ...]

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


Node = Op | Loop


def _pair(low: int, high: int) -> int:
    assert 0 <= low < 1 << 16, low
    assert 0 <= high < 1 << 16, high
    return low | high << 16


def _dma(mnemonic: str, mem: isa.Mem, fmt: isa.DmaFormat, row: int, addr: int, rows: int,
         cols: int, pitch: int, row_step: int, group_step: int, source: str,
         base: Base | None, reach: tuple[int, int] | None) -> Op:
    assert rows
    assert cols
    assert (base is None) == (reach is None)
    return Op(mnemonic, (("mem", int(mem)), ("fmt", int(fmt))),
              (row, addr, _pair(rows, cols), pitch, _pair(row_step, group_step)), source,
              base, reach)


def load(mem: isa.Mem, fmt: isa.DmaFormat, row: int, addr: int, rows: int, cols: int, pitch: int,
         row_step: int = 1, group_step: int = 0, source: str = "", *, base: Base | None = None,
         reach: tuple[int, int] | None = None) -> Op:
    """Load ``rows`` x ``cols`` elements from the arena."""
    return _dma("load", mem, fmt, row, addr, rows, cols, pitch, row_step, group_step, source,
                base, reach)


def store(mem: isa.Mem, fmt: isa.DmaFormat, row: int, addr: int, rows: int, cols: int, pitch: int,
          row_step: int = 1, group_step: int = 0, source: str = "", *, base: Base | None = None,
          reach: tuple[int, int] | None = None) -> Op:
    """Store ``rows`` x ``cols`` elements to the arena."""
    return _dma("store", mem, fmt, row, addr, rows, cols, pitch, row_step, group_step, source,
                base, reach)


def matmul(fmt: isa.MatmulFormat, acc: int, acts: int, w: int, rows: int, wrows: int,
           accumulate: bool = False, transpose: bool = False, source: str = "", *,
           n1: int = 1, n2: int = 1, wload: bool = True, **strides: int | Strides) -> Op:
    """Multiply ``rows`` * ``n1`` * ``n2`` rows by the tile of ``wrows`` rows at ``w``.

    The rows are consecutive, unless ``strides`` (``xacc``, ``xacts``, ``xw``) has others. Without
    ``wload`` the tile of the matmul before is kept; ``w`` and ``wrows`` are 0 then.
    """
    fields: list[tuple[str, int | Strides]] = [
        ("fmt", int(fmt)), ("accumulate", int(accumulate)), ("transpose", int(transpose))]
    if not wload:
        fields.append(("wload", 0))
    fields += strides.items()
    return Op("matmul", tuple(fields), (acc, acts, w, _pair(rows, n1), n2, wrows), source)


def vector(op: VectorOp, dst_kind: Dst, dst: int, rows: int,
           sources: tuple[tuple[Src, int], ...], post: Post = Post.NONE,
           param: int = 0, source: str = "", *, n1: int = 1, n2: int = 1,
           reduce: Reduce = Reduce.NONE, reduce_op: ReduceOp = ReduceOp.SUM_I,
           **strides: int | Strides) -> Op:
    """Run one operation over ``n1`` * ``n2`` groups of ``rows`` rows.

    ``sources`` are those of a, b, c that it takes: `celosia.arch.vector.operand_names`. The rows
    are consecutive, unless ``strides`` (``xdst``, ``xa``, ``xb``, ``xc``) has others.
    """
    words = dict(zip(operand_names(op, post), sources, strict=True))
    fields: list[tuple[str, int | Strides]] = [
        ("op", int(op)), ("post", int(post)), ("dst_kind", int(dst_kind))]
    fields += [(f"{name}_kind", int(kind)) for name, (kind, _) in words.items()]
    if reduce:
        fields += [("reduce", int(reduce)), ("reduce_op", int(reduce_op))]
    if n2 > 1:
        fields.append(("n2", n2))
    fields += strides.items()
    values = [words[name][1] if name in words else 0 for name in "abc"]
    return Op("vector", tuple(fields), (dst, *values, _pair(rows, n1), param), source)


def stride(x: int, s0: int, s1: int = 0, s2: int = 0, source: str = "") -> Op:
    """Set a stride register."""
    return Op("stride", (("x", x),), (s0, s1, s2), source)
