"""fp32 addition as combinational logic."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from celosia.arch.numerics import NAN

__all__ = ["f32_add"]

_INF = 0x7F800000


def f32_add(m: Module, a: Value, b: Value, *, name: str) -> Signal:
    """Sum of two fp32, as :func:`celosia.arch.numerics.f32_add`.

    Combinational: the logic is added to ``m``. Rounds once, to nearest even; subnormal operands and
    results are zeros of their sign; a NaN result is ``numerics.NAN``.

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
    big_exp = wire(8, "big_exp", big[23:31])
    small_exp = wire(8, "small_exp", small[23:31])
    subtract = wire(1, "subtract", big[31] ^ small[31])

    # Significands with three bits below: guard, round, sticky.
    big_sig = wire(32, "big_sig", Mux(big_exp == 0, 0, Cat(Const(0, 3), big[:23], Const(1, 1))))
    small_sig = wire(32, "small_sig",
                     Mux(small_exp == 0, 0, Cat(Const(0, 3), small[:23], Const(1, 1))))
    distance = wire(8, "distance", big_exp - small_exp)
    shift = wire(5, "shift", Mux(distance > 31, 31, distance[:5]))
    # The low half collects what is shifted out.
    wide = wire(64, "wide", Cat(Const(0, 32), small_sig) >> shift)
    aligned = wire(32, "aligned", wide[32:] | (wide[:32] != 0))
    total = wire(32, "total", Mux(subtract, big_sig - aligned, big_sig + aligned))

    # Shift the leading one to bit 27.
    steps = []
    for step in (16, 8, 4, 2, 1):
        low = wire(1, f"low{step}", (total >> (28 - step)) == 0)
        total = wire(32, f"norm{step}", Mux(low, total << step, total))
        steps.append(low)
    zeros = wire(8, "zeros", Cat(*reversed(steps)))
    nonzero = total[27]

    # The significand's leading one adds the 1 that is missing from the exponent; a carry out of
    # rounding goes on into it.
    rounded = wire(32, "rounded", (total + 7 + total[4]) >> 4)
    exponent = wire(32, "exponent", (big_exp - zeros) << 23)
    packed = wire(32, "packed", exponent + rounded)

    tiny = wire(1, "tiny", ~nonzero | (big_exp < zeros))
    magnitude = wire(31, "big_mag", big[:31])
    huge = wire(1, "huge", (magnitude >= _INF) | (packed >= _INF))
    nan = wire(1, "nan", (magnitude > _INF) | (subtract & (small[:31] >= _INF)))
    sign = wire(1, "sign", big[31] & (small[31] | nonzero))
    finite = wire(32, "finite", Cat(Mux(tiny, 0, packed[:31]), sign))
    special = wire(32, "special", Mux(nan, NAN, Cat(Const(_INF, 31), sign)))
    return wire(32, "sum", Mux(nan | (huge & ~tiny) | (magnitude >= _INF), special, finite))
