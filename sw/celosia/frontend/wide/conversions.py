"""Integers of 64 bits from other numbers, and to them."""

from __future__ import annotations

from celosia.frontend.wide.words import Arithmetic, Unfit, Wide
from celosia.graph import DType, Node, TensorType, Value, splat

__all__ = ["bitcast", "convert"]


def convert(a: Arithmetic, node: Node, x: Value | Wide) -> Value | Wide:
    """Return the same numbers in another type."""
    dtype = node.types[0].dtype
    if not isinstance(x, Wide):
        return _of_float(a, x, dtype.is_signed) if x.dtype.is_float else a.extended(
            x, dtype.is_signed)
    if dtype in (DType.I64, DType.U64):
        return Wide(x.low, x.high, dtype.is_signed)
    if dtype.is_float:
        return _to_float(a, x, dtype)
    if dtype is DType.BOOL:
        return a.compare("ne", a("or", x.low, x.high), 0)
    return x.low if dtype is DType.U32 else a("convert", x.low, dtype=dtype)


def _to_float(a: Arithmetic, x: Wide, dtype: DType) -> Value:
    """Return the nearest floats: of the 32 bits from the first one that is set, and of whether any
    is after them.
    """
    size, places = a.size(x), a.full(32, x.low.type)
    for step in (32, 16, 8, 4, 2, 1):
        top = size.high if step == 32 else a("shift_right", size.high, 32 - step)
        empty = a.compare("eq", top, 0)
        size = a.choose(empty, a.shifted("shift_left", size, step), size)
        places = a("select", empty, a("subtract", places, step), places)
    word = a("or", size.high, a.flag(a.compare("ne", size.low, 0)))
    # Of a power of 2 the exponent is all there is.
    scale = a("bitcast", a("shift_left", a("add", places, 127), 23), dtype=DType.F32)
    found = a("multiply", a("convert", word, dtype=DType.F32), scale)
    if x.signed:
        found = a("select", a.negative(x), a("negate", found), found)
    return found if dtype is DType.F32 else a("convert", found, dtype=dtype)


def _of_float(a: Arithmetic, x: Value, signed: bool) -> Wide:
    """Return floats without their fractions: what is too large is the nearest, NaN 0."""
    x = x if x.dtype is DType.F32 else a("convert", x, dtype=DType.F32)

    def full(number: float) -> Value:
        return splat(number, TensorType(DType.F32, x.shape), a.source)

    size = a("floor", a("abs", x))
    high = a("floor", a("multiply", size, full(2.0**-32)))
    low = a("subtract", size, a("multiply", high, full(2.0**32)))
    found = Wide(*(a("convert", each, dtype=DType.U32) for each in (low, high)),
                 signed=signed)
    below = a.compare("lt", x, full(0.0))
    most = a.like(2**63 - 1 if signed else 2**64 - 1, found)
    found = a.choose(a.compare("ge", size, full(2.0**63 if signed else 2.0**64)), most, found)
    if not signed:
        return a.choose(below, a.like(0, found), found)
    least = a.choose(a.compare("ge", size, full(2.0**63)), a.like(-(2**63), found),
                     a.negate(found))
    return a.choose(below, least, found)


def bitcast(a: Arithmetic, node: Node, x: Value | Wide) -> Value | Wide:
    """Return the same bits in another type."""
    [old], new = node.operands, node.types[0]
    if isinstance(x, Wide):
        if new.dtype in (DType.I64, DType.U64):
            return Wide(x.low, x.high, new.dtype.is_signed)
        if new.dtype.bits > 32:
            raise Unfit(f"bits must be of integers, not {new}")
        pairs = a.pairs(x)
        if new.dtype is not DType.U32:
            pairs = a("bitcast", pairs, dtype=new.dtype)
        return pairs if pairs.shape == new.shape else a("reshape", pairs, shape=new.shape)
    if old.dtype is DType.I64:
        return a.extended(x, new.dtype.is_signed)  # as programs of frameworks have them
    if x.dtype.bits < 32:
        x = a("reshape", x, shape=(*x.shape[:-1], 2, 32 // x.dtype.bits))
    return a.of_pairs(x if x.dtype is DType.U32 else a("bitcast", x, dtype=DType.U32),
                      new.dtype.is_signed)
