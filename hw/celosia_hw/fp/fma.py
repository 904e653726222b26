"""fp32 fused multiply-add, cut into stages of combinational logic.

``unpack | multiply (the caller's) and compare | align | add | bring_near | normalise | finish``:
their user puts registers between them. Together they are
:func:`celosia.arch.numerics.f32_fma`: one rounding, to nearest even.

The significands of product and addend are brought to one scale, 2**(exponent - 175), where an
addend has its leading one in bit 48 and a product in bit 48 or 49. The operand of the smaller
exponent is shifted right; what leaves below sets the lowest bit. Two bits below the product are
enough for that: where the operand is shifted further than two bits to the right, the leading one of
the sum stays above bit 46, far from the lowest bit.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed

from celosia.arch.numerics import NAN
from celosia_hw.fp.wire import wire

__all__ = ["I32_EXPONENT", "I32_SHIFT", "SUM_BITS", "add", "align", "bring_near", "compare",
           "finish", "normalise", "unpack"]

#: Bits of the exact sum's magnitude.
SUM_BITS = 51
#: An integer enters ``bring_near`` as magnitude << I32_SHIFT with exponent I32_EXPONENT.
I32_SHIFT, I32_EXPONENT = 18, 157
#: Exponent of a zero: further below any other than a significand is long.
_ZERO_EXPONENT = -256


def _class(x: Value) -> tuple[Value, Value, Value]:
    """Is it zero (or subnormal), infinite, NaN."""
    top = x[23:31] == 0xFF
    return x[23:31] == 0, top & (x[:23] == 0), top & (x[:23] != 0)


def unpack(m: Module, a: Value, b: Value, c: Value) -> dict[str, Value]:
    """Take a * b + c apart.

    Returns
    -------
    dict
        ``a_significand``, ``b_significand``: to be multiplied, 24 bits; ``addend``: that of c;
        ``product_exponent``, ``addend_exponent``: signed(10); ``product_sign``, ``addend_sign``;
        ``nan``, ``inf``, ``inf_sign``: what the result is where an operand is not finite.
    """
    (a_zero, a_inf, a_nan), (b_zero, b_inf, b_nan), (c_zero, c_inf, c_nan) = map(_class, (a, b, c))
    product_zero = wire(m, a_zero | b_zero, "product_zero")
    product_inf = wire(m, a_inf | b_inf, "product_inf")
    product_sign = wire(m, a[31] ^ b[31], "product_sign")
    exponent = Signal(signed(10), name="unpacked_product_exponent")
    addend_exponent = Signal(signed(10), name="unpacked_addend_exponent")
    m.d.comb += [
        exponent.eq(Mux(product_zero, _ZERO_EXPONENT, a[23:31] + b[23:31] - 127)),
        addend_exponent.eq(Mux(c_zero, _ZERO_EXPONENT, c[23:31])),
    ]
    return {
        "a_significand": wire(m, Mux(a_zero, 0, Cat(a[:23], Const(1, 1))), "unpacked_a"),
        "b_significand": wire(m, Mux(b_zero, 0, Cat(b[:23], Const(1, 1))), "unpacked_b"),
        "addend": wire(m, Mux(c_zero, 0, Cat(c[:23], Const(1, 1))), "unpacked_addend"),
        "product_exponent": exponent, "addend_exponent": addend_exponent,
        "product_sign": product_sign, "addend_sign": c[31],
        "nan": (a_nan | b_nan | c_nan | (product_inf & product_zero)
                | (product_inf & c_inf & (product_sign ^ c[31]))),
        "inf": product_inf | c_inf, "inf_sign": Mux(product_inf, product_sign, c[31]),
    }


def compare(m: Module, product_exponent: Value, addend_exponent: Value, product_sign: Value,
            addend_sign: Value) -> dict[str, Value]:
    """Which exponent is larger.

    Returns
    -------
    dict
        ``swap``: the addend's; ``distance``: by how much, at most 63; ``exponent``: signed(10);
        ``subtract``: the signs differ; ``big_sign``: that of the larger exponent; ``zero_sign``:
        that of a sum that is zero.
    """
    difference = wire(m, product_exponent - addend_exponent, "exponent_difference")
    swap = difference[-1]
    distance = wire(m, Mux(swap, -difference, difference)[:10], "exponent_distance")
    return {
        "swap": swap, "distance": Mux(distance[6:].any(), 63, distance[:6]),
        "exponent": Mux(swap, addend_exponent, product_exponent),
        "subtract": product_sign ^ addend_sign,
        "big_sign": Mux(swap, addend_sign, product_sign),
        "zero_sign": product_sign & addend_sign,
    }


def align(m: Module, exact: Value, addend: Value, swap: Value,
          distance: Value) -> dict[str, Value]:
    """Bring both significands to the larger exponent.

    Parameters
    ----------
    exact
        The product of the significands of a and b, in its lower 48 bits.

    Returns
    -------
    dict
        ``big``, ``small``: 50 bits, of the larger and of the smaller exponent.
    """
    at_product = Cat(Const(0, 2), exact[:48])
    at_addend = Cat(Const(0, 25), addend, Const(0, 1))
    small = wire(m, Mux(swap, at_product, at_addend), "unaligned")
    lost = wire(m, ~(Const((1 << 50) - 1, 50) << distance)[:50] & small, "lost")
    shifted = wire(m, small >> distance, "shifted")
    return {"big": Mux(swap, at_addend, at_product),
            "small": Cat(shifted[0] | (lost != 0), shifted[1:])}


def add(m: Module, big: Value, small: Value, subtract: Value,
        big_sign: Value) -> dict[str, Value]:
    """Sum or difference of the aligned significands.

    Returns
    -------
    dict
        ``total``: its magnitude, SUM_BITS; ``sign``: of a total that is not zero.
    """
    difference = wire(m, (big - small).as_signed(), "significand_difference")
    negative = wire(m, subtract & difference[-1], "difference_negative")
    total = Mux(subtract, Mux(negative, small - big, difference)[:SUM_BITS], big + small)
    return {"total": total[:SUM_BITS], "sign": big_sign ^ negative}


def _shift(m: Module, total: Value, steps: tuple[int, ...]) -> tuple[Value, Value]:
    """Some steps on the way of the leading one to the top bit, and which were taken."""
    taken = []
    for step in steps:
        low = wire(m, total[SUM_BITS - step:] == 0, f"low{step}")
        total = wire(m, Mux(low, (total << step)[:SUM_BITS], total), f"normal{step}")
        taken.append(low)
    return total, Cat(reversed(taken))


def bring_near(m: Module, total: Value) -> dict[str, Value]:
    """``total``, its leading one among the upper 8 bits; ``zeros``: by how many 8s it was away."""
    total, zeros = _shift(m, total, (32, 16, 8))
    return {"total": total, "zeros": zeros}


def normalise(m: Module, total: Value, zeros: Value, exponent: Value) -> dict[str, Value]:
    """Shift the leading one from there to the top bit.

    Returns
    -------
    dict
        ``significand``: SUM_BITS, the top bit is clear only where the total is zero; ``exponent``:
        biased, signed(11).
    """
    total, fewer = _shift(m, total, (4, 2, 1))
    result = Signal(signed(11), name="normal_exponent")
    m.d.comb += result.eq(exponent + 2 - Cat(fewer, zeros))
    return {"significand": total, "exponent": result}


def finish(m: Module, significand: Value, exponent: Value, sign: Value, zero_sign: Value,
           nan: Value, inf: Value, inf_sign: Value) -> dict[str, Value]:
    """``finished``: rounded to 24 bits, flushed or overflown, packed: the fp32 bit pattern."""
    kept = significand[SUM_BITS - 24:]
    half, below = significand[SUM_BITS - 25], significand[:SUM_BITS - 25]
    rounded = wire(m, kept + (half & ((below != 0) | kept[0])), "rounded")
    # What the exponent comes to is known before the carry is.
    carry, final = rounded[24], wire(m, exponent + rounded[24], "final_exponent")
    tiny, huge = Mux(carry, exponent < 0, exponent < 1), Mux(carry, exponent >= 0xFE,
                                                             exponent >= 0xFF)
    nonzero = significand[SUM_BITS - 1]
    result = Signal(32, name="finished")
    with m.If(nan):
        m.d.comb += result.eq(NAN)
    with m.Elif(inf):
        m.d.comb += result.eq(Cat(Const(0, 23), Const(0xFF, 8), inf_sign))
    with m.Elif(~nonzero):
        m.d.comb += result.eq(Cat(Const(0, 31), zero_sign))
    with m.Elif(tiny):
        m.d.comb += result.eq(Cat(Const(0, 31), sign))
    with m.Elif(huge):
        m.d.comb += result.eq(Cat(Const(0, 23), Const(0xFF, 8), sign))
    with m.Else():
        m.d.comb += result.eq(Cat(rounded[:23], final[:8], sign))
    return {"finished": result}
