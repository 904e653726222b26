"""Remainders of floats, exactly: the long division of binary numbers.

What is left of |x| is below twice a multiple of |y| by a power of two, that with the exponent of
|x|. As long as multiples are not below |y|, they are subtracted where they fit, and halved. No
difference is rounded (Sterbenz's lemma). Turns are as many as exponents differ by, at most.
"""

from __future__ import annotations

import math
from typing import Any

from celosia.frontend.stablehlo.translation import Here, translates
from celosia.graph import DType, Graph, Value, op, ops, parameter, splat

__all__ = []

_SIGN, _EXPONENT, _FRACTION = 1 << 31, 0xFF << 23, (1 << 23) - 1
_LEAST_NORMAL = 2.0**-126


@translates("stablehlo.remainder")
def _remainder(here: Here) -> Value:
    x, y = here.operands
    known = all(each.node in here.importer.constants for each in (x, y))
    if known or not x.dtype.is_float or x.dtype.is_wide:
        return here.emit("remainder", x, y)
    if x.dtype is DType.F32:
        return _of_f32(here, x, y)
    # Of fewer digits than f32 has, so nothing is rounded on the way back.
    found = _of_f32(here, *(here.emit("convert", each, dtype=DType.F32) for each in (x, y)))
    return here.emit("convert", found, dtype=x.dtype)


def _of_f32(here: Here, x: Value, y: Value) -> Value:
    def emit(name: str, *operands: Value | float, **attrs: Any) -> Value:
        """Return the result of an operation; numbers stand for arrays of the operand before."""
        values: list[Value] = []
        for each in operands:
            values.append(each if isinstance(each, Value)
                          else splat(each, values[-1].type, here.source))
        return op(name, *values, source=here.source, **attrs)

    def bits(x: Value, mask: int) -> Value:
        return emit("and", emit("bitcast", x, dtype=DType.U32), mask)

    size, divisor = emit("abs", x), emit("abs", y)
    good = emit("and", emit("compare", size, math.inf, direction="lt"),
                emit("compare", divisor, _LEAST_NORMAL, direction="ge"))
    zero, one = (splat(number, x.type, here.source) for number in (0.0, 1.0))
    # Where there is no remainder, there are no turns.
    size, divisor = emit("select", good, size, zero), emit("select", good, divisor, one)
    multiple = emit("bitcast", emit("or", bits(size, _EXPONENT), bits(divisor, _FRACTION)),
                    dtype=DType.F32)

    def more(_: Value, multiple: Value, divisor: Value) -> list[Value]:
        some = emit("compare", multiple, divisor, direction="ge")
        dims = tuple(range(x.type.rank))
        return [op("reduce", some, op("constant", value=False, source=here.source), dims=dims,
                   reducer="or", source=here.source) if dims else some]

    def turn(rest: Value, multiple: Value, divisor: Value) -> list[Value]:
        fits = emit("and", emit("compare", multiple, divisor, direction="ge"),
                    emit("compare", rest, multiple, direction="ge"))
        rest = emit("select", fits, emit("subtract", rest, multiple), rest)
        return [rest, emit("multiply", multiple, 0.5), divisor]

    regions = []
    for name, results in (("cond", more), ("body", turn)):
        params = [parameter(x.type, source=here.source) for _ in range(3)]
        regions.append(Graph(name, params, results(*params)))
    rest, *_ = ops("while", size, multiple, divisor, regions=regions, source=here.source)
    signed = emit("or", bits(rest, _SIGN - 1), bits(x, _SIGN))
    return emit("select", good, emit("bitcast", signed, dtype=DType.F32),
                splat(math.nan, x.type, here.source))
