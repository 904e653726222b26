"""Part of the lane: second stages that end in a rounding, and those to int32.

Square, exp2, log2, recip, div and roots; and f2i.

They are :mod:`celosia.arch.special` (and ``numerics.f32_square``, ``f32_to_i32``)::

    fixed point | segment, table | inner product | outer product, sum | multiply, combine |
    normalise, round

Everything becomes one product of a factor (24 bits) and a value (30 bits), scaled so that half of
it is as the sum of a multiply-add (see :mod:`celosia_hw.fp.fma`), and is rounded as that. A square
multiplies significands; log2 the quadratic by the argument's distance from 1, and adds the
exponent; sqrt that of rsqrt by the argument's significand, div that of recip by the numerator's;
the others the quadratic by a power of two. f2i ends after the second of these stages.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib.memory import Memory

from celosia.arch.lane import LaneStep
from celosia.arch.special import C0_BITS, C1_BITS, C2_BITS, FRACTION, OFFSET_BITS, SEGMENTS, tables
from celosia.arch.vector import Post
from celosia_hw.fp import fma
from celosia_hw.fp.convert import f32_to_i32_round, f32_to_i32_shift
from celosia_hw.fp.wire import choose, wire
from celosia_hw.pipeline import Logic
from celosia_hw.vpu.control import unspecial

__all__ = ["STAGES", "TABLES"]

#: Tables, in the order of their addresses.
_NAMES = ("exp2", "recip", "rsqrt", "log2")
#: The table of each second stage that looks into one.
TABLES = {Post.EXP2: "exp2", Post.RECIP: "recip", Post.DIV: "recip", Post.RSQRT: "rsqrt",
          Post.SQRT: "rsqrt", Post.LOG2: "log2"}
#: Factor of a value with FRACTION bits behind the point that gives the scale of a product: its bit
#: 49, which is bit 48 of a sum's significand, is worth 2**(exponent - 127).
_UNIT = 49 - FRACTION
#: Exponent of a sum with 43, of a product with 51 and of one with 52 bits behind the point.
_EXPONENT_43, _EXPONENT_51, _EXPONENT_52 = 48 - 43 + 127, 49 - 51 + 127, 49 - 52 + 127


def fixed_point(m: Module, r: Value) -> dict[str, Value]:
    """``magnitude`` of the argument in fixed point."""
    return {"magnitude": f32_to_i32_shift(m, r, "second")}


def numerator(c: Value) -> dict[str, Value]:
    """``numerator``: what a quotient needs of the operands."""
    return {"numerator": c}


def segment(m: Module, post: Value, r: Value, magnitude: Value,
            numerator: Value) -> dict[str, Value]:
    """Take the argument apart.

    Parameters
    ----------
    r
        fp32 bit pattern, not flushed.
    magnitude
        In fixed point, of :func:`celosia_hw.fp.convert.f32_to_i32_shift`.
    numerator
        Of div: fp32 bit pattern, not flushed.

    Returns
    -------
    dict
        ``address`` of the coefficients; ``offset`` within the segment; ``factor``; ``exponent`` of
        the product, signed(10); ``whole`` (of log2): magnitude of the integral part, 8 bits;
        ``minus``: the product is to be subtracted from it; ``sign``, ``nan``, ``inf`` of the
        result.
    """
    biased, fraction, negative = r[23:31], r[:23], r[31]
    zero, top = wire(m, biased == 0, "special_zero"), wire(m, biased == 0xFF, "special_top")
    is_nan, is_inf = top & (fraction != 0), top & (fraction == 0)

    power = wire(m, Mux(negative, -magnitude[:33], magnitude[:33])[:33], "special_power")  # of exp2
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
    numbers = {item: _NAMES.index(name) for item, name in TABLES.items()}
    function = choose(m, post, numbers, 0, shape=2, name="special_function")
    assert SEGMENTS == 1 << len(results["segment"])
    address = Cat(results.pop("segment"), function)
    return {"address": address, "whole": Mux(whole < 0, -whole, whole)[:8],
            "minus": (whole < 0) ^ halved, **results}


def look_up(m: Module, address: Value, table: Value) -> dict[str, Value]:
    """Coefficients ``c0`` (unsigned), ``c1``, ``c2`` (signed), a cycle after their address.

    They keep their value without ``table``.
    """
    rows = [row for name in _NAMES for row in getattr(tables(), name)]
    coefficients = []
    for name, bits, column in zip(("c0", "c1", "c2"), (C0_BITS, C1_BITS, C2_BITS),
                                  zip(*rows, strict=True), strict=True):
        memory = Memory(shape=bits, depth=len(rows),
                        init=[word & ((1 << bits) - 1) for word in column])
        m.submodules[f"table_{name}"] = memory  # type: ignore[arg-type]
        port = memory.read_port()
        m.d.comb += [port.addr.eq(address), port.en.eq(table)]
        coefficients.append(port.data)
    c0, c1, c2 = coefficients
    return {"c0": c0, "c1": c1.as_signed(), "c2": c2.as_signed()}


def converted(m: Module, post: Value, fixed: Value, r: Value,
              magnitude: Value) -> dict[str, Value]:
    """``r``, or the int32 of it where the second stage is a conversion."""
    whole = f32_to_i32_round(m, r, magnitude, post == Post.F2I_FLOOR, post == Post.F2I_TRUNC, "f2i")
    return {"r": Mux(fixed, whole, r)}


def inner(m: Module, c1: Value, c2: Value, offset: Value) -> dict[str, Value]:
    """``slope``: the offset times the quadratic's second coefficient, and the first one."""
    return {"slope": wire(m, c1 + (c2 * offset)[OFFSET_BITS:].as_signed(), "special_slope")}


def outer(c0: Value, slope: Value, offset: Value) -> dict[str, Value]:
    """``quadratic``: its value, 30 bits, FRACTION of them behind the point."""
    return {"quadratic": (c0 + (slope * offset)[OFFSET_BITS:].as_signed())[:30]}


def second_factor(table: Value, quadratic: Value, factor: Value) -> dict[str, Value]:
    """``value``: the quadratic, or that whose product with ``factor`` is its square."""
    return {"value": Mux(table, quadratic, Cat(Const(0, 3), factor))}


def scale(m: Module, factor: Value, value: Value) -> dict[str, Value]:
    """``scaled``: the product, 52 bits.

    A distance from 1 is at most one half, a quadratic elsewhere about 1.
    """
    return {"scaled": wire(m, (factor * value)[:52], "special_product")}


def combine(m: Module, post: Value, scaled: Value, whole: Value,
            minus: Value) -> dict[str, Value]:
    """``total``: significand of the result, SUM_BITS; of a logarithm with its integral part."""
    part = wire(m, scaled[9:], "special_part")
    base = wire(m, Cat(Const(0, 43), whole), "special_base")
    added = Mux(minus, base - part, base + part)[:fma.SUM_BITS]
    half = Cat(scaled[0] | scaled[1], scaled[2:])  # what leaves below sets the lowest bit
    return {"total": Mux((post == Post.LOG2) & (whole != 0), added, half)[:fma.SUM_BITS]}


def signs(sign: Value) -> dict[str, Value]:
    """The sign of a result that is zero or infinite is that of any other."""
    return {"zero_sign": sign, "inf_sign": sign}


def special_word(special: Value, finished: Value, r: Value) -> dict[str, Value]:
    """``r``, which is the rounded result where the second stage has one."""
    return {"r": Mux(special, finished, r)}


STAGES = {
    LaneStep.PREPARE: (Logic(numerator, lambda div: div),),
    LaneStep.SECOND: (Logic(fixed_point, lambda fixed: fixed),),
    LaneStep.LOOK_UP: (Logic(segment, lambda special: special),
                       Logic(look_up, lambda table: table, registered=True),
                       Logic(converted, unspecial)),
    LaneStep.INNER: (Logic(inner, lambda table: table),),
    LaneStep.OUTER: (Logic(outer), Logic(second_factor, lambda special: special)),
    LaneStep.SCALE: (Logic(scale, lambda special: special),),
    LaneStep.COMBINE: (Logic(combine, lambda special: special),),
    LaneStep.BRING_SPECIAL_NEAR: (Logic(fma.bring_near, lambda special: special),),
    LaneStep.NORMALISE_SPECIAL: (Logic(fma.normalise, lambda special: special),),
    LaneStep.ROUND_SPECIAL: (Logic(signs), Logic(fma.finish),
                             Logic(special_word, lambda valid: valid)),
}
