"""Part of the lane: the operations of one step, on one adder and one comparison.

``decode`` | ``start`` | ``result``, with registers between. Of operands a, b, c the middle part
makes a sum, of a or a gate of a and b and of an addend, and compares a and b; the last takes the
sum, or chooses between it and b by what the comparison found. The sum is also what the multiplier
multiplies. A new operation is one entry in ``STEPS``.

What this cannot do: the first summand has no -a and no c, so that the magnitude of an integer is
not one step; a constant other than 0 and all ones is no result, so that its sign is not; and what
is chosen is b or the sum, never c. The compiler composes such functions of several operations.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.utils import bits_for

from celosia.arch.config import TpuConfig
from celosia.arch.lane import LaneStep
from celosia.arch.numerics import NAN
from celosia.arch.vector import FLOAT_OPS, VectorOp
from celosia_hw.fp.compare import compare
from celosia_hw.fp.wire import wire
from celosia_hw.pipeline import Logic
from celosia_hw.vpu.control import carried

__all__ = ["STAGES", "STEPS", "Addend", "Gate", "Step", "Take", "decode", "result", "start"]


class Gate(IntEnum):
    """The first summand."""

    A = 0
    AND = 1
    OR = 2
    XOR = 3


class Addend(IntEnum):
    """The second summand; `NOT_B` brings a carry, so that it is -b."""

    ZERO = 0
    B = 1
    NOT_B = 2
    C = 3


class Take(IntEnum):
    """The result: the sum, the sum inverted, b or the sum, or a mask."""

    SUM = 0
    INVERTED = 1
    CHOICE = 2
    MASK = 3


_BITS = {"gate": bits_for(max(Gate)), "addend": bits_for(max(Addend)),
         "take": bits_for(max(Take))}
#: Fields of a :class:`Step` that the operands meet, and those that the result does.
_OPERAND_FIELDS = ("gate", "addend", "power", "down", "whole", "unsigned", "floating", "finite")
_RESULT_FIELDS = ("take", "less", "equal", "inverted", "unordered", "negated", "absolute")
#: What a comparison finds: a < b, the gate is not 0; of floating point that a or b counts as zero,
#: that one is NaN, and that a is finite where that is asked for.
_COMPARED = data.StructLayout(
    {"below": 1, "different": 1, "a_zero": 1, "b_zero": 1, "nan": 1, "finite": 1})


@dataclass(frozen=True)
class Step:
    """What an operation does.

    ``gate``: a, a & b, a | b or a ^ b; ``addend``: 0, b, -b or c. ``take``: the sum of these two,
    the sum inverted, a choice (b where the condition holds, else the sum), or a mask of the
    condition. The condition is that one of those that are asked for holds, or with ``inverted``
    that none does: ``less``: a < b; ``equal``: the gate is 0. The multiplier multiplies the sum by
    b: the lower half, or with ``whole`` all of it, or with ``power`` by the power of two that
    shifts by b to the left, or ``down``; with ``unsigned`` the sum is not signed.

    Of floating point: ``floating``: less and equal are those of fp32, what is chosen is flushed;
    ``unordered``: the condition where one is NaN; ``finite``: a further condition, on a;
    ``negated``, ``absolute``: what becomes of the sign.
    """

    gate: Gate = Gate.A
    addend: Addend = Addend.ZERO
    take: Take = Take.SUM
    less: int = 0
    equal: int = 0
    inverted: int = 0
    power: int = 0
    down: int = 0
    whole: int = 0
    unsigned: int = 0
    floating: int = 0
    unordered: int = 0
    finite: int = 0
    negated: int = 0
    absolute: int = 0


#: Operations that are not listed carry ``a``.
STEPS: dict[VectorOp, Step] = {
    VectorOp.IADD: Step(addend=Addend.B),
    VectorOp.ISUB: Step(addend=Addend.NOT_B),
    VectorOp.IMUL: Step(whole=1),
    VectorOp.IMAX: Step(take=Take.CHOICE, less=1),
    VectorOp.IMIN: Step(take=Take.CHOICE, less=1, inverted=1),
    VectorOp.REQUANT: Step(addend=Addend.C),
    VectorOp.AND: Step(Gate.AND),
    VectorOp.OR: Step(Gate.OR),
    VectorOp.XOR: Step(Gate.XOR),
    VectorOp.NOT: Step(take=Take.INVERTED),
    VectorOp.SHL: Step(power=1),
    VectorOp.SHR: Step(power=1, down=1, unsigned=1),
    VectorOp.SAR: Step(power=1, down=1),
    # b where a is not 0; where it is, a + c is c.
    VectorOp.SELECT: Step(addend=Addend.C, take=Take.CHOICE, equal=1, inverted=1),
    VectorOp.IEQ: Step(Gate.XOR, take=Take.MASK, equal=1),
    VectorOp.INE: Step(Gate.XOR, take=Take.MASK, equal=1, inverted=1),
    VectorOp.ILT: Step(take=Take.MASK, less=1),
    VectorOp.ILE: Step(Gate.XOR, take=Take.MASK, less=1, equal=1),
    VectorOp.IGT: Step(Gate.XOR, take=Take.MASK, less=1, equal=1, inverted=1),
    VectorOp.IGE: Step(take=Take.MASK, less=1, inverted=1),
    VectorOp.FMAX: Step(take=Take.CHOICE, less=1, floating=1),
    VectorOp.FMIN: Step(take=Take.CHOICE, less=1, inverted=1, floating=1),
    VectorOp.FABS: Step(absolute=1),
    VectorOp.FNEG: Step(negated=1),
    VectorOp.FEQ: Step(Gate.XOR, take=Take.MASK, equal=1, floating=1),
    VectorOp.FNE: Step(Gate.XOR, take=Take.MASK, equal=1, inverted=1, floating=1, unordered=1),
    VectorOp.FLT: Step(take=Take.MASK, less=1, floating=1),
    VectorOp.FLE: Step(Gate.XOR, take=Take.MASK, less=1, equal=1, floating=1),
    VectorOp.FGT: Step(Gate.XOR, take=Take.MASK, less=1, equal=1, inverted=1, floating=1),
    VectorOp.FGE: Step(take=Take.MASK, less=1, inverted=1, floating=1),
    VectorOp.ISFINITE: Step(take=Take.MASK, finite=1),
}


def _layout(names: tuple[str, ...]) -> data.StructLayout:
    return data.StructLayout({name: _BITS.get(name, 1) for name in names})


def decode(m: Module, config: TpuConfig, op: Value) -> dict[str, data.View]:
    """Fields of the :class:`Step` of ``op``: ``step`` for the operands, ``choice`` for the result.

    A chip without bf16 has those of floating point, too; they are 0.
    """
    table = {item: step for item, step in STEPS.items() if config.bf16 or item not in FLOAT_OPS}
    chosen = {item: wire(m, op == item, f"step_is_{item.name.lower()}") for item in table}
    views = {"step": Signal(_layout(_OPERAND_FIELDS), name="decoded_step"),
             "choice": Signal(_layout(_RESULT_FIELDS), name="decoded_choice")}
    for view in views.values():
        for name in view.shape().members:
            m.d.comb += view[name].eq(Cat(
                Cat(chosen[item] for item, step in table.items()
                    if getattr(step, name) >> bit & 1).any()
                for bit in range(_BITS.get(name, 1))))
    return views


def start(m: Module, config: TpuConfig, a: Value, b: Value, c: Value, step: data.View,
          choice: data.View) -> dict[str, Any]:
    """Sum and comparison of the operands.

    ``total``: the sum; ``top``: its sign as a factor; ``other``: b or 0; ``compared``: bits.
    """
    gate = wire(m, Mux(step.gate[1], Mux(step.gate[0], a ^ b, a | b), Mux(step.gate[0], a & b, a)),
                "gate")
    addend = wire(m, Mux(step.addend[1], Mux(step.addend[0], c, ~b),
                         Mux(step.addend[0], b, 0))[:32], "addend")
    carry = step.addend == Addend.NOT_B
    total = wire(m, (Cat(Const(1, 1), gate) + Cat(carry, addend))[1:33], "total")
    compared = Signal(_COMPARED, name="compared")
    m.d.comb += compared.different.eq(gate != 0)
    if config.bf16:
        found = compare(m, a, b, step.floating, "step")
        m.d.comb += [
            compared.below.eq(found.below), compared.a_zero.eq(found.a_zero),
            compared.b_zero.eq(found.b_zero), compared.nan.eq(found.nan),
            compared.finite.eq(step.finite & (a[23:31] != 0xFF)),
        ]
    else:
        m.d.comb += compared.below.eq(a.as_signed() < b.as_signed())
    return {"total": total, "top": total[31] & ~step.unsigned,
            "other": Mux(choice.take == Take.MASK, 0, b), "compared": compared}


def result(m: Module, config: TpuConfig, choice: data.View, total: Value, other: Value,
           compared: data.View) -> dict[str, Value]:
    """``r``: the result of what :func:`start` made, 32 bits."""
    masked, chosen = choice.take == Take.MASK, choice.take == Take.CHOICE
    below, equal = compared.below, ~compared.different
    if config.bf16:
        zeros = compared.a_zero & compared.b_zero  # equal, whatever their signs
        below, equal = below & ~(zeros & masked), equal | zeros
    holds = ((choice.less & below) | (choice.equal & equal)) ^ choice.inverted
    if config.bf16:
        holds = Mux(compared.nan, choice.unordered, holds | compared.finite)
    holds = wire(m, holds, "condition")
    takes_other = wire(m, masked | (chosen & holds), "take_other")
    flip = wire(m, (choice.take == Take.INVERTED) | (masked & holds), "take_flipped")
    word = wire(m, Mux(takes_other, other, total), "taken")
    word = wire(m, Mux(flip, ~word, word), "flipped")
    if not config.bf16:
        return {"r": word}
    flushed = chosen & Mux(holds, compared.b_zero, compared.a_zero)
    sign = (word[31] ^ choice.negated) & ~choice.absolute
    return {"r": wire(m, Mux(compared.nan & chosen, NAN,
                             Cat(Mux(flushed, 0, word[:23])[:23], word[23:31], sign)), "step")}


STAGES = {
    LaneStep.LOAD: (Logic(decode, lambda valid: valid),),
    LaneStep.PREPARE: (Logic(start, lambda valid: valid),),
    LaneStep.MULTIPLY: (Logic(result, carried),),
}
