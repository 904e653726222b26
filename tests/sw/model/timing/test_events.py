"""What the clock notes of each instruction."""

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


def test_what_others_cost_is_noted():
    """Rows of a load meet those of the vector unit in their banks."""
    found, _ = timeline(LOAD.format(0, 256),
                        "vector mov, acc[0], ub_bf16[4096], n0=64, n1=4")
    assert len(found.lost) == 2
    assert found.end[0] - found.start[0] >= found.occupied[0] >= 256
