"""What code is made of before it has an order: blocks of operations, and control around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain

from celosia.compiler.codegen.nodes import Base, CodeOp, WordSteps

__all__ = ["MIN_TURNS", "Block", "BlockRun", "Choose", "Emitted", "Item", "ReadScalar", "Repeat"]

#: Fewest turns of a loop.
MIN_TURNS = 3


@dataclass
class Block:
    """Operations of one turn of a piece of work, in stages: loads, products, vector work, stores.

    The operations mean what they mean when blocks run one after another and in each the stages do.
    `celosia.compiler.codegen.pipeline` runs stage s of block i beside stage s - 1 of block i + 1.
    """

    stages: list[list[CodeOp]]

    @property
    def operations(self) -> Iterator[CodeOp]:
        """All operations in order."""
        return chain.from_iterable(self.stages)


@dataclass
class BlockRun:
    """Blocks that repeat, of which one period is written down; or a single block.

    Attributes
    ----------
    period
        The first blocks.
    steps
        Of each of their operations, stage by stage: what is added to its `Op.varying` from one
        period to the next. None of a single block.
    count
        How many blocks there are in all. The last period may be cut short.
    """

    period: list[Block]
    steps: list[list[list[WordSteps]]] = field(default_factory=list)
    count: int = 1

    @property
    def stages(self) -> int:
        """Stages of the blocks, at most."""
        return max(len(block.stages) for block in self.period)

    @property
    def size(self) -> int:
        """How many operations there are in all."""
        turns, rest = divmod(self.count, len(self.period))
        sizes = [sum(map(len, block.stages)) for block in self.period]
        return turns * sum(sizes) + sum(sizes[:rest])

    @property
    def turns(self) -> int:
        """Turns of a period in which all stages are busy, where each is a block behind the next."""
        return (self.count - self.stages + 1) // len(self.period)

    def block(self, number: int) -> Block:
        """Return a block, written out."""
        turn, at = divmod(number, len(self.period))
        block = self.period[at]
        return block if not turn else Block([
            [op.stepped(step, turn) for op, step in zip(ops, steps, strict=True)]
            for ops, steps in zip(block.stages, self.steps[at], strict=True)])


@dataclass
class Emitted:
    """The operations of one piece of work.

    Attributes
    ----------
    before, after
        What runs once.
    runs
        What repeats. A run of more than one block becomes a loop.
    private
        Rows of both memories, by `celosia.arch.isa.Mem`, that nothing outlives this work in. Small
        works are moved about in them, so that they need not wait for one another.
    beside
        Whether it is to run beside its neighbours: there are no loops then.
    """

    before: list[CodeOp] = field(default_factory=list)
    runs: list[BlockRun] = field(default_factory=list)
    after: list[CodeOp] = field(default_factory=list)
    private: tuple[range, range] | None = None
    beside: bool = False

    @property
    def blocks(self) -> list[Block]:
        """All blocks, written out."""
        return [run.block(number) for run in self.runs for number in range(run.count)]

    @property
    def operations(self) -> Iterator[CodeOp]:
        """All operations, written out, in the order in which they mean what they mean."""
        yield from self.before
        for block in self.blocks:
            yield from block.operations
        yield from self.after

    @property
    def size(self) -> int:
        """How many operations there are in all."""
        return len(self.before) + sum(run.size for run in self.runs) + len(self.after)

    @property
    def written(self) -> Iterator[CodeOp]:
        """The operations of which all others are turns."""
        yield from self.before
        for run in self.runs:
            for block in run.period:
                yield from block.operations
        yield from self.after


@dataclass
class ReadScalar:
    """Bring lane 0 of an accumulator row into the scalar register that is ``base``."""

    base: Base
    row: int
    source: str = ""


@dataclass
class Repeat:
    """Run ``cond``, stop where lane 0 of accumulator row ``row`` is 0, run ``body``, and again.

    With ``count`` the body runs that often; there is no ``cond`` then. Each of ``counts`` is a base
    that the body uses, what it holds in the first turn, and what is added after each. ``before``
    and ``after`` run once each, with what the bases hold before the first turn and after the last.
    """

    body: list[Item]
    cond: list[Item] = field(default_factory=list)
    row: int = 0
    count: int | None = None
    source: str = ""
    counts: tuple[tuple[Base, int, int], ...] = ()
    before: list[Item] = field(default_factory=list)
    after: list[Item] = field(default_factory=list)


@dataclass
class Choose:
    """Run the branch that lane 0 of an accumulator row names, the last one where there is none."""

    row: int
    branches: list[list[Item]]
    source: str = ""


Item = Emitted | ReadScalar | Repeat | Choose
