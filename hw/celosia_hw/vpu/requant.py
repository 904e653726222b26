"""Part of the lane: requantise, behind the sum with the bias and the multiplier.

``amount`` | ``coarse``: shift by 16s and 8 | ``fine``: shift | ``finish``: round, add the zero
point, clamp.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Value

from celosia.arch.lane import LaneStep
from celosia_hw.fp.wire import wire
from celosia_hw.pipeline import Logic
from celosia_hw.vpu.control import integer

__all__ = ["STAGES", "coarse", "edges", "fine", "finish"]

#: A shifted product is saturated to this many bits, the half that decides the rounding among them:
#: more than any zero point can bring back into the range of an int8.
_BITS = 12
#: Bits of twice the product that decide it where at most 7, and at most 15, are to be shifted out.
_FINE, _COARSE = _BITS + 7, _BITS + 15 - 1


def _narrow(m: Module, word: Value, amount: Value, step: int, keep: int,
            sign: Value) -> tuple[Value, Value]:
    """Shift right by ``step`` if ``amount`` says so: ``keep`` bits, and did others matter."""
    kept = wire(m, Mux(amount, word[step:step + keep], word[:keep]), f"kept_{step}")
    return kept, ~amount & (Mux(sign, ~word[keep:], word[keep:]) != 0)


def amount(requant: Value, b: Value, high: Value) -> dict[str, Value]:
    """Distance of the shift: ``high``, its 16s, 2 bits; ``low``, the 4 bits below."""
    return {"high": Mux(requant, b[20:22], high)[:2], "low": b[16:20]}


def coarse(m: Module, exact: Value, shifted: Value, high: Value, low: Value) -> dict[str, Value]:
    """First part of the shift.

    Parameters
    ----------
    exact
        The product, signed, 49 bits.
    shifted
        Twice the product, shifted by the 16s of the distance, 33 bits.
    high, low
        The distance, of :func:`amount`.

    Returns
    -------
    dict
        ``kept``: _FINE bits; ``negative``; ``lost``: a higher bit differs from the sign;
        ``distance_left``: 3 bits.
    """
    negative = exact[-1]
    # Without a shift the bits up to _COARSE are left of the product; with one by 16, as many more.
    some, most = (Mux(negative, ~bits, bits) != 0
                  for bits in (exact[_COARSE + 16:-1], exact[_COARSE:_COARSE + 16]))
    kept, lost = _narrow(m, shifted[:_COARSE + 1], low[3], 8, _FINE, negative)
    return {"kept": kept, "negative": negative, "distance_left": low[:3],
            "lost": lost | (~high[1] & (some | (~high[0] & most)))}


def fine(m: Module, kept: Value, lost: Value, negative: Value,
         distance_left: Value) -> dict[str, Value]:
    """Rest of the shift: twice the quotient, rounded down and saturated to 12 bits, signed."""
    word = kept
    for bit, step, keep in ((2, 4, _BITS + 3), (1, 2, _BITS + 1), (0, 1, _BITS)):
        word, more = _narrow(m, word, distance_left[bit], step, keep, negative)
        lost = lost | more
    lost = wire(m, lost | (word[-1] != negative), "requant_lost")
    limit = Mux(negative, Const(1 << (_BITS - 1), _BITS), Const((1 << (_BITS - 1)) - 1, _BITS))
    return {"quotient": Mux(lost, limit, word).as_signed()}


def edges(param: Value) -> dict[str, Value]:
    """What is below and above the bounds, for twice the quotient; ``param`` as of the operation."""
    zero, low, high = (param[k:k + 8].as_signed() for k in (0, 8, 16))
    return {"floor": Cat(Const(1, 1), (low + ~zero)[:9]).as_signed(),
            "ceiling": Cat(Const(0, 1), (high - zero)[:9]).as_signed()}


def finish(m: Module, quotient: Value, floor: Value, ceiling: Value,
           param: Value) -> dict[str, Value]:
    """Round to integer, ties towards +infinity, add the zero point and clamp.

    Parameters
    ----------
    quotient, floor, ceiling
        Of :func:`fine` and :func:`edges`.
    param
        Bits 0..7 zero point, 8..15 lower bound, 16..23 upper bound, all signed.

    Returns
    -------
    dict
        ``requantised``: 8 bits, signed.
    """
    near = (quotient + Cat(Const(1, 1), param[:8]).as_signed())[1:9]
    below = wire(m, quotient < floor, "requant_below")
    above = wire(m, quotient > ceiling, "requant_above")
    return {"requantised": wire(
        m, Mux(above, param[16:24], Mux(below, param[8:16], near)).as_signed(), "requantised")}


def requantised_word(m: Module, requant: Value, requantised: Value, r: Value) -> dict[str, Value]:
    """``r``, which is the requantised word where that is the operation's result."""
    return {"r": wire(m, Mux(requant, requantised, r)[:32], "rounded_word")}


STAGES = {
    LaneStep.PREPARE: (Logic(amount, integer),),
    LaneStep.ALIGN: (Logic(coarse, lambda requant: requant),),
    LaneStep.ADD: (Logic(fine, lambda requant: requant), Logic(edges, lambda requant: requant)),
    LaneStep.ROUND: (Logic(finish), Logic(requantised_word, lambda valid: valid)),
}
