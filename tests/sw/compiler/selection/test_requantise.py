"""Requantisation: one instruction, whatever its factors and offsets lie along."""

import numpy as np
import pytest

import celosia
from celosia.arch.encoding import Imm
from celosia.arch.vector import VectorOp
from celosia.compiler import canonical
from celosia.compiler.build import build
from celosia.graph import DType, Graph, TensorType, constant, interpret, op, parameter
from celosia.ops import scale_words

SHAPE = (21, 37)
#: Shape and place of an operand that is broadcast to the matrix.
EXTENTS = {"scalar": ((), ()), "row": ((37,), (1,)), "column": ((21,), (0,)),
           "full": ((21, 37), (0, 1))}


def graph_of(scale, bias, **attrs):
    x = parameter(TensorType(DType.I32, SHAPE), "x")
    others = [parameter(TensorType(DType.I32, EXTENTS[kind][0]), name)
              for kind, name in ((scale, "scale"), (bias, "bias"))]
    wide = [op("broadcast", other, shape=SHAPE, dims=EXTENTS[kind][1])
            for other, kind in zip(others, (scale, bias), strict=True)]
    return Graph("requantise", (x, *others), (op("requantise", x, *wide, **attrs),))


def requants(program):
    return [insn for insn in program.insns if insn.instruction.mnemonic == "vector"
            and insn.fields["op"] == VectorOp.REQUANT]


def check(graph, chip, *inputs):
    """Run on the model; return the program."""
    with celosia.open("model", chip) as device:
        program = build(canonical(graph), device.config).program
        names = [buffer.name for buffer in program.inputs]
        result = device.run(program, dict(zip(names, inputs, strict=True)))
        [output] = program.outputs
        np.testing.assert_array_equal(result[output.name], interpret(graph, inputs)[0])
    return program


@pytest.mark.parametrize("chip", ["nano", "edge", "core"])
@pytest.mark.parametrize("bias", EXTENTS)
@pytest.mark.parametrize("scale", EXTENTS)
def test_factors_and_offsets_of_all_extents(scale, bias, chip):
    rng = np.random.default_rng(5)
    shapes = [EXTENTS[kind][0] for kind in (scale, bias)]
    factors = scale_words(rng.uniform(1e-3, 1e-2, shapes[0] or (1,)).reshape(-1),
                          max(1, int(np.prod(shapes[0])))).reshape(shapes[0])
    program = check(graph_of(scale, bias, zero_point=-7, low=-100, high=90), chip,
                    rng.integers(-20000, 20000, SHAPE, dtype=np.int32), factors,
                    rng.integers(-3000, 3000, shapes[1], dtype=np.int32))
    assert {insn.operands[5] for insn in requants(program)} == {Imm(0x5A9CF9)}


def test_what_follows_it_is_an_instruction_of_its_own():
    x = parameter(TensorType(DType.I32, SHAPE), "x")
    y = op("requantise", x, *(op("broadcast", constant(n, DType.I32), shape=SHAPE)
                              for n in (0x108000, 5)))
    y = op("maximum", op("convert", y, dtype=DType.I32),
           op("broadcast", constant(0, DType.I32), shape=SHAPE))
    rng = np.random.default_rng(0)
    program = check(Graph("clipped", (x,), (y,)), "nano",
                    rng.integers(-300, 300, SHAPE, dtype=np.int32))
    assert {insn.fields["post"] for insn in requants(program)} == {0}


def test_constants_are_folded():
    words = [constant(np.full(3, n, np.int32)) for n in (1000, 0x108000, 5)]
    graph = Graph("constants", (), (op("requantise", *words, zero_point=3),))
    assert not requants(check(graph, "core"))
