"""fp32 addition, as combinational logic or cut into stages by registers."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from celosia.arch.numerics import NAN

__all__ = ["ADD_CYCLES", "f32_add"]

_INF = 0x7F800000

#: Makes a named signal of a width: (name, bits, value).
_Wire = Callable[[str, int, Any], Signal]


def f32_add(m: Module, a: Value, b: Value, *, name: str, pipelined: bool = False) -> Value:
    """Sum of two fp32, as :func:`celosia.arch.numerics.f32_add`.

    The logic is added to ``m``: combinational, or ``pipelined``, a sum every cycle, ``ADD_CYCLES``
    after its operands; there is no register behind the last stage, which is short. Rounds once, to
    nearest even; subnormal operands and results are zeros of their sign; a NaN result is
    ``numerics.NAN``. No word is over 32 bits wide.

    Parameters
    ----------
    a, b
        fp32 bit patterns, 32 bits.
    name
        Prefix of the names of the intermediate signals.
    pipelined
        Put registers between the stages.

    Returns
    -------
    Value
        The sum, 32 bits.
    """
    def wire(what: str, bits: int, value: Any) -> Signal:
        signal = Signal(bits, name=f"{name}_{what}")
        m.d.comb += signal.eq(value)
        return signal

    values = {"a": a, "b": b}
    for number, stage in enumerate(_STAGES):
        values = stage(wire, SimpleNamespace(**values))
        if pipelined and number < ADD_CYCLES:
            for what, value in values.items():
                held = Signal(len(value), name=f"{name}_{what}_{number}", reset_less=True)
                m.d.sync += held.eq(value)
                values[what] = held
    return values["sum"]


def _order(wire: _Wire, v: SimpleNamespace) -> dict[str, Value]:
    """The operand of larger magnitude comes first: the difference is never negative, and only
    ``big`` needs to be looked at for infinities and NaN.
    """
    swap = wire("swap", 1, v.a[:31] < v.b[:31])
    return {"big": wire("big", 32, Mux(swap, v.b, v.a)),
            "small": wire("small", 32, Mux(swap, v.a, v.b))}


def _measure(wire: _Wire, v: SimpleNamespace) -> dict[str, Value]:
    """Take the operands apart: significands with three bits below, guard, round, sticky."""
    def significand(x: Value) -> Value:
        return Mux(x[23:31] == 0, 0, Cat(Const(0, 3), x[:23], Const(1, 1)))

    distance = wire("distance", 8, v.big[23:31] - v.small[23:31])
    subtract = wire("subtract", 1, v.big[31] ^ v.small[31])
    infinite = v.big[:31] >= _INF
    return {
        "big_sig": wire("big_sig", 27, significand(v.big)),
        "small_sig": wire("small_sig", 27, significand(v.small)),
        "shift": wire("shift", 5, Mux(distance > 31, 31, distance)),
        "subtract": subtract, "exponent": v.big[23:31], "sign": v.big[31],
        "small_sign": v.small[31], "infinite": wire("infinite", 1, infinite),
        "nan": wire("nan", 1, (v.big[:31] > _INF) | (subtract & (v.small[:31] >= _INF))),
    }


def _align(wire: _Wire, v: SimpleNamespace) -> dict[str, Value]:
    shifted = wire("shifted", 27, v.small_sig >> v.shift)
    lost = wire("lost", 27, v.small_sig & ~(Const((1 << 27) - 1, 27) << v.shift)[:27])
    return _kept(v, "small_sig", "shift") | {
        "aligned": wire("aligned", 27, shifted | lost.any())}


def _add(wire: _Wire, v: SimpleNamespace) -> dict[str, Value]:
    total = Mux(v.subtract, v.big_sig - v.aligned, v.big_sig + v.aligned)
    return _kept(v, "big_sig", "aligned", "subtract") | {"total": wire("total", 28, total)}


def _normalise(*steps: int) -> Callable[[_Wire, SimpleNamespace], dict[str, Value]]:
    """Steps on the way of the leading one to bit 27; ``zeros``: by how far it was away."""
    def stage(wire: _Wire, v: SimpleNamespace) -> dict[str, Value]:
        total, low = v.total, []
        for step in steps:
            low.append(wire(f"low{step}", 1, total[28 - step:] == 0))
            total = wire(f"norm{step}", 28, Mux(low[-1], Cat(Const(0, step), total[:-step]), total))
        before = getattr(v, "zeros", None)
        zeros = Cat(*reversed(low), *([] if before is None else [before]))
        return _kept(v, "total", "zeros") | {"total": total, "zeros": zeros}

    return stage


def _round(wire: _Wire, v: SimpleNamespace) -> dict[str, Value]:
    nonzero = v.total[27]
    return _kept(v, "total", "zeros", "exponent", "small_sign") | {
        "rounded": wire("rounded", 25, (v.total + (7 + v.total[4]))[4:]),
        "exponent": wire("exponent", 8, v.exponent - v.zeros),
        "tiny": wire("tiny", 1, ~nonzero | (v.exponent < v.zeros)),
        "sign": wire("sign", 1, v.sign & (v.small_sign | nonzero)),
    }


def _pack(wire: _Wire, v: SimpleNamespace) -> dict[str, Value]:
    """The significand's leading one adds the 1 that is missing from the exponent; a carry out of
    rounding goes on into it.
    """
    packed = Cat(Const(0, 23), v.exponent) + v.rounded
    return _kept(v, "exponent", "rounded") | {"packed": wire("packed", 32, packed)}


def _select(wire: _Wire, v: SimpleNamespace) -> dict[str, Value]:
    huge = wire("huge", 1, v.infinite | (v.packed >= _INF))
    magnitude = Mux(v.tiny & ~v.infinite, 0, Mux(huge, _INF, v.packed[:31]))
    return {"sum": wire("sum", 32, Mux(v.nan, NAN, Cat(magnitude[:31], v.sign)))}


def _kept(v: SimpleNamespace, *used: str) -> dict[str, Value]:
    """What a stage hands on as it is: all but what it ``used`` up or changed."""
    return {name: value for name, value in vars(v).items() if name not in used}


_STAGES = (_order, _measure, _align, _add, _normalise(16, 8), _normalise(4, 2, 1), _round, _pack,
           _select)

#: Cycles from the operands to the sum where registers are between the stages.
ADD_CYCLES = len(_STAGES) - 1
