"""Programs as text, word by word: that it assembles to what it was is in test_round_trip.py."""

import ml_dtypes
import numpy as np
import pytest

from celosia.arch.config import preset
from celosia.arch.encoding import Reg, insn
from celosia.program import Buffer, Program
from celosia.program.asm import assemble, disassemble, format_insn

CORE = preset("core")


def vector(**values):
    return insn("vector", **{"op": "imax", "dst_kind": "acc", "a_kind": "acc", "b_kind": "scalar",
                             "dst": 0, "a": 0, "n0": 4, **values})


def move(value):
    return insn("mov", rd=1, a=value)


def load(value):
    return insn("load", mem="ub", fmt="i8", row=value, addr=value, rows=1, cols=4, pitch=value)


TEXTS = [
    # Numbers of 16 bits are decimal, and so are small negative ones; addresses never are.
    (move(0), "mov     r1, 0"), (move(0xFFFF), "mov     r1, 65535"),
    (move(0x10000), "mov     r1, 0x10000"), (move(0xFFFF7FFF), "mov     r1, 0xffff7fff"),
    (move(0xFFFF8000), "mov     r1, -32768"), (move(0xFFFFFFFF), "mov     r1, -1"),
    (load(0), "load    ub[0], 0x0, fmt=i8, rows=1, cols=4"),
    (load(0xFFFF), "load    ub[65535], 0xffff, fmt=i8, rows=1, cols=4, pitch=65535"),
    (load(0x10000), "load    ub[0x10000], 0x10000, fmt=i8, rows=1, cols=4, pitch=0x10000"),
    (insn("jump", target=70000), "jump    0x11170"), (insn("loop", count=3, end=9), "loop    3, 9"),
    # What is as it is left out is left out, where nothing follows.
    (insn("add", rd=31, a=Reg(2), b=Reg(30)), "add     r31, r2, r30"),
    (insn("stride", x=3, s0=1), "stride  x3, 1"),
    (insn("stride", x=3, s0=1, s1=2), "stride  x3, 1, 2"),
    (insn("stride", x=3, s0=1, s2=7), "stride  x3, 1, 0, 7"),
    (insn("read", rd=2, row=5), "read    r2, acc[5]"),
    (insn("load", mem="acc", fmt="w32", row=0, addr=64, rows=2, cols=9, pitch=36, row_step=3,
          group_step=1),
     "load    acc[0], 0x40, fmt=w32, rows=2, cols=9, pitch=36, row_step=3, group_step=1"),
    (insn("load", mem="acc", fmt="w32", row=0, addr=Reg(1), shape=Reg(2)),
     "load    acc[0], r1, fmt=w32, shape=r2"),
    (insn("matmul", fmt="int8", acc=0, acts=1, w=2, n0=4, wrows=4),
     "matmul  acc[0], ub[1], ub[2], fmt=int8, n0=4, wrows=4"),
    (insn("matmul", fmt="bf16", acc=0, acts=1, n0=4, wload=0, accumulate=1, n2=3),
     "matmul  acc[0], ub[1], fmt=bf16, accumulate, wload=0, n0=4, n2=3"),
    (insn("matmul", fmt="int8", acc=0, acts=1, w=2, n0=4, n1=2, wrows=4, transpose=1, xacc=1,
          xacts=2, xw=3),
     "matmul  acc[0, x1], ub[1, x2], ub[2, x3], fmt=int8, transpose, n0=4, n1=2, wrows=4"),
    (vector(), "vector  imax, acc[0], acc[0], scalar[0], n0=4"),
    (vector(b=0xFFFFFFFF), "vector  imax, acc[0], acc[0], scalar[0xffffffff], n0=4"),
    (vector(b_kind="acc_lane", b=5 | 3 << 24, xb=2),
     "vector  imax, acc[0], acc[0], acc_lane[5, x2, lane=3], n0=4"),
    (vector(n1=2, n2=3, xdst=1, xa=2),
     "vector  imax, acc[0, x1], acc[0, x2], scalar[0], n2=3, n0=4, n1=2"),
    (vector(reduce="rows", reduce_op="sum_i"),
     "vector  imax, acc[0], acc[0], scalar[0], reduce=rows, reduce_op=sum_i, n0=4"),
    (vector(reduce_op="max_i"), "vector  imax, acc[0], acc[0], scalar[0], reduce_op=max_i, n0=4"),
    # What `param` means is that of the operation and its second stage.
    (vector(post="clamp_i", param=0x7FFF8000),
     "vector  imax, acc[0], acc[0], scalar[0], post=clamp_i, n0=4, param=pair(-32768, 32767)"),
    (vector(post="clamp_f", param=0x3F80BF80),
     ("vector  imax, acc[0], acc[0], scalar[0], post=clamp_f, n0=4, "
      "param=pair(bf16(-1.0), bf16(1.0))")),
    (vector(post="clamp_f", param=0x7F80BF80),
     "vector  imax, acc[0], acc[0], scalar[0], post=clamp_f, n0=4, param=0x7f80bf80"),
    (vector(op="requant", zp=-3, lo=-128, hi=127, b=9),
     "vector  requant, acc[0], acc[0], scalar[9], n0=4, zp=-3, lo=-128, hi=127"),
    (vector(op="gather", b_kind="acc", b=9, param=0xFFFF),
     "vector  gather, acc[0], acc[0], acc[9], n0=4, param=65535"),
    (vector(op="gather", b_kind="acc", b=9, param=0x10000),
     "vector  gather, acc[0], acc[0], acc[9], n0=4, param=0x10000"),
    (vector(param=7), "vector  imax, acc[0], acc[0], scalar[0], n0=4, param=0x7"),
]


@pytest.mark.parametrize(("item", "text"), TEXTS, ids=[text for _, text in TEXTS])
def test_instructions(item, text):
    assert format_insn(item) == text
    assert assemble(text, CORE).insns == (item,)


def test_a_program_has_its_buffers_labels_and_sources():
    insns = (insn("loop", count=2, end=3), insn("load", mem="ub", fmt="i8", row=0, addr=66, rows=1,
                                                cols=1),
             insn("load", mem="ub", fmt="i8", row=0, addr=64, rows=1, cols=1),
             insn("load", mem="ub", fmt="i8", row=0, addr=105, rows=1, cols=1),
             insn("jump", target=6), insn("load", mem="ub", fmt="i8", row=0, addr=64, rows=1,
                                          cols=1))
    program = Program(
        CORE.fingerprint, insns, "two words", ("a", "a", "b", "b", "", ""), 256, (
            Buffer("w.1", 0, (17,), "int8", "constant"),
            Buffer("a b", 64, (2, 4), "int32", "input"),
            Buffer("inf", 128, (33,), "bfloat16", "constant"),
            Buffer("none", 192, (4,), "float32", "constant"),
            Buffer("empty", 96, (0,), "int8", "output")),
        {"w.1": np.arange(17, dtype=np.int8) - 1, "none": np.zeros(4, np.float32),
         "inf": np.array([np.inf] + [1] * 32, ml_dtypes.bfloat16)},
        ((1, 1), (2, 1), (3, 1)))
    halves = "803f" * 15
    assert disassemble(program).splitlines() == [
        "        .chip core", '        .name "two words"', "        .arena 256",
        "        .buffer w.1, int8[17], constant, 0x0",
        "        .data w.1, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14",
        "        .data w.1, 15",
        '        .buffer "a b", int32[2, 4], input, 0x40',
        "        .buffer inf, bfloat16[33], constant, 0x80",
        f'        .bytes inf, "807f{halves}"', f'        .bytes inf, "803f{halves}"',
        '        .bytes inf, "803f"',
        "        .buffer none, float32[4], constant, 0xc0",
        "        .buffer empty, int8[0], output, 0x60",
        '        .source "a"',
        "        loop    2, L3",
        '        load    ub[0], @"a b" + 0x2, fmt=i8, rows=1, cols=1',
        '        .source "b"',
        '        load    ub[0], @"a b", fmt=i8, rows=1, cols=1',
        "L3:     load    ub[0], @0x69, fmt=i8, rows=1, cols=1",
        '        .source ""',
        "        jump    L6",
        "        load    ub[0], 0x40, fmt=i8, rows=1, cols=1",
        "L6:"]
