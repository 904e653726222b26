"""Legalisation of elementwise operations: what vector unit and kernels lack, of what they have.

| operation | becomes |
|---|---|
| `clamp` | `minimum` of `maximum` |
| `ceil` | `negate` of `floor` of `negate` |
| `sign` | the sign's bit on 1 where x is neither zero nor NaN; of integers -1 <= x <= 1 |
| `erf_inv` | polynomials in `log` of (1 - x) * (1 + x), by M. Giles |
| `reduce_precision` | bf16 and back where that is it, else integer operations on the bits |
| `abs`, `negate`, `sign` of integers | `maximum`, `subtract` |
| `divide`, `remainder`, `power` of integers | a loop over 32 bits, or a shift |
| `convert` from and to bool | `select` of 1 and 0, `compare` with 0 |

All are exact but `erf_inv`, which is off by a few ULP. Which functions of
`celosia.compiler.kernels` the operations that stay are is in `celosia.compiler.levels`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from celosia.compiler.builder import Builder
from celosia.compiler.passes.division import integer_division, integer_power
from celosia.graph import DType, Graph, Node, Value, rewrite

__all__ = ["OF_INTEGERS", "REPLACED", "elementwise"]

# erf_inv(x) = x * P(w - 2.5) for w = -log(1 - x**2) < 5, else x * P(sqrt(w) - 3).
_ERF_INV_NEAR = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                 -0.00125372503, -0.00417768164, 0.246640727, 1.50140941)
_ERF_INV_FAR = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                -0.0076224613, 0.00943887047, 1.00167406, 2.83297682)


def elementwise(graph: Graph) -> Graph:
    """Return the graph without the operations of the table above."""
    def replace(node: Node) -> tuple[Value, ...] | None:
        rule = _RULES.get(node.op)
        found = rule(Builder(node.source), node) if rule else None
        return None if found is None else (found,)

    return rewrite(graph, replace)


def _in_f32(rule: Callable[[Builder, Value], Value]) -> Callable[[Builder, Node], Value]:
    def of(b: Builder, node: Node) -> Value:
        [x] = node.operands
        return b.convert(rule(b, b.convert(x, DType.F32)), x.dtype)

    return of


def _clamp(b: Builder, node: Node) -> Value:
    low, x, high = node.operands
    return b("minimum", b("maximum", x, b.like(low, x.type)), b.like(high, x.type))


def _ceil(b: Builder, node: Node) -> Value:
    return b("negate", b("floor", b("negate", node.operands[0])))


def _sign(b: Builder, node: Node) -> Value:
    [x] = node.operands
    if not x.dtype.is_float:
        return b("minimum", b("maximum", x, -1), 1)
    wide = b.convert(x, DType.F32)
    bits = b("and", b.bitcast(wide, DType.U32), 0x80000000)
    one = b.bitcast(b("or", bits, 0x3F800000), DType.F32)
    found = b("select", b.compare("gt", b("abs", wide), 0.0), one, wide)
    return b.convert(found, x.dtype)


def _erf_inv(b: Builder, x: Value) -> Value:
    # Of |x|, so that x and -x have the same digits however the factors are rounded.
    one, size = b.full(1.0, x.type), b("abs", x)
    w = b("negate", b("log", b("multiply", b("subtract", one, size), b("add", one, size))))
    near = b.compare("lt", w, 5.0)
    series = b("select", near, b.polynomial(b("subtract", w, 2.5), _ERF_INV_NEAR),
               b.polynomial(b("subtract", b("sqrt", w), 3.0), _ERF_INV_FAR))
    edge = b.compare("eq", size, 1.0)
    return b("multiply", x, b("select", edge, b.full(np.inf, x.type), series))


def _reduce_precision(b: Builder, node: Node) -> Value:
    [x] = node.operands
    exponent, mantissa = node.attrs["exponent"], node.attrs["mantissa"]
    wide = b.convert(x, DType.F32)
    if exponent >= 8 and mantissa >= 23:
        return x
    if (exponent, mantissa) == (8, 7):
        return b.convert(b.convert(wide, DType.BF16), x.dtype)
    bits = b.bitcast(wide, DType.U32)
    sign, size = b("and", bits, 0x80000000), b("and", bits, 0x7FFFFFFF)
    cut = 23 - mantissa
    if cut > 0:
        odd = b("and", b("shift_right", size, cut), 1)
        size = b("add", b("add", size, (1 << cut - 1) - 1), odd)
        size = b("shift_left", b("shift_right", size, cut), cut)
    # Of all but NaN, which comes last, the greatest is infinity: signs do not matter.
    size = b.bitcast(size, DType.I32)
    bias = (1 << exponent - 1) - 1
    if exponent < 8:
        zero, infinite = b.full(0, size.type), b.full(0x7F800000, size.type)
        size = b("select", b.compare("lt", size, 127 - bias + 1 << 23), zero, size)
        size = b("select", b.compare("ge", size, 127 + bias + 1 << 23), infinite, size)
    size = b.bitcast(b("minimum", size, 0x7F800000), DType.U32)
    rounded = b.bitcast(b("or", sign, size), DType.F32)
    return b.convert(b("select", b.compare("ne", wide, wide), wide, rounded), x.dtype)


def _integer(b: Builder, node: Node) -> Value | None:
    """Return abs and negate of integers."""
    [x] = node.operands
    if x.dtype.is_float:
        return None
    minus = b("subtract", b.full(0, x.type), x)
    return b("maximum", x, minus) if node.op == "abs" else minus


def _division(b: Builder, node: Node) -> Value | None:
    x, y = node.operands
    return None if x.dtype.is_float else integer_division(b, node.op, x, y)


def _power(b: Builder, node: Node) -> Value | None:
    x, y = node.operands
    return None if x.dtype.is_float else integer_power(b, x, y)


def _convert(b: Builder, node: Node) -> Value | None:
    [x] = node.operands
    if x.dtype is node.attrs["dtype"]:
        return x
    if x.dtype is DType.BOOL:
        return b("select", x, b.full(1, node.types[0]), b.full(0, node.types[0]))
    if node.attrs["dtype"] is DType.BOOL:
        return b.compare("ne", x, 0)
    return None


_Rule = Callable[[Builder, Node], Value | None]
#: What the canonical level has not.
REPLACED: dict[str, _Rule] = {
    "clamp": _clamp, "ceil": _ceil, "sign": _sign, "erf_inv": _in_f32(_erf_inv),
    "reduce_precision": _reduce_precision}
#: What it has of floats, but not of integers.
OF_INTEGERS: dict[str, _Rule] = {
    "abs": _integer, "negate": _integer, "divide": _division, "remainder": _division,
    "power": _power}
_RULES = {**REPLACED, **OF_INTEGERS, "convert": _convert}
