"""Every fault with its cause, FAULT_PC and FAULT_ADDR, in the order of docs/chip.md."""

import numpy as np
import pytest

from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Insn, Reg, encode, insn
from celosia.arch.faults import Fault
from celosia.arch.registers import Status
from celosia.model import Machine, ModelResult, PlainMachine
from celosia_sim.randprog import random_faulting_program

BOTH = TpuConfig("both", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=32, bus_bytes=8)
INT8 = TpuConfig("int8", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=32, bus_bytes=8)
BF16 = TpuConfig("bf16", dim=4, int8=False, bf16=True, ub_rows=64, acc_rows=32, bus_bytes=8)
PROGRAM = 0x1000
WINDOWS = ((0x8000, 0x8FFF), (1, 0), (0xFFFFFF00, 0xFFFFFFFF), (0xA000, 0xA01F))
HALT = insn("halt")


def run(*insns: Insn | bytes, config: TpuConfig = BOTH, machine: Machine | None = None,
        watchdog: int = 0) -> ModelResult:
    machine = Machine(config) if machine is None else machine
    code = b"".join(i if isinstance(i, bytes) else encode(i) for i in insns)
    machine.memory.write(PROGRAM, code)
    return machine.run(PROGRAM, len(code) // 32, WINDOWS, watchdog=watchdog,
                       max_instructions=100_000)


def fault(*insns: Insn | bytes, config: TpuConfig = BOTH, **options) -> tuple[Fault, int, int]:
    """Cause, pc and address of a program that faults."""
    result = run(*insns, config=config, **options)
    assert result.status == Status.FAULTED
    return result.cause, result.pc, result.addr


def with_header(code: bytes, lsb: int, width: int, value: int) -> bytes:
    header = int.from_bytes(code[:8], "little")
    header = header & ~((1 << width) - 1 << lsb) | value << lsb
    return header.to_bytes(8, "little") + code[8:]


def load(**changes) -> Insn:
    return insn("load", **({"mem": "ub", "fmt": "i8", "row": 0, "addr": 0x8000, "rows": 1,
                            "cols": 4} | changes))


SHAPELESS = insn("load", fmt="i8", row=0, addr=0x8000, shape=Reg(0))


def matmul(**changes) -> Insn:
    return insn("matmul", **({"acc": 0, "acts": 0, "w": 8, "n0": 1, "wrows": 4} | changes))


def vector(**changes) -> Insn:
    return insn("vector", **({"op": "mov", "dst_kind": "acc", "a_kind": "scalar", "dst": 0,
                              "a": 0, "n0": 1} | changes))


def gather(**changes) -> Insn:
    """A gather of one row: table at 8, index at 20."""
    return vector(**({"op": "gather", "a_kind": "acc", "a": 8, "b_kind": "acc", "b": 20,
                      "param": 4} | changes))


def test_done():
    result = run(insn("nop"), HALT)
    assert (result.status, result.cause, result.pc, result.addr, result.instructions) == (
        Status.DONE, Fault.NONE, 1, 0, 2)


def test_pc_range():
    assert fault(insn("nop")) == (Fault.PC_RANGE, 1, 1)
    assert fault(insn("jump", target=77), HALT) == (Fault.PC_RANGE, 77, 77)
    assert fault(insn("loop", count=0, end=0xFFFFFFFF)) == (
        Fault.PC_RANGE, 0xFFFFFFFF, 0xFFFFFFFF)
    machine = Machine(BOTH)
    assert machine.run(PROGRAM, 0).cause == Fault.PC_RANGE


def test_illegal_opcode():
    assert fault(insn("nop"), bytes(32)) == (Fault.ILLEGAL_OPCODE, 1, 0)
    assert fault(b"\xff" * 32) == (Fault.ILLEGAL_OPCODE, 0, 0x3F)


ILLEGAL = {
    "reserved header bit": with_header(encode(HALT), 12, 1, 1),
    "mask of an unused operand": with_header(encode(insn("mov", rd=1, a=0)), 7, 1, 1),
    "unused operand": encode(HALT)[:28] + b"\1\0\0\0",
    "register 32": with_header(encode(insn("mov", rd=1, a=32)), 6, 1, 1),
    "dma format": with_header(encode(load()), 13, 2, 3),
    "vector operation": with_header(encode(vector()), 12, 6, 7),
    "floating-point operation": with_header(encode(vector()), 12, 6, 48),
    "second stage": with_header(encode(vector()), 18, 4, 15),
    "destination": with_header(encode(vector()), 22, 3, 3),
    "stride x0": insn("stride", x=0, s0=1),
    "no source": vector(a_kind="none"),
    "second source of one": vector(b_kind="scalar"),
    "third source of two": vector(op="iadd", b_kind="scalar", c_kind="scalar"),
    "missing second source": vector(op="iadd"),
    "operand of no source": vector(b=1),
    "register of no source": vector(b=Reg(0)),
    "stride of a value": vector(xa=1),
    "stride of a row": vector(a_kind="acc_row", xa=1),
    "three streams": vector(op="requant", a_kind="acc", b_kind="acc", c_kind="acc", a=4, b=4, c=4),
    "param without use": vector(param=1),
    "param from a register": vector(param=Reg(0)),
    "join of no reduction": vector(reduce_op="max_i"),
    "stride of a lane of a row": vector(a_kind="acc_lane_row", xa=1),
    "stride of a lane index": vector(a_kind="lane_index", xa=1),
    "stride of a row index": vector(a_kind="row_index", xa=1),
    "three streams, one of lanes": vector(op="select", a_kind="acc", b_kind="acc_lane",
                                          c_kind="ub_i8", a=4, b=4, c=4),
    "transpose of a row": vector(op="transpose", a_kind="acc_row", n0=4),
    "transpose of lanes": vector(op="transpose", a_kind="acc_lane", a=8, n0=4),
    "transpose of two": vector(op="transpose", a_kind="acc", a=8, n0=4, b_kind="scalar"),
    "rotate by a row": vector(op="rotate", a_kind="acc", a=8, b_kind="acc_row"),
    "rotate of a scalar": vector(op="rotate", b_kind="scalar"),
    "rotate of lanes": vector(op="rotate", a_kind="acc_lane", a=8, b_kind="scalar"),
    "rotate without amount": vector(op="rotate", a_kind="acc", a=8),
    "gather with a stride": gather(xa=1),
    "gather by int8": gather(b_kind="ub_i8"),
    "gather by one row": gather(b_kind="acc_row"),
    "gather by a lane": gather(b_kind="acc_lane"),
    "gather from a row": gather(a_kind="acc_row"),
    "gather from lanes": gather(a_kind="acc_lane"),
    "gather from a value": gather(a_kind="scalar"),
    "gather, clamped": gather(post="clamp_i"),
    "gather, clamped as floats": gather(post="clamp_f"),
    "scatter with a stride": gather(op="scatter", xdst=1),
    "scatter by int8": gather(op="scatter", b_kind="ub_i8"),
    "scatter of a value": gather(op="scatter", a_kind="scalar"),
    "scatter, clamped": gather(op="scatter", post="clamp_i"),
    "scatter, reduced over rows": gather(op="scatter", reduce="rows"),
    "scatter, reduced over lanes": gather(op="scatter", reduce="lanes"),
    "second stage of requant": vector(op="requant", b_kind="scalar", c_kind="scalar",
                                      post="relu_i"),
    "quotient without numerator": vector(post="div"),
    "numerator without quotient": vector(c_kind="scalar"),
    "quotient whose numerator is b": vector(post="div", b_kind="scalar"),
    "quotient of three streams": vector(op="fadd", post="div", a_kind="acc", b_kind="acc",
                                        c_kind="acc", a=4, b=4, c=4),
    "quotient behind a multiply-add": vector(op="ffma", post="div", b_kind="scalar",
                                             c_kind="scalar"),
    "quotient behind a choice": vector(op="select", post="div", b_kind="scalar", c_kind="scalar"),
    "quotient behind requant": vector(op="requant", post="div", b_kind="scalar", c_kind="scalar"),
    "quotient of transposed rows": vector(op="transpose", post="div", a_kind="acc", a=8, n0=4,
                                          c_kind="scalar"),
    "w of a kept tile": matmul(wload=0, wrows=0),
    "wrows of a kept tile": matmul(wload=0, w=0),
    "wrows register of a kept tile": matmul(wload=0, w=0, wrows=Reg(0)),
    "xw of a kept tile": matmul(wload=0, w=0, wrows=0, xw=1),
    "transpose of a kept tile": matmul(wload=0, w=0, wrows=0, transpose=1),
    "no tile to keep": matmul(wload=0, w=0, wrows=0),
}


@pytest.mark.parametrize("code", ILLEGAL.values(), ids=ILLEGAL)
def test_illegal_field(code):
    first = matmul() if code is not ILLEGAL["no tile to keep"] else insn("nop")
    assert fault(first, code, HALT) == (Fault.ILLEGAL_FIELD, 1, 0)


@pytest.mark.parametrize(("config", "code"), [
    (INT8, load(fmt="bf16")), (INT8, load(fmt="w32")), (INT8, load(mem="acc", fmt="bf16")),
    (BF16, load(fmt="i8")), (BF16, load(mem="acc", fmt="i8")), (INT8, matmul(fmt="bf16")),
    (BF16, matmul(fmt="int8")), (INT8, vector(op="fadd", b_kind="scalar")),
    (INT8, vector(op="i2f")), (INT8, vector(post="f2i")), (INT8, vector(post="relu_f")),
    (INT8, vector(post="clamp_f")), (INT8, vector(dst_kind="ub_bf16")),
    (INT8, vector(a_kind="ub_bf16")), (INT8, vector(a_kind="ub_bf16_row")),
    (BF16, vector(dst_kind="ub_i8")), (BF16, vector(a_kind="ub_i8")),
    (BF16, vector(a_kind="ub_i8_row")), (INT8, vector(op="fabs")), (INT8, vector(op="isfinite")),
    (INT8, vector(op="feq", b_kind="scalar")), (INT8, vector(post="exp2")),
    (INT8, vector(post="square")), (INT8, vector(post="f2i_trunc")),
    (INT8, vector(reduce="rows", reduce_op="sum_f")),
    (INT8, vector(reduce="lanes", reduce_op="min_f")), (INT8, vector(a_kind="ub_bf16_lane")),
    (INT8, vector(a_kind="ub_bf16_lane_row")), (BF16, vector(a_kind="ub_i8_lane")),
    (BF16, vector(a_kind="ub_i8_lane_row")),
])
def test_format_that_the_chip_lacks(config, code):
    assert fault(code, HALT, config=config) == (Fault.ILLEGAL_FIELD, 0, 0)
    assert run(code, HALT, config=BOTH).cause == Fault.NONE


@pytest.mark.parametrize(("config", "code"), [
    (INT8, load(mem="acc", fmt="w32")), (BF16, load(mem="acc", fmt="w32")), (BF16, load(fmt="w32")),
    (BF16, vector(op="requant", b_kind="scalar", c_kind="scalar", param=0xFFFFFFFF)),
    (INT8, vector(post="clamp_i", param=Reg(3))), (INT8, gather()), (INT8, gather(op="scatter")),
    (INT8, vector(op="transpose", a_kind="acc", a=8, n0=4)), (INT8, gather(post="relu_i")),
    (INT8, gather(reduce="rows", reduce_op="or")), (INT8, vector(a_kind="lane_index")),
    (INT8, vector(a_kind="row_index", reduce="collect", reduce_op="min_i")),
    (BF16, gather(op="scatter", post="square", a_kind="ub_bf16", xa=3)),
    (BF16, gather(post="exp2", reduce="collect", reduce_op="sum_f", xb=2)),
    (BF16, vector(op="rotate", a_kind="acc", a=8, b_kind="scalar", b=0xFFFFFFFF)),
])
def test_format_that_every_chip_has(config, code):
    assert run(code, HALT, config=config).cause == Fault.NONE


@pytest.mark.parametrize("code", [
    load(rows=0), load(cols=0), SHAPELESS, matmul(n0=0), matmul(n0=1, n1=0),
    matmul(n2=0), matmul(n2=65536), matmul(wrows=0), matmul(wrows=5), matmul(wrows=Reg(0)),
    vector(n0=0), vector(n0=1, n1=0), vector(n2=0), gather(param=0), gather(param=65536),
    gather(param=Reg(0)), gather(n0=5), gather(op="scatter", param=0), gather(op="scatter", n0=5),
    vector(op="transpose", a_kind="acc", a=8, n0=1), vector(op="transpose", a_kind="acc", n0=6),
    vector(reduce="collect", n0=5), vector(reduce="collect", n0=65535, n1=65535),
])
def test_illegal_count(code):
    assert fault(code, HALT) == (Fault.ILLEGAL_COUNT, 0, 0)


def test_loop_depth():
    loops = [insn("loop", count=1, end=20 - i) for i in range(5)]
    assert fault(*loops, *[insn("nop")] * 20) == (Fault.LOOP_DEPTH, 4, 0)
    skipped = [*loops[:4], insn("loop", count=0, end=6), HALT, HALT]
    assert run(*skipped).cause == Fault.NONE
    empty = [*loops[:4], insn("loop", count=9, end=5), HALT]
    assert run(*empty).cause == Fault.NONE


def test_misaligned():
    assert fault(load(fmt="bf16", addr=0x8001)) == (Fault.MISALIGNED, 0, 0x8001)
    assert fault(load(fmt="w32", addr=0x8002)) == (Fault.MISALIGNED, 0, 0x8002)
    assert fault(load(fmt="w32", pitch=2)) == (Fault.MISALIGNED, 0, 0x8000)
    assert run(load(fmt="i8", addr=0x8001, pitch=3), HALT).cause == Fault.NONE


def test_ranges_of_transfers():
    assert fault(load(row=64)) == (Fault.UB_RANGE, 0, 64)
    assert fault(load(mem="acc", row=32)) == (Fault.ACC_RANGE, 0, 32)
    steps = {"rows": 3, "cols": 9, "pitch": 9, "row_step": 5, "group_step": 7}
    assert run(load(row=63 - 24, **steps), HALT).cause == Fault.NONE
    assert fault(load(row=64 - 24, **steps), HALT) == (Fault.UB_RANGE, 0, 64)
    assert fault(load(row=0xFFFFFFFF, rows=2)) == (Fault.UB_RANGE, 0, 0)


def test_ranges_of_matmuls():
    assert fault(matmul(acc=31, n0=2)) == (Fault.ACC_RANGE, 0, 32)
    assert fault(matmul(acts=62, n0=3)) == (Fault.UB_RANGE, 0, 64)
    assert fault(matmul(w=61)) == (Fault.UB_RANGE, 0, 64)
    assert fault(matmul(acc=32, acts=64, w=64)) == (Fault.ACC_RANGE, 0, 32)
    assert fault(matmul(acts=99, w=64)) == (Fault.UB_RANGE, 0, 99)
    stride = insn("stride", x=1, s0=10, s1=3, s2=100)
    walk = {"n0": 3, "n1": 4, "n2": 1}
    assert fault(stride, matmul(acc=3, xacc=1, **walk)) == (Fault.ACC_RANGE, 1, 32)
    assert run(stride, matmul(acc=2, xacc=1, **walk), HALT).cause == Fault.NONE
    assert fault(stride, matmul(w=40, xw=1)) == (Fault.UB_RANGE, 1, 70)
    huge = {"n0": 65535, "n1": 65535, "n2": 65535}
    assert fault(matmul(acc=1, **huge)) == (Fault.ACC_RANGE, 0, 65535**3 & 0xFFFFFFFF)


def test_ranges_of_vectors():
    assert fault(vector(dst=30, n0=3)) == (Fault.ACC_RANGE, 0, 32)
    assert fault(vector(dst_kind="ub_i8", dst=64)) == (Fault.UB_RANGE, 0, 64)
    assert fault(vector(a_kind="acc_row", a=32)) == (Fault.ACC_RANGE, 0, 32)
    assert run(vector(a_kind="acc_row", a=31, n0=2), HALT).cause == Fault.NONE
    assert fault(vector(op="iadd", a_kind="ub_i8", b_kind="acc", a=64, b=40)) == (
        Fault.UB_RANGE, 0, 64)


def test_index_range_of_lanes():
    assert fault(vector(a_kind="acc_lane", a=8 | 4 << 24)) == (Fault.INDEX_RANGE, 0, 4)
    assert fault(vector(a_kind="ub_i8_lane_row", a=8 | 255 << 24)) == (Fault.INDEX_RANGE, 0, 255)
    three = {"op": "select", "a_kind": "acc_lane_row", "b_kind": "ub_i8_lane", "c_kind":
             "ub_bf16_lane", "a": 5 << 24, "b": 6 << 24, "c": 7 << 24}
    assert fault(vector(**three)) == (Fault.INDEX_RANGE, 0, 5)
    assert fault(vector(**three | {"a": 3 << 24})) == (Fault.INDEX_RANGE, 0, 6)
    assert fault(vector(**three | {"a": 0, "b": 0})) == (Fault.INDEX_RANGE, 0, 7)
    assert run(vector(**three | {"a": 0, "b": 0, "c": 0}), HALT).cause == Fault.NONE
    assert run(vector(a_kind="scalar", a=0xFF000000), HALT).cause == Fault.NONE
    # The row is what is below the lane.
    assert fault(vector(a_kind="acc_lane", a=32 | 3 << 24)) == (Fault.ACC_RANGE, 0, 32)
    assert fault(vector(a_kind="acc_lane", a=0xFFFFFF)) == (Fault.ACC_RANGE, 0, 0xFFFFFF)
    assert fault(vector(a_kind="ub_bf16_lane_row", a=64)) == (Fault.UB_RANGE, 0, 64)


def test_read():
    machine = Machine(BOTH)
    machine.acc[31] = [5, 6, 7, 0xFFFFFFFF]
    add = insn("mov", rd=2, a=31)
    read = insn("read", rd=1, row=Reg(2), lane=3)
    assert run(add, read, vector(a=Reg(1), dst=3), HALT, machine=machine).cause == Fault.NONE
    assert machine.acc[3].tolist() == [0xFFFFFFFF] * 4
    assert fault(insn("read", rd=1, row=32, lane=4)) == (Fault.ACC_RANGE, 0, 32)
    assert fault(insn("read", rd=1, row=31, lane=4)) == (Fault.INDEX_RANGE, 0, 4)
    assert fault(insn("read", rd=1, row=0, lane=0x1000000)) == (Fault.INDEX_RANGE, 0, 0x1000000)


def test_ranges_of_tables():
    assert fault(gather(a=29)) == (Fault.ACC_RANGE, 0, 32)
    assert fault(gather(a_kind="ub_i8", a=1, param=65535)) == (Fault.UB_RANGE, 0, 65535)
    assert fault(gather(b=31, n1=2)) == (Fault.ACC_RANGE, 0, 32)
    assert fault(gather(b=32, a=32, dst=32)) == (Fault.ACC_RANGE, 0, 32)
    assert run(gather(dst=0, a=28, b=24, n0=4, n1=2), HALT).cause == Fault.NONE
    scatter = {"op": "scatter", "dst": 0, "n0": 4}
    assert fault(gather(**scatter, param=33)) == (Fault.ACC_RANGE, 0, 32)
    assert fault(gather(**scatter, dst_kind="ub_i8", param=65)) == (Fault.UB_RANGE, 0, 64)
    assert fault(gather(**scatter, a=29)) == (Fault.ACC_RANGE, 0, 32)
    # One destination row for each group.
    reduced = {"a_kind": "scalar", "n0": 4, "n1": 2, "reduce_op": "sum_i"}
    for reduce in ("rows", "collect"):
        assert run(vector(dst=30, reduce=reduce, **reduced), HALT).cause == Fault.NONE
        assert fault(vector(dst=31, reduce=reduce, **reduced)) == (Fault.ACC_RANGE, 0, 32)
    assert fault(vector(dst=30, reduce="lanes", **reduced)) == (Fault.ACC_RANGE, 0, 37)


@pytest.mark.parametrize("op", ["gather", "scatter"])
def test_bad_index(op):
    """What else the instruction does is done; the first bad index is told."""
    machine = Machine(BOTH)
    machine.acc[20], machine.acc[21] = [1, 9, 0, 4], [3, 0xFFFFFFFF, 2, 9]
    machine.acc[8:16] = np.arange(1, 33).reshape(8, 4)
    machine.acc[:8] = 77
    before = machine.acc.copy()
    wanted = before.copy()
    if op == "gather":
        wanted[:8] = [before[9], [0] * 4, before[8], [0] * 4, before[11], [0] * 4, before[10],
                      [0] * 4]
    else:
        wanted[[1, 0, 3, 2]] = before[[8, 10, 12, 14]]
    assert fault(gather(op=op, n0=4, n1=2), HALT, machine=machine) == (Fault.INDEX_RANGE, 0, 9)
    assert (machine.acc == wanted).all()


def test_rows_of_bad_indices_go_through_the_rest():
    machine = Machine(BOTH)
    machine.acc[20] = [4, 4, 4, 4]
    assert fault(gather(post="exp2", reduce="rows", reduce_op="sum_f", n0=4),
                 machine=machine) == (Fault.INDEX_RANGE, 0, 4)
    assert machine.acc[0].tolist() == [0x40800000] * 4  # 2**0, four times


@pytest.mark.parametrize(("changes", "ok"), [
    ({"addr": 0x7FFF}, False), ({"addr": 0x8FFC}, True), ({"addr": 0x8FFD}, False),
    ({"addr": 0x8FF0, "rows": 4, "pitch": 4}, True),
    ({"addr": 0x8FF0, "rows": 5, "pitch": 4}, False),
    ({"addr": 0xFFFFFFFC}, True), ({"addr": 0xFFFFFFFD}, False),
    ({"addr": 0x8000, "rows": 2, "pitch": 0xFFFFFFFF}, False),
    ({"addr": 0x9000}, False), ({"addr": 0xA000, "cols": 32}, True),
    ({"addr": 1, "cols": 1}, False),
])
def test_window(changes, ok):
    for name in ("load", "store"):
        insn_ = insn(name, **({"mem": "ub", "fmt": "i8", "row": 0, "rows": 1, "cols": 4} | changes))
        result = run(insn_, HALT)
        expected = (Fault.NONE, 1, 0) if ok else (Fault.WINDOW, 0, changes["addr"])
        assert (result.cause, result.pc, result.addr) == expected


@pytest.mark.parametrize(("changes", "ok"), [
    ({"dst": 0, "a": 0, "n0": 4}, True),
    ({"dst": 1, "a": 0, "n0": 4}, False),
    ({"dst": 0, "a": 3, "n0": 4}, False),
    ({"dst": 4, "a": 0, "n0": 4}, True),
    ({"dst": 2, "a": 2, "n0": 4, "xdst": 1, "xa": 2}, True),
    ({"dst": 2, "a": 2, "n0": 4, "xdst": 1, "xa": 3}, False),
    ({"dst": 2, "a": 2, "n0": 4, "xdst": 4, "xa": 4}, False),
    ({"dst": 2, "a": 2, "n0": 4, "xdst": 0, "xa": 5}, True),
    ({"dst": 2, "a": 2, "n0": 2, "n1": 2}, False),
    ({"dst": 2, "a": 2, "n0": 2, "n2": 2}, False),
    ({"dst": 2, "a": 1, "n0": 4, "xdst": 1, "xa": 1}, False),
    ({"dst": 2, "a": 2, "n0": 4, "a_kind": "acc_row"}, True),
    ({"dst": 2, "a": 2, "n0": 4, "dst_kind": "ub_i8"}, True),
    ({"dst": 2, "a": 2 | 3 << 24, "n0": 4, "a_kind": "acc_lane"}, True),
    ({"dst": 2, "a": 1 | 3 << 24, "n0": 4, "a_kind": "acc_lane"}, False),
    ({"dst": 2, "a": 3 | 3 << 24, "n0": 4, "a_kind": "acc_lane_row"}, True),
    ({"dst": 2, "a": 2, "n0": 4, "reduce": "lanes"}, True),
    ({"dst": 2, "a": 2, "n0": 4, "reduce": "rows"}, False),
    ({"dst": 5, "a": 2, "n0": 4, "reduce": "rows"}, False),
    ({"dst": 6, "a": 2, "n0": 4, "reduce": "rows"}, True),
    ({"dst": 2, "a": 2, "n0": 1, "reduce": "collect"}, False),
    ({"dst": 2, "a": 2, "n0": 4, "op": "transpose"}, True),
    ({"dst": 2, "a": 2, "n0": 4, "op": "rotate", "b_kind": "scalar"}, True),
    ({"dst": 3, "a": 2, "n0": 4, "op": "rotate", "b_kind": "scalar"}, False),
    ({"dst": 0, "op": "gather", "a": 4, "param": 4, "b_kind": "acc", "b": 8, "n0": 4}, True),
    ({"dst": 1, "op": "gather", "a": 4, "param": 4, "b_kind": "acc", "b": 8, "n0": 4}, False),
    ({"dst": 4, "op": "gather", "a": 4, "param": 4, "b_kind": "acc", "b": 8, "n0": 4}, False),
    ({"dst": 5, "op": "gather", "a": 1, "param": 4, "b_kind": "acc", "b": 8, "n0": 4}, False),
    ({"dst": 0, "op": "scatter", "a": 4, "param": 4, "b_kind": "acc", "b": 8, "n0": 4}, True),
    ({"dst": 0, "op": "scatter", "a": 4, "param": 5, "b_kind": "acc", "b": 8, "n0": 4}, False),
    ({"dst": 0, "op": "scatter", "a": 12, "param": 9, "b_kind": "acc", "b": 8, "n0": 4}, False),
])
def test_overlap(changes, ok):
    strides = [insn("stride", x=1, s0=2), insn("stride", x=2, s0=2, s1=9),
               insn("stride", x=3, s0=3), insn("stride", x=4, s0=0), insn("stride", x=5, s0=1)]
    result = run(*strides, vector(**({"a_kind": "acc"} | changes)), HALT)
    expected = (Fault.NONE, 6, 0) if ok else (Fault.OVERLAP, 5, changes["dst"])
    assert (result.cause, result.pc, result.addr) == expected


def test_order_of_checks():
    assert fault(load(fmt="w32", rows=0, row=99, addr=1)) == (Fault.ILLEGAL_COUNT, 0, 0)
    assert fault(load(fmt="w32", row=99, addr=1)) == (Fault.MISALIGNED, 0, 1)
    assert fault(load(fmt="w32", row=99, addr=4)) == (Fault.UB_RANGE, 0, 99)
    assert fault(matmul(acc=99, wrows=9)) == (Fault.ILLEGAL_COUNT, 0, 0)
    assert fault(vector(a_kind="acc", dst=0, a=31, n0=2)) == (Fault.ACC_RANGE, 0, 32)


def test_order_of_checks_of_vectors():
    bad = {"a_kind": "acc_lane", "a": 99 | 4 << 24, "dst": 99}
    assert fault(vector(reduce="collect", n0=5, **bad)) == (Fault.ILLEGAL_COUNT, 0, 0)
    assert fault(vector(**bad)) == (Fault.INDEX_RANGE, 0, 4)
    assert fault(vector(**bad | {"a": 99})) == (Fault.ACC_RANGE, 0, 99)
    assert fault(gather(dst=98, a=97, b=96)) == (Fault.ACC_RANGE, 0, 98)
    assert fault(gather(a=97, b=96)) == (Fault.ACC_RANGE, 0, 100)
    assert fault(gather(a=0, b=96)) == (Fault.ACC_RANGE, 0, 96)


def test_a_faulting_instruction_does_nothing():
    machine = Machine(BOTH)
    ok, bad = vector(a=5, dst=3), vector(a=7, dst=3, n0=30)
    assert fault(ok, bad, HALT, machine=machine) == (Fault.ACC_RANGE, 1, 32)
    assert machine.acc[3].tolist() == [5] * 4
    assert machine.acc.sum() == 20


def test_bus_errors():
    machine = Machine(BOTH)
    machine.memory.fail(0x8100, 64)
    assert fault(load(addr=0x80FD), machine=machine) == (Fault.BUS_READ, 0, 0)
    assert fault(load(addr=0x8000, rows=2, pitch=0x100), machine=machine) == (
        Fault.BUS_READ, 0, 0)
    around = load(addr=0x8000, rows=2, pitch=0x200)
    assert run(around, HALT, machine=machine).cause == Fault.NONE
    store = insn("store", mem="acc", fmt="w32", row=0, addr=0x813C, rows=1, cols=1)
    assert fault(store, machine=machine) == (Fault.BUS_WRITE, 0, 0)
    machine.memory.fail(PROGRAM + 32, 1)
    assert fault(insn("nop"), HALT, machine=machine) == (Fault.BUS_FETCH, 1, 1)
    machine.memory.heal()
    assert run(store, HALT, machine=machine).cause == Fault.NONE


def test_watchdog():
    forever = insn("jump", target=0)
    cause, pc, addr = fault(forever, watchdog=5000)
    assert (cause, pc, addr) == (Fault.WATCHDOG, 0, 0)
    assert run(insn("nop"), HALT, watchdog=5000).cause == Fault.NONE
    walk = vector(n0=65535, n1=65535, n2=1023, xdst=1)  # 10**12 rows, all of them row 0
    assert fault(walk, watchdog=10**6) == (Fault.WATCHDOG, 0, 0)
    with pytest.raises(TimeoutError, match="^instruction 0 must walk at most 4194304 rows, "
                                           "not 4393617458175$"):
        run(walk)


def test_max_instructions():
    with pytest.raises(TimeoutError, match="^the program must halt within 100000 instructions, "
                                           "it is at instruction 0$"):
        run(insn("jump", target=0))


def test_random_faulting_programs():
    causes = set()
    for seed in range(60):
        program = random_faulting_program(BOTH, seed)
        machine = Machine(BOTH)
        assert program.run(machine) == program.expected
        assert program.expected is not None
        causes.add(program.expected.cause)
    assert len(causes) == 11
    assert random_faulting_program(BOTH, 3) == random_faulting_program(BOTH, 3)


@pytest.mark.parametrize("kind", [Machine, PlainMachine])
def test_a_tile_is_kept_from_the_first_matmul_on(kind):
    keep = matmul(wload=0, w=0, wrows=0)
    assert fault(keep, HALT, machine=kind(BOTH)) == (Fault.ILLEGAL_FIELD, 0, 0)
    for between in (), (insn("nop"), load()), (keep, keep):
        result = run(matmul(), *between, keep, HALT, machine=kind(BOTH))
        assert (result.status, result.cause) == (Status.DONE, Fault.NONE)
    # Another run has none of the one before.
    again = kind(BOTH)
    assert run(matmul(), HALT, machine=again).status == Status.DONE
    assert fault(keep, HALT, machine=again) == (Fault.ILLEGAL_FIELD, 0, 0)
