"""Algebraic simplification (simplify, part 3) that changes no bit but which NaN a NaN is.

Adding 0 to a float is none of these, for -0 + 0 is 0; adding -0 is. A quotient by a power of two
is a product. Operations on what is repeated are done before it is repeated. Subnormal numbers,
which the chip takes for zeros, may come through where an operation falls away.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from celosia.compiler.builder import Builder, scalar_of
from celosia.graph import DType, Node, TensorType, Trait, Value, having
from celosia.graph.operations.elementwise import BITWISE, NUMERIC_BINARY, SHIFTS

__all__ = ["algebra", "before_broadcast"]

_ELEMENTWISE = having(Trait.ELEMENTWISE)
_COMMUTATIVE = having(Trait.COMMUTATIVE)
_INVOLUTION = having(Trait.INVOLUTION)
_IDEMPOTENT = having(Trait.IDEMPOTENT)


def before_broadcast(node: Node) -> Value | None:
    """Return an elementwise operation on repeated operands as one that is repeated."""
    if node.op not in _ELEMENTWISE or len(node.types) != 1 or not node.operands:
        return None
    type = node.types[0]
    inner = [_repeated(value, type) for value in node.operands]
    known = [each for each in inner if each is not None]
    if len(known) < len(inner) or not type.rank:
        return None
    # Scalars go with anything; all others must be repeated in one way.
    ways = {(x.shape, dims) for x, dims in known if x.type.rank}
    if len(ways) > 1:
        return None
    shape, dims = ways.pop() if ways else ((), ())
    b = Builder(node.source)
    small = [b.like(x, TensorType(x.dtype, shape)) for x, _ in known]
    return b.broadcast(b(node.op, *small, **node.attrs), type.shape, dims)


def _repeated(value: Value, type: TensorType) -> tuple[Value, tuple[int, ...]] | None:
    if value.type.rank == 0:
        return value, ()
    node = value.node
    if node.op == "broadcast" and node.operands[0].type.size < type.size:
        return node.operands[0], node.attrs["dims"]
    return None


def algebra(node: Node) -> Value | None:
    """Return what stands for an elementwise operation, or None to keep it."""
    b = Builder(node.source)
    x = node.operands[0] if node.operands else None
    if x is None or len(node.types) != 1:
        return None
    if node.op in _INVOLUTION and x.node.op == node.op:
        return x.node.operands[0]
    if node.op in _IDEMPOTENT and x == node.operands[1]:
        return x
    if node.op == "convert":
        return _convert(b, x, node.attrs["dtype"])
    if node.op == "bitcast":
        return _bitcast(b, x, node.attrs["dtype"])
    if node.op == "select":
        return _select(b, *node.operands)
    if len(node.operands) == 2 and node.op in NUMERIC_BINARY | BITWISE | SHIFTS:
        return _binary(b, node.op, *node.operands)
    return None


def _convert(b: Builder, x: Value, dtype: DType) -> Value | None:
    if dtype is x.dtype:
        return x
    inner = x.node
    if inner.op == "convert":
        first = inner.operands[0]
        if first.dtype is dtype and _holds(x.dtype, first.dtype):
            return first
    return None


def _holds(wide: DType, small: DType) -> bool:
    """Whether every number of ``small`` is one of ``wide``."""
    if wide.is_float:
        return small is DType.BOOL or small.bits <= 8 or (
            wide is DType.F32 and small.bits == 16) or wide is small
    if small.is_float or wide is DType.BOOL:
        return False
    # Modulo the range both ways, signs come back.
    return wide.bits >= small.bits


def _bitcast(b: Builder, x: Value, dtype: DType) -> Value | None:
    if dtype is x.dtype:
        return x
    first = x.node.operands[0] if x.node.op == "bitcast" else None
    if first is not None and first.dtype.bits == x.dtype.bits == dtype.bits:
        return b.bitcast(first, dtype)
    return None


def _select(b: Builder, predicate: Value, x: Value, y: Value) -> Value | None:
    known = scalar_of(predicate)
    if known is not None:
        return x if known else y
    if x == y:
        return x
    if predicate.node.op == "not":
        return b("select", predicate.node.operands[0], y, x)
    return None


def _binary(b: Builder, name: str, x: Value, y: Value) -> Value | None:
    if name in _COMMUTATIVE:
        known = scalar_of(x)
        found = None if known is None else _with(b, name, y, known)
        if found is not None:
            return found
    known = scalar_of(y)
    return None if known is None else _with(b, name, x, known)


def _with(b: Builder, name: str, x: Value, number: Any) -> Value | None:
    """Return x joined with a number on the right."""
    dtype = x.dtype
    if dtype is DType.BOOL:
        falls = {"and": True, "or": False, "xor": False}
        if name in falls and bool(number) == falls[name]:
            return x
        return b.full(number, x.type) if name in ("and", "or") else None
    if not dtype.is_float:
        return _with_integer(b, name, x, int(number))
    value = float(number)
    zero = math.copysign(1.0, value) if value == 0 else None
    if ((name == "add" and zero == -1) or (name == "subtract" and zero == 1)
            or (name in ("multiply", "divide", "power") and value == 1)
            or (name == "maximum" and value == -math.inf)
            or (name == "minimum" and value == math.inf)):
        return x
    if name == "multiply" and value == -1:
        return b("negate", x)
    if name == "power" and value == 2:
        return b("multiply", x, x)
    if name == "divide" and abs(math.frexp(value)[0]) == 0.5:
        inverse = 1 / value
        # A subnormal inverse would be flushed; one too large for the type is none.
        if 2.0**-126 <= abs(inverse) <= float(ml_dtypes.finfo(dtype.numpy).max):
            return b("multiply", x, b.full(inverse, x.type))
    return None


def _with_integer(b: Builder, name: str, x: Value, value: int) -> Value | None:
    info = np.iinfo(x.dtype.numpy)
    ones = -1 if x.dtype.is_signed else info.max
    nothing: dict[str, Sequence[int]] = {
        "add": (0,), "subtract": (0,), "or": (0,), "xor": (0,), "multiply": (1,), "divide": (1,),
        "and": (ones,), "shift_left": (0,), "shift_right": (0,), "shift_right_signed": (0,),
        "maximum": (int(info.min),), "minimum": (int(info.max),)}
    if value in nothing.get(name, ()):
        return x
    if value == 0 and name in ("and", "multiply"):
        return b.full(0, x.type)
    return None
