"""Part of the lane: the multiplier, ``factor`` | ``partial`` products | ``total`` | ``shift``.

Four products of 16 bits, each with registers of its own on both sides, as the multipliers of FPGAs
want it; three without bf16. Shifts of a word are products by a power of two: to the right, by
2**(16 - n), and without the lower 16 bits.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Value
from amaranth.lib import data

from celosia.arch.config import TpuConfig
from celosia.arch.lane import LaneStep
from celosia_hw.fp.wire import wire
from celosia_hw.pipeline import Logic
from celosia_hw.vpu.control import carried, integer, multiplies

__all__ = ["PRODUCT_BITS", "STAGES", "distance", "factor", "partial", "shift", "shifted_word",
           "total"]

#: Of a signed 33-bit word and 16 bits.
PRODUCT_BITS = 49


def factor(m: Module, b: Value, step: data.View) -> dict[str, Value]:
    """``y``: what the sum is multiplied by, 32 bits; ``step`` is of an operation of one step."""
    left = step.power & ~step.down
    amount = wire(m, Mux(step.down, -b[:4], b[:4])[:4], "power_amount")
    power = wire(m, Const(1, 1) << Cat(amount, left & b[4]), "power_of_two")
    return {"y": wire(m, Cat(Mux(step.power, power[:16], b[:16]),
                             Mux(step.whole, b[16:], power[16:32])), "y")}


def distance(b: Value, step: data.View) -> dict[str, Value]:
    """``high``: by how many times 16 bits the product is shifted to the right, 2 bits."""
    whole, part = step.down & b[4], step.down & b[:4].any()
    return {"high": Cat(whole ^ part, whole & part)}


def partial(m: Module, config: TpuConfig, total: Value, top: Value, y: Value) -> dict[str, Value]:
    """Products of the halves of ``total``, whose sign is ``top``, and of ``y``.

    Without bf16, of those with the upper half of y only what the lower 32 bits of a product need.
    """
    low, high = total[:16], Cat(total[16:], top).as_signed()
    products: dict[str, Value] = {"ll": low * y[:16], "hl": (high * y[:16])[:33].as_signed()}
    if config.bf16:
        products |= {"lh": low * y[16:], "hh": (total[16:] * y[16:])[:16]}
    else:
        products |= {"lh": (low * y[16:])[:16], "hh": Const(0, 16)}
    return {name: wire(m, value, name) for name, value in products.items()}


def total(m: Module, config: TpuConfig, ll: Value, hl: Value, lh: Value,
          hh: Value) -> dict[str, Value]:
    """``exact``: sum of the partial products, signed.

    The lower 32 bits are right; all PRODUCT_BITS where the upper half of y is 0; and the lower 48,
    with bf16, where both words have no more than 24 bits.
    """
    if config.bf16:
        middle = wire(m, (hl + lh)[:33].as_signed(), "product_middle")
        upper = Cat(ll[16:], hh)
    else:
        middle = wire(m, Cat((hl[:16] + lh)[:16], hl[16:]).as_signed(), "product_middle")
        upper = ll[16:]
    return {"exact": wire(m, Cat(ll[:16], (middle + upper)[:33]).as_signed(), "exact")}


def shift(m: Module, exact: Value, high: Value) -> dict[str, Value]:
    """``shifted``: twice the product, shifted right by 16 times ``high`` bits, 33 bits."""
    return {"shifted": wire(
        m, (Cat(Const(0, 1), exact).as_signed() >> Cat(Const(0, 4), high))[:33],
        "product_shifted")}


def shifted_word(product: Value, shifted: Value, r: Value) -> dict[str, Value]:
    """``r``, which is the shifted product where that is the operation's result."""
    return {"r": Mux(product, shifted[1:33], r)}


STAGES = {
    LaneStep.PREPARE: (Logic(factor, multiplies), Logic(distance, integer)),
    LaneStep.MULTIPLY: (Logic(partial, multiplies),),
    LaneStep.SUM: (Logic(total, multiplies),),
    LaneStep.ALIGN: (Logic(shift), Logic(shifted_word, carried)),
}
