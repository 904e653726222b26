"""The operands that operations of floating point give the multiply-add, against the numerics."""

import itertools

import numpy as np
import pytest
from amaranth.hdl import Cat, Const, Module, Signal

from celosia.arch import numerics
from celosia.arch.vector import VectorOp
from celosia_hw.vpu import multiply_add
from hw.simulation import World

MODELS = {
    VectorOp.FADD: lambda a, b, c: numerics.f32_add(a, b),
    VectorOp.FSUB: lambda a, b, c: numerics.f32_sub(a, b),
    VectorOp.FMUL: lambda a, b, c: numerics.f32_mul(a, b),
    VectorOp.FFMA: numerics.f32_fma,
    VectorOp.FMULC: lambda a, b, c: numerics.f32_mul_complement(a, b),
}
#: Zero, subnormals, exponents around that of 1 and far from it, 1 itself and its neighbours,
#: infinity and NaN; of both signs.
WORDS = [sign << 31 | word for sign in (0, 1) for word in (
    0, 1, 0x7FFFFF, 0x800000, 0x0F800000, 0x1F800000, 0x20000000, 0x3F000000, 0x3F7FFFFF,
    0x3F800000, 0x3F800001, 0x3FC00000, 0x40000000, 0x5F000000, 0x7F7FFFFF, 0x7F800000,
    0x7F800001, 0x7FC00000)]


@pytest.mark.parametrize("op", MODELS, ids=lambda op: op.name.lower())
def test_operands_of(op):
    assert {*MODELS} == {*multiply_add.FMA}
    m, a, b = Module(), Signal(32), Signal(32)
    found = multiply_add.chosen(m, Const(op), a, b, Const(0x3FC00000, 32))
    output, words = Cat(found[f"fma_{name}"] for name in "xyz"), []
    pairs = np.array([*itertools.product(WORDS, WORDS)], np.uint32)

    async def bench(ctx):
        for x, y in pairs.tolist():
            ctx.set(a, x)
            ctx.set(b, y)
            word = ctx.get(output)
            words.append([word >> shift & 0xFFFFFFFF for shift in (0, 32, 64)])

    World(m).run(bench)
    third = np.full(len(pairs), 0x3FC00000, np.uint32)
    made = numerics.f32_fma(*np.array(words, np.uint32).T)
    wanted = MODELS[op](*pairs.T, third)
    wrong = np.flatnonzero(made != wanted)
    assert not len(wrong), [f"{pairs[i][0]:08x} {pairs[i][1]:08x}: {made[i]:08x}, not "
                            f"{wanted[i]:08x}" for i in wrong[:5]]
