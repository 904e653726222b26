"""Register allocation of accumulator rows: rows for the values of a cluster, by their liveness."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from celosia.compiler.emit.script import Action
from celosia.compiler.emit.slots import Slot, Slots
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
        Of each action.
    rows, shared
        Rows of area 0, and of area 2.
    """

    where: Mapping[int, Slot]
    temporaries: tuple[tuple[Slot, ...], ...]
    rows: int
    shared: int = 0


def _stored(action: Action) -> bool:
    """Whether an action stores values."""
    return action.write is not None and isinstance(action.write.access.tensor.home, External)


def _lives(actions: Sequence[Action], keep: Collection[int]) -> dict[int, int]:
    """Return the last action that needs each value; what stores read is needed to the end."""
    last: dict[int, int] = {}
    for i, action in enumerate(actions):
        stored = action.join is None and _stored(action)
        for value in action.values:
            last[value] = max(last.get(value, -1), len(actions) if stored else i)
    last.update(dict.fromkeys(keep, len(actions)))
    return last


def plan(actions: Sequence[Action], slots: Slots, given: Mapping[int, Slot],
         keep: Collection[int], size: Callable[[int], int],
         temporaries: Callable[[Action], Sequence[int]],
         in_place: Callable[[Action, int], bool]) -> Plan:
    """Give every value rows.

    Parameters
    ----------
    actions
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
        Rows that an action needs while it runs.
    in_place
        Whether the result of an action may take the rows of this operand.
    """
    last = _lives(actions, keep)
    where = dict(given)
    for value, slot in given.items():
        if value not in last:
            slots.give(slot)
    taken: list[tuple[Slot, ...]] = []
    stored = {value for action in actions if action.join is None and _stored(action)
              for value in action.values}

    def replaces(value: int, made: int, action: Action) -> bool:
        """Whether a result may come to lie where an operand lies."""
        slot = where[value]
        if slots.apart and (slot.area == 1 or (slot.area == 2 and made in stored)):
            return False
        return slot.size == size(made) and in_place(action, value)

    for i, action in enumerate(actions):
        extra = tuple(slots.take(rows, stored=_stored(action)) for rows in temporaries(action))
        taken.append(extra)
        dying = [value for value in dict.fromkeys(action.values)
                 if last[value] == i and value in where]
        made = action.result
        if made is not None and size(made):
            same = next((value for value in dying if replaces(value, made, action)), None)
            if same is not None:
                dying.remove(same)
                where[made] = where[same]
            else:
                where[made] = slots.take(size(made), stored=made in stored)
        for slot in (*extra, *(where[value] for value in dying)):
            slots.give(slot)
    return Plan(where, tuple(taken), slots.rows, slots.shared)
