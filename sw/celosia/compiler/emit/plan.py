"""Register allocation of accumulator rows: rows for the values of a cluster, by their liveness."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from celosia.arch.vector import Reduce
from celosia.compiler.emit.slots import Slot, Slots
from celosia.compiler.kernels.terms import Term
from celosia.compiler.lowered import External

__all__ = ["Plan", "plan"]


@dataclass(frozen=True)
class Plan:
    """Where everything lies.

    Attributes
    ----------
    where
        The slot of each value that has one.
    temporaries
        Of each step.
    rows, shared
        Rows of area 0, and of area 2.
    """

    where: Mapping[Term, Slot]
    temporaries: tuple[tuple[Slot, ...], ...]
    rows: int
    shared: int = 0


def _stored(step: Term) -> bool:
    """Whether a step stores values."""
    return step.destination is not None and isinstance(
        step.destination.access.tensor.home, External)


def _lives(steps: Sequence[Term], keep: Collection[Term]) -> dict[Term, int]:
    """Return the last step that needs each value; what stores read is needed to the end."""
    last: dict[Term, int] = {}
    for i, step in enumerate(steps):
        stored = step.reduce is not Reduce.ROWS and _stored(step)
        for value in step.values:
            last[value] = max(last.get(value, -1), len(steps) if stored else i)
    last.update(dict.fromkeys(keep, len(steps)))
    return last


def plan(steps: Sequence[Term], slots: Slots, given: Mapping[Term, Slot],
         keep: Collection[Term], size: Callable[[Term], int],
         temporaries: Callable[[Term], Sequence[int]],
         in_place: Callable[[Term, Term], bool]) -> Plan:
    """Give every value rows.

    Parameters
    ----------
    steps
        In order.
    slots
        Rows to take.
    given
        Slots of the values that are there from the beginning.
    keep
        Values that must stay.
    size
        Rows that a value needs; 0 for those that lie elsewhere.
    temporaries
        Rows that a step needs while it runs.
    in_place
        Whether the result of a step may take the rows of this operand.
    """
    last = _lives(steps, keep)
    where = dict(given)
    for value, slot in given.items():
        if value not in last:
            slots.give(slot)
    taken: list[tuple[Slot, ...]] = []
    stored = {value for step in steps if step.reduce is not Reduce.ROWS and _stored(step)
              for value in step.values}

    def replaces(value: Term, made: Term) -> bool:
        """Whether a result may come to lie where an operand lies."""
        slot = where[value]
        if slots.apart and (slot.area == 1 or (slot.area == 2 and made in stored)):
            return False
        return slot.size == size(made) and in_place(made, value)

    for i, step in enumerate(steps):
        extra = tuple(slots.take(rows, stored=_stored(step)) for rows in temporaries(step))
        taken.append(extra)
        dying = [value for value in dict.fromkeys(step.values)
                 if last[value] == i and value in where]
        if step.destination is None and size(step):
            same = next((value for value in dying if replaces(value, step)), None)
            if same is not None:
                dying.remove(same)
                where[step] = where[same]
            else:
                where[step] = slots.take(size(step), stored=step in stored)
        for slot in (*extra, *(where[value] for value in dying)):
            slots.give(slot)
    return Plan(where, tuple(taken), slots.rows, slots.shared)
