"""What the lanes are told about a row, and which of them use a part of the lane."""

from amaranth.hdl import Signal, Value
from amaranth.lib import data, enum

from celosia.arch.config import TpuConfig
from celosia.arch.vector import Dst, Post, ReduceOp, VectorOp

__all__ = ["LaneSource", "beat_words", "carried", "control_layout", "integer", "multiplies",
           "rounded", "row_layout", "unspecial"]


class LaneSource(enum.Enum, shape=3):
    """Where a lane takes a word from.

    As the source of an operand, ``SELF`` is the word that the lane holds for it, the last one that
    it took; as the source of that held word, ``SELF`` leaves it as it is. ``P``, ``Q``: the lane's
    own word of a row; ``P_LANE``, ``Q_LANE``: that of one lane of the row. ``VALUE`` is the word in
    ``indexes``, ``INDEX`` that plus the number of the lane: of operands, not of held words.
    """

    SELF = 0
    P = 1
    Q = 2
    VALUE = 3
    P_LANE = 4
    Q_LANE = 5
    INDEX = 6


def beat_words(config: TpuConfig, name: str) -> list[Signal]:
    """Registers of a lane for a word that it keeps: one for each beat of a row.

    They go round by one with each beat that uses the word; the first is the newest.
    """
    return [Signal(32, name=f"{name}{beat or ''}", reset_less=True) for beat in range(config.fold)]


def control_layout() -> data.StructLayout:
    """Control of the row at one stage of the lanes.

    ``valid``: the stage holds a row. Then one of these says which part of the lane makes the result
    of the first stage: ``product``, ``requant``, ``fma``, ``i2f``, or, without any, the operations
    of one step. These say which parts of the second stage the row uses: ``fixed`` (fixed point),
    ``table``, ``special`` (the second rounding), ``div`` (operand c); none where it is one step.
    ``reduce``: the row is joined with those of its group before it, if it is not the ``first`` of
    them. ``param``: the instruction's, but a lower bound above the upper one is replaced by that
    one. The result is the same, and the lanes need not compare the bounds.
    """
    return data.StructLayout({
        "valid": 1, "product": 1, "requant": 1, "fma": 1, "i2f": 1, "fixed": 1, "table": 1,
        "special": 1, "div": 1, "reduce": 1, "first": 1, "op": VectorOp, "post": Post,
        "reduce_op": ReduceOp, "dst": Dst, "param": 32,
    })


def row_layout() -> data.StructLayout:
    """What an instruction says of a row, if ``valid``.

    ``reduce``: it reduces rows; ``first``: the row is the first of its group.
    """
    return data.StructLayout({
        "valid": 1, "op": VectorOp, "post": Post, "dst": Dst, "param": 32, "reduce": 1,
        "reduce_op": ReduceOp, "first": 1,
    })


def carried(valid: Value, fma: Value) -> Value:
    """The row's ``r`` is the result of the first stage, or what a conversion starts from."""
    return valid & ~fma


def integer(product: Value, requant: Value) -> Value:
    """The row has a product of integers."""
    return product | requant


def multiplies(product: Value, requant: Value, fma: Value) -> Value:
    """The row uses the multiplier."""
    return product | requant | fma


def rounded(fma: Value, i2f: Value) -> Value:
    """The result of the first stage is normalised and rounded."""
    return fma | i2f


def unspecial(valid: Value, special: Value) -> Value:
    """The row's ``r`` is the result of the second stage."""
    return valid & ~special
