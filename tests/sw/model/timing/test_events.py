"""What the clock notes of each instruction."""

from dataclasses import replace

import pytest

from celosia.arch.config import preset
from celosia.arch.isa import Unit
from celosia.model.timing import Reason, Timeline
from celosia.model.timing.predict import predict
from celosia.program.asm import assemble

CORE = preset("core")
LOAD = "load ub[{0}], @x, fmt=bf16, rows={1}, cols=16, pitch=32"


def timeline(*lines, config=CORE):
    program = assemble("\n".join((".arena 1048576", ".buffer x, bfloat16[4096, 16], input",
                                  *lines, "halt")), config)
    found = Timeline()
    prediction = predict(program, config, timeline=found)
    assert prediction == predict(program, config)
    return found, prediction


def test_an_instruction_alone():
    found, prediction = timeline(LOAD.format(0, 64))
    assert (found.pc, found.unit, found.blamed, found.gated) == ([0], [Unit.LOAD], [-1], [-1])
    assert found.issued[0] < found.checked[0] <= found.start[0] < found.end[0]
    assert found.end[0] + 3 == prediction.cycles


@pytest.mark.parametrize(("lines", "reason", "blamed"), [
    ((LOAD.format(0, 64), "matmul acc[0], ub[16], ub[0], fmt=bf16, n0=16, wrows=16"),
     Reason.DATA, 0),
    (("vector mov, acc[0], ub_bf16[0], n0=64", LOAD.format(32, 64)), Reason.ROWS, 0),
    ((LOAD.format(0, 1024), LOAD.format(1024, 16)), Reason.UNIT, 0),
    ((LOAD.format(0, 1024), *(LOAD.format(1024 + 16 * i, 16) for i in range(15)),
      "vector mov, acc[0], ub_bf16[8192], n0=1"), Reason.WINDOW, 0),
])
def test_who_is_blamed(lines, reason, blamed):
    found, _ = timeline(*lines)
    assert (Reason(found.reason[-1]), found.blamed[-1]) == (reason, blamed)


@pytest.mark.parametrize(("line", "room"), [
    (LOAD.format(9000, 1), 1), ("store ub[9000], @x, fmt=bf16, rows=1, cols=16, pitch=32", 2),
    ("matmul acc[1024], ub[8192], ub[8209], fmt=bf16, n0=16, wrows=16", 2),
    ("vector mov, acc[1024], ub_bf16[8192], n0=1", 3)])
def test_a_place_in_the_window_takes_its_time(line, room):
    """From the end that makes it until one has been checked that waited for it."""
    found, _ = timeline("vector mov, acc[0], ub_bf16[0], n0=256", LOAD.format(4096, 2048), line,
                        config=replace(CORE, window=2))
    assert (Reason(found.gate[2]), found.gated[2]) == (Reason.WINDOW, 0)
    assert found.checked[2] == found.end[0] + room


def test_what_is_late_takes_longer_or_begins_later():
    for begun in (True, False):
        found = Timeline()
        for _ in range(3):
            found.add(0, Unit.LOAD, 1, (0, 0), (1, 2, 10, 5, 20), (0, -1), (0, -1))
        found.delay([(0, 7), (2, 4)], begun)
        assert found.end == [27, 20, 24]
        assert (found.start, found.occupied, found.lost) == (
            ([10, 10, 14], [12, 5, 5], [7, 0, 0]) if begun else ([17, 10, 14], [5] * 3, [0] * 3))


def test_a_matmul_that_follows_a_load_begins_later_when_that_is_late():
    """Instructions are fetched while the load is under way."""
    lines = LOAD.format(0, 256), "matmul acc[0], ub[128], ub[4096], fmt=bf16, n0=128, wrows=16"
    alone, _ = timeline(*lines)
    behind, _ = timeline(*lines, *["nop"] * 200)
    late = behind.end[0] - alone.end[0]
    assert late > 4
    assert behind.end[1] - alone.end[1] == late
    assert behind.start[1] - alone.start[1] == late


def test_what_others_cost_is_noted():
    """Rows of a load meet those of the vector unit in their banks."""
    found, _ = timeline(LOAD.format(0, 256),
                        "vector mov, acc[0], ub_bf16[4096], n0=64, n1=4")
    assert len(found.lost) == 2
    assert found.end[0] - found.start[0] >= found.occupied[0] >= 256
