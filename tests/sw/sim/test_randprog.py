"""Random programs cover what can be covered, and end as they should, on the model."""

import re

import pytest

from celosia.arch.config import TpuConfig, preset
from celosia.arch.faults import Fault
from celosia.arch.isa import Opcode
from celosia.arch.registers import counter_names
from celosia.arch.vector import INDEXED_OPS
from celosia_sim.coverage import Coverage, bins, chip_bins, cover, unreachable
from celosia_sim.randprog import random_bus_errors, random_faulting_program

BOTH = TpuConfig("both", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=8)
INT8 = TpuConfig("int8", dim=8, int8=True, bf16=False, ub_rows=64, acc_rows=32, bus_bytes=8)
BF16 = TpuConfig("bf16", dim=4, int8=False, bf16=True, ub_rows=64, acc_rows=32, bus_bytes=8)


@pytest.mark.parametrize(("config", "legal", "faulty"), [
    (BOTH, 200, 300), *(pytest.param(config, 400, 1500, marks=pytest.mark.slow)
                        for config in (INT8, BF16))], ids=("both", "int8", "bf16"))
def test_every_bin_is_hit_that_can_be(config, legal, faulty):
    """The command ``python -m celosia_sim.lockstep --coverage`` prints them."""
    coverage = cover(config, range(legal), range(faulty))
    assert coverage.missing() == []
    never = unreachable(config)
    assert [item for item in never if coverage.hits[item]] == []
    assert set(never) <= {*bins(), *chip_bins()}


def test_every_legal_bin_is_hit_on_a_chip_without_floating_point():
    missing = cover(INT8, range(200), range(0)).missing()
    assert {group for group, _ in missing} <= {"fault"}


def test_every_fault_and_every_counter_of_waiting_has_bins():
    every = [*bins(), *chip_bins()]
    assert len(set(every)) == len(every)
    faults = {name.partition(":")[0] for group, name in every if group == "fault"}
    assert faults == {fault.name for fault in Fault} - {"NONE"}
    seen = Coverage(BOTH, simulated=True)
    assert set(seen.missing()) > set(chip_bins()) - set(unreachable(BOTH))
    seen.chip(dict.fromkeys(counter_names(), 7), Fault.WATCHDOG)
    assert set(seen.missing()) == set(cover(BOTH, range(0), range(0)).missing())
    assert {seen.hits[item] for item in chip_bins()} == {7, 1}


def test_report_names_what_is_missing_and_why_some_cannot_be_hit():
    lines = cover(INT8, range(1), range(0)).report().splitlines()
    texts = [" ".join(line.split()) for line in lines]
    assert "backwards 0 (strides are unsigned: a fault)" in texts
    assert "vector op: fadd 0 (the chip has no bf16)" in texts
    assert "LOAD then LOAD: RAW of ub 0 (LOAD never reads ub)" in texts
    assert "WINDOW: store 0 MISSING" in texts
    assert re.fullmatch(r"int8: \d+ of 521 bins hit; 164 cannot be", texts[-1])


def test_bad_indices_are_followed_by_what_waits():
    """So that chip and model stop in the same state, although they are found late."""
    late = 0
    for seed in range(100):
        program = random_faulting_program(BOTH, seed)
        assert program.expected is not None
        pc = program.expected.pc
        code = [program.code[32 * i:32 * i + 32] for i in (pc, pc + 1)]
        op = int.from_bytes(code[0][:8], "little") >> 12 & 63
        if program.expected.cause == Fault.INDEX_RANGE and op in INDEXED_OPS and (
                code[0][0] & 63 == Opcode.VECTOR):
            assert code[1][0] & 63 in (Opcode.FENCE, Opcode.HALT)
            late += 1
    assert late >= 3


@pytest.mark.parametrize("name", ["core", "v2", "v1"])
def test_nothing_runs_beside_a_transfer_that_meets_a_bus_error(name):
    """What is younger may have run when it is found. On the largest chips the rows that fill the
    memories at first are all of the data.
    """
    met = 0
    for seed in range(40):
        made = random_bus_errors(preset(name), seed)
        at = made.expected.pc
        if made.expected.cause in (Fault.BUS_READ, Fault.BUS_WRITE):
            around = made.insns[at - 1], made.insns[at + 1]
            assert [each.instruction.mnemonic for each in around] == ["fence", "fence"]
            met += 1
    assert met > 4
