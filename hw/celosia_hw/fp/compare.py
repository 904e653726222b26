"""fp32 comparisons as combinational logic."""

from types import SimpleNamespace

from amaranth.hdl import Cat, Module, Mux, Signal, Value

from celosia.arch.numerics import NAN
from celosia_hw.fp.convert import f32_flush
from celosia_hw.fp.wire import wire

__all__ = ["compare", "f32_max", "ordered"]


def ordered(x: Value) -> Value:
    """Integer in the order of the flushed fp32 number, -0 below +0; NaN has no order."""
    return Mux(x[31], x ^ 0x7FFFFFFF, x)[:32].as_signed()


def compare(m: Module, a: Value, b: Value, floating: Value, name: str) -> SimpleNamespace:
    """Compare words: fp32 where ``floating``, else signed integers.

    Returns
    -------
    SimpleNamespace
        ``below``: a < b, flushed, -0 below +0; of floating point also ``a_zero``, ``b_zero``: it
        counts as a zero; ``nan``: one of them is NaN, and nothing else holds.
    """
    keys, zeros, nans = [], [], []
    for x, letter in ((a, "a"), (b, "b")):
        zero = wire(m, floating & (x[23:31] == 0), f"{name}_{letter}_zero")
        nan = floating & (x[23:31] == 0xFF) & (x[:23] != 0)
        kept = Cat(Mux(zero, 0, x[:23])[:23], x[23:31])
        key = Cat(Mux(floating & x[31], ~kept, kept)[:31], x[31]).as_signed()
        keys.append(wire(m, key, f"{name}_{letter}_key"))
        zeros.append(zero)
        nans.append(nan)
    return SimpleNamespace(below=keys[0] < keys[1], a_zero=zeros[0], b_zero=zeros[1],
                           nan=nans[0] | nans[1])


def f32_max(m: Module, a: Value, b: Value, name: str) -> Signal:
    """Larger of two fp32, as :func:`celosia.arch.numerics.f32_max`."""
    a, b = f32_flush(m, a, f"{name}_a"), f32_flush(m, b, f"{name}_b")
    a_key, b_key = wire(m, ordered(a), f"{name}_a_key"), wire(m, ordered(b), f"{name}_b_key")
    nan = (a == NAN) | (b == NAN)
    return wire(m, Mux(nan, NAN, Mux(a_key >= b_key, a, b)), name)
