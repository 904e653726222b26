"""Runs that are repeated do what they did, on other data, and as long as the code is the same."""

import numpy as np
import pytest

from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Insn, Reg, encode, insn
from celosia.arch.faults import Fault
from celosia.model import Machine, PlainMachine
from celosia.model.fast.machine import _Run

CONFIG = TpuConfig("both", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=32, bus_bytes=8)
WINDOWS = [(0x8000, 0xFFFF)]


def vector(op: str, dst: int, **operands) -> Insn:
    return insn("vector", op=op, dst_kind="acc", dst=dst, **operands)


#: acc[0] = its words of memory, twice, plus the row before; stored behind them.
WORK = [
    insn("load", mem="acc", fmt="w32", row=0, addr=0x8000, shape=4 << 16 | 2, pitch=16),
    insn("loop", count=2, end=3),
    vector("iadd", 0, a_kind="acc", a=0, b_kind="acc", b=0, n0=2),
    vector("iadd", 8, a_kind="acc", a=8, b_kind="acc", b=0, n0=2),
    insn("store", mem="acc", fmt="w32", row=8, addr=0x8100, shape=4 << 16 | 2, pitch=16),
]


def start(machine: PlainMachine, *insns: Insn):
    machine.memory.write(0x1000, b"".join(map(encode, [*insns, insn("halt")])))
    return machine.run(0x1000, len(insns) + 1, WINDOWS)


def runs(monkeypatch) -> list[int]:
    """Count the runs that are interpreted."""
    found: list[int] = []
    go = _Run.go

    def counted(self, limit, progress):
        found.append(self.length)
        return go(self, limit, progress)

    monkeypatch.setattr(_Run, "go", counted)
    return found


def test_a_repeated_run_works_on_the_data_of_now(monkeypatch):
    interpreted = runs(monkeypatch)
    machine, rng = Machine(CONFIG), np.random.default_rng(7)
    total, results = np.zeros(8, np.int32), []
    for _ in range(4):
        data = rng.integers(-1000, 1000, 8, dtype=np.int32)
        machine.memory.write(0x8000, data.tobytes())
        results.append(start(machine, *WORK))
        total += 4 * data
        stored = machine.memory.read(0x8100, 32).view(np.int32)
        assert (stored == total).all()
    assert interpreted == [6]
    assert results[1:] == results[:1] * 3


def test_other_code_at_the_same_place_is_another_run(monkeypatch):
    interpreted = runs(monkeypatch)
    machine = Machine(CONFIG)
    for value in (3, 4, 4):
        start(machine, vector("mov", 0, a_kind="scalar", a=value, n0=1))
        assert machine.acc[0].tolist() == [value] * 4
    assert len(interpreted) == 2


#: acc[8] += acc[4] as often as acc[1] says, which the loop counts down by acc[2]: -1.
COUNTED = [
    insn("matmul", fmt="int8", wload=True, w=0, wrows=4, acts=8, acc=20, n0=2),
    insn("read", rd=1, row=1),
    insn("beq", a=Reg(1), b=0, target=6),
    vector("iadd", 8, a_kind="acc", a=8, b_kind="acc", b=4, n0=1),
    vector("iadd", 1, a_kind="acc", a=1, b_kind="acc", b=2, n0=1),
    insn("jump", target=1),
    # With the tile of before.
    insn("matmul", fmt="int8", w=0, wrows=4, acts=10, acc=22, n0=2),
]


@pytest.mark.parametrize("library", [True, False])
def test_a_run_that_reads_the_same_numbers_is_repeated(monkeypatch, library):
    """And goes on as it must where it reads another one."""
    if not library:
        monkeypatch.setattr("celosia.model.fast.native.load", lambda: None)
    interpreted = runs(monkeypatch)
    machine, rng = Machine(CONFIG), np.random.default_rng(3)
    turns = 3, 3, 5, 5, 0, 2, 2
    for count in turns:
        plain = PlainMachine(CONFIG)
        ub, acc = rng.integers(0, 9, (64, 4)), rng.integers(0, 99, (32, 4))
        acc[1], acc[2] = count, -1
        for each in (machine, plain):
            each.ub[:], each.acc[:] = ub, acc.astype(np.uint32)
        assert start(machine, *COUNTED) == start(plain, *COUNTED)
        assert (machine.acc == plain.acc).all()
    assert len(interpreted) == 4


def test_a_bad_index_is_found_in_every_run(monkeypatch):
    """Repeated or not: the fault ends it where and when it would."""
    interpreted = runs(monkeypatch)
    gather = vector("gather", 8, a_kind="acc", a=16, b_kind="acc", b=4, n0=4, param=4)
    machine, causes = Machine(CONFIG), []
    for index in (3, 9, 2):
        plain = PlainMachine(CONFIG)
        machine.acc[:] = 0
        machine.acc[4] = plain.acc[4] = index
        got = start(machine, gather, *WORK)
        assert got == start(plain, gather, *WORK)
        assert (machine.acc == plain.acc).all()
        causes.append(got.cause)
    assert causes == [Fault.NONE, Fault.INDEX_RANGE, Fault.NONE]
    assert interpreted == [7]


def test_a_faulting_run_faults_again(monkeypatch):
    interpreted = runs(monkeypatch)
    machine = Machine(CONFIG)
    for _ in range(2):
        assert start(machine, vector("mov", 31, a_kind="scalar", n0=2)).cause == Fault.ACC_RANGE
    assert len(interpreted) == 2


def test_observers_see_every_instruction():
    machine, seen = Machine(CONFIG), []
    start(machine, *WORK)
    machine.observer = lambda pc, command: seen.append(pc)
    start(machine, *WORK)
    assert seen == [0, 2, 2, 3, 4]


def test_a_bus_error_that_comes_later_is_met():
    machine = Machine(CONFIG)
    assert [start(machine, *WORK).cause for _ in range(2)] == [Fault.NONE] * 2
    machine.memory.fail(0x8100, 4)
    assert start(machine, *WORK).cause == Fault.BUS_WRITE
    machine.memory.heal()
    assert start(machine, *WORK).cause == Fault.NONE


def test_a_program_that_changes_itself_does_so_in_every_run(monkeypatch):
    """A store replaces an instruction that has not been fetched yet."""
    interpreted = runs(monkeypatch)
    machine, plain = Machine(CONFIG), PlainMachine(CONFIG)
    code = [insn("load", mem="acc", fmt="w32", row=0, addr=0x8000, shape=4 << 16 | 2, pitch=16),
            insn("store", mem="acc", fmt="w32", row=0, addr=0x1040, shape=4 << 16 | 2, pitch=16),
            vector("mov", 8, a_kind="scalar", a=1, n0=1)]
    for value in (2, 3):
        for each in (machine, plain):
            each.memory.write(0x8000, encode(vector("mov", 8, a_kind="scalar", a=value, n0=1)))
            each.memory.write(0x1000, b"".join(map(encode, [*code, insn("halt")])))
            each.run(0x1000, 4, [(0, 0xFFFF)])
            assert each.acc[8].tolist() == [value] * 4
    assert interpreted == [4, 4]


def test_long_runs_are_not_kept(monkeypatch):
    monkeypatch.setattr("celosia.model.fast.machine.MOST_STEPS", 4)
    monkeypatch.setattr("celosia.model.fast.machine._WAITING", 2)
    interpreted = runs(monkeypatch)
    machine, plain = Machine(CONFIG), PlainMachine(CONFIG)
    for _ in range(2):
        assert start(machine, *WORK, *WORK) == start(plain, *WORK, *WORK)
        assert (machine.acc == plain.acc).all()
    assert interpreted == [11, 11]


def test_progress_ends_a_run():
    machine, seen = Machine(CONFIG), []

    def progress(cycles: int) -> None:
        seen.append(cycles)
        raise KeyboardInterrupt

    assert start(machine, *WORK).cause == Fault.NONE
    with pytest.raises(KeyboardInterrupt):
        machine.run(0x1000, len(WORK) + 1, WINDOWS, progress=progress)
    assert seen == [0]
