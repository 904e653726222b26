"""The interpreter beside its tensor units: state, control flow, exact corners."""

import numpy as np
import pytest

from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Insn, Reg, encode, insn
from celosia.arch.faults import Fault
from celosia.arch.streams import Stream
from celosia.model import Machine, Memory, ModelResult, PlainMachine

CONFIG = TpuConfig("both", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=32, bus_bytes=8)


@pytest.fixture(params=[PlainMachine, Machine])
def machine(request: pytest.FixtureRequest) -> PlainMachine:
    return request.param(CONFIG)


def run(machine: PlainMachine, *insns: Insn) -> ModelResult:
    machine.memory.write(0x1000, b"".join(map(encode, [*insns, insn("halt")])))
    result = machine.run(0x1000, len(insns) + 1, [(0x8000, 0xFFFF)], max_instructions=10_000)
    assert result.cause == Fault.NONE
    return result


def put(row: int, value: int | Reg) -> Insn:
    """Write a value into an accumulator row."""
    return insn("vector", op="mov", dst_kind="acc", a_kind="scalar", dst=row, a=value, n0=1)


def count(row: int | Reg) -> Insn:
    return insn("vector", op="iadd", dst_kind="acc", a_kind="acc", b_kind="scalar", dst=row, a=row,
                b=1, n0=1)


def test_memories_are_zero_and_persist(machine):
    assert not machine.ub.any()
    assert not machine.acc.any()
    run(machine, put(3, 7), insn("mov", rd=4, a=9), insn("stride", x=1, s0=5))
    run(machine, count(3), put(4, Reg(4)),
        insn("vector", op="mov", dst_kind="acc", a_kind="scalar", a=1, dst=8, n0=3, xdst=1))
    assert machine.acc[3].tolist() == [8] * 4
    assert machine.acc[4].tolist() == [0] * 4  # registers do not persist
    assert machine.acc[8:14, 0].tolist() == [1, 0, 0, 0, 0, 0]  # nor do strides


def test_nested_loops_with_one_end(machine):
    result = run(machine, insn("loop", count=3, end=4), count(0), insn("loop", count=4, end=4),
                 count(1))
    assert machine.acc[:2, 0].tolist() == [3, 12]
    assert result.instructions == 1 + 3 * (1 + 1 + 4) + 1


def test_branch_to_the_end_of_a_loop_goes_round(machine):
    run(machine, insn("loop", count=5, end=4), insn("add", rd=1, a=Reg(1), b=1),
        insn("blt", a=Reg(1), b=3, target=4), count(0))
    assert machine.acc[0, 0] == 3


def test_empty_loops(machine):
    run(machine, insn("loop", count=9, end=1), insn("loop", count=0, end=3), count(0), count(1),
        insn("loop", count=2, end=6), insn("loop", count=0, end=6))
    assert machine.acc[:2, 0].tolist() == [0, 1]


def test_a_branch_out_of_a_loop_leaves_it_on_the_stack(machine):
    run(machine, insn("loop", count=2, end=3), count(0), insn("jump", target=4), count(1),
        count(2), insn("add", rd=1, a=Reg(1), b=1), insn("bltu", a=Reg(1), b=2, target=2))
    # The second pass through instruction 2 jumps out again; its loop was not popped.
    assert machine.acc[:3, 0].tolist() == [1, 0, 2]


def test_int8_matmul_wraps(machine):
    machine.ub[:8] = np.array([[0x80] * 4] * 8, np.uint16)
    machine.acc[:] = 0x7FFF_FFFF
    run(machine, insn("matmul", fmt="int8", accumulate=1, acc=0, acts=0, w=4, n0=1, wrows=4))
    assert machine.acc[0].tolist() == [(0x7FFF_FFFF + 4 * 128 * 128) & 0xFFFFFFFF] * 4


def test_accumulate_into_one_row_adds_in_order(machine):
    values = np.array([1.0, 2.0**-24, 2.0**-24, -1.0], np.float32).view(np.uint32) >> 16
    machine.ub[:4, 0] = values
    machine.ub[4, :] = 0x3F80
    run(machine, insn("stride", x=1, s0=0),
        insn("matmul", fmt="bf16", accumulate=1, acc=2, acts=0, w=4, n0=4, wrows=1, xacc=1))
    assert machine.acc[2].tolist() == [0] * 4  # one by one the small ones are lost


def test_set_of_one_row_keeps_the_last(machine):
    machine.ub[:4, 0] = [1, 2, 3, 4]
    machine.ub[4, :] = 1
    run(machine, insn("stride", x=1, s0=0),
        insn("matmul", fmt="int8", acc=2, acts=0, w=4, n0=4, wrows=1, xacc=1))
    assert machine.acc[2].tolist() == [4] * 4


def test_program_address_error(machine):
    with pytest.raises(ValueError, match="^program address must be a multiple of 128, not 0x20$"):
        machine.run(0x20, 1)


@pytest.mark.parametrize(("counts", "strides"), [
    ((5, 1, 1), (1, 0, 0)), ((3, 2, 2), (1, 3, 6)), ((3, 2, 2), (2, 1, 7)), ((4, 3, 1), (0, 1, 0)),
    ((1, 1, 4), (9, 9, 2)), ((2, 2, 2), (0, 0, 0)),
])
def test_streams(counts, strides):
    stream = Stream(10, counts, strides)
    rows = [10 + i * strides[0] + j * strides[1] + k * strides[2] for k in range(counts[2])
            for j in range(counts[1]) for i in range(counts[0])]
    assert np.arange(100)[stream.index()].tolist() == rows
    assert (stream.last, stream.length) == (max(rows), len(rows))


def test_memory_across_pages():
    memory = Memory()
    data = bytes(range(256)) * 8
    for addr in (0, (1 << 22) - 100, (1 << 32) - len(data)):
        memory.write(addr, data)
        assert memory.read(addr, len(data)).tobytes() == data
    assert not memory.read(1 << 30, 64).any()


def test_memory_rows():
    memory, rng = Memory(), np.random.default_rng(2)
    page = 1 << 22
    for addr, rows, length, pitch in ((100, 5, 7, 7), (page - 20, 6, 9, 11), (page - 9, 2, 30, 3),
                                      (50, 3, 8, 0), (page - 5000, 4, 100, 2500)):
        data = rng.integers(0, 256, (rows, length), dtype=np.uint8)
        before = memory.read(addr, 20_000).tolist()
        memory.write_rows(addr, data, pitch)
        for row in range(rows):
            before[row * pitch:row * pitch + length] = data[row].tolist()
        assert memory.read(addr, 20_000).tolist() == before
        assert memory.read_rows(addr, rows, length, pitch).tolist() == [
            before[row * pitch:row * pitch + length] for row in range(rows)]


def test_memory_errors():
    with pytest.raises(ValueError, match="^memory size must be from 1 to 4294967296, not 0$"):
        Memory(0)
    with pytest.raises(ValueError, match=r"^address range must lie in 0\.\.0xffffffff, "
                                         r"not 0xfffffff0\.\.0x10000000f$"):
        Memory().read(0xFFFFFFF0, 32)
    assert Memory(64).answers(60, 1, 4, 0)
    assert not Memory(64).answers(60, 2, 4, 1)
