"""Operations played on a model of the units: when each starts, and when it ends.

The cycles are those of the cycle model, with less around them: no instruction is fetched, and the
streams of one unit do not meet those of another in a bank.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from functools import cached_property

from celosia.arch.commands import Command, Stride
from celosia.arch.config import TpuConfig
from celosia.arch.isa import Unit
from celosia.compiler.codegen.nodes import CodeOp
from celosia.compiler.codegen.spans import CommandCost
from celosia.model.timing import HANDOVER, ISSUES, LEADERS, follow

__all__ = ["Play"]


_MXU, _VPU = int(Unit.MXU), int(Unit.VPU)
#: Of each unit, the one whose rows it may follow.
_LEADER = [int(LEADERS[unit][0]) if unit in LEADERS else -1 for unit in Unit]
#: From the checker to each unit.
_ISSUES = [ISSUES.get(unit, 0) for unit in Unit]
#: Operations from which on the array has enough to do to count as the unit that all wait for.
_MANY = 1024


class _Units:
    """The checker, and the units behind it, in which operations are played.

    Attributes
    ----------
    now
        Cycle in which the checker takes the next operation.
    free
        Cycle from which on each unit takes the next one.
    """

    def __init__(self) -> None:
        self.now = 0
        self.free = [0] * len(Unit)
        self._filled = False

    def take(self, cost: CommandCost, ready: int, room: int = 0) -> int:
        """Return the cycle of the first row of the operation that is issued next.

        ``ready``, ``room``: from which on it need not wait for others, and has a place in the
        window.
        """
        self.now = max(self.now + cost.check, room)
        unit = cost.unit
        free = self.free[unit]
        start = max(self.now + _ISSUES[unit] + cost.lead, free, ready)
        if unit == _VPU:
            if cost.fill and not (self._filled and start == free):
                start += cost.fill
            self._filled = cost.fill > 0
        self.free[unit] = start + cost.occupied
        return start


def _apart(config: TpuConfig, cost: CommandCost, op: CodeOp, later: CommandCost, waits: CodeOp,
           placed: dict[CodeOp, Command]) -> int:
    """Cycles from the first row of an operation to that of one that waits for it.

    Instructions of one unit follow each other through it; only the vector unit waits. ``placed``:
    the command of each operation, where it works, as far as it was asked for.
    """
    if cost.pace and _LEADER[later.unit] == cost.unit:
        (rows,) = [(first, last) for _, first, last, written in cost.of(op) if written]
        command = placed.get(waits)
        if command is None:
            assert not isinstance(waits.command, Stride)  # they come after the order is known
            command = placed[waits] = waits.command.at(waits.varying)
        return cost.latency + follow(command, later.lead, rows, cost.pace, config.dim)
    if later.unit != cost.unit:
        return cost.latency + HANDOVER + later.lead
    return cost.latency if cost.unit == _VPU else cost.occupied


class Play:
    """Operations that are played on the units of the chip.

    Parameters
    ----------
    config
        Of the chip.
    ops, costs
        The operations, and what each costs.
    waiting
        For each operation those that must wait for it.
    """

    def __init__(self, config: TpuConfig, ops: Sequence[CodeOp], costs: Sequence[CommandCost],
                 waiting: Sequence[Sequence[int]]):
        self._costs = costs
        #: For each operation: those that wait for it, and how long after its start they may start.
        placed: dict[CodeOp, Command] = {}
        self._after = [[(j, _apart(config, cost, op, costs[j], ops[j], placed)) for j in after]
                       for op, cost, after in zip(ops, costs, waiting, strict=True)]

    @cached_property
    def _behind(self) -> list[int]:
        """Cycles from the start of each operation to the end of all that follows from it.

        Where there are many operations, products follow one another, too: what an early one waits
        for is more urgent than what a late one does.
        """
        out = [cost.latency for cost in self._costs]
        in_order, later = len(out) >= _MANY, 0
        for i in range(len(out) - 1, -1, -1):
            most = out[i]
            for j, apart in self._after[i]:
                if out[j] + apart > most:
                    most = out[j] + apart
            if in_order and self._costs[i].unit == _MXU:
                most = later = max(most, later + self._costs[i].occupied)
            out[i] = most
        return out

    def starts(self, urgent: int = 0) -> list[int]:
        """Return the cycle in which each operation starts where units take the first one ready.

        ``urgent``: units take the one that most depends on, among so many.
        """
        costs, followers = self._costs, self._after
        count = len(costs)
        place = [*range(count)]
        if urgent:
            behind = self._behind
            for rank, i in enumerate(sorted(place, key=lambda i: (i // urgent, -behind[i], i))):
                place[i] = rank
        waits, ready_at, out = [0] * count, [0] * count, [0] * count
        for after in followers:
            for j, _ in after:
                waits[j] += 1
        chip = _Units()
        free = chip.free
        #: Of each unit: operations by when they are ready, and those that are, by their place.
        later: list[list[tuple[int, int]]] = [[] for _ in Unit]
        ready: list[list[tuple[int, int]]] = [[] for _ in Unit]
        units = [cost.unit for cost in costs]
        for i in range(count):
            if not waits[i]:
                later[units[i]].append((0, i))
        every = range(len(Unit))
        for _ in range(count):
            start, unit = -1, 0
            for number in every:
                if ready[number]:
                    at = free[number]
                elif later[number]:
                    at = max(free[number], later[number][0][0])
                else:
                    continue
                if start < 0 or at < start:
                    start, unit = at, number
            mine, soon = ready[unit], later[unit]
            while soon and soon[0][0] <= start:
                i = heapq.heappop(soon)[1]
                heapq.heappush(mine, (place[i], i))
            i = heapq.heappop(mine)[1]
            out[i] = start = chip.take(costs[i], start)
            for j, apart in followers[i]:
                if start + apart > ready_at[j]:
                    ready_at[j] = start + apart
                waits[j] -= 1
                if not waits[j]:
                    heapq.heappush(later[units[j]], (ready_at[j], j))
        return out

    def ends(self, order: Sequence[int], window: int) -> list[int]:
        """Return the cycle in which each operation ends where they are issued in a given order.

        The scoreboard holds ``window`` of them; those of a unit start in order. What waits for
        another one comes later.
        """
        ready_at, out = [0] * len(order), [0] * len(order)
        chip = _Units()
        held: list[int] = []
        for i in order:
            cost = self._costs[i]
            room = heapq.heappop(held) if len(held) >= window else 0
            start = chip.take(cost, ready_at[i], room)
            out[i] = start + cost.latency
            heapq.heappush(held, out[i])
            for j, apart in self._after[i]:
                if start + apart > ready_at[j]:
                    ready_at[j] = start + apart
        return out
