import random
import re

import pytest

from celosia.arch import isa
from celosia.arch.encoding import Imm, Insn, Reg, decode, encode, insn, pack, unpack


def random_insn(rng: random.Random) -> Insn:
    description = rng.choice(isa.instructions(ports=1))
    fields = {field.name: rng.randrange(1 << field.width) for field in description.fields}
    operands = tuple(Reg(rng.randrange(32)) if rng.random() < 0.5 else Imm(rng.getrandbits(32))
                     for _ in description.operands)
    return Insn(description, fields, operands)


def test_round_trip():
    rng = random.Random(1)
    for _ in range(3000):
        before = random_insn(rng)
        code = encode(before)
        assert len(code) == 32
        assert decode(code) == before


def test_fields_do_not_overlap():
    for description in isa.instructions(ports=1):
        used = (1 << isa.FIELDS_LSB) - 1
        for field in description.fields:
            mask = (1 << field.width) - 1 << field.lsb
            assert not used & mask, (description.mnemonic, field.name)
            used |= mask
        assert used < 1 << isa.HEADER_BITS
        assert len(description.operands) <= isa.NUM_OPERANDS


def test_known_encoding():
    code = encode(insn("add", rd=3, a=Reg(5), b=0xDEADBEEF))
    assert code.hex() == ("453000000000000005000000efbeadde" + "00000000" * 4)


def test_every_flipped_bit_is_seen():
    """Each bit of an encoding means something: decoding differs or refuses."""
    rng = random.Random(2)
    for _ in range(60):
        before = random_insn(rng)
        code = encode(before)
        for bit in range(256):
            flipped = bytearray(code)
            flipped[bit // 8] ^= 1 << bit % 8
            try:
                after = decode(bytes(flipped))
            except ValueError:
                continue
            assert after != before, bit


@pytest.mark.parametrize(("code", "message"), [
    (bytes(31), "an instruction has 32 bytes, not 31"),
    (bytes(32), "opcode 0x00 is not in the ISA"),
    (b"\x3f" + bytes(31), "opcode 0x3f is not in the ISA"),
    (b"\x01\x10" + bytes(30), "halt: reserved header bits are set (0x1000)"),
    (b"\x41" + bytes(31), "halt: operand 0 is unused but not zero"),
    (b"\x01" + bytes(27) + b"\x01\0\0\0", "halt: operand 5 is unused but not zero"),
    (b"\x44" + bytes(7) + b"\x20" + bytes(23), "mov: operand 0 names register 32, there are 32"),
])
def test_decode_errors(code, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        decode(code)


@pytest.mark.parametrize(("mnemonic", "values", "message"), [
    ("multiply", {}, f"mnemonic must be one of {', '.join(isa.BY_MNEMONIC)}, not 'multiply'"),
    ("mov", {"rd": 32, "a": 0}, "mov: rd must be from 0 to 31, not 32"),
    ("mov", {"rd": Reg(1), "a": 0}, "mov: field rd cannot be a register"),
    ("mov", {"rd": 1}, "mov needs a"),
    ("mov", {"rd": 1, "a": 1 << 32}, "operand mov.a must fit 32 bits, not 4294967296"),
    ("mov", {"rd": 1, "a": 1, "b": 2}, "mov has no b"),
    ("mov", {"rd": 1, "a": "x"}, "mov: a must be a number, not 'x'"),
    ("load", {"fmt": "int8", "row": 0, "addr": 0, "rows": 1, "cols": 1},
     "load: fmt must be one of i8, bf16, w32, not 'int8'"),
    ("load", {"row": 0, "addr": 0, "rows": 1}, "load: shape needs cols"),
    ("load", {"row": 0, "addr": 0, "rows": 65536, "cols": 1},
     "load: rows must be from 0 to 65535, not 65536"),
    ("load", {"row": 0, "addr": 0, "rows": Reg(1), "cols": 1},
     "load: rows must be a number, not Reg(number=1); a register holds the whole of shape"),
    ("matmul", {"wload": 0, "acts": 2, "n0": 3}, "matmul needs acc"),
    ("matmul", {"wload": 0, "acc": 1, "acts": 2}, "matmul: counts needs n0"),
    ("matmul", {"wload": 1, "acc": 1, "acts": 2, "n0": 3, "weights": 4}, "matmul needs wrows"),
    ("load", {"row": 0, "rows": 1, "cols": 1}, "load needs addr"),
])
def test_insn_errors(mnemonic, values, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        insn(mnemonic, **values)


def test_defaults():
    matmul = insn("matmul", wload=0, acc=1, acts=2, n0=3)
    assert [operand for operand in matmul.operands] == [
        Imm(1), Imm(2), Imm(0), Imm(3 | 1 << 16), Imm(1), Imm(0)]
    assert insn("mov", rd=1, a=-1).operands == (Imm(0xFFFFFFFF),)
    assert insn("load", mem="acc", fmt="w32", row=0, addr=0, rows=2, cols=3).fields == {
        "mem": 1, "fmt": 2}


def test_pack_is_the_inverse_of_unpack():
    rng = random.Random(3)
    packed = [operand for i in isa.INSTRUCTIONS for operand in i.operands if operand.parts]
    for _ in range(500):
        operand = rng.choice(packed)
        used = sum((1 << part.width) - 1 << part.lsb for part in operand.parts)
        word = rng.getrandbits(32) & used
        assert pack(operand, **unpack(operand, word)) == word


def test_register_and_immediate_errors():
    with pytest.raises(ValueError, match=r"^register must be r0\.\.r31, not r32$"):
        Reg(32)
    with pytest.raises(ValueError, match="^immediate must be 32 bits unsigned, not -1$"):
        Imm(-1)
