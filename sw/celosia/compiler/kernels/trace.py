"""Kernels: functions on terms, traced to straight-line code before it has rows.

A kernel is written once, as a function on terms; calling it records each vector instruction.
`celosia.compiler.kernels.evaluate` runs them on NumPy arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from celosia.arch.vector import Post, Reduce, ReduceOp, VectorOp
from celosia.arch.words import ceil_div
from celosia.compiler.kernels.terms import STREAMS, Extent, Leaf, Term, extent_of, recording

__all__ = ["Input", "Kernel", "kernel"]


@dataclass
class _Trace:
    """Records the instructions of a kernel in order."""

    known: set[Term] = field(default_factory=set)
    steps: list[Term] = field(default_factory=list)

    def read(self, name: str, one_row: bool) -> Term:
        term = Term(Leaf.READ, (), Extent.LANES if one_row else Extent.FULL, source=name)
        self.known.add(term)
        return term

    def step(self, op: VectorOp, args: tuple[Term, ...], post: Post, param: int, reduce: Reduce,
             reduce_op: ReduceOp) -> Term:
        term = Term(op, args, extent_of(args, reduce), post, reduce, reduce_op, param)
        if not self.known.issuperset(term.values):
            raise ValueError(
                f"operands of {op.name.lower()} must belong to the kernel being traced")
        if sum(value.is_stream for value in term.values) > STREAMS:
            raise ValueError(f"{op.name.lower()} must have at most {STREAMS} operands of more than "
                             f"one row")
        self.known.add(term)
        self.steps.append(term)
        return term


@dataclass(frozen=True)
class Input:
    """An array that a kernel takes or gives: a tile for each group of D columns.

    ``per_row``: it is one element a row, which every lane has; only lane 0 is given.
    """

    name: str
    tiles: tuple[Term, ...]
    per_row: bool = False

    @property
    def one_row(self) -> bool:
        """Whether it is one row for all rows."""
        return self.tiles[0].one_row


@dataclass(frozen=True)
class Kernel:
    """Steps with names for what goes in and comes out; made by `kernel`.

    Attributes
    ----------
    inputs, outputs
        Arrays; those of more than one row have all the same rows.
    columns
        Columns of the arrays where that matters (a reduction over lanes, one row for all), else
        None: then an array of any shape will do, D elements a row.
    steps
        In the order in which they run, none of them without use.
    integers
        Names of the arrays that hold int32; the others hold float32.
    dim
        Lanes of the chip that it is for; None: any.
    """

    name: str
    inputs: tuple[Input, ...]
    outputs: tuple[Input, ...]
    columns: int | None
    steps: tuple[Term, ...]
    integers: frozenset[str] = frozenset()
    dim: int | None = None

    @property
    def scalars(self) -> tuple[str, ...]:
        """Names of the scalars that must be bound."""
        names = (arg.source for taken in self.steps for arg in taken.args
                 if arg.op is Leaf.SCALAR)
        return tuple(dict.fromkeys(names))

    @property
    def cost(self) -> int:
        """Cycles of the vector unit per row: the instructions that walk all rows."""
        return sum(taken.walks for taken in self.steps)

    @property
    def needs_bf16(self) -> bool:
        """Whether it is for chips with floating point only."""
        return any(taken.needs_bf16 for taken in self.steps)


def _used(steps: list[Term], outputs: Sequence[Input]) -> tuple[Term, ...]:
    wanted = {tile for output in outputs for tile in output.tiles}
    kept = []
    for taken in reversed(steps):
        if taken in wanted:
            kept.append(taken)
            wanted.update(taken.values)
    return tuple(reversed(kept))


def kernel(name: str, function: Callable[..., Any],
           inputs: Sequence[str] = ("x",), *, rows: Sequence[str] = (),
           columns: int | None = None, dim: int | None = None,
           integers: Sequence[str] = (), per_row: Sequence[str] = ()) -> Kernel:
    """Trace a function.

    Parameters
    ----------
    name
        What to call the kernel.
    function
        Called with a tile for each of ``inputs``, then for each of ``rows``; returns the tile of
        the one output ("y"), or a mapping from names of outputs to tiles. With ``columns`` it takes
        and gives lists of tiles, one for each group of ``dim`` columns.
    inputs
        Names of the arrays.
    rows
        Names of arrays of one row.
    columns, dim
        Columns of all arrays, and lanes of the chip, where the kernel depends on them.
    integers
        Names of the arrays that hold int32.
    per_row
        Names of the outputs that are one element a row; every lane must have it.
    """
    if columns is not None and (dim is None or columns < 1):
        raise ValueError(f"columns must be at least 1 and have a dim, not {columns!r}")
    if dim is not None and dim < 1:
        raise ValueError(f"dim must be at least 1, not {dim!r}")
    trace = _Trace()
    groups = 1 if columns is None or dim is None else ceil_div(columns, dim)
    arrays = tuple(Input(label, tuple(trace.read(label, label in rows) for _ in range(groups)))
                   for label in (*inputs, *rows))
    arguments = [list(array.tiles) if columns is not None else array.tiles[0] for array in arrays]
    with recording(trace):
        results = function(*arguments)
    if not isinstance(results, Mapping):
        results = {"y": results}
    outputs = tuple(Input(label, (tiles,) if isinstance(tiles, Term) else tuple(tiles),
                          label in per_row)
                    for label, tiles in results.items())
    return Kernel(name, arrays, outputs, columns, _used(trace.steps, outputs), frozenset(integers),
                  dim)
