"""Named intermediate values."""

from amaranth.hdl import Module, Signal, Value

__all__ = ["wire"]


def wire(m: Module, value, name: str) -> Signal:
    """Signal of the shape of ``value`` that equals it, so that it is evaluated once."""
    value = Value.cast(value)
    signal = Signal(value.shape(), name=name)
    m.d.comb += signal.eq(value)
    return signal
