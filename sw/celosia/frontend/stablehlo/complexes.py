"""Complex numbers as pairs of f32: what operations of StableHLO do to the two parts.

The graph has complex elements where a program takes and gives them, and nowhere else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.frontend.errors import Unsupported
from celosia.frontend.stablehlo.attributes import name_of
from celosia.frontend.stablehlo.folds import fold, fold_windows
from celosia.frontend.stablehlo.parts import ComplexValue, Imported, flat, grouped, part_type
from celosia.frontend.stablehlo.regions import reducer_of
from celosia.frontend.stablehlo.scatters import scatter_by_body
from celosia.frontend.stablehlo.translation import TRANSLATORS, Here
from celosia.graph import DType, Value

__all__ = ["COMPLEX", "joined", "parted", "translate"]

#: Operations that do to each part what they do to a number.
_BY_PART = frozenset(f"stablehlo.{name}" for name in (
    "broadcast_in_dim", "reshape", "slice", "concatenate", "transpose", "reverse", "pad", "select",
    "dynamic_slice", "dynamic_update_slice", "gather", "add", "subtract", "negate", "custom_call",
    "reduce", "scatter", "reduce_window", "all_gather", "all_to_all", "all_reduce",
    "reduce_scatter", "collective_permute", "collective_broadcast")) | {
        "mhlo.copy", "sdy.sharding_constraint", "sdy.reshard"}
#: Those of them that join numbers, by sums (or replace what was there): what does it by others.
_FOLDS = {"stablehlo.reduce": fold, "stablehlo.reduce_window": fold_windows,
          "stablehlo.scatter": scatter_by_body}

#: Those that join numbers of several devices.
_SUMS = ("stablehlo.all_reduce", "stablehlo.reduce_scatter")


def parted(emit: Callable[..., Value], value: Value) -> ComplexValue:
    """Return the parts of a value that the graph has as complex."""
    pair = emit("bitcast", value, dtype=DType.F32)
    parts = []
    for i in (0, 1):
        zeros, shape = (0,) * value.type.rank, value.shape
        part = emit("slice", pair, start=(*zeros, i), limit=(*shape, i + 1),
                    stride=(1,) * (len(shape) + 1))
        parts.append(emit("reshape", part, shape=shape))
    return ComplexValue(*parts)


def joined(emit: Callable[..., Value], value: ComplexValue) -> Value:
    """Return a complex value as the graph has it."""
    parts = [emit("reshape" if part.type.rank else "broadcast", part, shape=(*part.shape, 1))
             for part in (value.real, value.imag)]
    pair = emit("concatenate", *parts, dim=value.real.type.rank)
    return emit("bitcast", pair, dtype=DType.C64)


class _Parts:
    """Arithmetic on complex numbers at one place of a program."""

    def __init__(self, here: Here):
        self.here = here

    def __call__(self, name: str, *operands: Value, **attrs: Any) -> Value:
        return self.here.emit(name, *operands, **attrs)

    def full(self, number: float, like: Value) -> Value:
        return self.here.splat(number, like.type)

    def sum(self, a: Value, b: Value) -> Value:
        return self("add", a, b)

    def less(self, a: Value, b: Value) -> Value:
        return self("subtract", a, b)

    def times(self, a: Value, b: Value) -> Value:
        return self("multiply", a, b)

    def half(self, x: Value) -> Value:
        return self.times(x, self.full(0.5, x))

    def product(self, a: ComplexValue, b: ComplexValue) -> ComplexValue:
        return ComplexValue(
            self.less(self.times(a.real, b.real), self.times(a.imag, b.imag)),
            self.sum(self.times(a.real, b.imag), self.times(a.imag, b.real)))

    def quotient(self, a: ComplexValue, b: ComplexValue) -> ComplexValue:
        """Return a / b (Smith 1962): by the larger part of b, so that nothing overflows."""
        wide = self("compare", self("abs", b.real), self("abs", b.imag), direction="ge")
        first = self("select", wide, b.real, b.imag)
        second = self("select", wide, b.imag, b.real)
        one, other = (self("select", wide, *pair) for pair in ((a.real, a.imag),
                                                              (a.imag, a.real)))
        ratio = self("divide", second, first)
        scale = self.sum(first, self.times(second, ratio))
        real = self("divide", self.sum(one, self.times(other, ratio)), scale)
        imag = self("divide", self.less(other, self.times(one, ratio)), scale)
        return ComplexValue(real, self("select", wide, imag, self("negate", imag)))

    def size(self, x: ComplexValue) -> Value:
        """Return the magnitude, by the larger part, so that nothing overflows."""
        a, b = (self("abs", part) for part in (x.real, x.imag))
        large, small = self("maximum", a, b), self("minimum", a, b)
        none = self("compare", large, self.full(0, large), direction="eq")
        ratio = self("divide", small, self("select", none, self.full(1, large), large))
        found = self.times(large, self("sqrt", self.sum(self.full(1, ratio),
                                                        self.times(ratio, ratio))))
        endless = self("compare", large, self.full(math.inf, large), direction="eq")
        return self("select", endless, large, found)

    def angle(self, x: ComplexValue) -> Value:
        return self("atan2", x.imag, x.real)

    def polar(self, size: Value, angle: Value) -> ComplexValue:
        return ComplexValue(self.times(size, self("cos", angle)),
                            self.times(size, self("sin", angle)))

    def exp(self, x: ComplexValue) -> ComplexValue:
        return self.polar(self("exp", x.real), x.imag)

    def log(self, x: ComplexValue) -> ComplexValue:
        return ComplexValue(self("log", self.size(x)), self.angle(x))

    def hyperbolic(self, x: Value) -> tuple[Value, Value]:
        """Return sinh and cosh."""
        grown = self("expm1", x)
        shrunk = self("expm1", self("negate", x))
        one = self.full(1, x)
        return (self.half(self.less(grown, shrunk)),
                self.sum(self.half(self.sum(grown, shrunk)), one))

    def root(self, x: ComplexValue) -> ComplexValue:
        """Return the square root with a real part that is not negative."""
        large = self("sqrt", self.sum(self.half(self.size(x)), self.half(self("abs", x.real))))
        none = self("compare", large, self.full(0, large), direction="eq")
        small = self("divide", self.half(self("abs", x.imag)),
                     self("select", none, self.full(1, large), large))
        right = self("compare", x.real, self.full(0, large), direction="ge")
        real = self("select", right, large, small)
        imag = self("select", right, small, large)
        below = self("compare", x.imag, self.full(0, imag), direction="lt")
        return ComplexValue(real, self("select", below, self("negate", imag), imag))


def _complex(parts: _Parts, a: Value, b: Value) -> ComplexValue:
    return ComplexValue(a, b)


def _sine(parts: _Parts, x: ComplexValue) -> ComplexValue:
    sinh, cosh = parts.hyperbolic(x.imag)
    return ComplexValue(parts.times(parts("sin", x.real), cosh),
                        parts.times(parts("cos", x.real), sinh))


def _cosine(parts: _Parts, x: ComplexValue) -> ComplexValue:
    sinh, cosh = parts.hyperbolic(x.imag)
    return ComplexValue(parts.times(parts("cos", x.real), cosh),
                        parts("negate", parts.times(parts("sin", x.real), sinh)))


def _cosh(parts: _Parts, x: ComplexValue) -> ComplexValue:
    sinh, cosh = parts.hyperbolic(x.real)
    return ComplexValue(parts.times(cosh, parts("cos", x.imag)),
                        parts.times(sinh, parts("sin", x.imag)))


def _tanh(parts: _Parts, x: ComplexValue) -> ComplexValue:
    """Return tanh: (tanh a + i tan b) / (1 + i tanh a tan b)."""
    t, u = parts("tanh", x.real), parts("divide", parts("sin", x.imag), parts("cos", x.imag))
    one = parts.full(1, t)
    return parts.quotient(ComplexValue(t, u), ComplexValue(one, parts.times(t, u)))


def _power(parts: _Parts, x: ComplexValue, y: ComplexValue) -> ComplexValue:
    found = parts.exp(parts.product(y, parts.log(x)))
    zero = parts.full(0, x.real)
    none = parts("and", parts("compare", x.real, zero, direction="eq"),
                 parts("compare", x.imag, zero, direction="eq"))
    to_nothing = parts("and", parts("compare", y.real, zero, direction="eq"),
                       parts("compare", y.imag, zero, direction="eq"))
    at_zero = parts("select", to_nothing, parts.full(1, zero), zero)
    return ComplexValue(parts("select", none, at_zero, found.real),
                        parts("select", none, zero, found.imag))


def _sign(parts: _Parts, x: ComplexValue) -> ComplexValue:
    size = parts.size(x)
    none = parts("compare", size, parts.full(0, size), direction="eq")
    size = parts("select", none, parts.full(1, size), size)
    return ComplexValue(parts("divide", x.real, size), parts("divide", x.imag, size))


def _log_plus_one(parts: _Parts, x: ComplexValue) -> ComplexValue:
    one_more = ComplexValue(parts.sum(x.real, parts.full(1, x.real)), x.imag)
    # |1 + x|**2 - 1 is a (a + 2) + b**2.
    two = parts.full(2, x.real)
    over = parts.sum(parts.times(x.real, parts.sum(x.real, two)), parts.times(x.imag, x.imag))
    near = parts("compare", parts.size(x), parts.full(0.5, over), direction="lt")
    real = parts("select", near, parts.half(parts("log1p", over)), parts.log(one_more).real)
    return ComplexValue(real, parts.angle(one_more))


def _expm1(parts: _Parts, x: ComplexValue) -> ComplexValue:
    # exp(a) cos b - 1 is (exp(a) - 1) cos b - 2 sin(b / 2)**2.
    sine = parts("sin", parts.half(x.imag))
    less = parts.times(parts.full(2, sine), parts.times(sine, sine))
    real = parts.less(parts.times(parts("expm1", x.real), parts("cos", x.imag)), less)
    return ComplexValue(real, parts.exp(x).imag)


def _logistic(parts: _Parts, x: ComplexValue) -> ComplexValue:
    minus = parts.exp(ComplexValue(parts("negate", x.real), parts("negate", x.imag)))
    one = parts.full(1, x.real)
    return parts.quotient(ComplexValue(one, parts.full(0, one)),
                          ComplexValue(parts.sum(one, minus.real), minus.imag))


def _rsqrt(parts: _Parts, x: ComplexValue) -> ComplexValue:
    one = parts.full(1, x.real)
    return parts.quotient(ComplexValue(one, parts.full(0, one)), parts.root(x))


def _tan(parts: _Parts, x: ComplexValue) -> ComplexValue:
    # tan x is -i tanh(i x).
    turned = _tanh(parts, ComplexValue(parts("negate", x.imag), x.real))
    return ComplexValue(turned.imag, parts("negate", turned.real))


def _compare(parts: _Parts, a: ComplexValue, b: ComplexValue) -> Value:
    direction = name_of(parts.here["comparison_direction"]).lower()
    if direction not in ("eq", "ne"):
        raise Unsupported(f"comparison of complex numbers must be EQ or NE, not "
                          f"{direction.upper()}")
    both = [parts("compare", x, y, direction=direction) for x, y in ((a.real, b.real),
                                                                     (a.imag, b.imag))]
    return parts("and" if direction == "eq" else "or", *both)


def _convert(parts: _Parts, x: Imported) -> Imported:
    wanted = parts.here.type.dtype
    if isinstance(x, ComplexValue):
        if wanted.is_complex:
            return x
        return x.real if wanted is DType.F32 else parts("convert", x.real, dtype=wanted)
    real = x if x.dtype is DType.F32 else parts("convert", x, dtype=DType.F32)
    return ComplexValue(real, parts.full(0, real))


def _bitcast(parts: _Parts, x: Imported) -> Imported:
    if not isinstance(x, ComplexValue) or not parts.here.type.dtype.is_complex:
        raise Unsupported("bits of complex numbers must be those of their parts: real and imag")
    return x


def _constant(parts: _Parts) -> ComplexValue:
    array = _array(parts.here.op, parts.here.type.shape)
    return ComplexValue(*(parts.here.constant(np.array(part, order="C"))
                          for part in (array.real, array.imag)))


def _iota(parts: _Parts) -> ComplexValue:
    here = parts.here
    real = parts("iota", dtype=DType.F32, shape=here.type.shape, dim=here.int("iota_dimension"))
    return ComplexValue(real, parts.full(0, real))


def _array(op: Any, shape: tuple[int, ...]) -> NDArray[np.complex64]:
    """Return the value of a constant, from its text: the bindings cannot hand it out."""
    match = re.search(r"value = dense<(.*?)> : tensor<", op.get_asm(print_generic_op_form=True))
    assert match is not None
    text = match[1]
    if text.startswith('"'):
        return np.frombuffer(bytes.fromhex(text.strip('"')[2:]), np.complex64).reshape(shape)
    found = re.findall(r"\(([^,()]+),\s*([^()]+)\)", text)
    numbers = np.array([[_number(each.strip()) for each in pair] for pair in found], np.float32)
    numbers = numbers.reshape(-1, 2).copy().view(np.complex64).reshape(-1)
    return np.full(shape, numbers[0]) if numbers.size == 1 else numbers.reshape(shape)


def _number(word: str) -> Any:
    if word.startswith("0x"):
        return np.array(int(word, 16), np.uint32).view(np.float32)[()]
    return np.float32(word)


def _product(parts: _Parts, a: Imported, b: Imported) -> ComplexValue:
    """Return a dot or a convolution, by those of the parts."""
    here = parts.here

    def of(x: Value, y: Value) -> Value:
        made = Here(here.importer, here.frame, here.op, (x, y), (part_type(here.type),),
                    here.source)
        [found] = _list(TRANSLATORS[here.op.name](made))
        return found

    if not isinstance(a, ComplexValue):
        if isinstance(b, ComplexValue):
            return ComplexValue(of(a, b.real), of(a, b.imag))
        real = of(a, b)
        return ComplexValue(real, parts.full(0, real))
    if not isinstance(b, ComplexValue):
        return ComplexValue(of(a.real, b), of(a.imag, b))
    return ComplexValue(parts.less(of(a.real, b.real), of(a.imag, b.imag)),
                        parts.sum(of(a.real, b.imag), of(a.imag, b.real)))


def _fft(parts: _Parts, x: Imported) -> Imported:
    """Return discrete Fourier transforms as products with the matrices of their factors."""
    here = parts.here
    kind, lengths = name_of(here["fft_type"]), here.ints("fft_length")
    count = len(lengths)
    rank = len(here.type.shape)
    dims = list(range(rank - count, rank))
    value = x if isinstance(x, ComplexValue) else ComplexValue(x, parts.full(0, x))
    if kind == "RFFT":
        value = _spectrum(parts, value, dims[-1], lengths[-1], -1)
        value = _cut(parts, value, dims[-1], lengths[-1] // 2 + 1)
        others = dims[:-1]
    else:
        others = dims if kind in ("FFT", "IFFT") else dims[:-1]
    sign = -1 if kind in ("FFT", "RFFT") else 1
    for dim in others:
        value = _spectrum(parts, value, dim, lengths[dims.index(dim)], sign)
    if kind != "IRFFT":
        return value
    return _real_signal(parts, value, dims[-1], lengths[-1])


def _cut(parts: _Parts, x: ComplexValue, dim: int, count: int) -> ComplexValue:
    limit = list(x.real.shape)
    limit[dim] = count
    zeros, ones = (0,) * len(limit), (1,) * len(limit)
    return ComplexValue(*(parts("slice", part, start=zeros, limit=tuple(limit), stride=ones)
                          for part in (x.real, x.imag)))


def _along(parts: _Parts, x: Value, dim: int, factors: NDArray[np.float64]) -> Value:
    """Return the products of a dimension with a matrix."""
    rank = x.type.rank
    matrix = parts.here.constant(factors.astype(np.float32))
    found = parts("dot", x, matrix, contract=((dim, 0),), dtype=DType.F32, precision="highest")
    order = [*range(dim), rank - 1, *range(dim, rank - 1)]
    return found if dim == rank - 1 else parts("transpose", found, permutation=tuple(order))


def _spectrum(parts: _Parts, x: ComplexValue, dim: int, length: int, sign: int) -> ComplexValue:
    """Return the transform along a dimension; the inverse one (``sign`` 1) is divided by it."""
    turns = np.outer(np.arange(length), np.arange(length)) % length / length
    scale = 1 / length if sign > 0 else 1.0
    cosine = scale * np.cos(2 * np.pi * turns)
    sine = sign * scale * np.sin(2 * np.pi * turns)
    a, b = x.real, x.imag
    return ComplexValue(
        parts.less(_along(parts, a, dim, cosine), _along(parts, b, dim, sine)),
        parts.sum(_along(parts, a, dim, sine), _along(parts, b, dim, cosine)))


def _real_signal(parts: _Parts, x: ComplexValue, dim: int, length: int) -> Value:
    """Return the real signal of the first half of its spectrum."""
    half = length // 2 + 1
    weights = np.full(half, 2.0)
    weights[0] = 1
    if length % 2 == 0:
        weights[-1] = 1
    turns = np.outer(np.arange(half), np.arange(length)) % length / length
    cosine = weights[:, None] * np.cos(2 * np.pi * turns) / length
    sine = weights[:, None] * np.sin(2 * np.pi * turns) / length
    return parts.less(_along(parts, x.real, dim, cosine), _along(parts, x.imag, dim, sine))


_Rule = Callable[..., Imported]
_RULES: dict[str, _Rule] = {
    "stablehlo.complex": _complex,
    "stablehlo.real": lambda parts, x: x.real,
    "stablehlo.imag": lambda parts, x: x.imag,
    "stablehlo.abs": lambda parts, x: parts.size(x),
    "stablehlo.multiply": lambda parts, a, b: parts.product(a, b),
    "stablehlo.divide": lambda parts, a, b: parts.quotient(a, b),
    "stablehlo.exponential": lambda parts, x: parts.exp(x),
    "stablehlo.log": lambda parts, x: parts.log(x),
    "stablehlo.sqrt": lambda parts, x: parts.root(x),
    "stablehlo.sine": _sine, "stablehlo.cosine": _cosine, "stablehlo.tan": _tan,
    "stablehlo.tanh": _tanh, "stablehlo.power": _power, "stablehlo.sign": _sign,
    "stablehlo.log_plus_one": _log_plus_one, "stablehlo.exponential_minus_one": _expm1,
    "stablehlo.logistic": _logistic, "stablehlo.rsqrt": _rsqrt,
    "stablehlo.compare": _compare, "stablehlo.convert": _convert,
    "stablehlo.bitcast_convert": _bitcast,
    "stablehlo.get_dimension_size": lambda parts, x: (
        _list(TRANSLATORS["stablehlo.get_dimension_size"](parts.here))[0]),
    "stablehlo.constant": _constant, "stablehlo.iota": _iota, "stablehlo.dot_general": _product,
    "stablehlo.dot": _product, "stablehlo.convolution": _product, "stablehlo.fft": _fft,
    "chlo.cosh": _cosh, "chlo.square": lambda parts, x: parts.product(x, x),
}
COMPLEX = frozenset({*_RULES, *_BY_PART})


def _is_by_part(here: Here) -> bool:
    """Whether what joins complex numbers does to each part what it does to a number."""
    try:
        return reducer_of(here.op.regions[0], update=here.op.name.endswith(
            "scatter")) in ("add", "set", "subtract")
    except Unsupported:
        return False


def _list(found: Value | Sequence[Value]) -> list[Value]:
    return [found] if isinstance(found, Value) else list(found)


def translate(here: Here, operands: Sequence[Imported]) -> list[Imported]:
    """Return the results of an operation that has complex operands or results.

    Parameters
    ----------
    here
        The operation; its operands are not looked at.
    operands
        What stands for them.

    Raises
    ------
    Unsupported
        If it is none that complex numbers have.
    """
    name = here.op.name
    if name in _BY_PART:
        if name in _SUMS and not _is_by_part(here):
            raise Unsupported("body must be add of its arguments for complex numbers")
        if name in _FOLDS and not _is_by_part(here):
            return grouped(_FOLDS[name](here, flat(operands)), here.types)
        halves = []
        for half in ("real", "imag"):
            chosen = [getattr(each, half) if isinstance(each, ComplexValue) else each
                      for each in operands]
            types = [part_type(type) if type.dtype.is_complex else type for type in here.types]
            halves.append(_list(TRANSLATORS[name](Here(
                here.importer, here.frame, here.op, chosen, types, here.source))))
        return [ComplexValue(*pair) for pair in zip(*halves, strict=True)]
    if name not in _RULES:
        raise Unsupported("operation must be one that complex numbers have here")
    return [_RULES[name](_Parts(here), *operands)]
