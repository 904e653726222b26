"""The command that runs random programs on a chip and a model: what it runs, says and keeps."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from celosia.arch.config import PRESETS
from celosia.arch.encoding import encode, insn
from celosia.arch.faults import Fault
from celosia.arch.registers import Status
from celosia_sim import lockstep
from celosia_sim.coverage import chip_bins
from celosia_sim.lockstep import (
    LockstepError,
    Outcome,
    cover_chip,
    cut_options,
    main,
    memory_options,
    save_program,
)
from celosia_sim.randprog import RandomProgram
from celosia_sim.rtl import SimOptions

NANO = PRESETS["nano"]


def test_seeds_have_the_memory_that_they_had():
    """A difference is told as a seed."""
    assert memory_options(0) == memory_options(4) == SimOptions()
    assert [memory_options(seed) for seed in (1, 3, 5, 1001)] == [
        SimOptions(read_latency=18, write_latency=37, max_outstanding=55,
                   stall_seed=1, stall_rate=0.05),
        SimOptions(read_latency=31, write_latency=38, max_outstanding=35,
                   stall_seed=3, stall_rate=0.05),
        SimOptions(read_latency=80, write_latency=17, max_outstanding=48,
                   stall_seed=5, stall_rate=0.3),
        SimOptions(read_latency=102, write_latency=4, max_outstanding=49,
                   stall_seed=1001, stall_rate=0.05)]


def test_seeds_are_stopped_where_they_were():
    assert [cut_options(seed) for seed in range(12)] == [
        (365, False), (132, False), (347, False), (106, False), (266, False),
        (126, False), (745, True), (445, False), (153, False), (349, True),
        (161, False), (250, True)]


def test_a_program_is_kept_as_text_and_as_bytes(tmp_path):
    insns = [insn("load", mem="ub", fmt="i8", row=0, addr=0x20_0000, rows=1, cols=4), insn("halt")]
    code = b"".join(map(encode, insns)) + bytes([0x3E, *bytes(31)])
    program = RandomProgram(NANO, 17, code, (), b"data", ((16, 31), (1, 0)), errors=((5, 9),))
    save_program(program, tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b" / "program.txt").read_text().splitlines() == [
        "# nano, seed 17",
        "# code at 0x100000, data at 0x200000",
        "# window 0x10..0x1f",
        "# window 0x1..0x0",
        "# bus errors 0x5..0x9",
        "   0  load    ub[0], 0x200000, fmt=i8, rows=1, cols=4",
        "   1  halt",
        f"   2  3e{'00' * 31} (opcode 0x3e is not in the ISA)"]
    assert (tmp_path / "a" / "b" / "program.bin").read_bytes() == code
    assert (tmp_path / "a" / "b" / "data.bin").read_bytes() == b"data"
    save_program(program, tmp_path / "a" / "b")  # again


class Fake:
    """A chip and a model that differ at some seed, and what they were asked for."""

    differs, misses = None, ()

    def __init__(self, config, transport):
        self.config, self.transport, self.calls = config, transport, []
        self.coverage = SimpleNamespace(
            missing=lambda: self.misses, hits=[], report=lambda: "report")
        self.made.append(self)

    def run(self, program):
        self.calls.append(("run", program))
        if program[1] == self.differs:
            raise LockstepError("they differ")
        return Outcome(Status.DONE, Fault.NONE, 0, 0, 1000 + program[1])

    def cut(self, program, cycles, *, by_host):
        self.calls.append(("cut", program, cycles, by_host))


@pytest.fixture
def fake(monkeypatch):
    class Made(Fake):
        made: list[Fake] = []

    def transport(config, options):
        return SimpleNamespace(config=config, options=options, memory_bytes=99, set_options=(
            lambda options: Made.made[-1].calls.append(options)))

    monkeypatch.setattr(lockstep, "Lockstep", Made)
    monkeypatch.setattr(lockstep, "RtlTransport", transport)
    for name in ("random_program", "random_faulting_program", "random_bus_errors", "random_walks"):
        monkeypatch.setattr(lockstep, name, lambda _, seed, size=None, memory=None, name=name: (
            name.removeprefix("random_"), seed, size, memory))
    return Made


@pytest.mark.parametrize(("flags", "kind"), [
    ([], "program"), (["--faults"], "faulting_program"), (["--bus-errors"], "bus_errors")])
def test_programs_of_a_kind_run_for_each_seed(fake, capsys, flags, kind):
    assert main(["--seeds", "2", "5", *flags]) == 0
    (made,) = fake.made
    assert made.config == NANO
    assert made.transport.options == SimOptions(probe=True)
    assert made.calls == [each for seed in (2, 3, 4) for each in (
        memory_options(seed), ("run", (kind, seed, 40, 99)))]
    assert capsys.readouterr() == ("nano: seeds 2..4 equal, 3,009 cycles\n", "")


def test_chips_programs_and_waveforms_are_as_they_are_asked_for(fake, capsys, tmp_path):
    trace = tmp_path / "a.vcd"
    assert main(["--preset", "edge", "--lanes", "4", "--banks", "2", "--seeds", "0", "1", "--size",
                 "7", "--cut", "--trace", str(trace)]) == 0
    (made,) = fake.made
    assert made.config == replace(PRESETS["edge"], lanes=4, banks=2)
    assert made.transport.options == SimOptions(trace=trace, probe=True)
    cycles, by_host = cut_options(0)
    assert made.calls == [SimOptions(), ("cut", ("walks", 0, None, None), cycles, by_host),
                          ("run", ("program", 0, 7, 99))]


def test_a_thousand_seeds_run_where_nothing_is_said(fake, capsys):
    assert main([]) == 0
    assert [call[1][1] for call in fake.made[0].calls[1::2]] == list(range(1000))
    assert fake.made[0].config == NANO


def test_a_difference_ends_it_and_keeps_the_program(fake, monkeypatch, capsys, tmp_path):
    kept = []
    monkeypatch.setattr(lockstep, "save_program", lambda *values: kept.append(values))
    monkeypatch.setattr(fake, "differs", 3)
    assert main(["--seeds", "2", "9"]) == 1
    assert capsys.readouterr() == ("", "they differ\n")
    assert kept == []
    assert main(["--seeds", "2", "9", "--save", str(tmp_path)]) == 1
    assert kept == [(("program", 3, 40, 99), tmp_path)]
    assert len(fake.made[1].calls) == 4


def test_coverage_is_that_of_the_chip_and_of_the_model(fake, monkeypatch, capsys):
    asked = []

    def cover(*values):
        asked.append(values)
        return SimpleNamespace(hits=["more"])

    monkeypatch.setattr(lockstep, "cover", cover)
    monkeypatch.setattr(lockstep, "cover_chip", lambda *values: asked.append(values))
    assert main(["--coverage", "--seeds", "3", "8"]) == 0
    (made,) = fake.made
    assert made.transport.options == SimOptions(probe=True)
    assert asked == [(made, range(3, 8)), (NANO, range(3, 8), range(3, 8))]
    assert made.coverage.hits == ["more"]
    assert capsys.readouterr().out == "report\n"
    monkeypatch.setattr(fake, "misses", ["one"])
    assert main(["--coverage", "--seeds", "3", "8"]) == 1


def test_a_chip_runs_programs_until_all_has_been_seen_that_takes_one(fake):
    made = fake(NANO, SimpleNamespace(memory_bytes=99, set_options=lambda options:
                                      made.calls.append(options)))
    one = next(iter(chip_bins()))
    made.misses = [("instruction", "halt")]
    cover_chip(made, range(4))
    assert made.calls == []
    made.misses = [("instruction", "halt"), one]
    cover_chip(made, range(4, 6))
    assert made.calls == [each for seed in (4, 5) for each in (
        memory_options(seed), ("run", ("program", seed, None, 99)),
        ("cut", ("walks", seed, None, None), *cut_options(seed)),
        ("run", ("faulting_program", seed, None, 99)))]
