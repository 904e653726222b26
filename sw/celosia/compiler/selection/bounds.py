"""Range analysis of numbers: whether short integers need no wrapping."""

from __future__ import annotations

import math

from celosia.graph import DType, Trait, Value, having

__all__ = ["bounds"]

_DEEP = 24
_SAME = having(Trait.UNCHANGED)
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
