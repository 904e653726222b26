"""The second stages that end in a rounding: square, exp2, log2, recip, div and roots; and f2i.

They are :mod:`celosia.arch.special` (and ``numerics.f32_square``, ``f32_to_i32``), cut into stages
of combinational logic::

    fixed point | segment, table | inner product | outer product, sum | multiply, combine |
    normalise, round

Everything becomes one product of a factor (24 bits) and a value (30 bits), scaled so that half of
it is as the sum of a multiply-add (see :mod:`celosia_hw.fp.fma`), and is rounded as that. A square
multiplies significands; log2 the quadratic by the argument's distance from 1, and adds the
exponent; sqrt that of rsqrt by the argument's significand, div that of recip by the numerator's;
the others the quadratic by a power of two. f2i ends after the second of these stages.
"""

from types import SimpleNamespace

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib.memory import Memory

from celosia.arch.special import C0_BITS, C1_BITS, C2_BITS, FRACTION, OFFSET_BITS, SEGMENTS, tables
from celosia.arch.vector import Post
from celosia_hw.fp.fma import SUM_BITS
from celosia_hw.fp.wire import choose, wire

__all__ = ["CARRIED", "combine", "inner", "look_up", "multiply", "outer", "segment",
           "square_value"]

#: Tables, in the order of their addresses, and those of the functions.
_NAMES = ("exp2", "recip", "rsqrt", "log2")
_TABLES = {Post.EXP2: "exp2", Post.RECIP: "recip", Post.DIV: "recip", Post.RSQRT: "rsqrt",
           Post.SQRT: "rsqrt", Post.LOG2: "log2"}
#: What :func:`segment` gives and the later stages use.
CARRIED = ("factor", "exponent", "sign", "nan", "inf", "whole", "minus")
#: Factor of a value with FRACTION bits behind the point that gives the scale of a product: its bit
#: 49, which is bit 48 of a sum's significand, is worth 2**(exponent - 127).
_UNIT = 49 - FRACTION
#: Exponent of a sum with 43, of a product with 51 and of one with 52 bits behind the point.
_EXPONENT_43, _EXPONENT_51, _EXPONENT_52 = 48 - 43 + 127, 49 - 51 + 127, 49 - 52 + 127


def look_up(m: Module, address: Value, enable: Value) -> tuple[Value, Value, Value]:
    """Coefficients c0 (unsigned), c1, c2 (signed), a cycle after their address.

    They keep their value without ``enable``.
    """
    rows = [row for name in _NAMES for row in getattr(tables(), name)]
    coefficients = []
    for name, bits, column in zip(("c0", "c1", "c2"), (C0_BITS, C1_BITS, C2_BITS),
                                  zip(*rows, strict=True), strict=True):
        memory = Memory(shape=bits, depth=len(rows),
                        init=[word & ((1 << bits) - 1) for word in column])
        m.submodules[f"table_{name}"] = memory  # type: ignore[arg-type]
        port = memory.read_port()
        m.d.comb += [port.addr.eq(address), port.en.eq(enable)]
        coefficients.append(port.data)
    c0, c1, c2 = coefficients
    return c0, c1.as_signed(), c2.as_signed()


def segment(m: Module, post: Value, x: Value, fixed: Value, numerator: Value) -> SimpleNamespace:
    """Take the argument apart.

    Parameters
    ----------
    x
        fp32 bit pattern, not flushed.
    fixed
        Its magnitude in fixed point, of :func:`celosia_hw.fp.convert.f32_to_i32_shift`.
    numerator
        Of div: fp32 bit pattern, not flushed.

    Returns
    -------
    SimpleNamespace
        ``address`` of the coefficients; ``offset`` within the segment; ``factor``; ``exponent`` of
        the product, signed(10); ``whole`` (of log2): magnitude of the integral part, 8 bits;
        ``minus``: the product is to be subtracted from it; ``sign``, ``nan``, ``inf`` of the
        result.
    """
    biased, fraction, negative = x[23:31], x[:23], x[31]
    zero, top = wire(m, biased == 0, "special_zero"), wire(m, biased == 0xFF, "special_top")
    is_nan, is_inf = top & (fraction != 0), top & (fraction == 0)

    power = wire(m, Mux(negative, -fixed[:33], fixed[:33])[:33], "special_power")  # of exp2
    huge = biased >= 127 + 7
    halved = fraction[22]  # of log2: significands from 1.5 on
    whole = Signal(signed(9), name="special_whole")
    m.d.comb += whole.eq(biased + halved - 127)

    one = Const(1 << _UNIT, 24)
    significand = Mux(zero, 0, Cat(fraction, Const(1, 1)))
    root = {"segment": Cat(fraction[17:], ~biased[0]), "offset": Cat(Const(0, 1), fraction[:17]),
            "sign": negative, "nan": is_nan | (negative & ~zero)}
    above, digits = numerator[23:31], numerator[:23]  # of div
    nothing, end = wire(m, above == 0, "special_nothing"), wire(m, above == 0xFF, "special_end")
    endless = end & (digits == 0)
    recip = {"segment": fraction[16:], "offset": Cat(Const(0, 2), fraction[:16])}
    cases = {
        Post.SQUARE: {
            "factor": significand, "exponent": (biased << 1) - 127,
            "nan": is_nan, "inf": is_inf},
        Post.EXP2: {
            "segment": power[18:25], "offset": power[:18], "factor": Mux(huge, 0, one),
            "exponent": power[25:33].as_signed() + 127,
            "nan": is_nan, "inf": huge & ~negative},
        Post.RECIP: recip | {
            "factor": Mux(top, 0, one), "exponent": 254 - biased, "sign": negative,
            "nan": is_nan, "inf": zero},
        Post.DIV: recip | {
            "factor": Mux(top | nothing, 0, Cat(digits, Const(1, 1))),
            "exponent": above - biased + _EXPONENT_51, "sign": negative ^ numerator[31],
            "nan": is_nan | (end & ~endless) | (zero & nothing) | (is_inf & endless),
            "inf": zero | endless},
        Post.RSQRT: root | {
            "factor": Mux(top, 0, one), "exponent": 191 - (biased + 1)[1:], "inf": zero},
        Post.SQRT: root | {
            "factor": significand, "exponent": biased[1:] + (_EXPONENT_51 - 63), "inf": is_inf},
        Post.LOG2: {
            "segment": fraction[16:], "offset": Cat(Const(0, 2), fraction[:16]),
            "factor": Mux(halved, Const(1 << 23) - fraction, fraction << 1)[:24],
            "exponent": Mux(whole == 0, _EXPONENT_52, _EXPONENT_43),
            "sign": (whole < 0) | ((whole == 0) & halved),
            "nan": is_nan | (negative & ~zero), "inf": zero | is_inf},
    }
    results = {
        name: choose(m, post, {item: values.get(name, 0) for item, values in cases.items()}, 0,
                     shape=shape, name=f"special_{name}")
        for name, shape in (("segment", 7), ("offset", OFFSET_BITS), ("factor", 24),
                            ("exponent", signed(10)), ("sign", 1), ("nan", 1), ("inf", 1))}
    tables = {item: _NAMES.index(name) for item, name in _TABLES.items()}
    function = choose(m, post, tables, 0, shape=2, name="special_function")
    assert SEGMENTS == 1 << len(results["segment"])
    address = Cat(results.pop("segment"), function)
    return SimpleNamespace(
        address=address, whole=Mux(whole < 0, -whole, whole)[:8], minus=(whole < 0) ^ halved,
        **results)


def inner(m: Module, c2: Value, offset: Value) -> Value:
    """Product of the quadratic's second coefficient, signed(16)."""
    return (c2 * offset)[OFFSET_BITS:].as_signed()


def outer(m: Module, c0: Value, c1: Value, product: Value, offset: Value) -> Value:
    """Value of the quadratic, 30 bits, FRACTION of them behind the point."""
    slope = wire(m, c1 + product, "special_slope")
    return (c0 + (slope * offset)[OFFSET_BITS:].as_signed())[:30]


def square_value(factor: Value) -> Value:
    """Value whose product with ``factor`` is its square."""
    return Cat(Const(0, 3), factor)


def multiply(m: Module, factor: Value, value: Value) -> Value:
    """Product, 52 bits: a distance from 1 is at most one half, a quadratic elsewhere about 1."""
    return (factor * value)[:52]


def combine(m: Module, logarithm: Value, product: Value, whole: Value, minus: Value) -> Value:
    """Significand of the result, SUM_BITS; ``logarithm``: add its integral part, if it has one."""
    part = wire(m, product[9:], "special_part")
    base = wire(m, Cat(Const(0, 43), whole), "special_base")
    total = Mux(minus, base - part, base + part)[:SUM_BITS]
    half = Cat(product[0] | product[1], product[2:])  # what leaves below sets the lowest bit
    return Mux(logarithm & (whole != 0), total, half)[:SUM_BITS]
