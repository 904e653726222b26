"""Named intermediate values."""

from collections.abc import Mapping
from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value

__all__ = ["choose", "wire"]


def wire(m: Module, value, name: str) -> Signal:
    """Signal of the shape of ``value`` that equals it, so that it is evaluated once."""
    value = Value.cast(value)
    signal = Signal(value.shape(), name=name)
    m.d.comb += signal.eq(value)
    return signal


def choose(m: Module, key: Value, results: Mapping[Any, Any], other: Any, *, shape: Any = 32,
           name: str) -> Signal:
    """The one of ``results`` that ``key`` names, else ``other``.

    Gates and no multiplexers: a wide one becomes a function in Verilog, which is slow to simulate.
    """
    keys = {item: wire(m, key == item, f"{name}_is_{item.name.lower()}") for item in results}
    result = Signal(shape, name=name)
    parts = []
    for chosen, value in (*((keys[item], value) for item, value in results.items()),
                          (~Cat(keys.values()).any(), other)):
        word = Signal(shape, name=f"{name}_word")
        m.d.comb += word.eq(value)
        parts.append(Mux(chosen, word, 0))
    m.d.comb += result.eq(reduce(or_, parts))
    return result
