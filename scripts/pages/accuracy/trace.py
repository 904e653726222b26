"""Functions on terms as straight-line code, and their values on NumPy arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.arch.vector import Post, Reduce, ReduceOp, VectorOp
from celosia.compiler.kernels.terms import STREAMS, Extent, Leaf, Term, extent_of, recording
from celosia.model.fast.lanes import FAST

__all__ = ["Kernel", "kernel"]

U32 = NDArray[np.uint32]


@dataclass
class _Trace:
    """Records the instructions of a function in order."""

    known: set[Term]
    steps: list[Term] = field(default_factory=list)

    def step(self, op: VectorOp, args: tuple[Term, ...], post: Post, param: int, reduce: Reduce,
             reduce_op: ReduceOp) -> Term:
        term = Term(op, args, extent_of(args, reduce), post, reduce, reduce_op, param)
        if not self.known.issuperset(term.values):
            raise ValueError(
                f"operands of {op.name.lower()} must belong to the kernel being traced")
        if sum(value.is_stream for value in term.values) > STREAMS:
            raise ValueError(f"{op.name.lower()} must have at most {STREAMS} operands of more than "
                             f"one row")
        if reduce:
            raise ValueError(f"{op.name.lower()} must join no rows or lanes in a function")
        self.known.add(term)
        self.steps.append(term)
        return term


@dataclass(frozen=True)
class Kernel:
    """A function that was traced, by `kernel`.

    Attributes
    ----------
    inputs
        Its arguments; the ``source`` of each is its name.
    output
        Its result.
    steps
        Instructions in the order in which they run, none of them without use.
    """

    name: str
    inputs: tuple[Term, ...]
    output: Term
    steps: tuple[Term, ...]

    @property
    def cost(self) -> int:
        """Cycles of the vector unit per row: the instructions that walk all rows."""
        return sum(taken.walks for taken in self.steps)

    def evaluate(self, *arrays: NDArray) -> U32:
        """Return the words of the result, bit for bit as on the chip.

        The arrays, one for each input, have elements of 32 bits and one shape.
        """
        known = {term: np.ascontiguousarray(array).view(np.uint32)
                 for term, array in zip(self.inputs, arrays, strict=True)}
        with np.errstate(over="ignore"):
            for step in self.steps:
                words = [known[arg] if arg in known else np.full(1, arg.param, np.uint32)
                         for arg in step.args]
                known[step] = FAST.compute(step.first, step.post, words, step.param)
        return np.broadcast_to(known[self.output], arrays[0].shape)


def kernel(name: str, function: Callable[..., Term], inputs: Sequence[str] = ("x",)) -> Kernel:
    """Trace a function of as many terms as there are names of inputs."""
    reads = tuple(Term(Leaf.READ, (), Extent.FULL, source=label) for label in inputs)
    trace = _Trace({*reads})
    with recording(trace):
        output = function(*reads)
    wanted, kept = {output}, []
    for taken in reversed(trace.steps):
        if taken in wanted:
            kept.append(taken)
            wanted.update(taken.values)
    return Kernel(name, reads, output, tuple(reversed(kept)))
