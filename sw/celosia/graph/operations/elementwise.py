"""Operations on the elements of tensors of one shape."""

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from celosia.graph.attributes import DTYPE, INT, Attribute, enum
from celosia.graph.spec import Call, Infer, Trait, define, require, same
from celosia.graph.types import DType, TensorType

__all__ = ["BITWISE", "COMPARISONS", "FLOAT_BINARY", "FLOAT_UNARY", "NUMERIC_BINARY", "SHIFTS",
           "neutral"]

#: Directions of `compare`.
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")

#: Operations on a float, and what they give.
FLOAT_UNARY = {
    "exp": "e to the x.",
    "expm1": "e to the x, less 1, exact near 0.",
    "log": "Natural logarithm.",
    "log1p": "Natural logarithm of 1 + x, exact near 0.",
    "tanh": "Hyperbolic tangent.",
    "sqrt": "Square root.",
    "rsqrt": "1 / square root.",
    "cbrt": "Cube root, of a negative number negative.",
    "sin": "Sine of x radians.",
    "cos": "Cosine of x radians.",
    "cosh": "Hyperbolic cosine.",
    "erf": "Error function.",
    "erfc": "1 - erf(x), exact where that is small.",
    "erf_inv": "Inverse of erf.",
    "floor": "Greatest integer not above x.",
    "ceil": "Least integer not below x.",
    "round": "Nearest integer, ties to even.",
}
#: Operations on two floats, and what they give.
FLOAT_BINARY = {
    "atan2": "Angle of the point (b, a) in radians from -pi to pi, as in C.",
}
_SIGNED_UNARY = {
    "abs": "Magnitude; of the least integer itself.",
    "sign": "-1, 0 or 1; of a float zero and of a NaN the same.",
}
NUMERIC_BINARY = {
    "add": "a + b, integers modulo their range.",
    "subtract": "a - b, integers modulo their range.",
    "multiply": "a * b, integers modulo their range.",
    "divide": "a / b; integers toward zero, x / 0 has all bits set, least / -1 is least.",
    "remainder": "a - b * truncate(a / b), with the sign of a; integer x % 0 is x.",
    "maximum": "The greater; NaN if either is.",
    "minimum": "The lesser; NaN if either is.",
    "power": "a to the b; integers modulo their range, b not negative.",
}
BITWISE = {"and": "Bitwise and.", "or": "Bitwise or.", "xor": "Bitwise exclusive or."}
SHIFTS = {
    "shift_left": "a << b; 0 where b is not within the bits of a.",
    "shift_right": "a >> b, zeros enter; 0 where b is not within the bits of a.",
    "shift_right_signed": "a >> b, the sign enters; all sign where b is not within the bits of a.",
}
#: What a commutative operation leaves as it is, of floats. -0 and not 0: -0 + 0 is 0.
_NEUTRAL: Mapping[str, float] = {
    "add": -0.0, "multiply": 1.0, "maximum": -math.inf, "minimum": math.inf,
    "logaddexp": -math.inf}


def neutral(name: str, dtype: DType) -> NDArray:
    """Return the scalar that a commutative operation leaves what it joins with as it was."""
    if dtype is DType.BOOL:
        return np.array(name == "and")
    if dtype.is_float:
        return np.array(_NEUTRAL[name], dtype.numpy)
    info = np.iinfo(dtype.numpy)
    ones = -1 if dtype.is_signed else info.max
    number = {"add": 0, "multiply": 1, "maximum": info.min, "minimum": info.max, "and": ones,
              "or": 0, "xor": 0}
    return np.array(number[name], dtype.numpy)


def _named(infer: Infer, doc: str) -> Infer:
    def typed(call: Call) -> TensorType:
        found = infer(call)
        assert isinstance(found, TensorType)
        return found

    typed.__doc__, typed.__module__ = doc, __name__
    return typed


def _float(call: Call) -> TensorType:
    [x] = call.operands
    require(x.dtype.is_float, f"operand must be a float, not {x}")
    return x


def _floats(call: Call) -> TensorType:
    found: TensorType = same("operands", call.operands)
    require(found.dtype.is_float, f"operands must be floats, not {found}")
    return found


def _signed(call: Call) -> TensorType:
    [x] = call.operands
    require(x.dtype.is_float or x.dtype.is_signed, f"operand must have a sign, not {x}")
    return x


def _numeric(call: Call) -> TensorType:
    found: TensorType = same("operands", call.operands)
    # Sums and products of bools have bitwise names.
    require(found.dtype is not DType.BOOL, f"operands must be numbers, not {found}")
    return found


def _bits(call: Call) -> TensorType:
    found: TensorType = same("operands", call.operands)
    require(not found.dtype.is_float, f"operands must be integers or bools, not {found}")
    return found


def _shift(call: Call) -> TensorType:
    found: TensorType = same("operands", call.operands)
    require(found.dtype.is_integer, f"operands must be integers, not {found}")
    return found


#: What some of the above are besides.
_MORE = {
    "add": Trait.COMMUTATIVE, "multiply": Trait.COMMUTATIVE, "xor": Trait.COMMUTATIVE,
    "and": Trait.COMMUTATIVE | Trait.IDEMPOTENT, "or": Trait.COMMUTATIVE | Trait.IDEMPOTENT,
    "maximum": Trait.COMMUTATIVE | Trait.IDEMPOTENT | Trait.ORDERING,
    "minimum": Trait.COMMUTATIVE | Trait.IDEMPOTENT | Trait.ORDERING,
    "negate": Trait.INVOLUTION,
}
for _names, _infer, _operands in ((FLOAT_UNARY, _float, "x"), (_SIGNED_UNARY, _signed, "x"),
                                  (FLOAT_BINARY, _floats, "a b"),
                                  (NUMERIC_BINARY, _numeric, "a b"),
                                  ({"negate": "-x, integers modulo their range."}, _numeric, "x"),
                                  (BITWISE, _bits, "a b"),
                                  (SHIFTS, _shift, "a b")):
    for _name, _doc in _names.items():
        _traits = Trait.ELEMENTWISE | _MORE.get(_name, Trait.ELEMENTWISE)
        if _infer in (_float, _floats):
            _traits |= Trait.FLOAT
        define(_name, _operands, traits=_traits)(_named(_infer, _doc))


@define("not", "x", traits=Trait.ELEMENTWISE | Trait.INVOLUTION)
def _not(call: Call) -> TensorType:
    """Bitwise complement."""
    return _bits(call)


@define("logaddexp", "a b", traits=Trait.ELEMENTWISE | Trait.FLOAT | Trait.COMMUTATIVE)
def _logaddexp(call: Call) -> TensorType:
    """Natural logarithm of the sum of e to the a and e to the b."""
    return _floats(call)


@define("is_finite", "x", traits=Trait.ELEMENTWISE | Trait.FLOAT)
def _is_finite(call: Call) -> TensorType:
    """Whether x is neither infinite nor NaN."""
    return TensorType(DType.BOOL, _float(call).shape)


@define("compare", "a b", direction=Attribute(enum(*COMPARISONS)),
        traits=Trait.ELEMENTWISE | Trait.ORDERING)
def _compare(call: Call) -> TensorType:
    """Whether a is so to b; with a NaN only `ne` holds. false < true."""
    found: TensorType = same("operands", call.operands)
    return TensorType(DType.BOOL, found.shape)


@define("select", "predicate a b", traits=Trait.ELEMENTWISE)
def _select(call: Call) -> TensorType:
    """Where the predicate holds a, elsewhere b; the predicate may be a scalar."""
    predicate, a, b = call.operands
    found: TensorType = same("a and b", (a, b))
    require(predicate.dtype is DType.BOOL and predicate.shape in ((), a.shape),
            f"predicate must be bool[] or {TensorType(DType.BOOL, a.shape)}, not {predicate}")
    return found


@define("clamp", "low x high", traits=Trait.ELEMENTWISE | Trait.ORDERING)
def _clamp(call: Call) -> TensorType:
    """minimum(maximum(x, low), high); low and high may be scalars."""
    low, x, high = call.operands
    require(x.dtype is not DType.BOOL, f"x must be numbers, not {x}")
    for name, bound in (("low", low), ("high", high)):
        require(bound in (x, TensorType(x.dtype)),
                f"{name} must be {x} or {TensorType(x.dtype)}, not {bound}")
    return x


@define("requantise", "x scale bias", zero_point=Attribute(INT, 0), low=Attribute(INT, -128),
        high=Attribute(INT, 127), traits=Trait.ELEMENTWISE)
def _requantise(call: Call) -> TensorType:
    """Int32 sums as int8: x + bias times the factor that the word `scale` holds, rounded, plus
    `zero_point`, within `low` and `high` (`celosia.arch.numerics.requant`).
    """
    found = same("operands", call.operands)
    require(found.dtype is DType.I32, f"operands must be i32, not {found}")
    for name in ("zero_point", "low", "high"):
        require(-128 <= call[name] <= 127, f"{name} must be -128 to 127, not {call[name]}")
    return TensorType(DType.I8, found.shape)


@define("convert", "x", dtype=Attribute(DTYPE), traits=Trait.ELEMENTWISE)
def _convert(call: Call) -> TensorType:
    """The same number in another type: to a float nearest, ties to even; float to integer toward
    zero and to the nearest bound, NaN to 0; between integers modulo the range; to bool x != 0.
    """
    return TensorType(call["dtype"], call.operands[0].shape)


@define("bitcast", "x", dtype=Attribute(DTYPE), traits=Trait.VIEW | Trait.IN_ORDER)
def _bitcast(call: Call) -> TensorType:
    """The same bits as another type; to a narrower one a last dimension is added, lowest bits
    first, to a wider one the last dimension, which holds exactly one element, goes.
    """
    [x] = call.operands
    to: DType = call["dtype"]
    for dtype in (x.dtype, to):
        require(dtype is not DType.BOOL, "bits must be of numbers, not of bool")
    if x.dtype.bits == to.bits:
        return TensorType(to, x.shape)
    if x.dtype.bits > to.bits:
        return TensorType(to, (*x.shape, x.dtype.bits // to.bits))
    many = to.bits // x.dtype.bits
    require(x.rank > 0 and x.shape[-1] == many,
            f"last extent of the operand must be {many} for {to}, not {x}")
    return TensorType(to, x.shape[:-1])


@define("reduce_precision", "x", exponent=Attribute(INT), mantissa=Attribute(INT),
        traits=Trait.ELEMENTWISE | Trait.FLOAT)
def _reduce_precision(call: Call) -> TensorType:
    """The operand rounded, ties to even, to a float of so many bits of exponent and mantissa;
    below its least normal number 0, above its greatest infinity.
    """
    found = _float(call)
    require(1 <= call["exponent"] <= 8, f"exponent must be 1 to 8, not {call['exponent']}")
    require(0 <= call["mantissa"] <= 23, f"mantissa must be 0 to 23, not {call['mantissa']}")
    return found
