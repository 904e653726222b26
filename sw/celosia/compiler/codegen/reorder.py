"""List scheduling: operations are put into an order in which the units of the chip overlap.

A program means what it does when its instructions run one after another; the scoreboard overlaps
what it finds in its window of a few instructions. So the order must bring side by side what can
run side by side. It is found by list scheduling: the operations, with what they must wait for, are
played on a model of the four tensor units, each of which takes the first one that is ready, and
then stand in the order in which they began.
"""

from __future__ import annotations

from celosia.arch.config import TpuConfig
from celosia.compiler.codegen.nodes import CodeOp
from celosia.compiler.codegen.play import Play
from celosia.compiler.codegen.spans import Costs
from celosia.compiler.codegen.waits import followers

__all__ = ["reorder"]

#: Operations among which the most urgent comes first: what is tried; and where all of them are no
#: more than the first of these.
_AMONG, _AMONG_FEW = (512, 256), (512, 64)
#: Part of the cycles that it must save to put the most urgent operations first.
_WORTH = 0.005


def reorder(config: TpuConfig, ops: list[CodeOp], costs: Costs | None = None, *,
            urgent: bool = False) -> list[CodeOp]:
    """Return the operations in an order that does the same, with the units side by side.

    Strides are triples: which rows a stride register stands for is not known here, so a stream
    that names one counts as all rows from its first one on. ``costs``: what is known already of the
    costs of operations. ``urgent``: of those that are ready, the one that most depends on goes
    first, not the one that came first, if that is clearly faster.
    """
    costs = costs or Costs(config)
    each = [costs(op) for op in ops]
    waiting = followers(each, [cost.of(op) for cost, op in zip(each, ops, strict=True)])
    play = Play(config, ops, each, waiting)

    def played(among: int) -> list[int]:
        # The array is told of a tile before the rows that it is for, but behind what fills them.
        told = [begin - cost.lead for begin, cost in zip(play.starts(among), each, strict=True)]
        for i, later in enumerate(waiting):
            for j in later:
                told[j] = max(told[j], told[i])
        return sorted(range(len(ops)), key=lambda i: (told[i], i))

    def cycles(order: list[int]) -> int:
        return max(play.ends(order, config.window), default=0)

    order = played(0)
    if urgent:
        # Of nearly equals, the one that keeps the order in which loops are found.
        least = cycles(order) * (1 - _WORTH)
        for found in map(played, _AMONG if len(ops) > _AMONG[0] else _AMONG_FEW):
            if (taken := cycles(found)) < least:
                order, least = found, taken
    return [ops[i] for i in order]
