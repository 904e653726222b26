"""Elementwise operations of StableHLO and its client dialect."""

from __future__ import annotations

from celosia.frontend.stablehlo.attributes import name_of
from celosia.frontend.stablehlo.translation import Here, translates
from celosia.graph import DType, Value

__all__ = ["BOOLEAN", "CLIENT_FUNCTIONS"]

#: Operations of the same meaning.
_SAME = {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "divide": "divide",
    "maximum": "maximum", "minimum": "minimum",
    "and": "and", "or": "or", "xor": "xor", "not": "not", "negate": "negate",
    "shift_left": "shift_left", "shift_right_logical": "shift_right",
    "shift_right_arithmetic": "shift_right_signed", "exponential": "exp",
    "exponential_minus_one": "expm1", "log": "log", "log_plus_one": "log1p", "tanh": "tanh",
    "sqrt": "sqrt", "rsqrt": "rsqrt", "cbrt": "cbrt", "atan2": "atan2", "sine": "sin",
    "cosine": "cos", "floor": "floor", "ceil": "ceil", "round_nearest_even": "round",
    "is_finite": "is_finite", "select": "select", "clamp": "clamp",
}
#: What the arithmetic of numbers is for bools.
BOOLEAN = {"add": "or", "multiply": "and", "maximum": "or", "minimum": "and"}
#: Functions of one array in the client dialect that the graph has, better than what that dialect
#: makes of them.
CLIENT_FUNCTIONS = ("chlo.cosh", "chlo.erf", "chlo.erfc", "chlo.erf_inv")


@translates(*(f"stablehlo.{name}" for name in _SAME))
def _same(here: Here) -> Value:
    name = _SAME[here.op.name.removeprefix("stablehlo.")]
    if here.type.dtype is DType.BOOL:
        name = BOOLEAN.get(name, name)
        if name == "clamp":
            least, x, most = (x if x.type == here.type else here.emit(
                "broadcast", x, shape=here.type.shape) for x in here.operands)
            return here.emit("and", here.emit("or", least, x), most)
    return here.emit(name, *here.operands)


@translates("stablehlo.power")
def _power(here: Here) -> Value:
    x, y = here.operands
    known = y.node in here.importer.constants
    if not x.dtype.is_signed or known and (
            here.importer.constants.values(y.node)[y.index] >= 0).all():
        return here.emit("power", x, y)
    # Of negative powers 1 and -1 have one, of others nothing is left.
    zero, one = here.splat(0, x.type), here.splat(1, x.type)
    below = here.emit("compare", y, zero, direction="lt")
    unit = here.emit("compare", here.emit("abs", x), one, direction="eq")
    whole = here.emit("select", below, here.emit("and", y, one), y)
    found = here.emit("power", x, whole)
    return here.emit("select", here.emit("and", below, here.emit("not", unit)), zero, found)


@translates("stablehlo.abs", "stablehlo.sign")
def _of_sign(here: Here) -> Value:
    [x] = here.operands
    unsigned = x.dtype.is_integer and not x.dtype.is_signed
    if unsigned:
        return x if here.op.name.endswith("abs") else here.emit(
            "minimum", x, here.splat(1, x.type))
    return here.emit(here.op.name.removeprefix("stablehlo."), x)


@translates(*CLIENT_FUNCTIONS, "mhlo.erf")
def _client_function(here: Here) -> Value:
    return here.emit(here.op.name.partition(".")[2], *here.operands)


@translates("chlo.square")
def _square(here: Here) -> Value:
    [x] = here.operands
    return here.emit("multiply", x, x)


@translates("stablehlo.logistic")
def _logistic(here: Here) -> Value:
    [x] = here.operands
    one = here.splat(1, x.type)
    return here.emit("divide", one, here.emit("add", one, here.emit("exp",
                                                                    here.emit("negate", x))))


@translates("stablehlo.tan")
def _tan(here: Here) -> Value:
    [x] = here.operands
    return here.emit("divide", here.emit("sin", x), here.emit("cos", x))


@translates("stablehlo.round_nearest_afz")
def _round_away(here: Here) -> Value:
    [x] = here.operands
    magnitude = here.emit("abs", x)
    whole = here.emit("floor", magnitude)
    rest = here.emit("subtract", magnitude, whole)
    half = here.emit("compare", rest, here.splat(0.5, x.type), direction="ge")
    up = here.emit("add", whole, here.splat(1, x.type))
    return here.emit("multiply", here.emit("sign", x), here.emit("select", half, up, whole))


@translates("stablehlo.popcnt", "stablehlo.count_leading_zeros")
def _count_bits(here: Here) -> Value:
    [x] = here.operands
    bits, zeros = x.dtype.bits, here.op.name.endswith("zeros")
    # As unsigned numbers, so that no sign enters.
    if bits == 64:
        found = _count_pairs(here, here.emit("bitcast", x, dtype=DType.U32), zeros)
    elif bits == 32:
        x = x if x.dtype is DType.U32 else here.emit("bitcast", x, dtype=DType.U32)
        found = _counted(here, x, 32, zeros)
    else:
        x = here.emit("convert", x, dtype=DType.U32)
        x = here.emit("and", x, here.splat((1 << bits) - 1, x.type))
        found = _counted(here, x, bits, zeros)
    return found if here.type.dtype is DType.U32 else here.emit("convert", found,
                                                                dtype=here.type.dtype)


def _count_pairs(here: Here, pairs: Value, zeros: bool) -> Value:
    """Return the counts of low and high words that lie along the last dimension."""
    counts = _counted(here, pairs, 32, zeros)
    shape, rank = pairs.shape[:-1], pairs.type.rank

    def part(x: Value, i: int) -> Value:
        found = here.emit("slice", x, start=(0,) * (rank - 1) + (i,), limit=(*shape, i + 1),
                          stride=(1,) * rank)
        return here.emit("reshape", found, shape=shape)

    low, high = part(counts, 0), part(counts, 1)
    both = here.emit("add", low, high)
    if not zeros:
        return both
    empty = here.emit("compare", part(pairs, 1), here.splat(0, low.type), direction="eq")
    return here.emit("select", empty, both, high)


def _counted(here: Here, x: Value, bits: int, zeros: bool) -> Value:
    """Return how many of the lowest bits of U32 are set, or zeros in front."""
    word = x.type

    def shifted(x: Value, amount: int) -> Value:
        return here.emit("shift_right", x, here.splat(amount, word))

    if zeros:
        # Every bit below the first one, and that one; the others are leading zeros.
        for amount in (1, 2, 4, 8, 16):
            x = here.emit("or", x, shifted(x, amount))
        x = here.emit("xor", x, here.splat((1 << bits) - 1, word))
    # Sums of neighbours, in fields of 2, 4 and 8 bits; a product adds up the four bytes.
    for amount, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F)):
        low, high = (here.emit("and", each, here.splat(mask, word))
                     for each in (x, shifted(x, amount)))
        x = here.emit("add", low, high)
    return shifted(here.emit("multiply", x, here.splat(0x01010101, word)), 24)


@translates("stablehlo.compare")
def _compare(here: Here) -> Value:
    a, b = here.operands
    if (here.has("compare_type") and name_of(here["compare_type"]) == "TOTALORDER"
            and a.dtype.is_float):
        a, b = _totally_ordered(here, a), _totally_ordered(here, b)
    return here.emit("compare", a, b,
                     direction=name_of(here["comparison_direction"]).lower())


def _totally_ordered(here: Here, x: Value) -> Value:
    """Return integers in the total order of floats: -NaN, -inf to -0, 0 to inf, NaN."""
    if x.dtype is not DType.F32:
        x = here.emit("convert", x, dtype=DType.F32)
    bits = here.emit("bitcast", x, dtype=DType.I32)
    # Negative numbers are in the other order by their bits but the first.
    sign = here.emit("shift_right_signed", bits, here.splat(31, bits.type))
    return here.emit("xor", bits, here.emit("and", sign, here.splat(0x7FFFFFFF, bits.type)))


@translates("mhlo.copy")
def _copy(here: Here) -> Value:
    return here.operands[0]


@translates("stablehlo.convert")
def _convert(here: Here) -> Value:
    [x] = here.operands
    return x if x.dtype is here.type.dtype else here.emit("convert", x, dtype=here.type.dtype)


@translates("stablehlo.bitcast_convert")
def _bitcast(here: Here) -> Value:
    [x] = here.operands
    if x.node.op == "bitcast" and x.node.operands[0].type == here.type:
        return x.node.operands[0]
    return x if x.dtype is here.type.dtype else here.emit("bitcast", x, dtype=here.type.dtype)


@translates("stablehlo.real", "stablehlo.imag")
def _part(here: Here) -> Value:
    [x] = here.operands  # no complex one: those are `celosia.frontend.stablehlo.complexes`'s
    return x if here.op.name.endswith("real") else here.splat(0, x.type)


@translates("stablehlo.reduce_precision")
def _reduce_precision(here: Here) -> Value:
    [x] = here.operands
    return here.emit("reduce_precision", x, exponent=here.int("exponent_bits"),
                     mantissa=here.int("mantissa_bits"))
