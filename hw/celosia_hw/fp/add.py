"""fp32 addition as combinational logic."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from celosia.arch.numerics import NAN

__all__ = ["f32_add"]

_INF = 0x7F800000


def f32_add(m: Module, a: Value, b: Value, *, name: str) -> Signal:
    """Sum of two fp32, as :func:`celosia.arch.numerics.f32_add`.

    Combinational: the logic is added to ``m``. Rounds once, to nearest even; subnormal operands and
    results are zeros of their sign; a NaN result is ``numerics.NAN``. No word is over 32 bits wide.

    Parameters
    ----------
    a, b
        fp32 bit patterns, 32 bits.
    name
        Prefix of the names of the intermediate signals.

    Returns
    -------
    Signal
        The sum, 32 bits.
    """
    def wire(bits: int, what: str, value) -> Signal:
        signal = Signal(bits, name=f"{name}_{what}")
        m.d.comb += signal.eq(value)
        return signal

    # The operand of larger magnitude comes first: the difference is never negative, and only
    # ``big`` needs to be looked at for infinities and NaN.
    swap = wire(1, "swap", a[:31] < b[:31])
    big = wire(32, "big", Mux(swap, b, a))
    small = wire(32, "small", Mux(swap, a, b))
    big_exp, small_exp = big[23:31], small[23:31]
    subtract = wire(1, "subtract", big[31] ^ small[31])

    # Significands with three bits below: guard, round, sticky.
    def significand(x: Value) -> Value:
        return Mux(x[23:31] == 0, 0, Cat(Const(0, 3), x[:23], Const(1, 1)))

    big_sig = wire(27, "big_sig", significand(big))
    small_sig = wire(27, "small_sig", significand(small))
    distance = wire(8, "distance", big_exp - small_exp)
    shift = wire(5, "shift", Mux(distance > 31, 31, distance))
    shifted = wire(27, "shifted", small_sig >> shift)
    restored = wire(27, "restored", (shifted << shift)[:27])
    aligned = wire(27, "aligned", shifted | (restored != small_sig))
    total = wire(28, "total", Mux(subtract, big_sig - aligned, big_sig + aligned))

    # Shift the leading one to bit 27.
    steps = []
    for step in (16, 8, 4, 2, 1):
        low = wire(1, f"low{step}", total[28 - step:] == 0)
        total = wire(28, f"norm{step}", Mux(low, Cat(Const(0, step), total[:-step]), total))
        steps.append(low)
    zeros = wire(5, "zeros", Cat(*reversed(steps)))
    nonzero = total[27]

    # The significand's leading one adds the 1 that is missing from the exponent; a carry out of
    # rounding goes on into it.
    rounded = wire(25, "rounded", (total + (7 + total[4]))[4:])
    exponent = wire(8, "exponent", big_exp - zeros)
    packed = wire(32, "packed", Cat(Const(0, 23), exponent) + rounded)

    infinite = wire(1, "infinite", big[:31] >= _INF)
    nan = wire(1, "nan", (big[:31] > _INF) | (subtract & (small[:31] >= _INF)))
    tiny = wire(1, "tiny", ~nonzero | (big_exp < zeros))
    huge = wire(1, "huge", infinite | (packed >= _INF))
    sign = wire(1, "sign", big[31] & (small[31] | nonzero))
    magnitude = Mux(tiny & ~infinite, 0, Mux(huge, _INF, packed[:31]))
    return wire(32, "sum", Mux(nan, NAN, Cat(magnitude[:31], sign)))
