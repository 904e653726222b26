"""Range analysis of integers: indices and amounts of shifts that need no care."""

from __future__ import annotations

import math

from celosia.graph import Trait, Value, having

__all__ = ["within"]

_SAME = having(Trait.UNCHANGED)


def within(value: Value, extent: int) -> bool:
    """Whether it is plain to see that all elements are from 0 to below ``extent``."""
    low, high = _bounds(value)
    return (low >= 0 and high < extent)


def _bounds(value: Value) -> tuple[float, float]:
    """Return numbers that no element is below or above."""
    node = value.node
    if not value.type.size:
        return 0, 0
    if node.op == "constant":
        array = node.attrs["value"].numpy
        return int(array.min()), int(array.max())
    if node.op == "iota":
        return 0, value.shape[node.attrs["dim"]] - 1
    if node.op in _SAME:
        return _bounds(node.operands[value.index])
    if node.op == "select":
        (a, b), (c, d) = map(_bounds, node.operands[1:])
        return min(a, c), max(b, d)
    if node.op == "and":
        masks = [_bounds(operand) for operand in node.operands]
        return min(((0, high) for low, high in masks if low >= 0),
                   default=(-math.inf, math.inf))
    if node.op == "clamp":
        (least, most), (low, high), (end, last) = map(_bounds, node.operands)
        return min(max(low, least), end), min(max(high, most), last)
    if node.op in ("maximum", "minimum", "add", "multiply"):
        (a, b), (c, d) = map(_bounds, node.operands)
        if node.op in ("maximum", "minimum"):
            pick = max if node.op == "maximum" else min
            return pick(a, c), pick(b, d)
        ends = [a + c, b + d] if node.op == "add" else [a * c, a * d, b * c, b * d]
        # A NaN, of unknown bounds, is not less than anything.
        if all(abs(end) < 1 << 31 for end in ends):
            return min(ends), max(ends)
    return -math.inf, math.inf
