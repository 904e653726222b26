"""Requantise, cut into stages of combinational logic: add the bias | multiply | shift | clamp."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed

from celosia_hw.fp.wire import wire
from celosia_hw.vpu.stages import clamp

__all__ = ["finish", "shift"]

#: A shifted product is saturated to this many bits: more than any zero point can bring back into
#: the range of an int8.
_BITS = 12


def shift(m: Module, product: Value, distance: Value) -> Value:
    """Twice the quotient ``product / 2**distance``, rounded down and saturated to 12 bits.

    The lowest bit is then the half that decides the rounding.

    Parameters
    ----------
    product
        signed(48).
    distance
        0..63.
    """
    shifted = wire(m, Cat(Const(0, 1), product).as_signed() >> distance, "requant_shifted")
    fits = (shifted[_BITS - 1:] == 0) | shifted[_BITS - 1:].all()
    negative = shifted[-1]
    limit = Cat((~negative).replicate(_BITS - 1), negative)
    return Mux(fits, shifted[:_BITS], limit).as_signed()


def finish(m: Module, shifted: Value, param: Value) -> Signal:
    """Round to integer, ties towards +infinity, add the zero point and clamp: a signed result.

    Parameters
    ----------
    shifted
        What :func:`shift` made.
    param
        Bits 0..7 zero point, 8..15 lower bound, 16..23 upper bound, all signed.
    """
    total = Signal(signed(_BITS + 1), name="requant_total")
    m.d.comb += total.eq(shifted[1:].as_signed() + shifted[0] + param[:8].as_signed())
    return clamp(m, total, param[8:16].as_signed(), param[16:24].as_signed(), "requantised")
