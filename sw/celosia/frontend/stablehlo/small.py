"""Integers of fewer than 8 bits and floats of 8 or fewer: stored, converted, and computed wide.

The graph has the integers as I8 and U8, and of each float its bits, U8. So arrays of them are what
a program takes and gives, and nobody computes faster with them. Sums of integers wrap in their
bits; a float is made f32, and what comes of it is rounded once, to nearest even.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from celosia.frontend.errors import Unsupported
from celosia.frontend.stablehlo.attributes import element_of, is_small
from celosia.frontend.stablehlo.calls import IDENTITIES
from celosia.frontend.stablehlo.regions import arg_reducer_of, reducer_of, sort_of
from celosia.frontend.stablehlo.translation import TRANSLATORS, Here
from celosia.graph import DType, TensorType, Value

__all__ = ["has_small", "stored_type", "translate"]


@dataclass(frozen=True)
class _Integers:
    """Integers of a few bits, in I8 or U8."""

    bits: int
    signed: bool


@dataclass(frozen=True)
class _Floats:
    """Floats of a few bits.

    Attributes
    ----------
    name
        What ml_dtypes calls them.
    exponent, fraction, bias
        Bits of the parts, and what the exponent has too much.
    endless
        Whether there are infinities: where all bits of the exponent are set.
    unsigned_zero
        Whether the bits of -0 are the only NaN.
    """

    name: str
    exponent: int
    fraction: int
    bias: int
    endless: bool = False
    unsigned_zero: bool = False

    @property
    def sign(self) -> int:
        return 1 << self.exponent + self.fraction

    @property
    def most(self) -> int:
        """The bits of the greatest number."""
        greatest = ml_dtypes.finfo(getattr(ml_dtypes, self.name)).max
        return int(np.asarray(greatest).view(np.uint8))

    @property
    def nan(self) -> int | None:
        """The bits of NaN, without a sign where there is one; None: there is none."""
        if self.unsigned_zero:
            return self.sign
        if self.name == "float4_e2m1fn":
            return None
        return self.sign - 1


_KINDS: dict[str, _Integers | _Floats] = {
    "i2": _Integers(2, True), "ui2": _Integers(2, False),
    "i4": _Integers(4, True), "ui4": _Integers(4, False),
    "f4E2M1FN": _Floats("float4_e2m1fn", 2, 1, 1),
    "f8E3M4": _Floats("float8_e3m4", 3, 4, 3, endless=True),
    "f8E4M3": _Floats("float8_e4m3", 4, 3, 7, endless=True),
    "f8E4M3FN": _Floats("float8_e4m3fn", 4, 3, 7),
    "f8E4M3FNUZ": _Floats("float8_e4m3fnuz", 4, 3, 8, unsigned_zero=True),
    "f8E4M3B11FNUZ": _Floats("float8_e4m3b11fnuz", 4, 3, 11, unsigned_zero=True),
    "f8E5M2": _Floats("float8_e5m2", 5, 2, 15, endless=True),
    "f8E5M2FNUZ": _Floats("float8_e5m2fnuz", 5, 2, 16, unsigned_zero=True),
}
#: What moves elements, or leaves what is done to others: operations inside are looked at alone.
_MOVES = frozenset({"mhlo.copy", "func.call", "sdy.sharding_constraint", "sdy.manual_computation",
                    "sdy.reshard", "sdy.propagation_barrier"}) | {f"stablehlo.{name}" for name in (
                        "constant", "broadcast_in_dim", "reshape", "slice", "concatenate",
                        "transpose", "reverse", "pad", "select", "dynamic_slice",
                        "dynamic_update_slice", "gather", "optimization_barrier", "while", "case",
                        "if", "composite", "map", "get_dimension_size", "all_gather",
                        "all_to_all", "collective_permute", "collective_broadcast")}
_BYTES = (DType.I8, DType.U8)
#: What joins elements, or compares them, by a body.
_REDUCTIONS = frozenset(f"stablehlo.{name}" for name in ("reduce", "reduce_window", "scatter",
                                                         "sort"))
#: What looks at bits that these integers do not have.
_OF_BITS = frozenset({"stablehlo.count_leading_zeros", "stablehlo.popcnt"})
#: The fraction of f32, its bias, and all of it but the sign.
_FRACTION, _BIAS, _MAGNITUDE = 23, 127, (1 << 31) - 1


def has_small(here: Here) -> bool:
    """Whether the operation takes or gives elements of these types, and is more than a move."""
    # Most programs have no bytes, and types of MLIR are looked at as text.
    return here.op.name not in _MOVES and any(
        type.dtype in _BYTES for type in (*(x.type for x in here.operands), *here.types)) and any(
        is_small(value.type) for value in (*here.op.operands, *here.op.results))


def stored_type(type: Any) -> np.dtype | None:
    """Return what NumPy has for elements that the graph has as integers; None for others."""
    kind = _KINDS.get(element_of(type))
    if kind is None:
        return None
    name = (kind.name if isinstance(kind, _Floats)
            else f"{'' if kind.signed else 'u'}int{kind.bits}")
    return np.dtype(getattr(ml_dtypes, name))


def translate(here: Here) -> Sequence[Value]:
    """Return the results of an operation that takes or gives elements of these types.

    Raises
    ------
    Unsupported
        If it is none that they have.
    """
    name = here.op.name
    if name == "stablehlo.custom_call":
        if here["call_target_name"].value in IDENTITIES:
            return _list(TRANSLATORS[name](here))
        raise Unsupported("functions of the host and libraries must be given and give elements of "
                          "8 bits or more, and f16 or wider floats")
    kinds = [_KINDS.get(element_of(value.type)) for value in here.op.operands]
    wanted = [_KINDS.get(element_of(value.type)) for value in here.op.results]
    if name == "stablehlo.bitcast_convert":
        return [_bitcast(here, kinds[0], wanted[0])]
    if name in _OF_BITS:
        raise Unsupported(f"operand must have 8 bits or more, not {here.op.operands[0].type}")
    if name in _REDUCTIONS and not _is_named(here):
        # The body does of their bits what it does of them.
        return _list(TRANSLATORS[name](here))
    logical = name == "stablehlo.shift_right_logical"
    operands = []
    for x, kind in zip(here.operands, kinds, strict=True):
        if isinstance(kind, _Floats):
            x = _wide(here, x, kind)
        elif logical and isinstance(kind, _Integers) and kind.signed:
            # No sign comes in from the left.
            x = here.emit("and", x, here.splat((1 << kind.bits) - 1, x.type))
        operands.append(x)
    types = [TensorType(DType.F32, type.shape) if isinstance(kind, _Floats) else type
             for type, kind in zip(here.types, wanted, strict=True)]
    inner = Here(here.importer, here.frame, here.op, operands, types, here.source)
    found = _list(TRANSLATORS[name](inner))
    if name == "stablehlo.convert" and operands[0].dtype.is_float and isinstance(
            wanted[0], _Integers):
        # As of other integers: what is too large becomes the nearest.
        first = -(1 << wanted[0].bits - 1) if wanted[0].signed else 0
        low, high = (here.splat(end, found[0].type)
                     for end in (first, first + (1 << wanted[0].bits) - 1))
        return [here.emit("clamp", low, found[0], high)]
    return [_narrow(here, x, kind) if isinstance(kind, _Floats)
            else _wrapped(here, x, kind) if isinstance(kind, _Integers) else x
            for x, kind in zip(found, wanted, strict=True)]


def _is_named(here: Here) -> bool:
    """Whether the graph has a reducer for what joins elements, or keys for what sorts them."""
    region = here.op.regions[0]
    try:
        if here.op.name == "stablehlo.sort":
            sort_of(region)
        elif here.op.name == "stablehlo.reduce" and len(here.operands) == 4:
            arg_reducer_of(region)
        else:
            reducer_of(region, update=here.op.name.endswith("scatter"))
    except Unsupported:
        return False
    return True


def _list(found: Value | Sequence[Value]) -> list[Value]:
    return [found] if isinstance(found, Value) else list(found)


def _wrapped(here: Here, x: Value, kind: _Integers) -> Value:
    """Return integers of 8 bits by their lowest bits."""
    if not kind.signed:
        return here.emit("and", x, here.splat((1 << kind.bits) - 1, x.type))
    amount = here.splat(8 - kind.bits, x.type)
    return here.emit("shift_right_signed", here.emit("shift_left", x, amount), amount)


def _bytes(here: Here, x: Value, dtype: DType) -> Value:
    return x if x.dtype is dtype else here.emit("bitcast", x, dtype=dtype)


def _bitcast(here: Here, kind: _Integers | _Floats | None,
             wanted: _Integers | _Floats | None) -> Value:
    [x] = here.operands
    old, new = (each.bits if isinstance(each, _Integers) else 4 if each is not None
                and each.name == "float4_e2m1fn" else type.dtype.bits
                for each, type in ((kind, x.type), (wanted, here.type)))
    if max(old, new) > 8:
        raise Unsupported("operand and result must be of 8 bits or fewer: by way of i8")
    x = _bytes(here, x, DType.U8)
    if old > new:
        parts = []
        for low in range(0, old, new):
            part = here.emit("shift_right", x, here.splat(low, x.type))
            part = here.emit("and", part, here.splat((1 << new) - 1, x.type))
            parts.append(here.emit("broadcast", part, shape=(*x.shape, 1),
                                   dims=tuple(range(x.type.rank))))
        x = here.emit("concatenate", *parts, dim=x.type.rank)
    elif old < new:
        rank = x.type.rank
        parts = x
        x = here.splat(0, TensorType(DType.U8, x.shape[:-1]))
        for i in range(new // old):
            limit = (*parts.shape[:-1], i + 1)
            part = here.emit("slice", parts, start=(*(0,) * (rank - 1), i), limit=limit,
                             stride=(1,) * rank)
            part = here.emit("reshape", part, shape=x.shape)
            part = here.emit("and", part, here.splat((1 << old) - 1, x.type))
            x = here.emit("or", x, here.emit("shift_left", part, here.splat(i * old, x.type)))
    x = _bytes(here, x, here.type.dtype)
    return _wrapped(here, x, wanted) if isinstance(wanted, _Integers) else x


class _Words:
    """Arithmetic on words of one shape, with numbers of Python among the operands."""

    def __init__(self, here: Here, shape: tuple[int, ...]):
        self.here, self.shape = here, shape

    def full(self, number: float, dtype: DType) -> Value:
        return self.here.splat(number, TensorType(dtype, self.shape))

    def __call__(self, name: str, x: Value, *others: Value | float, **attrs: Any) -> Value:
        return self.here.emit(name, x, *(each if isinstance(each, Value)
                                         else self.full(each, x.dtype) for each in others), **attrs)

    def select(self, condition: Value, then: Value | float, otherwise: Value) -> Value:
        then = then if isinstance(then, Value) else self.full(then, otherwise.dtype)
        return self.here.emit("select", condition, then, otherwise)


def _wide(here: Here, x: Value, kind: _Floats) -> Value:
    """Return the f32 numbers that bits stand for."""
    emit = _Words(here, x.shape)
    code = emit("convert", x, dtype=DType.U32)
    size = emit("and", code, kind.sign - 1)
    up = _BIAS - kind.bias << _FRACTION
    normal = emit("bitcast", emit("add", emit("shift_left", size, _FRACTION - kind.fraction), up),
                  dtype=DType.F32)
    # Below the least normal one they are multiples of the least of all.
    small = emit("multiply", emit("convert", emit("bitcast", size, dtype=DType.I32),
                                  dtype=DType.F32), 2.0**(1 - kind.bias - kind.fraction))
    found = emit.select(emit("compare", size, 1 << kind.fraction, direction="lt"), small, normal)
    sign = emit("compare", code, kind.sign, direction="ge")
    found = emit.select(sign, emit("negate", found), found)
    if kind.endless:
        last = (1 << kind.exponent) - 1 << kind.fraction
        found = emit.select(emit("compare", size, last, direction="eq"),
                            emit.select(sign, -np.inf, emit.full(np.inf, DType.F32)), found)
        return emit.select(emit("compare", size, last, direction="gt"), np.nan, found)
    if kind.unsigned_zero:
        return emit.select(emit("compare", code, kind.sign, direction="eq"), np.nan, found)
    if kind.nan is not None:
        return emit.select(emit("compare", size, kind.nan, direction="eq"), np.nan, found)
    return found


def _narrow(here: Here, x: Value, kind: _Floats) -> Value:
    """Return the bits of f32 numbers, rounded to nearest even."""
    emit = _Words(here, x.shape)
    word = emit("bitcast", x, dtype=DType.U32)
    size = emit("and", word, _MAGNITUDE)
    down = _FRACTION - kind.fraction
    # Ties go to the even one: half of the last place less its least part, and one if that is odd.
    odd = emit("and", emit("shift_right", size, down), 1)
    normal = emit("shift_right", emit("add", emit("add", size, (1 << down - 1) - 1), odd), down)
    less = _BIAS - kind.bias << kind.fraction
    normal = emit("subtract", normal, less)
    least = _BIAS + 1 - kind.bias << _FRACTION
    tiny = emit("compare", size, least, direction="lt")
    part = emit.select(tiny, emit("abs", x), emit.full(0, DType.F32))
    count = emit("round", emit("multiply", part, 2.0**(kind.bias - 1 + kind.fraction)))
    count = emit("bitcast", emit("convert", count, dtype=DType.I32), dtype=DType.U32)
    code = emit.select(tiny, count, normal)
    # As signed numbers: both are small, and what is too large is not.
    over = emit("compare", code, kind.most, direction="gt")
    code = emit.select(over, _beyond(kind), code)
    nothing = emit("compare", size, 0xFF << _FRACTION, direction="gt")
    if kind.nan is not None:
        code = emit.select(nothing, kind.nan, code)
    negative = emit("compare", word, 1 << 31, direction="ge")
    if kind.unsigned_zero:
        # Neither zero nor NaN has a sign.
        negative = emit("and", negative, emit("and", emit("compare", code, 0, direction="ne"),
                                              emit("compare", code, kind.sign, direction="lt")))
    code = emit.select(negative, emit("or", code, kind.sign), code)
    if kind.nan is None:
        code = emit.select(nothing, kind.sign, code)  # -0, as of XLA
    return emit("convert", code, dtype=DType.U8)


def _beyond(kind: _Floats) -> int:
    """Return the bits of what is more than the greatest number."""
    if kind.endless:
        return (1 << kind.exponent) - 1 << kind.fraction
    return kind.most if kind.nan is None else kind.nan
