"""Range analysis of numbers.

Whether short integers need no wrapping, and how large a divisor may be.
"""

from __future__ import annotations

import math

from celosia.graph import DType, Node, Trait, Value, having

__all__ = ["bounds", "largest"]

_DEEP = 24
_SAME = having(Trait.UNCHANGED)
#: What no finite fp32 reaches.
_ALL = 2.0**128
_ANY = (-math.inf, math.inf)


def bounds(value: Value, depth: int = 0) -> tuple[float, float]:
    """Return numbers that no element is below or above (NaN left aside)."""
    node = value.node
    if depth > _DEEP or not value.type.size:
        return _ANY
    if node.op == "constant":
        numbers = node.attrs["value"].numpy.reshape(-1).astype(float)
        low, high = float(numbers.min()), float(numbers.max())
        return _ANY if math.isnan(low) or math.isnan(high) else (low, high)

    def of(index: int) -> tuple[float, float]:
        return bounds(node.operands[index], depth + 1)

    if node.op in _SAME:
        return of(value.index)
    if node.op == "select":
        (a, b), (c, d) = of(1), of(2)
        return min(a, c), max(b, d)
    if node.op in ("maximum", "minimum"):
        (a, b), (c, d) = of(0), of(1)
        pick = max if node.op == "maximum" else min
        return pick(a, c), pick(b, d)
    if node.op in ("floor", "round"):
        low, high = of(0)
        return (math.floor(low) if math.isfinite(low) else low,
                math.ceil(high) if math.isfinite(high) else high)
    if node.op == "and":
        tops = [high for low, high in (of(0), of(1)) if low >= 0]
        return (0, min(tops)) if tops else _ANY
    if node.op == "convert":
        return _converted(value, *of(0))
    return _ANY


def _converted(value: Value, low: float, high: float) -> tuple[float, float]:
    source, dtype = value.node.operands[0].dtype, value.dtype
    if dtype.is_float:
        return _ANY
    short = {DType.I8: (-128, 127), DType.U8: (0, 255), DType.I16: (-1 << 15, (1 << 15) - 1),
             DType.U16: (0, (1 << 16) - 1)}
    if source in short:
        return max(low, short[source][0]), min(high, short[source][1])
    if source.is_float:
        # Towards zero, which a NaN becomes.
        return min(low, 0), max(high, 0)
    return (low, high) if dtype is DType.I32 and source.is_signed else _ANY


def largest(value: Value, depth: int = 0) -> float:
    """Return what no finite element of floating point is beyond, in magnitude: 2**128 at most."""
    found = _largest(value, depth) if depth <= _DEEP and value.dtype.is_float else _ALL
    return min(found, _ALL)


def _largest(value: Value, depth: int) -> float:
    node = value.node
    if node.op == "constant":
        numbers = abs(node.attrs["value"].numpy.astype(float))
        return float(max(numbers[numbers < math.inf], default=0.0)) if numbers.size else 0.0

    def of(index: int) -> float:
        return largest(node.operands[index], depth + 1)

    if node.op in _SAME:
        return of(value.index)
    match node.op:
        case "negate" | "abs" | "convert":
            return of(0)
        case "tanh" | "erf" | "sin" | "cos":
            return 1.0
        case "sqrt":
            return 2.0**64
        case "exp":
            return 1.0 if _is_below_largest(node.operands[0]) else _ALL
        case "add" | "subtract":
            return of(0) + of(1)
        case "multiply":
            return of(0) * of(1)
        case "maximum" | "minimum":
            return max(of(0), of(1))
        case "select":
            return max(of(1), of(2))
        case "reduce" if node.attrs["reducer"] in ("maximum", "minimum"):
            return max(of(0), of(1))
        case "reduce" if node.attrs["reducer"] == "add":
            x = node.operands[0]
            return of(0) * (x.type.size // max(value.type.size, 1)) + of(1)
    return _ALL


def _is_below_largest(value: Value) -> bool:
    """Whether a value is x - y for the largest y of each of some rows of x, beside those rows."""
    if value.node.op != "subtract":
        return False
    x, y = value.node.operands
    shapes: list[Node] = []
    while y.node.op in ("broadcast", "reshape", "barrier") or _is_least_maximum(y):
        if y.node.op in ("broadcast", "reshape"):
            shapes.append(y.node)
        y = y.node.operands[1 if _is_least_maximum(y) else y.index]
    if y.node.op != "reduce" or y.node.attrs["reducer"] != "maximum":
        return False
    joined = y.node.attrs["dims"]
    if _unbarred(y.node.operands[0]) != _unbarred(x):
        return False
    places: list[int | None] = [dim for dim in range(len(x.shape)) if dim not in joined]
    for node in reversed(shapes):
        places = _moved(node, places)
    return len(places) == len(x.shape) and all(
        x.shape[dim] == 1 or place == (None if dim in joined else dim)
        for dim, place in enumerate(places))


def _moved(node: Node, places: list[int | None]) -> list[int | None]:
    """Return which dimension of something else each of a node's result is, given its operand's.

    None: it is none, has one element, or cannot be told: a reshape does more than add or leave out
    dimensions of one element.
    """
    before, after = node.operands[0].shape, node.result.shape
    found: list[int | None] = [None] * len(after)
    if node.op == "broadcast":
        for place, size, dim in zip(places, before, node.attrs["dims"], strict=True):
            found[dim] = place if size == after[dim] else None
        return found
    old = [dim for dim, size in enumerate(before) if size > 1]
    new = [dim for dim, size in enumerate(after) if size > 1]
    if [before[dim] for dim in old] != [after[dim] for dim in new]:
        return found
    for was, now in zip(old, new, strict=True):
        found[now] = places[was]
    return found


def _is_least_maximum(value: Value) -> bool:
    """Whether a value is the maximum of -infinity and its second operand."""
    node = value.node
    return node.op == "maximum" and bounds(node.operands[0])[1] == -math.inf


def _unbarred(value: Value) -> Value:
    while value.node.op == "barrier":
        value = value.node.operands[value.index]
    return value
