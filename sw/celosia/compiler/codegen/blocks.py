"""What code is made of before it has an order: blocks of operations, and control around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from celosia.compiler.codegen.nodes import Base, Op

__all__ = ["Block", "Choose", "Emitted", "Item", "ReadScalar", "Repeat"]


@dataclass
class Block:
    """Operations of one turn of a piece of work, in stages: loads, products, vector work, stores.

    The operations mean what they mean when blocks run one after another and in each the stages do.
    `celosia.compiler.codegen.pipeline` runs stage s of block i beside stage s - 1 of block i + 1.
    """

    stages: list[list[Op]]


@dataclass
class Emitted:
    """The operations of one piece of work.

    Attributes
    ----------
    before, after
        What runs once.
    blocks
        What repeats: blocks of the same shape one after another become a loop.
    private
        Rows of both memories, by `celosia.arch.isa.Mem`, that nothing outlives this work in. Small
        works are moved about in them, so that they need not wait for one another.
    """

    before: list[Op] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    after: list[Op] = field(default_factory=list)
    private: tuple[range, range] | None = None

    @property
    def operations(self) -> Iterator[Op]:
        """All operations, in the order in which they mean what they mean."""
        yield from self.before
        for block in self.blocks:
            for stage in block.stages:
                yield from stage
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
    that the body uses, what it holds in the first turn, and what is added after each.
    """

    body: list[Item]
    cond: list[Item] = field(default_factory=list)
    row: int = 0
    count: int | None = None
    source: str = ""
    counts: tuple[tuple[Base, int, int], ...] = ()


@dataclass
class Choose:
    """Run the branch that lane 0 of an accumulator row names, the last one where there is none."""

    row: int
    branches: list[list[Item]]
    source: str = ""


Item = Emitted | ReadScalar | Repeat | Choose
