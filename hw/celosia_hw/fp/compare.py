"""fp32 comparisons as combinational logic."""

from amaranth.hdl import Module, Mux, Signal, Value

from celosia.arch.numerics import NAN
from celosia_hw.fp.convert import f32_flush
from celosia_hw.fp.wire import wire

__all__ = ["f32_equal", "f32_less", "f32_max", "f32_min", "ordered"]


def ordered(x: Value) -> Value:
    """Integer in the order of the flushed fp32 number, -0 below +0; NaN has no order."""
    return Mux(x[31], x ^ 0x7FFFFFFF, x)[:32].as_signed()


def _select(m: Module, a: Value, b: Value, larger: bool, name: str) -> Signal:
    a, b = f32_flush(m, a, f"{name}_a"), f32_flush(m, b, f"{name}_b")
    a_key, b_key = wire(m, ordered(a), f"{name}_a_key"), wire(m, ordered(b), f"{name}_b_key")
    take_a = (a_key >= b_key) if larger else (a_key <= b_key)
    nan = (a == NAN) | (b == NAN)
    return wire(m, Mux(nan, NAN, Mux(take_a, a, b)), name)


def _flushed(m: Module, a: Value, b: Value, name: str) -> tuple[Value, Value, Value]:
    """Both operands, flushed and with one zero, and whether they have an order."""
    pair = []
    for item, letter in ((a, "a"), (b, "b")):
        word = f32_flush(m, item, f"{name}_{letter}")
        pair.append(wire(m, Mux(word[:31] == 0, 0, word)[:32], f"{name}_{letter}_unsigned_zero"))
    a, b = pair
    return a, b, (a != NAN) & (b != NAN)


def f32_equal(m: Module, a: Value, b: Value, name: str) -> Signal:
    """Are two fp32 equal, as :func:`celosia.arch.numerics.f32_equal`: one bit."""
    a, b, have_order = _flushed(m, a, b, name)
    return wire(m, have_order & (a == b), name)


def f32_less(m: Module, a: Value, b: Value, name: str) -> Signal:
    """Is the first of two fp32 the smaller, as :func:`celosia.arch.numerics.f32_less`: one bit."""
    a, b, have_order = _flushed(m, a, b, name)
    return wire(m, have_order & (ordered(a) < ordered(b)), name)


def f32_max(m: Module, a: Value, b: Value, name: str) -> Signal:
    """Larger of two fp32, as :func:`celosia.arch.numerics.f32_max`."""
    return _select(m, a, b, True, name)


def f32_min(m: Module, a: Value, b: Value, name: str) -> Signal:
    """Smaller of two fp32, as :func:`celosia.arch.numerics.f32_min`."""
    return _select(m, a, b, False, name)
