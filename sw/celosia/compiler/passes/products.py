"""Operands of sums of products, as the array takes them: bf16 with fp32 sums, or int8 with int32.

What a dot or a convolution asks for is made of those:

* "default" rounds float operands to bf16, but those of f16, which are sums of two bf16; results of
  bf16 and f16 are rounded from fp32 sums.
* "high" writes an operand as a sum of two bf16 numbers and takes three products of the parts,
  "highest" as a sum of three and takes six; what is left out is below 2**-16 and 2**-24 of the
  result. An operand that is bf16 already has one part, and takes fewer products.
* Integers of other types than i8 are sums of digits of 8 bits with signs: products of those that
  reach into the 32 bits of the result are shifted to their places and added, modulo 2**32.
"""

from __future__ import annotations

from collections.abc import Callable

from celosia.compiler.builder import Builder
from celosia.graph import DType, Node, Value

__all__ = ["is_native", "native_products"]

_PARTS = {"default": 1, "high": 2, "highest": 3}
_NATIVE = {(DType.BF16, DType.BF16): DType.F32, (DType.I8, DType.I8): DType.I32}
#: Digits of 8 bits that integers have; the last of those of 32 bits wraps.
_DIGITS = {DType.I8: 1, DType.U8: 2, DType.I16: 3, DType.U16: 3, DType.I32: 4, DType.U32: 4}


def is_native(node: Node) -> bool:
    """Whether the operands of a dot or a convolution are of types that there are afterwards."""
    a, b = node.operands
    return (_NATIVE.get((a.dtype, b.dtype)) is node.attrs["dtype"]
            and node.attrs["precision"] == "default")


def _parts(b: Builder, x: Value, most: int) -> list[Value]:
    """Return bf16 values whose sum is x, nearly; the greatest first."""
    if x.dtype is DType.BF16:
        return [x]
    if x.node.op == "convert" and x.node.operands[0].dtype in (DType.BF16, DType.BOOL, DType.I8,
                                                               DType.U8):
        # Few enough bits to be exact.
        return [b.convert(x.node.operands[0], DType.BF16)]
    found = []
    for _ in range(most):
        found.append(b.convert(x, DType.BF16))
        if len(found) < most:
            rounded = b.convert(found[-1], DType.F32)
            rest = b("subtract", x, rounded)
            # Infinity less itself is no number; but what is left once is finite.
            x = rest if len(found) > 1 else b("select", b("is_finite", rounded), rest,
                                              b.full(0.0, x.type))
    return found


def _digits(b: Builder, x: Value) -> list[Value]:
    """Return i8 values, digits to the base 256 from -128 to 127; the lowest first."""
    count = _DIGITS[x.dtype]
    if count == 1:
        return [x]
    rest, found = b.convert(x, DType.I32), []
    for _ in range(count):
        digit = b("shift_right_signed", b("shift_left", rest, 24), 24)
        found.append(b.convert(digit, DType.I8))
        rest = b("shift_right_signed", b("subtract", rest, digit), 8)
    return found


def _of_digits(builder: Builder, a: list[Value], b: list[Value],
               make: Callable[[Value, Value, DType], Value]) -> Value:
    """Return sums of products of i32, modulo 2**32."""
    places: dict[int, Value] = {}
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            if i + j < 4:
                term = make(x, y, DType.I32)
                places[i + j] = builder("add", places[i + j], term) if i + j in places else term
    total = places.pop(max(places))
    for place in sorted(places, reverse=True):
        total = builder("add", builder("shift_left", total, 8), places[place])
    return total


def native_products(node: Node, make: Callable[[Value, Value, DType], Value]) -> Value:
    """Return the result of a dot or a convolution, made of those that the array can do.

    Parameters
    ----------
    node
        The operation: its operands, `dtype` and `precision` count.
    make
        Returns the same sums for other operands, as a given type.
    """
    builder = Builder(node.source)
    a, b = node.operands
    dtype: DType = node.attrs["dtype"]
    if not a.dtype.is_float:
        found = _of_digits(builder, _digits(builder, a), _digits(builder, b), make)
        return builder.convert(found, dtype)
    most = _PARTS[node.attrs["precision"]]
    if DType.F16 in (a.dtype, b.dtype):
        most = max(most, _PARTS["high"])
        a, b = (builder.convert(x, DType.F32) if x.dtype is DType.F16 else x for x in (a, b))
    pairs = [(i + j, x, y) for i, x in enumerate(_parts(builder, a, most))
             for j, y in enumerate(_parts(builder, b, most)) if i + j < most]
    # The least first, so that they are not lost one by one.
    terms = [make(x, y, DType.F32) for _, x, y in sorted(pairs, key=lambda pair: -pair[0])]
    total = terms[0]
    for term in terms[1:]:
        total = builder("add", total, term)
    return builder.convert(total, dtype)
