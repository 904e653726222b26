"""External memory of a program in steps: where the steps of the chip have their values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from celosia.compiled.steps import ChipStep
from celosia.graph import Graph

__all__ = ["Arena"]


@dataclass
class Arena:
    """The arena of steps that run one after another.

    What one of them leaves there is in its place for those that come later.

    Attributes
    ----------
    homes
        First byte of each value, by its number (`celosia.compiled.steps.ChipStep`).
    end
        What follows the last byte that one of them uses.
    """

    homes: dict[int, int] = field(default_factory=dict)
    end: int = 0

    def places(self, graph: Graph, takes: Sequence[int], needed: Collection[int]
               ) -> list[int | None]:
        """Return where the values are that a step takes; None if it needs them elsewhere.

        Parameters
        ----------
        graph
            What the step computes.
        takes
            Numbers of the values.
        needed
            Numbers of those that are needed after the step.
        """
        # Several values may be one tensor: then one of them has it in a step that takes two, none
        # in a step that writes over it.
        found: list[int | None] = []
        for number, value in zip(takes, graph.params, strict=True):
            home = self.homes.get(number)
            if home in found or (value.node.attrs["donated"] and any(
                    self.homes.get(each) == home for each in needed)):
                home = None
            found.append(home)
        return found

    def add(self, step: ChipStep, first: int) -> None:
        """Note where a step has what it takes, and what it gives: numbers from a first on."""
        for number, each in (*zip(step.takes, step.inputs, strict=True),
                             *enumerate(step.outputs, first)):
            self.homes.setdefault(number, step.program.buffer(each.name).offset)
        self.end = step.program.arena_bytes
