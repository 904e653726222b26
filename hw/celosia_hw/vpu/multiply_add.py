"""Part of the lane: floating-point multiply-add, on the multiplier of integers.

See :mod:`celosia_hw.fp.fma`. An operation on this data path is one entry in ``FMA``. The conversion
of an integer enters where the sum is normalised.
"""

from collections.abc import Callable

from amaranth.hdl import Cat, Const, Module, Mux, Value

from celosia.arch.lane import LaneStep
from celosia.arch.vector import VectorOp
from celosia_hw.fp import fma as stages
from celosia_hw.fp.wire import choose
from celosia_hw.pipeline import Logic
from celosia_hw.vpu.control import multiplies, rounded

__all__ = ["FMA", "STAGES"]

_ONE = Const(0x3F800000, 32)
_MINUS_ZERO = Const(0x80000000, 32)


def _complement(a: Value, b: Value) -> tuple[Value, Value, Value]:
    """Operands of a - a * b, or, where that is not a * (1 - b), of a product of that sign."""
    one = b == _ONE
    plain = (a[23:31] == 0) | (a[23:31] == 0xFF) | one
    below = b[31] | (b[23:31] < 127)
    sign = Cat(Const(0, 23), Mux(one, Const(0, 8), Const(127, 8)), ~below & ~one)
    return (a, Mux(plain & (b[23:31] != 0xFF), sign, Cat(b[:31], ~b[31])),
            Mux(plain, _MINUS_ZERO, a))


#: Operands (x, y, z) of the multiply-add x * y + z.
FMA: dict[VectorOp, Callable[[Value, Value, Value], tuple[Value, Value, Value]]] = {
    VectorOp.FADD: lambda a, b, c: (a, _ONE, b),
    VectorOp.FSUB: lambda a, b, c: (a, _ONE, Cat(b[:31], ~b[31])),
    VectorOp.FMUL: lambda a, b, c: (a, b, _MINUS_ZERO),
    VectorOp.FFMA: lambda a, b, c: (a, b, c),
    VectorOp.FMULC: lambda a, b, c: _complement(a, b),
}


def chosen(m: Module, op: Value, a: Value, b: Value, c: Value) -> dict[str, Value]:
    """The operands, ``fma_x``, ``fma_y`` and ``fma_z``."""
    table = {item: operands(a, b, c) for item, operands in FMA.items()}
    return {f"fma_{name}": choose(m, op, {item: words[k] for item, words in table.items()}, 0,
                                  name=f"fma_{name}") for k, name in enumerate("xyz")}


def unpack(m: Module, fma_x: Value, fma_y: Value, fma_z: Value) -> dict[str, Value]:
    """The operands, taken apart."""
    return stages.unpack(m, fma_x, fma_y, fma_z)


def first_factor(fma: Value, total: Value, top: Value, a_significand: Value) -> dict[str, Value]:
    """``total``, ``top``: what is multiplied."""
    return {"total": Mux(fma, a_significand, total), "top": top & ~fma}


def second_factor(fma: Value, y: Value, b_significand: Value) -> dict[str, Value]:
    """``y``: by what."""
    return {"y": Mux(fma, b_significand, y)[:32]}


def integer_sum(i2f: Value, r: Value, total: Value, exponent: Value, sign: Value, zero_sign: Value,
                nan: Value, inf: Value) -> dict[str, Value]:
    """The sum, or the integer that is converted, which is like a sum."""
    negative = r[31]
    magnitude = Mux(negative, -r, r)[:32] << stages.I32_SHIFT
    return {
        "total": Mux(i2f, magnitude, total)[:stages.SUM_BITS],
        "exponent": Mux(i2f, stages.I32_EXPONENT, exponent).as_signed(),
        "sign": Mux(i2f, negative, sign), "zero_sign": zero_sign & ~i2f, "nan": nan & ~i2f,
        "inf": inf & ~i2f,
    }


def rounded_word(fma: Value, i2f: Value, finished: Value, r: Value) -> dict[str, Value]:
    """``r``, which is the rounded sum where that is the operation's result."""
    return {"r": Mux(fma | i2f, finished, r)}


STAGES = {
    LaneStep.CHOOSE: (Logic(chosen, lambda fma: fma),),
    LaneStep.PREPARE: (Logic(unpack, lambda fma: fma), Logic(first_factor, lambda valid: valid),
                       Logic(second_factor, multiplies)),
    LaneStep.MULTIPLY: (Logic(stages.compare, lambda fma: fma),),
    LaneStep.ALIGN: (Logic(stages.align, lambda fma: fma),),
    LaneStep.ADD: (Logic(stages.add, lambda fma: fma), Logic(integer_sum, rounded)),
    LaneStep.BRING_NEAR: (Logic(stages.bring_near, rounded),),
    LaneStep.NORMALISE: (Logic(stages.normalise, rounded),),
    LaneStep.ROUND: (Logic(stages.finish), Logic(rounded_word, lambda valid: valid)),
}
