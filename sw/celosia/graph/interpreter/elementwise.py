"""Elementwise operations on NumPy arrays."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from celosia.arch.numerics import requant
from celosia.graph.interpreter.kernels import HostArray, KernelContext, in_f32, kernel
from celosia.graph.types import DType

__all__ = ["BINARY", "convert"]


def _rsqrt(x: HostArray) -> HostArray:
    return np.float32(1) / np.sqrt(x)


def _by_element(function: Callable[[float], float]) -> Callable[[HostArray], HostArray]:
    each = np.frompyfunc(function, 1, 1)
    return lambda x: np.asarray(each(x.astype(np.float64))).astype(x.dtype)


def _erf_inv(y: float) -> float:
    if not abs(y) < 1:
        return math.copysign(math.inf, y) if abs(y) == 1 else math.nan
    # Winitzki's estimate, then Newton's method, on erfc where erf has no digits left.
    a, tail = 0.147, math.log1p(-y * y)
    b = 2 / (math.pi * a) + tail / 2
    size, x = abs(y), math.sqrt(max(math.sqrt(b * b - tail / a) - b, 0.0))
    for _ in range(4):
        off = math.erf(x) - size if size < 0.5 else (1 - size) - math.erfc(x)
        x -= off * math.sqrt(math.pi) / 2 * math.exp(x * x)
    return math.copysign(x, y)


_UNARY: dict[str, Callable[[HostArray], HostArray]] = {
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "tanh": np.tanh,
    "sqrt": np.sqrt, "rsqrt": _rsqrt, "cbrt": np.cbrt, "sin": np.sin, "cos": np.cos,
    "cosh": np.cosh, "erf": _by_element(math.erf), "erfc": _by_element(math.erfc),
    "erf_inv": _by_element(_erf_inv), "floor": np.floor, "ceil": np.ceil, "round": np.rint,
    "negate": np.negative,
}


@kernel(*_UNARY)
def _unary(run: KernelContext, x: HostArray) -> HostArray:
    return in_f32(_UNARY[run.node.op], x)


@kernel("abs")
def _abs(run: KernelContext, x: HostArray) -> HostArray:
    return np.abs(x)


@kernel("sign")
def _sign(run: KernelContext, x: HostArray) -> HostArray:
    if not run.dtype.is_float:
        return np.sign(x)
    # np.sign makes +0 of -0.
    return in_f32(lambda x: np.where(x == 0, x, np.sign(x)), x)


def _divide(a: HostArray, b: HostArray) -> HostArray:
    if a.dtype.kind not in "iu":
        return a / b
    zero = b == 0
    wide = a.astype(object) if a.dtype.itemsize == 8 else a.astype(np.int64)
    by = np.where(zero, 1, b.astype(wide.dtype))
    # Python's division rounds down; truncation is that of magnitudes.
    quotient = abs(wide) // abs(by)
    quotient = np.where((wide < 0) != (by < 0), -quotient, quotient)
    mask = (1 << 8 * a.dtype.itemsize) - 1
    unsigned = np.where(zero, mask, quotient & mask).astype(f"u{a.dtype.itemsize}")
    return unsigned.view(a.dtype)


def _remainder(a: HostArray, b: HostArray) -> HostArray:
    if a.dtype.kind not in "iu":
        return np.fmod(a, b)
    # The remainder by -1 is 0, which NumPy cannot compute of the least integer.
    trivial = (b == 0) | (b == a.dtype.type(-1) if a.dtype.kind == "i" else False)
    safe = np.fmod(a, np.where(trivial, a.dtype.type(1), b))
    return np.where(b == 0, a, safe)


def _power(a: HostArray, b: HostArray) -> HostArray:
    if a.dtype.kind not in "iu":
        # np.power takes sqrt for some powers of 0.5, which differs for -inf.
        return np.float_power(a, b).astype(a.dtype)
    result, base, exponent = np.ones_like(a), a.copy(), np.maximum(b, 0)
    while exponent.any():
        result = np.where(exponent & 1, result * base, result)
        base, exponent = base * base, exponent >> 1
    return result


#: Operations on two arrays of one type, which is also that of the result.
BINARY: dict[str, Callable[[HostArray, HostArray], HostArray]] = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": _divide,
    "remainder": _remainder, "maximum": np.maximum, "minimum": np.minimum, "power": _power,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "logaddexp": np.logaddexp,
}


@kernel(*BINARY)
def _binary(run: KernelContext, a: HostArray, b: HostArray) -> HostArray:
    return in_f32(BINARY[run.node.op], a, b)


@kernel("atan2")
def _atan2(run: KernelContext, a: HostArray, b: HostArray) -> HostArray:
    return in_f32(np.arctan2, a, b)


@kernel("not")
def _not(run: KernelContext, x: HostArray) -> HostArray:
    return np.invert(x)


@kernel("shift_left", "shift_right", "shift_right_signed")
def _shift(run: KernelContext, a: HostArray, b: HostArray) -> HostArray:
    bits = 8 * a.dtype.itemsize
    kind = "i" if run.node.op == "shift_right_signed" else "u"
    value = a.view(f"{kind}{a.dtype.itemsize}")
    # A negative amount is a large one.
    amount = b.view(f"u{b.dtype.itemsize}")
    inside = amount < bits
    amount = np.minimum(amount, bits - 1).astype(value.dtype)
    if run.node.op == "shift_left":
        found = np.where(inside, value << amount, 0)
    elif run.node.op == "shift_right":
        found = np.where(inside, value >> amount, 0)
    else:
        found = value >> amount
    return found.astype(value.dtype).view(a.dtype)


@kernel("is_finite")
def _is_finite(run: KernelContext, x: HostArray) -> HostArray:
    return np.isfinite(x)


@kernel("compare")
def _compare(run: KernelContext, a: HostArray, b: HostArray) -> HostArray:
    functions = {"eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
                 "gt": np.greater, "ge": np.greater_equal}
    return functions[run["direction"]](a, b)


@kernel("select")
def _select(run: KernelContext, predicate: HostArray, a: HostArray, b: HostArray) -> HostArray:
    return np.where(predicate, a, b)


@kernel("clamp")
def _clamp(run: KernelContext, low: HostArray, x: HostArray, high: HostArray) -> HostArray:
    return np.minimum(np.maximum(x, low), high)


@kernel("requantise")
def _requantise(run: KernelContext, x: HostArray, scale: HostArray, bias: HostArray) -> HostArray:
    return np.asarray(requant(x, scale.view(np.uint32), bias, run["zero_point"], run["low"],
                              run["high"]), np.int8)


def convert(x: HostArray, dtype: DType) -> HostArray:
    """Return the elements as another type, as `convert` says."""
    if dtype is DType.BOOL:
        return x != 0
    if not dtype.is_integer or x.dtype.kind in "iub":
        return x.astype(dtype.numpy)
    info = np.iinfo(dtype.numpy)
    # In float64 both bounds of every type of 32 bits are exact; of 64 bits what is next to the
    # greatest number is.
    whole = np.nan_to_num(np.trunc(x.astype(np.float64)), nan=0.0, posinf=np.inf, neginf=-np.inf)
    if dtype.bits < 64:
        return np.clip(whole, info.min, info.max).astype(dtype.numpy)
    over = whole >= float(info.max)
    found = np.where(over, 0.0, np.maximum(whole, info.min)).astype(dtype.numpy)
    return np.where(over, info.max, found)


@kernel("convert")
def _convert(run: KernelContext, x: HostArray) -> HostArray:
    return convert(x, run["dtype"])


@kernel("bitcast")
def _bitcast(run: KernelContext, x: HostArray) -> HostArray:
    type = run.node.types[0]
    return np.frombuffer(np.ascontiguousarray(x).tobytes(), type.dtype.numpy).reshape(type.shape)


@kernel("reduce_precision")
def _reduce_precision(run: KernelContext, x: HostArray) -> HostArray:
    return in_f32(lambda x: _round_bits(np.asarray(x, np.float32), run["exponent"],
                                        run["mantissa"]), x)


def _round_bits(x: HostArray, exponent: int, mantissa: int) -> HostArray:
    bits = x.view(np.uint32).astype(np.uint64)
    sign, magnitude = bits & 0x80000000, bits & 0x7FFFFFFF
    cut = 23 - mantissa
    if cut:
        odd = magnitude >> cut & 1
        magnitude = (magnitude + (1 << cut - 1) - 1 + odd) >> cut << cut
    bias = (1 << exponent - 1) - 1
    if exponent < 8:
        magnitude = np.where(magnitude < 127 - bias + 1 << 23, 0, magnitude)
        magnitude = np.where(magnitude >= 127 + bias + 1 << 23, 0x7F800000, magnitude)
    magnitude = np.minimum(magnitude, 0x7F800000)
    rounded = (sign | magnitude).astype(np.uint32).view(np.float32)
    return np.where(np.isnan(x), x, rounded)
