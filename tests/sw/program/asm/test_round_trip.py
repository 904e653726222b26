"""Text and binary say the same, for random instructions and programs."""

import random

import ml_dtypes
import numpy as np
import pytest

from celosia.arch import isa
from celosia.arch.config import PRESETS, preset
from celosia.arch.encoding import Imm, Insn, Reg, decode, encode
from celosia.program import DTYPES, Buffer, Program
from celosia.program.asm import assemble, disassemble, format_insn

CORNERS = (0, 1, 2, 0x7FFF, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFF8000, 0xFFFFFFFF)


def random_insn(rng: random.Random, instruction: isa.Instruction) -> Insn:
    fields = {field.name: rng.choice((field.default, rng.randrange(1 << field.width)))
              for field in instruction.fields}
    operands = []
    for operand in instruction.operands:
        choices = [Imm(rng.getrandbits(32)), Imm(rng.choice(CORNERS)), Imm(rng.randrange(4096)),
                   Reg(rng.randrange(isa.NUM_REGISTERS))]
        if operand.default is not None:
            choices += [Imm(operand.default)] * 2
        operands.append(rng.choice(choices))
    return Insn(instruction, fields, tuple(operands))


@pytest.mark.parametrize("mnemonic", list(isa.BY_MNEMONIC))
def test_every_instruction_survives_text(mnemonic):
    rng = random.Random(mnemonic)
    for _ in range(200):
        insn = random_insn(rng, isa.BY_MNEMONIC[mnemonic])
        text = format_insn(insn)
        (back,) = assemble(text, preset("core")).insns
        assert encode(back) == encode(insn), text
        assert decode(encode(insn)) == insn


@pytest.mark.parametrize("text", [
    "vector  fadd, acc[0], acc_lane[5, x2, lane=15], ub_bf16_lane_row[7, lane=1], n0=4",
    "vector  mov, acc[0], acc_lane[5], n0=4",
    "vector  mov, acc[0], acc_lane[r5, x1], n0=4",
    "vector  iadd, acc[9], lane_index[0], row_index[r3], n0=4",
    "vector  mov, acc[9], acc[1], reduce=rows, reduce_op=sum_i, n0=4",
    "vector  fmul, acc[9], acc[1], acc[40], post=exp2, reduce=collect, reduce_op=max_f, n0=4",
    "vector  gather, ub_bf16[9], ub_bf16[100], acc[3, x1], n0=4, n1=2, param=300",
    "vector  scatter, acc[0], acc[100], acc[3], n0=4, param=r7",
    "vector  rotate, acc[9], acc[1], scalar[15], n0=4",
    "vector  transpose, ub_i8[9], ub_i8[100], post=relu_i, n0=16",
    "read    r1, acc[5]", "read    r1, acc[r2], 3", "read    r31, acc[0], r3",
])
def test_text_survives(text):
    (insn,) = assemble(text, preset("core")).insns
    assert format_insn(insn) == text


def test_a_lane_lies_above_its_row():
    lane, register = assemble("vector mov, acc[0], acc_lane[5, lane=3], n0=1\n"
                              "vector mov, acc[0], acc_lane[5 | 3 << 24], n0=1",
                              preset("core")).insns
    assert lane == register
    assert lane.operand("a") == Imm(0x0300_0005)


def random_program(rng: random.Random) -> Program:
    numbers = np.random.default_rng(rng.getrandbits(32))
    insns = tuple(random_insn(rng, rng.choice(isa.instructions(ports=1)))
                  for _ in range(rng.randrange(1, 40)))
    buffers, constants = [], {}
    offset = 0
    for i in range(rng.randrange(5)):
        shape = tuple(rng.randrange(1, 6) for _ in range(rng.randrange(4)))
        buffer = Buffer(rng.choice((f"b{i}", f"layer {i}/\"w\"", f"Ünï{i}")), offset, shape,
                        rng.choice(list(DTYPES)), rng.choice(("input", "output", "constant")))
        if buffer.kind == "constant":
            raw = numbers.integers(0, 256, buffer.nbytes, dtype=np.uint8)
            constants[buffer.name] = raw.view(DTYPES[buffer.dtype]).reshape(shape)
        buffers.append(buffer)
        offset = (buffer.end + 63) // 64 * 64
    relocations = sorted({(i, j) for i, insn in enumerate(insns)
                          for j, operand in enumerate(insn.operands)
                          if isinstance(operand, Imm) and rng.random() < 0.3})
    sources = tuple(rng.choice(("", "dot @ mlp.py:3", 'a "b"\n;c')) for _ in insns)
    return Program(rng.choice((preset("core").fingerprint, 0x12345678)), insns,
                   rng.choice(("", "mlp", "two words")), rng.choice(((), sources)),
                   offset + rng.randrange(100), tuple(buffers), constants, tuple(relocations))


def test_every_program_survives_text_and_file():
    rng = random.Random(1)
    for _ in range(150):
        program = random_program(rng)
        text = disassemble(program)
        assert assemble(text) == program, text
        assert Program.from_bytes(program.to_bytes()) == program
        assert disassemble(program) == text


def test_floats_survive_as_decimals_and_nan_as_bytes():
    values = np.array([0.1, -0.0, 1e-45, 3.4e38, 1 / 3], np.float32)
    halves = np.array([1.5, np.nan, -np.inf], ml_dtypes.bfloat16)
    program = Program(1, assemble("halt", preset("core")).insns, arena_bytes=128, buffers=(
        Buffer("f", 0, (5,), "float32", "constant"), Buffer("h", 64, (3,), "bfloat16", "constant")),
        constants={"f": values, "h": halves})
    text = disassemble(program)
    assert ".data f, 0.1, -0.0, 1e-45, 3.4e+38, 0.33333334" in text
    assert '.bytes h, "c03fc07f80ff"' in text
    assert assemble(text) == program


def test_without_data_constants_are_zero():
    program = Program(1, assemble("halt", preset("core")).insns, arena_bytes=4, buffers=(
        Buffer("f", 0, (4,), "int8", "constant"),), constants={"f": np.ones(4, np.int8)})
    text = disassemble(program, data=False)
    assert ".data" not in text
    assert not assemble(text).constants["f"].any()


@pytest.mark.parametrize("name", list(PRESETS))
def test_chip_is_named_where_it_is_a_preset(name):
    program = Program(preset(name).fingerprint, assemble("halt", preset(name)).insns)
    assert disassemble(program) == f"        .chip {name}\nhalt\n".replace("halt", "        halt")
