"""The record of a run: it adds up, and knows whose the cycles are."""

import numpy as np
import pytest

from celosia.arch.isa import Unit
from celosia.arch.registers import UNIT_NAMES

pytestmark = pytest.mark.extra(name="jax", default=True)


def test_the_critical_path_is_the_run(clean):
    [record] = clean.records
    at = 0
    for part in record.critical:
        assert part.first == at
        assert part.cycles > 0
        at += part.cycles
    assert at == record.end.max() == record.cycles - 3  # the halt
    assert clean.critical.total() == at
    assert clean.critical["mxu"] > 0.9 * clean.cycles


def test_units_take_one_instruction_at_a_time(clean):
    [record] = clean.records
    for unit in Unit:
        mine = record.of_unit(unit)
        ends = (record.start + record.occupied)[mine]
        assert (record.start[mine][1:] >= ends[:-1]).all(), unit
    assert (record.issued <= record.checked).all()
    assert (record.checked <= record.start).all()
    assert (record.start < record.end).all()


def test_what_instructions_move_is_what_the_run_moves(clean):
    [record] = clean.records
    amounts = [int(record.amount[record.of_unit(unit)].sum()) for unit in Unit]
    found = record.prediction
    assert amounts[Unit.LOAD] == found.bytes_read
    assert amounts[Unit.STORE] == found.bytes_written
    assert amounts[Unit.MXU] * record.config.pes == found.macs


def test_those_blamed_are_older_and_were_there(clean):
    [record] = clean.records
    index = np.arange(len(record))
    assert (record.blamed < index).all()
    assert (record.gated < index).all()
    blamed = record.blamed >= 0
    assert blamed.sum() > len(record) / 2


def test_lines_add_up_and_are_the_users(clean):
    assert sum(line.cycles for line in clean.lines) == clean.cycles
    assert clean.lines[0].place.rpartition(":")[0].endswith("tests/profiled.py")
    known = sum(line.cycles for line in clean.lines if "profiled.py:" in line.place)
    assert known >= 0.99 * clean.cycles
    # The instructions of a fusion are of its operations, each of its own.
    assert {"dot", "maximum"} <= clean.lines[0].operations.keys()
    for line in clean.lines:
        assert sum(line.parts.values()) == line.cycles
    busy = sum(line.busy["mxu"] for line in clean.lines)
    [record] = clean.records
    assert busy == record.occupied[record.of_unit(Unit.MXU)].sum()
    assert set(UNIT_NAMES) >= {unit for line in clean.lines for unit in line.busy}
