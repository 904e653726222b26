"""The multiplier of the lane, cut into stages: factor | partial products | sum | shift.

Four products of 16 bits, each with registers of its own on both sides, as the multipliers of FPGAs
want it; three without bf16. Shifts of a word are products by a power of two: to the right, by
2**(16 - n), and without the lower 16 bits.
"""

from types import SimpleNamespace

from amaranth.hdl import Cat, Const, Module, Mux, Value

from celosia.arch.config import TpuConfig
from celosia_hw.fp.wire import wire

__all__ = ["PRODUCT_BITS", "distance", "factor", "partial", "shift", "total"]

#: Of a signed 33-bit word and 16 bits.
PRODUCT_BITS = 49


def factor(m: Module, row: SimpleNamespace) -> Value:
    """What the sum of a ``row`` with decoded fields is multiplied by, 32 bits."""
    b = row.b
    left = row.power & ~row.down
    amount = wire(m, Mux(row.down, -b[:4], b[:4])[:4], "power_amount")
    power = wire(m, Const(1, 1) << Cat(amount, left & b[4]), "power_of_two")
    return Cat(Mux(row.power, power[:16], b[:16]), Mux(row.whole, b[16:], power[16:32]))


def distance(m: Module, row: SimpleNamespace) -> Value:
    """By how many times 16 bits the product is shifted to the right, 2 bits; not for requantise."""
    whole, part = row.down & row.b[4], row.down & row.b[:4].any()
    return Cat(whole ^ part, whole & part)


def partial(config: TpuConfig, word: Value, top: Value, y: Value) -> dict[str, Value]:
    """Products of the halves of ``word``, whose sign is ``top``, and of ``y``.

    Without bf16, of those with the upper half of y only what the lower 32 bits of a product need.
    """
    low, high = word[:16], Cat(word[16:], top).as_signed()
    products: dict[str, Value] = {"ll": low * y[:16], "hl": (high * y[:16])[:33].as_signed()}
    if not config.bf16:
        return {**products, "lh": (low * y[16:])[:16]}
    return {**products, "lh": low * y[16:], "hh": (word[16:] * y[16:])[:16]}


def total(m: Module, config: TpuConfig, row: SimpleNamespace) -> Value:
    """Sum of the partial products, signed.

    The lower 32 bits are right; all PRODUCT_BITS where the upper half of y is 0; and the lower 48,
    with bf16, where both words have no more than 24 bits.
    """
    if config.bf16:
        middle = wire(m, (row.hl + row.lh)[:33].as_signed(), "product_middle")
        upper = Cat(row.ll[16:], row.hh)
    else:
        middle = wire(m, Cat((row.hl[:16] + row.lh)[:16], row.hl[16:]).as_signed(),
                      "product_middle")
        upper = row.ll[16:]
    return Cat(row.ll[:16], (middle + upper)[:33]).as_signed()


def shift(m: Module, product: Value, distance: Value) -> Value:
    """Twice the ``product``, shifted right by 16 times ``distance`` bits, 33 bits."""
    return wire(m, (Cat(Const(0, 1), product).as_signed() >> Cat(Const(0, 4), distance))[:33],
                "product_shifted")
