"""Loop rotation: the turns of a counted loop begin with products, and vector work goes behind them.

The end of a turn does not overlap the beginning of the next one: instructions come round in their
order. So what a turn does before its products is done at the end of the turn before, where it
runs beside those products that it does not wait for; the first time before the loop.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from celosia.arch.commands import Dma
from celosia.arch.config import TpuConfig
from celosia.arch.isa import Unit
from celosia.compiler.codegen.blocks import MIN_TURNS, Block, Choose, Emitted, Item, Repeat
from celosia.compiler.codegen.nodes import ARENA_OPERAND, Base, CodeOp
from celosia.compiler.codegen.spans import Costs

__all__ = ["rotated"]

#: Operations of a turn, at most: they are there a second time, around the loop.
_MOST = 4096
#: Vector work before the products that is less than this part of them stays where it is.
_FEW = 16


def rotated(config: TpuConfig, items: Sequence[Item]) -> list[Item]:
    """Return items that run the same operations in the same order, with loops rotated."""
    return _Rotation(config).items(items)


class _Rotation:
    def __init__(self, config: TpuConfig):
        self._costs = Costs(config)

    def items(self, items: Sequence[Item]) -> list[Item]:
        """Return items with the loops in them rotated."""
        return [self._item(item) for item in items]

    def _item(self, item: Item) -> Item:
        if isinstance(item, Choose):
            return replace(item, branches=[self.items(branch) for branch in item.branches])
        if not isinstance(item, Repeat):
            return item
        item = replace(item, cond=self.items(item.cond), body=self.items(item.body))
        works = [work for work in item.body if isinstance(work, Emitted)]
        if (item.count is None or item.count < MIN_TURNS or len(works) < len(item.body)
                or sum(work.size for work in works) > _MOST):
            return item
        cut = self._cut(works)
        later = _a_turn_later(works[:cut], {base: step for base, _, step in item.counts})
        if not cut or later is None:
            return item
        return replace(item, count=item.count - 1, before=works[:cut], body=[*works[cut:], *later],
                       after=works[cut:])

    def _cut(self, works: Sequence[Emitted]) -> int:
        """Return how many works of a turn go to the end of the turn before.

        These are those up to the one with most vector work before the first product, where the last
        work of a turn is a product, or moves what one made.
        """
        vector, array = [], []
        for work in works:
            cycles = [0] * len(Unit)
            for op in work.operations:
                cost = self._costs(op)
                cycles[cost.unit] += cost.occupied
            vector.append(cycles[Unit.VPU])
            array.append(cycles[Unit.MXU])
        first = next((i for i, cycles in enumerate(array) if cycles), 0)
        last = next((i for i in reversed(range(len(works))) if vector[i] or array[i]), 0)
        if not first or not array[last] or sum(vector[:first]) * _FEW < sum(array):
            return 0
        return vector.index(max(vector[:first])) + 1


def _a_turn_later(works: Iterable[Emitted], steps: Mapping[Base, int]) -> list[Emitted] | None:
    """Return works as they are a turn later, by the registers of this one; None if they cannot be.

    ``steps``: what is added to each register after a turn.
    """
    def moved(op: CodeOp) -> CodeOp:
        step = 0 if op.base is None else steps.get(op.base, 0)
        return op.stepped((0, step)) if step else op

    def block(stages: Iterable[Sequence[CodeOp]]) -> Block:
        return Block([[moved(op) for op in ops] for ops in stages])

    out = [replace(work, before=[*map(moved, work.before)], after=[*map(moved, work.after)],
                   runs=[replace(run, period=[block(each.stages) for each in run.period])
                         for run in work.runs]) for work in works]
    # An offset into the arena is not negative.
    fits = all(op.varying[ARENA_OPERAND] >= 0 for work in out for op in work.written
               if isinstance(op.command, Dma))
    return out if fits else None
