"""What the canonical level refuses, rule by rule, and what is just within it."""

import numpy as np
import pytest

from celosia.arch.vector import VectorOp as Op
from celosia.compiler.levels import CANONICAL, INSTRUCTIONS
from celosia.graph import (
    DType,
    Graph,
    GraphError,
    TensorType,
    check,
    constant,
    op,
    parameter,
    splat,
)

BOOL, I8, U8, I16, I32, U32 = (DType.BOOL, DType.I8, DType.U8, DType.I16, DType.I32, DType.U32)
F16, BF16, F32 = DType.F16, DType.BF16, DType.F32


def word(dtype=F32, *shape):
    return parameter(TensorType(dtype, shape or (4,)))


def dot(a=BF16, b=BF16, to=F32, left=(2, 3, 4), right=(2, 4, 5), contract=((2, 1),),
        batch=((0, 0),), **attrs):
    return op("dot", word(a, *left), word(b, *right), dtype=to, batch=batch, contract=contract,
              **attrs)


def problem(value):
    """Return what is wrong with the node of a value; "" where nothing is."""
    params, seen = [], [value]
    for each in seen:
        seen += [x for x in each.node.operands if x not in seen]
        if each.node.op == "parameter":
            params.append(each)
    try:
        check(Graph("g", params, [value]), CANONICAL)
    except GraphError as error:
        head, name, text = str(error).rpartition(f"{value.node.op}: ")
        assert (head, name) == ("graph g is not canonical: unknown source: ",
                                f"{value.node.op}: ")
        return text
    return ""


DOT = "dot must be [B,M,K] x [B,K,N] of bf16, i8 or i32 (canonical dot)"
REDUCTION = ("reduction must be one of the vector unit's, from what changes nothing "
             "(canonical reduction)")


def reduced(reducer, dtype, start, shape=(3, 4), dims=(1,)):
    return op("reduce", word(dtype, *shape), constant(start, dtype), dims=dims, reducer=reducer)


@pytest.mark.parametrize(("value", "wanted"), [
    (dot(), ""), (dot(I8, I8, I32), ""), (dot(F32, F32), DOT), (dot(BF16, BF16, BF16), DOT),
    (dot(precision="high"), DOT), (dot(contract=((1, 1),), left=(2, 4, 3)), ""),
    (dot(contract=((2, 2),), right=(2, 5, 4)), ""),
    (dot(contract=((1, 2),), left=(2, 4, 3), right=(2, 5, 4)), ""),
    (dot(left=(3, 4), right=(4, 5), contract=((1, 0),), batch=()), DOT),
    (dot(left=(4, 2, 3), contract=((0, 1),), batch=((1, 0),)), DOT),
    (dot(left=(2, 4), right=(2, 3, 4, 5), contract=((1, 2),)), DOT),
    (dot(left=(2, 3, 4, 5), right=(2, 4), contract=((2, 1),)), DOT),
    (op("add", word(), word()), ""), (op("add", word(I32), word(I32)), ""),
    (op("add", word(U32), word(U32)), ""),
    (op("add", word(BF16), word(BF16)), "operands must be words, not bf16 (arithmetic on words)"),
    (op("add", word(I8), word(I8)), "operands must be words, not i8 (arithmetic on words)"),
    (op("exp", word(BF16)), "operands must be f32, not bf16 (arithmetic on words)"),
    (op("abs", word(I32)), "operands must be f32, not i32 (arithmetic on words)"),
    (op("abs", word()), ""),
    (op("negate", word(I32)), "operands must be f32, not i32 (arithmetic on words)"),
    (op("maximum", word(U32), word(U32)), "operands must be words, not u32 (arithmetic on words)"),
    (op("maximum", word(I32), word(I32)), ""),
    (op("compare", word(U32), word(U32), direction="lt"),
     "operands must be words, not u32 (arithmetic on words)"),
    (op("compare", word(I32), word(I32), direction="lt"), ""),
    (op("shift_left", word(I32), splat(31, TensorType(I32, (4,)))), ""),
    (op("shift_left", word(I32), splat(32, TensorType(I32, (4,)))),
     "amounts must be plain to see from 0 to 31 (arithmetic on words)"),
    (op("shift_right", word(I32), word(I32)),
     "amounts must be plain to see from 0 to 31 (arithmetic on words)"),
    (op("convert", word(), dtype=I32), ""), (op("convert", word(), dtype=BF16), ""),
    (op("convert", word(), dtype=I8),
     f"conversion must be one that stays, not {(F32, I8)} (canonical conversion)"),
    (op("convert", word(BF16), dtype=F16),
     f"conversion must be one that stays, not {(BF16, F16)} (canonical conversion)"),
    (op("bitcast", word(), dtype=I32), ""), (op("bitcast", word(U32), dtype=I32), ""),
    (op("bitcast", word(BF16), dtype=F16), "bitcast must be of 32 bits (bitcast moves nothing)"),
    (op("bitcast", word(I16, 4, 2), dtype=I32),
     "bitcast must be of 32 bits (bitcast moves nothing)"),
    (reduced("add", F32, -0.0), ""), (reduced("add", I32, 0), ""), (reduced("add", U32, 0), ""),
    (reduced("add", F32, 1.0), REDUCTION), (reduced("multiply", F32, 1.0), REDUCTION),
    (reduced("maximum", F32, -np.inf), ""), (reduced("maximum", I32, -2**31), ""),
    (reduced("maximum", U32, 0), "operand must be of words, not u32 (canonical reduction)"),
    (reduced("add", I8, 0), "operand must be of words, not i8 (canonical reduction)"),
    (op("broadcast", word(F32, 3), shape=(3, 4), dims=(0,)), ""),
    (op("broadcast", word(F32, 3, 1), shape=(3, 4), dims=(0, 1)),
     "broadcast must keep its dimensions (canonical broadcast)"),
    (op("broadcast", word(F32, 4, 3), shape=(3, 4), dims=(1, 0)),
     "broadcast must keep its dimensions (canonical broadcast)"),
    (op("broadcast", word(F32, 3, 4), shape=(3, 4), dims=(0, 1)), ""),
    *((op("pad", word(F32, 3), constant(0, F32), low=(low,), high=(high,), interior=(2,)), text)
      for low, high, text in ((0, 1, ""), (1, 0, ""),
                              (-1, 2, "edges of a pad must not be negative (canonical pad)"),
                              (2, -1, "edges of a pad must not be negative (canonical pad)"))),
    (op("pad", parameter(TensorType(F32)), constant(0, F32), low=(), high=(), interior=()), ""),
    (op("ceil", word()), "operation must be one of the level"),
])
def test_what_is_canonical(value, wanted):
    assert problem(value) == wanted


def test_instructions_of_floats_and_of_integers():
    assert INSTRUCTIONS == {
        "add": (Op.FADD, Op.IADD), "subtract": (Op.FSUB, Op.ISUB), "multiply": (Op.FMUL, Op.IMUL),
        "maximum": (Op.FMAX, Op.IMAX), "minimum": (Op.FMIN, Op.IMIN), "and": (Op.AND, Op.AND),
        "or": (Op.OR, Op.OR), "xor": (Op.XOR, Op.XOR), "not": (Op.NOT, Op.NOT),
        "shift_left": (Op.SHL, Op.SHL), "shift_right": (Op.SHR, Op.SHR),
        "shift_right_signed": (Op.SAR, Op.SAR), "abs": (Op.FABS, Op.FABS),
        "negate": (Op.FNEG, Op.FNEG), "is_finite": (Op.ISFINITE, Op.ISFINITE),
        "select": (Op.SELECT, Op.SELECT)}
