"""fp32 addition, combinational or in some cycles."""

from collections.abc import Callable
from itertools import chain
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from celosia.arch.numerics import NAN
from celosia_hw.pipeline import Logic, Pipeline

__all__ = ["f32_add"]

_INF = 0x7F800000

#: Makes a named signal of a width: (name, bits, value).
_Wire = Callable[[str, int, Any], Signal]


def f32_add(m: Module, a: Value, b: Value, *, name: str, cycles: int = 1) -> Value:
    """Sum of two fp32, as :func:`celosia.arch.numerics.f32_add`.

    The logic is added to ``m``. Rounds once, to nearest even; subnormal operands and results are
    zeros of their sign; a NaN result is ``numerics.NAN``. No word is over 32 bits wide.

    Parameters
    ----------
    a, b
        fp32 bit patterns, 32 bits.
    name
        Prefix of the names of the intermediate signals.
    cycles
        1, 2 or 4: cycles that the sum may take, with the register that the caller ends it in. Those
        inside always take a value.

    Returns
    -------
    Value
        The sum of the operands of ``cycles`` - 1 cycles before, 32 bits.
    """
    def wire(what: str, bits: int, value: Any) -> Signal:
        signal = Signal(bits, name=f"{name}_{what}")
        m.d.comb += signal.eq(value)
        return signal

    stages = [[Logic(make) for make in chain(*_PARTS[first:first + len(_PARTS) // cycles])]
              for first in range(0, len(_PARTS), len(_PARTS) // cycles)]
    steps = Pipeline([m] * cycles, stages, {"wire": wire, "a": a, "b": b}, name=f"{name}_")
    return steps.value("sum", cycles - 1)


def _order(wire: _Wire, a: Value, b: Value) -> dict[str, Value]:
    """The operand of larger magnitude comes first: the difference is never negative, and only
    ``big`` needs to be looked at for infinities and NaN.
    """
    swap = wire("swap", 1, a[:31] < b[:31])
    return {"big": wire("big", 32, Mux(swap, b, a)), "small": wire("small", 32, Mux(swap, a, b))}


def _measure(wire: _Wire, big: Value, small: Value) -> dict[str, Value]:
    """Take the operands apart: significands with three bits below, guard, round, sticky."""
    def significand(x: Value) -> Value:
        return Mux(x[23:31] == 0, 0, Cat(Const(0, 3), x[:23], Const(1, 1)))

    distance = wire("distance", 8, big[23:31] - small[23:31])
    subtract = wire("subtract", 1, big[31] ^ small[31])
    infinite = big[:31] >= _INF
    return {
        "big_sig": wire("big_sig", 27, significand(big)),
        "small_sig": wire("small_sig", 27, significand(small)),
        "shift": wire("shift", 5, Mux(distance > 31, 31, distance)),
        "subtract": subtract, "exponent": big[23:31], "sign": big[31],
        "small_sign": small[31], "infinite": wire("infinite", 1, infinite),
        "nan": wire("nan", 1, (big[:31] > _INF) | (subtract & (small[:31] >= _INF))),
    }


def _align(wire: _Wire, small_sig: Value, shift: Value) -> dict[str, Value]:
    shifted = wire("shifted", 27, small_sig >> shift)
    lost = wire("lost", 27, small_sig & ~(Const((1 << 27) - 1, 27) << shift)[:27])
    return {"aligned": wire("aligned", 27, shifted | lost.any())}


def _add(wire: _Wire, subtract: Value, big_sig: Value, aligned: Value) -> dict[str, Value]:
    return {"total": wire("total", 28, Mux(subtract, big_sig - aligned, big_sig + aligned))}


def _leading(wire: _Wire, total: Value, steps: tuple[int, ...]) -> tuple[Value, Value]:
    """Some steps on the way of the leading one to bit 27, and by how far it was away."""
    low = []
    for step in steps:
        low.append(wire(f"low{step}", 1, total[28 - step:] == 0))
        total = wire(f"norm{step}", 28, Mux(low[-1], Cat(Const(0, step), total[:-step]), total))
    return total, Cat(*reversed(low))


def _bring_near(wire: _Wire, total: Value) -> dict[str, Value]:
    total, zeros = _leading(wire, total, (16, 8))
    return {"total": total, "zeros": zeros}


def _normalise(wire: _Wire, total: Value, zeros: Value) -> dict[str, Value]:
    total, fewer = _leading(wire, total, (4, 2))
    return {"total": total, "zeros": Cat(fewer, zeros)}


def _last_step(wire: _Wire, total: Value, zeros: Value) -> dict[str, Value]:
    total, fewer = _leading(wire, total, (1,))
    return {"total": total, "zeros": Cat(fewer, zeros)}


def _round(wire: _Wire, total: Value, zeros: Value, exponent: Value, sign: Value,
           small_sign: Value) -> dict[str, Value]:
    nonzero = total[27]
    return {
        "rounded": wire("rounded", 25, (total + (7 + total[4]))[4:]),
        "exponent": wire("exponent", 8, exponent - zeros),
        "tiny": wire("tiny", 1, ~nonzero | (exponent < zeros)),
        "sign": wire("sign", 1, sign & (small_sign | nonzero)),
    }


def _pack(wire: _Wire, exponent: Value, rounded: Value) -> dict[str, Value]:
    """The significand's leading one adds the 1 that is missing from the exponent; a carry out of
    rounding goes on into it.
    """
    return {"packed": wire("packed", 32, Cat(Const(0, 23), exponent) + rounded)}


def _select(wire: _Wire, packed: Value, infinite: Value, tiny: Value, nan: Value,
            sign: Value) -> dict[str, Value]:
    huge = wire("huge", 1, infinite | (packed >= _INF))
    magnitude = Mux(tiny & ~infinite, 0, Mux(huge, _INF, packed[:31]))
    return {"sum": wire("sum", 32, Mux(nan, NAN, Cat(magnitude[:31], sign)))}


#: In parts of much the same length, each a cycle where a sum takes four.
_PARTS = ((_order, _measure), (_align, _add), (_bring_near, _normalise),
          (_last_step, _round, _pack, _select))
