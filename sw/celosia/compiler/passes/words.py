"""Type legalisation: arithmetic is on 32 bits, f32, i32 or u32, as in the vector unit's lanes.

* Of bf16 and f16 it is in f32 between conversions, of shorter integers in i32, whose low bits come
  back. bf16, f16, i8, u8, i16 and u16 are types of storage: moved, selected, converted, multiplied
  in the array (but f16).
* Unsigned comparisons, maxima and minima are signed ones of numbers with the first bit turned
  over.
* Amounts of shifts are from 0 to 31; the chip looks at their lowest 5 bits.
* Comparisons of bools are bitwise operations.
* Conversions that stay are bf16 <-> f32, f16 <-> f32, f32 <-> i32, and i32 <-> shorter integers;
  i32 <-> u32 is a bitcast; all others are made of them. A bitcast is between types of 32 bits only,
  and moves nothing; or between what a program takes and gives as complex or of 64 bits and the
  pairs of f32 or u32.

Results are the same bit for bit: an operation of bf16 or f16 is defined as one in f32 that is
rounded.
"""

from __future__ import annotations

import numpy as np

from celosia.arch.numerics import SIGN
from celosia.compiler.builder import Builder
from celosia.compiler.passes.bounds import within
from celosia.graph import DType, Graph, Node, TensorType, Trait, Value, having, rewrite
from celosia.graph.operations.elementwise import SHIFTS

__all__ = ["ARITHMETIC", "CONVERSIONS", "WORDS", "words"]

WORDS = frozenset({DType.F32, DType.I32, DType.U32, DType.BOOL})
_HALVES = (DType.BF16, DType.F16)
_SHORT = (DType.I8, DType.U8, DType.I16, DType.U16)
#: (from, to) of every `convert` that stays.
CONVERSIONS = frozenset({(DType.F32, DType.I32), (DType.I32, DType.F32),
                         *((each, DType.F32) for each in _HALVES),
                         *((DType.F32, each) for each in _HALVES),
                         *((each, DType.I32) for each in _SHORT),
                         *((DType.I32, each) for each in _SHORT)})
#: What looks at the bits of its operands.
ARITHMETIC = having(Trait.ELEMENTWISE) - {"select", "convert"}
_ORDERING = having(Trait.ORDERING)
_SIGN = int(SIGN)


def words(graph: Graph) -> Graph:
    """Return the graph with arithmetic on words only."""
    def replace(node: Node) -> tuple[Value, ...] | None:
        b = Builder(node.source)
        found = None
        if node.op == "convert":
            x, dtype = node.operands[0], node.attrs["dtype"]
            found = None if (x.dtype, dtype) in CONVERSIONS else _convert(b, x, dtype)
        elif node.op == "bitcast":
            x, dtype = node.operands[0], node.attrs["dtype"]
            stays = x.dtype.bits == dtype.bits == 32 or x.dtype.pair_of or dtype.pair_of
            found = None if stays else _bitcast(b, x, dtype)
        elif node.op == "reduce":
            found = _reduce(b, node)
        elif node.op in ARITHMETIC:
            found = _arithmetic(b, node)
        return None if found is None else (found,)

    return rewrite(graph, replace)


def _word(dtype: DType) -> DType:
    return dtype if dtype in WORDS else DType.F32 if dtype.is_float else DType.I32


def _turned(b: Builder, x: Value) -> Value:
    """Return signed numbers that are in the order of the unsigned ones, or the other way."""
    if x.dtype is DType.U32:
        return b.bitcast(b("xor", x, _SIGN), DType.I32)
    return b("xor", b.bitcast(x, DType.U32), _SIGN)


def _arithmetic(b: Builder, node: Node) -> Value | None:
    dtype = node.operands[0].dtype
    if node.op == "compare" and dtype is DType.BOOL:
        return _compare_bools(b, node.attrs["direction"], *node.operands)
    if dtype is DType.U32 and node.op in _ORDERING:
        found = b(node.op, *(_turned(b, x) for x in node.operands), **node.attrs)
        return found if node.op == "compare" else _turned(b, found)
    if dtype in WORDS:
        return _shift(b, node) if node.op in SHIFTS else None
    wide = [_convert(b, x, _word(dtype)) for x in node.operands]
    if node.op == "shift_right" and dtype.is_signed:
        # Zeros enter above the bits that there are.
        wide[0] = b("and", wide[0], (1 << dtype.bits) - 1)
    if node.op == "shift_right_signed" and not dtype.is_signed:
        # What counts as the sign is the first bit of the short word.
        rest = 32 - dtype.bits
        wide[0] = b("shift_right_signed", b("shift_left", wide[0], rest), rest)
    return _convert(b, b(node.op, *wide, **node.attrs), node.types[0].dtype)


def _shift(b: Builder, node: Node) -> Value | None:
    x, amount = node.operands
    if within(amount, 32):
        return None
    few = b("and", amount, 31)
    good = b.compare("eq", few, amount)
    if node.op == "shift_right_signed":
        return b(node.op, x, b("select", good, few, b.full(31, amount.type)))
    return b("select", good, b(node.op, x, few), b.full(0, x.type))


def _compare_bools(b: Builder, direction: str, x: Value, y: Value) -> Value:
    match direction:
        case "eq":
            return b("not", b("xor", x, y))
        case "ne":
            return b("xor", x, y)
        case "lt":
            return b("and", b("not", x), y)
        case "gt":
            return b("and", x, b("not", y))
        case "le":
            return b("or", b("not", x), y)
        case _:
            return b("or", x, b("not", y))


def _reduce(b: Builder, node: Node) -> Value | None:
    x, initial = node.operands
    name = node.attrs["reducer"]
    unsigned = x.dtype is DType.U32 and name in _ORDERING
    if x.dtype in WORDS and not unsigned:
        return None
    if unsigned:
        return _turned(b, b("reduce", _turned(b, x), _turned(b, initial), **node.attrs))
    word = _word(x.dtype)
    # Short words start from what changes nothing in 32 bits, too.
    found = b("reduce", _convert(b, x, word), b.neutral(name, word), **node.attrs)
    found = b(name, found, b.like(_convert(b, initial, word), found.type))
    return _convert(b, found, x.dtype)


def _convert(b: Builder, x: Value, dtype: DType) -> Value:
    """Return a conversion between any two types, of those that there are."""
    of = x.dtype
    if of is dtype or (of, dtype) in CONVERSIONS:
        return b.convert(x, dtype)
    if dtype is DType.BOOL:
        return b.compare("ne", _convert(b, x, _word(of)), 0)
    if of is DType.BOOL:
        number = TensorType(_word(dtype), x.shape)
        return _convert(b, b("select", x, b.full(1, number), b.full(0, number)), dtype)
    if of.is_half:
        return _convert(b, b.convert(x, DType.F32), dtype)
    if dtype.is_half:
        return b.convert(_convert(b, x, DType.F32), dtype)
    if of is DType.F32:
        if dtype is DType.U32:
            return _to_u32(b, x)
        info = np.iinfo(dtype.numpy)
        # A NaN stays one and becomes 0.
        bounded = b("minimum", b("maximum", x, float(info.min)), float(info.max))
        return b.convert(b.convert(bounded, DType.I32), dtype)
    if of is DType.U32:
        return _from_u32(b, x) if dtype is DType.F32 else _convert(b, b.bitcast(x, DType.I32),
                                                                   dtype)
    if dtype is DType.U32:
        return b.bitcast(_convert(b, x, DType.I32), dtype)
    return _convert(b, b.convert(x, DType.I32), dtype)


def _to_u32(b: Builder, x: Value) -> Value:
    large = b.compare("ge", x, 2.0**31)
    rest = b("select", large, b("subtract", x, 2.0**31), b("maximum", x, 0.0))
    found = b.bitcast(b.convert(rest, DType.I32), DType.U32)
    return b("select", large, b("or", found, _SIGN), found)


def _from_u32(b: Builder, x: Value) -> Value:
    # Both halves are exact, so the sum is rounded once.
    high, low = (b.convert(b.bitcast(each, DType.I32), DType.F32)
                 for each in (b("shift_right", x, 16), b("and", x, 0xFFFF)))
    return b("add", b("multiply", high, 65536.0), low)


def _bits(b: Builder, x: Value) -> Value:
    """Return the bits of any number as u32, zeros above."""
    if x.dtype.bits == 32:
        return b.bitcast(x, DType.U32)
    if x.dtype is DType.BF16:
        return b("shift_right", b.bitcast(b.convert(x, DType.F32), DType.U32), 16)
    if x.dtype is DType.F16:
        return _bits_of_f16(b, b.convert(x, DType.F32))
    return b("and", b.bitcast(b.convert(x, DType.I32), DType.U32), (1 << x.dtype.bits) - 1)


def _of_bits(b: Builder, x: Value, dtype: DType) -> Value:
    """Return the number that low bits of u32 are."""
    if dtype.bits == 32:
        return b.bitcast(x, dtype)
    if dtype is DType.BF16:
        return b.convert(b.bitcast(b("shift_left", x, 16), DType.F32), DType.BF16)
    if dtype is DType.F16:
        return b.convert(_number_of_f16(b, x), DType.F16)
    return b.convert(b.bitcast(x, DType.I32), dtype)


def _bits_of_f16(b: Builder, x: Value) -> Value:
    """Return the bits that numbers of f16, here in f32, have in f16."""
    wide = b.bitcast(x, DType.U32)
    size = b("and", wide, 0x7FFFFFFF)
    # Of another bias, with fewer digits; infinity is next to the greatest.
    normal = b("shift_right", b("subtract", b("minimum", size, 0x47800000), 112 << 23), 13)
    small = b.bitcast(b.convert(b("multiply", b("abs", x), 2.0**24), DType.I32), DType.U32)
    found = b("select", b.compare("lt", size, 113 << 23), small, normal)
    found = b("select", b.compare("gt", size, 0x7F800000), b.full(0x7E00, found.type), found)
    return b("or", found, b("shift_right", b("and", wide, _SIGN), 16))


def _number_of_f16(b: Builder, bits: Value) -> Value:
    """Return the numbers, in f32, that low bits of u32 are in f16."""
    size = b("and", bits, 0x7FFF)
    normal = b("add", b("shift_left", size, 13), 112 << 23)
    # Of infinities and NaN the exponent is the greatest of f32, too.
    normal = b("select", b.compare("ge", size, 0x7C00), b("or", normal, 0x7F800000), normal)
    small = b("multiply", b.convert(b.bitcast(size, DType.I32), DType.F32), 2.0**-24)
    found = b("select", b.compare("lt", size, 0x0400), b.bitcast(small, DType.U32), normal)
    sign = b("shift_left", b("and", bits, 0x8000), 16)
    return b.bitcast(b("or", found, sign), DType.F32)


def _bitcast(b: Builder, x: Value, dtype: DType) -> Value:
    if x.dtype is dtype:
        return x
    few, many = sorted((x.dtype.bits, dtype.bits))
    if few == many:
        return _of_bits(b, _bits(b, x), dtype)
    count = many // few
    if x.dtype.bits > dtype.bits:
        bits = b.reshape(_bits(b, x), *x.shape, 1)
        parts = [b("shift_right", bits, i * few) for i in range(count)]
        return _of_bits(b, b.concatenate(parts, x.type.rank), dtype)
    bits, last = _bits(b, x), x.type.rank - 1
    parts = [b("shift_left", b.part(bits, last, i, i + 1), i * few) for i in range(count)]
    whole = b.join("or", parts)
    return _of_bits(b, b.reshape(whole, *x.shape[:-1]), dtype)
