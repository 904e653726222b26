"""Induction variables: addresses that grow by the same step in every turn of a counted loop.

They need no word of memory: a scalar register starts with the first and has the step added.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from celosia.graph import DType, Node, Trait, Value, having

__all__ = ["Counter", "Line", "line", "takes_turns", "written_over"]


@dataclass(frozen=True)
class Counter:
    """A parameter of a loop's body that counts from ``first`` up, in ``turns`` turns."""

    param: Value
    first: int
    turns: int


@dataclass(frozen=True)
class Line:
    """A number that is ``first`` in the first turn and grows by ``step`` with each."""

    first: int
    step: int

    def ends(self, turns: int) -> tuple[int, int]:
        """Lowest and highest value."""
        last = self.first + self.step * (turns - 1)
        return min(self.first, last), max(self.first, last)


_SAME = having(Trait.UNCHANGED)
_DECIDED = {"lt": lambda a, b: (a[1] < b[0], a[0] >= b[1]),
            "le": lambda a, b: (a[1] <= b[0], a[0] > b[1]),
            "gt": lambda a, b: (a[0] > b[1], a[1] <= b[0]),
            "ge": lambda a, b: (a[0] >= b[1], a[1] < b[0])}


class _Lines:
    def __init__(self, counter: Counter, known: Mapping[Value, Line]):
        self.counter = counter
        self.known: dict[Value, Line | None] = dict(known)

    def of(self, value: Value) -> Line | None:
        if value not in self.known:
            self.known[value] = self._find(value)
        return self.known[value]

    def _find(self, value: Value) -> Line | None:
        node = value.node
        if value == self.counter.param:
            return Line(self.counter.first, 1)
        if value.type.size != 1 or value.dtype is not DType.I32:
            return None
        if node.op == "constant":
            return Line(int(node.attrs["value"].numpy.reshape(-1)[0]), 0)
        if node.op in _SAME:
            return self.of(node.operands[value.index])
        if node.op == "select":
            held = self._holds(node.operands[0])
            return None if held is None else self.of(node.operands[1 if held else 2])
        if node.op not in ("add", "subtract", "multiply", "minimum", "maximum"):
            return None
        a, b = (self.of(operand) for operand in node.operands)
        found = None if a is None or b is None else self._joined(node.op, a, b)
        if found is None:
            return None
        low, high = found.ends(self.counter.turns)
        return found if -1 << 31 <= low and high < 1 << 31 else None

    def _joined(self, name: str, a: Line, b: Line) -> Line | None:
        if name == "add":
            return Line(a.first + b.first, a.step + b.step)
        if name == "subtract":
            return Line(a.first - b.first, a.step - b.step)
        if name == "multiply":
            if a.step and b.step:
                return None
            return Line(a.first * b.first, a.first * b.step + a.step * b.first)
        (low, high), (bottom, top) = (each.ends(self.counter.turns) for each in (a, b))
        if high <= bottom:
            return a if name == "minimum" else b
        if low >= top:
            return b if name == "minimum" else a
        return None

    def _holds(self, value: Value) -> bool | None:
        """Whether a comparison holds in every turn, or in none."""
        node = value.node
        if node.op in _SAME and node.operands[value.index].type.size == 1:
            return self._holds(node.operands[value.index])
        if node.op != "compare" or node.attrs["direction"] not in _DECIDED:
            return None
        a, b = (self.of(operand) for operand in node.operands)
        if a is None or b is None:
            return None
        always, never = _DECIDED[node.attrs["direction"]](
            a.ends(self.counter.turns), b.ends(self.counter.turns))
        return True if always else False if never else None


def line(value: Value, counter: Counter) -> Line | None:
    """Return what a scalar is from turn to turn; None where that is no straight line."""
    return _Lines(counter, {}).of(value)


def takes_turns(start: Value, size: int, whole: int, counter: Counter) -> bool:
    """Whether parts of ``size`` from ``start`` on are, one a turn, all of ``whole``, in order.

    The order may be from the first to the last or from the last to the first.
    """
    found = line(start, counter)
    return found is not None and counter.turns * size == whole and (found.first, found.step) in (
        (0, size), (whole - size, -size))


def written_over(node: Node, i: int, counter: Counter) -> bool:
    """Whether a loop writes all of what it carries as ``i`` before anything reads it.

    It does so where each turn writes a part of its own, as scans do with what they give: what the
    tensor holds before the loop is not wanted then.
    """
    cond, body = node.regions
    update = body.outputs[i].node
    param = body.params[i]
    if (update.op != "dynamic_update_slice" or update.operands[0] != param
            or param in update.operands[1:] or len(body.users[param]) > 1
            or body.users.get(update.result) or cond.users.get(cond.params[i])
            or body.outputs.count(update.result) > 1 or param in body.outputs):
        return False
    parts = update.operands[1].shape
    cut = [dim for dim, size in enumerate(parts) if size < param.shape[dim]]
    if len(cut) != 1:
        return not cut and counter.turns > 0
    dim, = cut
    return takes_turns(update.operands[2 + dim], parts[dim], param.shape[dim], counter)
