"""Quotients, remainders and powers of integers, which the vector unit has no instruction for.

By a power of two they are shifts and masks. Otherwise they are a loop over 32 bits, the long
division of binary numbers and repeated squaring: exact, and short as a program; where a divisor is
known whose quotients have few bits, those are written out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from celosia.arch.words import WORD_MASK
from celosia.compiler.builder import Builder, scalar_of
from celosia.graph import DType, Graph, TensorType, Value, parameter

__all__ = ["integer_division", "integer_power"]

_INDEX = TensorType(DType.I32)
#: Bits of a quotient that are written out.
_MOST_BITS = 4
#: Bits of what is divided.
_BITS = WORD_MASK.bit_length()


def _loop(b: Builder, values: Sequence[Value],
          step: Callable[[Value, Sequence[Value]], Sequence[Value]]) -> Sequence[Value]:
    """Return the values after 32 steps; ``step`` is given 31, 30 ... 0 and the values."""
    types = [_INDEX, *(value.type for value in values)]
    params = [parameter(type, source=b.source) for type in types]
    cond = Graph("cond", params, [b.compare("ge", params[0], 0)])
    params = [parameter(type, source=b.source) for type in types]
    body = Graph("body", params, [b("subtract", params[0], 1), *step(params[0], params[1:])])
    return b.all("while", b.constant(31, DType.I32), *values, regions=(cond, body))[1:]


def _wide(b: Builder, x: Value) -> Value:
    """Return the bits of a number, its sign extended, as u32."""
    return b.bitcast(b.convert(x, DType.I32) if x.dtype is not DType.U32 else x, DType.U32)


def integer_division(b: Builder, name: str, x: Value, y: Value) -> Value:
    """Return the quotient ("divide") or "remainder" of integers, as the graph defines them."""
    known = scalar_of(y)
    if known is not None and not x.dtype.is_signed and int(known).bit_count() == 1:
        if name == "remainder":
            return b("and", x, int(known) - 1)
        return b("shift_right", x, int(known).bit_length() - 1)
    signed = x.dtype.is_signed
    n, d = _wide(b, x), _wide(b, y)
    if signed:
        n, d = _magnitude(b, n), _magnitude(b, d)
    zero = b.full(0, n.type)
    bits = _BITS + 1 - abs(int(known)).bit_length() if known else _BITS

    def step(i: Value, values: Sequence[Value]) -> Sequence[Value]:
        quotient, rest, n, d = values
        at = b.like(b.bitcast(i, DType.U32), n.type)
        # The bit that a shift pushes out makes the remainder larger than any divisor.
        out = b.compare("ne", b("and", rest, 0x80000000), 0)
        rest = b("or", b("shift_left", rest, 1), b("and", b("shift_right", n, at), 1))
        goes = b("or", out, b.compare("ge", rest, d))
        rest = b("select", goes, b("subtract", rest, d), rest)
        one = b("shift_left", b.full(1, n.type), at)
        return [b("select", goes, b("or", quotient, one), quotient), rest, n, d]

    if bits <= _MOST_BITS:
        assert known is not None
        quotient, rest = _written_out(b, n, abs(int(known)), bits)
    else:
        quotient, rest, *_ = _loop(b, [zero, zero, n, d], step)
    if signed:
        negative = b.compare("lt", x, 0)
        if name == "remainder":
            rest = b("select", negative, b("subtract", zero, rest), rest)
        else:
            differ = b("xor", negative, b.compare("lt", y, 0))
            quotient = b("select", differ, b("subtract", zero, quotient), quotient)
            ones = b.full(np.uint32(WORD_MASK), zero.type)
            quotient = b("select", b.compare("eq", y, 0), ones, quotient)
    found = rest if name == "remainder" else quotient
    if x.dtype is DType.U32:
        return found
    # Bits beyond those of the type fall away.
    return b.convert(b.bitcast(found, DType.I32), x.dtype)


def _written_out(b: Builder, n: Value, divisor: int, bits: int) -> tuple[Value, Value]:
    """Return the quotient, of so many bits at most, and the rest."""
    quotient, rest = b.full(0, n.type), n
    for bit in reversed(range(bits)):
        part = b.full(np.uint32(divisor << bit), n.type)
        goes = b.compare("ge", rest, part)
        rest = b("select", goes, b("subtract", rest, part), rest)
        quotient = b("select", goes, b("or", quotient, 1 << bit), quotient)
    return quotient, rest


def _magnitude(b: Builder, x: Value) -> Value:
    signed = b.bitcast(x, DType.I32)
    return b("select", b.compare("lt", signed, 0), b("subtract", b.full(0, x.type), x), x)


def integer_power(b: Builder, x: Value, y: Value) -> Value:
    """Return x to the y modulo the range of its type; y below 0 is 0."""
    base, exponent = _wide(b, x), _wide(b, y)
    if y.dtype.is_signed:
        negative = b.compare("lt", y, 0)
        exponent = b("select", negative, b.full(0, exponent.type), exponent)

    def step(i: Value, values: Sequence[Value]) -> Sequence[Value]:
        result, base, exponent = values
        odd = b.compare("ne", b("and", exponent, 1), 0)
        result = b("select", odd, b("multiply", result, base), result)
        return [result, b("multiply", base, base), b("shift_right", exponent, 1)]

    result, *_ = _loop(b, [b.full(1, base.type), base, exponent], step)
    return result if x.dtype is DType.U32 else b.convert(b.bitcast(result, DType.I32), x.dtype)
