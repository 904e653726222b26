"""First stage of the lane: the operations of one step, on one adder and one comparison.

``decode`` | ``start`` | ``result``, with registers between. Of operands a, b, c the middle part
makes a sum, of a or a gate of a and b and of an addend, and compares a and b; the last takes the
sum, or chooses between it and b by what the comparison found. The sum is also what the multiplier
multiplies. A new operation is one entry in ``STEPS``.

What this cannot do: the first summand has no -a and no c, so that the magnitude of an integer is
not one step; a constant other than 0 and all ones is no result, so that its sign is not; and what
is chosen is b or the sum, never c. The compiler composes such functions of several operations.
"""

from dataclasses import dataclass, fields
from enum import IntEnum
from types import SimpleNamespace

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.utils import bits_for

from celosia.arch.config import TpuConfig
from celosia.arch.numerics import NAN
from celosia.arch.vector import FLOAT_OPS, VectorOp
from celosia_hw.fp.compare import compare
from celosia_hw.fp.wire import wire

__all__ = ["STEPS", "Addend", "Gate", "Step", "Take", "decode", "result", "start"]


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
_FLOATING = ("floating", "unordered", "finite", "negated", "absolute")


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


def decode(m: Module, config: TpuConfig, op: Value) -> dict[str, Value]:
    """Fields of the :class:`Step` of ``op``."""
    table = {item: step for item, step in STEPS.items() if config.bf16 or item not in FLOAT_OPS}
    found = {item: wire(m, op == item, f"step_is_{item.name.lower()}") for item in table}
    return {
        field.name: Cat(
            Cat(found[item] for item, step in table.items()
                if getattr(step, field.name) >> bit & 1).any()
            for bit in range(_BITS.get(field.name, 1)))
        for field in fields(Step) if config.bf16 or field.name not in _FLOATING}


def start(m: Module, config: TpuConfig, row: SimpleNamespace) -> dict[str, Value]:
    """Sum and comparison of the operands of a ``row`` with decoded fields.

    Returns what :func:`result` needs: ``total``, the sum; ``top``, its sign as a factor; ``other``,
    b or 0; and bits.
    """
    a, b, c = row.a, row.b, row.c
    gate = wire(m, Mux(row.gate[1], Mux(row.gate[0], a ^ b, a | b), Mux(row.gate[0], a & b, a)),
                "gate")
    addend = wire(m, Mux(row.addend[1], Mux(row.addend[0], c, ~b), Mux(row.addend[0], b, 0))[:32],
                  "addend")
    carry = row.addend == Addend.NOT_B
    total = wire(m, (Cat(Const(1, 1), gate) + Cat(carry, addend))[1:33], "total")
    found: dict[str, Value] = {
        "total": total, "top": total[31] & ~row.unsigned,
        "other": Mux(row.take == Take.MASK, 0, b), "different": gate != 0,
        **{name: getattr(row, name) for name in ("take", "less", "equal", "inverted")},
    }
    if not config.bf16:
        return {**found, "below": a.as_signed() < b.as_signed()}
    compared = compare(m, a, b, row.floating, "step")
    return {
        **found, "below": compared.below, "a_zero": compared.a_zero, "b_zero": compared.b_zero,
        "has_nan": compared.nan, "is_finite": row.finite & (a[23:31] != 0xFF),
        **{name: getattr(row, name) for name in ("unordered", "negated", "absolute")},
    }


def result(m: Module, config: TpuConfig, row: SimpleNamespace) -> Signal:
    """Result of what :func:`start` made, 32 bits."""
    masked, chosen = row.take == Take.MASK, row.take == Take.CHOICE
    below, equal = row.below, ~row.different
    if config.bf16:
        zeros = row.a_zero & row.b_zero  # equal, whatever their signs
        below, equal = below & ~(zeros & masked), equal | zeros
    holds = ((row.less & below) | (row.equal & equal)) ^ row.inverted
    if config.bf16:
        holds = Mux(row.has_nan, row.unordered, holds | row.is_finite)
    holds = wire(m, holds, "condition")
    other = wire(m, masked | (chosen & holds), "take_other")
    flip = wire(m, (row.take == Take.INVERTED) | (masked & holds), "take_flipped")
    word = wire(m, Mux(other, row.other, row.total), "taken")
    word = wire(m, Mux(flip, ~word, word), "flipped")
    if not config.bf16:
        return word
    flushed = chosen & Mux(holds, row.b_zero, row.a_zero)
    sign = (word[31] ^ row.negated) & ~row.absolute
    return wire(m, Mux(row.has_nan & chosen, NAN,
                       Cat(Mux(flushed, 0, word[:23])[:23], word[23:31], sign)), "step")
