"""A command and its instruction say the same; what it touches is what its streams reach."""

import pytest

from celosia.arch import isa
from celosia.arch.commands import EXTERNAL, PLACES, Load, Matmul, Store, Vector, unpack
from celosia.arch.config import preset
from celosia.arch.encoding import Imm, decode, encode, insn
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem
from celosia.arch.streams import Stream
from celosia.arch.vector import Dst, Post, Reduce, ReduceOp, Src, VectorOp
from celosia.model.decode import Decoded
from celosia_sim.randprog import random_program

CORE = preset("core")
REGISTERS = [(0, 0, 0)] + [(1 + i, 7 * i, 50 + i) for i in range(1, isa.NUM_STRIDES)]
#: Fields that a command leaves out where they are 0.
NONE = ("a_kind", "b_kind", "c_kind")
GATHER = insn("vector", op="gather", dst_kind="acc", a_kind="acc", b_kind="acc", dst=32, a=4, b=63,
              n0=4, n1=2, param=20, xb=3, xdst=2)


def of(instruction):
    decoded = Decoded(instruction)
    return unpack(decoded.opcode, decoded.fields, decoded.values, REGISTERS)


def registers(instruction):
    """The strides that an instruction names, by the field."""
    return {field.name: REGISTERS[instruction.fields[field.name]]
            for field in instruction.instruction.fields
            if field.name.startswith("x") and instruction.fields[field.name]}


@pytest.mark.parametrize("seed", range(8))
def test_fields_and_words_are_those_of_the_instruction(seed):
    code, seen = random_program(CORE, seed).code, 0
    for at in range(0, len(code), isa.INSTRUCTION_BYTES):
        instruction = decode(code[at:at + isa.INSTRUCTION_BYTES])
        if instruction.instruction.opcode not in PLACES or not all(
                isinstance(operand, Imm) for operand in instruction.operands):
            continue
        seen += 1
        command, named = of(instruction), registers(instruction)
        assert command.words == tuple(operand.value for operand in instruction.operands)
        assert {name: value for name, value in instruction.fields.items()
                if name[0] != "x" and (value or name not in NONE)} == command.fields
        assert {name: command.streams[name].strides for name in named} == named
        assert command == of(decode(encode(instruction)))
        places = command.places
        moved = command.at([word + 1 for word in command.words[:places]])
        assert moved != command
        assert moved.at(command.words[:places]) == command
        assert hash(moved.at(command.words[:places])) == hash(command)
    assert seen


def test_a_load_writes_rows_and_reads_bytes():
    load = Load(Mem.UB, DmaFormat.W32, 10, 256, 3, 20, 96, 2, 40)
    rows = (0, Mem.UB, 10, 10 + 40 + 4)
    memory = (1, EXTERNAL, 256, 256 + 2 * 96 + 79)
    assert load.touches(CORE) == ((*rows, True), (*memory, False))
    store = Store(Mem.UB, DmaFormat.W32, 10, 256, 3, 20, 96, 2, 40)
    assert store.touches(CORE) == ((*rows, False), (*memory, True))
    assert load != store


def test_a_matmul_that_keeps_its_tile_reads_no_weights():
    made = Matmul.of(MatmulFormat.BF16, False, False, (5, 6, 7), (4, 2, 1), 16,
                     (None, (1, 8, 0), None))
    assert made.touches(CORE) == ((0, Mem.ACC, 5, 12, True), (1, Mem.UB, 6, 17, False),
                                  (2, Mem.UB, 7, 22, False))
    kept = Matmul.of(MatmulFormat.BF16, False, False, (5, 6, 0), (4, 2, 1), None,
                     (None, (1, 8, 0), None))
    assert kept.touches(CORE) == made.touches(CORE)[:2]
    assert kept.fields["wload"] == 0
    assert kept.words[2] == kept.words[5] == 0


def test_tables_reach_as_far_as_param_says_and_indexes_are_one_row_a_group():
    gather = of(GATHER)
    assert gather.touches(CORE)[1:] == ((1, Mem.ACC, 4, 23, False), (2, Mem.ACC, 63, 84, False))
    assert set(gather.streams) == {"xdst", "xb"}


def test_a_lane_is_above_the_row():
    add = Vector.of(VectorOp.FADD, Post.NONE, Dst.ACC, (8, 0, 3 | 2 << 24, 0),
                    (Src.ACC, Src.ACC_LANE_ROW, Src.NONE), (4, 1, 1), 0, Reduce.NONE,
                    ReduceOp.SUM_I, (None,) * 4)
    assert (add.sources[1].lane, add.sources[1].stream) == (2, Stream(3, (1,), (1,)))
    assert add.at((8, 0, 5 | 1 << 24, 0)).words[2] == 5 | 1 << 24


@pytest.mark.parametrize(("counts", "strides", "triple"), [
    ((4, 2, 1), (1, 4, 9), None), ((1, 2, 1), (5, 1, 0), None), ((4, 2, 1), (1, 5, 9), (1, 5, 0)),
    ((1, 3, 2), (7, 1, 4), (0, 1, 4))])
def test_strides_of_single_rows_mean_nothing(counts, strides, triple):
    assert Stream(3, counts, strides).triple == triple
