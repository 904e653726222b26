"""Requantise, cut into stages of combinational logic.

Add the bias | multiply (two stages) | shift by 16s and 8 | shift | round, add the zero point,
clamp.
"""

from types import SimpleNamespace

from amaranth.hdl import Cat, Const, Module, Mux, Value

from celosia_hw.fp.wire import wire

__all__ = ["coarse", "edges", "fine", "finish"]

#: A shifted product is saturated to this many bits, the half that decides the rounding among them:
#: more than any zero point can bring back into the range of an int8.
_BITS = 12


def _narrow(m: Module, word: Value, amount: Value, step: int, keep: int,
            sign: Value) -> tuple[Value, Value]:
    """Shift right by ``step`` if ``amount`` says so: ``keep`` bits, and did others matter."""
    kept = wire(m, Mux(amount, word[step:step + keep], word[:keep]), f"kept_{step}")
    return kept, ~amount & (Mux(sign, ~word[keep:], word[keep:]) != 0)


def coarse(m: Module, product: Value, shifted: Value, high: Value,
           low: Value) -> dict[str, Value]:
    """First part of the shift.

    Parameters
    ----------
    product
        Signed, 49 bits.
    shifted
        Twice the product, shifted by the 16s of the distance, 33 bits.
    high
        The 16s of the distance, 2 bits.
    low
        Lower 4 bits of the distance.

    Returns
    -------
    dict
        ``kept``: 19 bits; ``sign``; ``lost``: a higher bit differs from the sign; ``fine``: 3 bits
        of the distance that are left.
    """
    sign = product[-1]
    some, most = (Mux(sign, ~bits, bits) != 0 for bits in (product[42:48], product[26:42]))
    kept, lost = _narrow(m, shifted[:27], low[3], 8, 19, sign)
    return {"kept": kept, "sign": sign, "fine": low[:3],
            "lost": lost | (~high[1] & (some | (~high[0] & most)))}


def fine(m: Module, row: SimpleNamespace) -> dict[str, Value]:
    """Rest of the shift: twice the quotient, rounded down and saturated to 12 bits, signed."""
    word, lost = row.kept, row.lost
    for bit, step, keep in ((2, 4, 15), (1, 2, 13), (0, 1, _BITS)):
        word, more = _narrow(m, word, row.fine[bit], step, keep, row.sign)
        lost = lost | more
    lost = wire(m, lost | (word[-1] != row.sign), "requant_lost")
    limit = Mux(row.sign, Const(1 << (_BITS - 1), _BITS), Const((1 << (_BITS - 1)) - 1, _BITS))
    return {"quotient": Mux(lost, limit, word).as_signed()}


def edges(param: Value) -> dict[str, Value]:
    """What is below and above the bounds, for twice the quotient; ``param`` as of the operation."""
    zero, low, high = (param[k:k + 8].as_signed() for k in (0, 8, 16))
    return {"floor": Cat(Const(1, 1), (low + ~zero)[:9]).as_signed(),
            "ceiling": Cat(Const(0, 1), (high - zero)[:9]).as_signed()}


def finish(m: Module, row: SimpleNamespace, param: Value) -> Value:
    """Round to integer, ties towards +infinity, add the zero point and clamp: 8 bits, signed.

    Parameters
    ----------
    row
        With ``quotient`` and the ``floor`` and ``ceiling`` of :func:`edges`.
    param
        Bits 0..7 zero point, 8..15 lower bound, 16..23 upper bound, all signed.
    """
    rounded = (row.quotient + Cat(Const(1, 1), param[:8]).as_signed())[1:9]
    below = wire(m, row.quotient < row.floor, "requant_below")
    above = wire(m, row.quotient > row.ceiling, "requant_above")
    return wire(m, Mux(above, param[16:24], Mux(below, param[8:16], rounded)).as_signed(),
                "requantised")
