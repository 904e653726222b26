import json
import re
import struct
import zlib

import ml_dtypes
import numpy as np
import pytest

from celosia.arch.encoding import Reg, decode, insn
from celosia.program import Buffer, Program

FINGERPRINT = 0x6B6428CA
LOAD = insn("load", mem="ub", fmt="i8", row=0, addr=0x40, rows=2, cols=2, pitch=2)
HALT = insn("halt")


def exactly(text: str) -> str:
    return f"^{re.escape(text)}$"


@pytest.fixture
def program():
    return Program(
        FINGERPRINT, (LOAD, HALT), "p", ("dot", ""), 256,
        (Buffer("x", 0, (2, 2), "int8", "input"), Buffer("w", 64, (3,), "bfloat16", "constant"),
         Buffer("e", 70, (0,), "int8", "constant"), Buffer("y", 128, (), "float32", "output")),
        {"w": np.array([1, -2, 0.5], ml_dtypes.bfloat16), "e": np.zeros(0, np.int8)}, ((0, 1),))


def test_code_is_relocated(program):
    code = program.code(0x1000)
    assert len(code) == 64
    assert decode(code[:32]).operand("addr") == insn(
        "load", mem="ub", fmt="i8", row=0, addr=0x1040, rows=2, cols=2).operand("addr")
    assert decode(program.code()[:32]) == LOAD
    with pytest.raises(ValueError, match=exactly(
            "operand 1 of instruction 0 must fit 32 bits, not 0x40 + 0xffffffc0")):
        program.code(0xFFFFFFC0)


def test_file_keeps_everything(program, tmp_path):
    program.save(tmp_path / "p.bin")
    back = Program.load(tmp_path / "p.bin")
    assert back == program
    assert hash(back) == hash(program)
    assert back.constants["w"].tolist() == [1, -2, 0.5]
    assert back.constants["w"].dtype == ml_dtypes.bfloat16
    assert back.insns == program.insns
    assert (back.name, back.sources, back.arena_bytes) == ("p", ("dot", ""), 256)
    assert repr(back) == "<Program p: 2 instructions, 256 bytes of memory, for chip 0x6b6428ca>"


def test_every_byte_that_is_lost_or_changed_is_noticed(program):
    data = program.to_bytes()
    for size in range(len(data)):
        with pytest.raises(ValueError, match="program file|must begin"):
            Program.from_bytes(data[:size])
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= 0x10
        with pytest.raises(ValueError, match="program file|must begin"):
            Program.from_bytes(bytes(damaged))


def file(body: bytes, version: int = 2) -> bytes:
    return struct.pack("<8sIIQ", b"CELOSIA\x1a", version, zlib.crc32(body), len(body)) + body


def with_header(header: object, rest: bytes = b"") -> bytes:
    text = json.dumps(header).encode()
    return file(struct.pack("<I", len(text)) + text + rest)


EMPTY = {"name": "", "fingerprint": 1, "instructions": 0, "arena_bytes": 0, "sources": [],
         "buffers": [], "relocations": []}


@pytest.mark.parametrize(("data", "message"), [
    (b"", r"a program file must begin with b'CELOSIA\x1a' at offset 0, not b''"),
    (b"#!/bin/sh", r"a program file must begin with b'CELOSIA\x1a' at offset 0, not b'#!/bin/s'"),
    (b"CELOSIA\x1a\x01", "a program file must have 24 bytes before its body, not end at offset 9"),
    (file(b"", 7), ("program file at offset 8: version must be 2, not 7: make it again with this "
                    "celosia")),
    (file(b"abcd")[:-1], "a program file must end at offset 28, not at 27"),
    (file(b"abcd")[:-1] + b"e", ("program file from offset 24 on: CRC-32 must be 0xed82cd11, not "
                                "0x9a85fd87")),
    (file(b"ab"), "program file at offset 24: the length of the header must have 4 bytes, not 2"),
    (file(b"\x09\0\0\0{}"), "program file at offset 28: the header must have 9 bytes, not 2"),
    (file(b"\x02\0\0\0{]"), ("program file at offset 28: the header must describe a program, but "
     "JSONDecodeError: Expecting property name enclosed in double quotes: line 1 column 2 (char "
     "1)")),
    (with_header([]), ("program file at offset 28: the header must describe a program, but "
                      "TypeError: list indices must be integers or slices, not str")),
    (with_header(EMPTY | {"buffers": [["x", 0, [1], "int4", "input"]]}),
     ("program file at offset 28: the header must describe a program, but ValueError: Buffer.dtype "
     "of x must be one of int8, int32, float32, bfloat16, not 'int4'")),
    (with_header(EMPTY | {"arena_bytes": -1}),
     ("program file at offset 28: the header must describe a program, but ValueError: "
     "Program.arena_bytes must be from 0 to 4294967295, not -1")),
    (with_header(EMPTY | {"instructions": 1}, b"\0" * 31),
     "program file at offset 144: instruction 0 must have 32 bytes, not 31"),
    (with_header(EMPTY | {"instructions": 1}, b"\0" * 32),
     "program file at offset 144: instruction 0: opcode 0x00 is not in the ISA"),
    (with_header(EMPTY | {"buffers": [["x", 0, [1 << 64], "int8", "input"]]}),
     ("program file at offset 28: the header must describe a program, but ValueError: Buffer.shape "
      "of x must hold sizes of at most 4294967295, not [18446744073709551616]")),
    (with_header(EMPTY | {"buffers": [["x", 0, [1 << 31, 1 << 31, 4], "int8", "input"]]}),
     ("program file at offset 28: the header must describe a program, but ValueError: buffer x "
      "must end inside the arena of 0 bytes, not at 18446744073709551616")),
    (with_header(EMPTY | {"buffers": [["x", 0, "12", "int8", "input"]]}),
     ("program file at offset 28: the header must describe a program, but ValueError: Buffer.shape "
      "of x must hold integers, not '12'")),
    (with_header(EMPTY | {"name": 5}),
     ("program file at offset 28: the header must describe a program, but ValueError: "
      "Program.name must be a string, not 5")),
    (with_header(EMPTY | {"sources": ["ab", 3]}),
     ("program file at offset 28: the header must describe a program, but ValueError: a count of "
      "Program.sources must be an integer, not 'b'")),
    (with_header(EMPTY | {"sources": [["a", 1 << 60]]}),
     ("program file at offset 28: the header must describe a program, but ValueError: the counts "
      "of Program.sources must be 1 at least and 0 at most in all, not [1152921504606846976]")),
    (with_header(EMPTY, b"\0"),
     "program file at offset 144: the file must end here, not after 1 more bytes"),
])
def test_what_is_wrong_with_a_file_is_said(data, message):
    with pytest.raises(ValueError, match=exactly(message)):
        Program.from_bytes(data)


def test_header_that_is_nested_too_deeply():
    depth = 200_000
    with pytest.raises(ValueError, match="^program file at offset 28: the header must describe a "
                                         "program, but RecursionError: "):
        Program.from_bytes(file(struct.pack("<I", depth) + b"[" * depth))


def test_load_names_the_file(tmp_path):
    path = tmp_path / "x.bin"
    path.write_bytes(b"MZ")
    with pytest.raises(ValueError, match=exactly(
            rf"{path}: a program file must begin with b'CELOSIA\x1a' at offset 0, not b'MZ'")):
        Program.load(path)


X = Buffer("x", 0, (2,), "int8", "input")
W = Buffer("w", 0, (2,), "int8", "constant")


@pytest.mark.parametrize(("change", "message"), [
    ({"fingerprint": -1}, "Program.fingerprint must be 32 bits unsigned, not -1"),
    ({"name": None}, "Program.name must be a string, not None"),
    ({"fingerprint": 1.0}, "Program.fingerprint must be an integer, not 1.0"),
    ({"fingerprint": True}, "Program.fingerprint must be an integer, not True"),
    ({"arena_bytes": "16"}, "Program.arena_bytes must be an integer, not '16'"),
    ({"sources": ("a", 2)}, "Program.sources[1] must be a string, not 2"),
    ({"relocations": (7,)}, ("Program.relocations must hold pairs (instruction, operand), "
                             "not 7")),
    ({"relocations": ((0, 1.5),)}, ("an operand in Program.relocations must be an integer, "
                                    "not 1.5")),
    ({"arena_bytes": 1 << 32}, "Program.arena_bytes must be from 0 to 4294967295, not 4294967296"),
    ({"sources": ("a",)}, ("Program.sources must be empty or have one text for each of the 2 "
                          "instructions, not 1")),
    ({"buffers": (X, X)}, "Program.buffers must have different names, 'x' is there twice"),
    ({"buffers": (X,), "arena_bytes": 1}, ("buffer x must end inside the arena of 1 bytes, "
                                          "not at 2")),
    ({"buffers": (W,)}, "Program.constants must have the contents of w"),
    ({"buffers": (W,), "constants": {"w": np.zeros(2)}}, ("constant w must be int8[2], "
                                                         "not float64[2]")),
    ({"buffers": (X,), "constants": {"x": np.zeros(2, np.int8)}},
     "Program.constants must have a buffer of kind 'constant' for each name, x has none"),
    ({"relocations": ((2, 0),)}, ("Program.relocations must name an instruction from 0 to 1, "
                                 "not 2")),
    ({"relocations": ((1, 0),)}, ("Program.relocations must name an immediate operand, not operand "
                                 "0 of instruction 1 (halt)")),
    ({"relocations": ((0, 1), (0, 1))}, "Program.relocations must name each operand once"),
])
def test_parts_that_contradict_each_other(change, message):
    with pytest.raises(ValueError, match=exactly(message)):
        Program(**{"fingerprint": 1, "insns": (LOAD, HALT), "arena_bytes": 16} | change)


def test_registers_are_not_relocated():
    load = insn("load", mem="ub", fmt="i8", row=0, addr=Reg(3), rows=2, cols=2)
    with pytest.raises(ValueError, match=exactly(
            "Program.relocations must name an immediate operand, not operand 1 of instruction 0 "
            "(load)")):
        Program(1, (load,), relocations=((0, 1),))


@pytest.mark.parametrize(("arguments", "message"), [
    (("", 0, (), "int8", "input"), "Buffer.name must be a string that is not empty, not ''"),
    (("x", 2, (), "int32", "input"), ("Buffer.offset of x must be a multiple of 4 from 0 on, "
                                     "not 2")),
    (("x", 0, (2, -1), "int32", "input"), ("Buffer.shape of x must hold sizes of at least 0, "
                                          "not (2, -1)")),
    (("x", 4.0, (), "int32", "input"), "Buffer.offset of x must be an integer, not 4.0"),
    (("x", 0, (2.5,), "int32", "input"), ("a size in Buffer.shape of x must be an integer, "
                                         "not 2.5")),
    (("x", 0, 5, "int32", "input"), "Buffer.shape of x must hold integers, not 5"),
    (("x", 0, (), ["int8"], "input"), ("Buffer.dtype of x must be one of int8, int32, float32, "
                                      "bfloat16, not ['int8']")),
    (("x", 0, (), "int32", "in"), ("Buffer.kind of x must be one of input, output, constant, "
                                  "scratch, not 'in'")),
])
def test_wrong_buffers(arguments, message):
    with pytest.raises(ValueError, match=exactly(message)):
        Buffer(*arguments)


def test_constants_are_copied_and_frozen():
    array = np.ones(2, np.int8)
    program = Program(1, (HALT,), arena_bytes=2, buffers=(W,), constants={"w": array})
    array[0] = 9
    assert program.constants["w"].tolist() == [1, 1]
    with pytest.raises(ValueError, match="read-only"):
        program.constants["w"][0] = 1
    assert program.buffer("w") is W
    assert program.inputs == program.outputs == ()


@pytest.mark.parametrize(("change", "message"), [
    ({"fingerprint": 0}, None), ({"fingerprint": (1 << 32) - 1}, None),
    ({"fingerprint": 1 << 32}, "Program.fingerprint must be 32 bits unsigned, not 4294967296"),
    ({"arena_bytes": 0}, None), ({"arena_bytes": (1 << 32) - 1}, None),
    ({"arena_bytes": -1}, "Program.arena_bytes must be from 0 to 4294967295, not -1"),
    ({"sources": "ab"}, "Program.sources must hold strings, not be 'ab'"),
    ({"sources": ("a", "b", "c")}, ("Program.sources must be empty or have one text for each of "
                                    "the 2 instructions, not 3")),
    ({"sources": ["a", "b"]}, None),
    ({"relocations": ((0, 1),)}, None),
    ({"relocations": ((-1, 1),)}, ("Program.relocations must name an instruction from 0 to 1, "
                                   "not -1")),
    ({"relocations": ((0, -1),)}, ("Program.relocations must name an immediate operand, not "
                                   "operand -1 of instruction 0 (load)")),
    ({"relocations": ((0, len(LOAD.operands)),)}, (
        f"Program.relocations must name an immediate operand, not operand {len(LOAD.operands)} of "
        "instruction 0 (load)")),
    ({"buffers": (X,), "arena_bytes": 2}, None),
    ({"buffers": (W,), "constants": {"w": np.zeros(2, np.int8)}}, None),
    ({"buffers": (W,), "constants": {"w": np.zeros(3, np.int8)}}, ("constant w must be int8[2], "
                                                                  "not int8[3]")),
    ({"buffers": (W,), "constants": {"w": np.zeros(2, np.int32)}}, ("constant w must be int8[2], "
                                                                   "not int32[2]")),
    ({"constants": {"b": np.zeros(2), "a": np.zeros(1)}},
     "Program.constants must have a buffer of kind 'constant' for each name, a, b has none"),
], ids=str)
def test_the_least_and_the_most_of_each_part(change, message):
    arguments = {"fingerprint": 1, "insns": (LOAD, HALT), "arena_bytes": 16} | change
    if message is None:
        made = Program(**arguments)
        assert all(isinstance(getattr(made, name), tuple)
                   for name in ("insns", "sources", "buffers", "relocations"))
        return
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the whole message is compared
        Program(**arguments)
    assert str(caught.value) == message


def test_buffers_are_found_by_name():
    y = Buffer("y", 4, (2,), "int8", "output")
    made = Program(1, (HALT,), "net", arena_bytes=8, buffers=(X, y))
    assert (made.buffer("y"), made.inputs, made.outputs) == (y, (X,), (y,))
    with pytest.raises(ValueError, match=exactly("buffer of net must be one of x, y, not 'z'")):
        made.buffer("z")
    with pytest.raises(ValueError, match=exactly(
            "buffer of the program must be one of (there are none), not 'z'")):
        Program(1, (HALT,)).buffer("z")


def test_programs_are_equal_where_all_of_them_is():
    one = Program(1, (LOAD, HALT), arena_bytes=16)
    assert one == Program(1, (LOAD, HALT), arena_bytes=16)
    assert hash(one) == hash(Program(1, (LOAD, HALT), arena_bytes=16))
    assert one != Program(1, (LOAD, HALT), arena_bytes=17)
    assert one != 5
    assert repr(one) == ("<Program without a name: 2 instructions, 16 bytes of memory, for chip "
                         "0x00000001>")
    assert repr(Program(1, (HALT,), "net")).startswith("<Program net: 1 instructions, 0 bytes ")
