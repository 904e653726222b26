"""Random programs on the RTL and on the golden model: every row and byte, with ``==``.

``python -m celosia_sim.lockstep`` runs more.
"""

from dataclasses import replace

import pytest

from celosia.arch.config import preset
from celosia.arch.encoding import encode, insn
from celosia.arch.registers import Status
from celosia_sim.lockstep import Lockstep, LockstepError, memory_options
from celosia_sim.randprog import random_faulting_program, random_program
from celosia_sim.rtl import RtlTransport
from celosia_sim.verilog import chip_verilog

PROGRAMS, FAULTS = range(150), range(75)
#: Presets; the last in the form of its Verilog that is for synthesis.
CHIPS = ("nano", "edge", "core", "nano synthesis")


@pytest.fixture(scope="module", params=CHIPS)
def lockstep(request):
    name, _, form = request.param.partition(" ")
    config = preset(name)
    transport = RtlTransport(config, verilog=chip_verilog(config, simulation=not form))
    yield Lockstep(config, transport)
    transport.close()


def run(lockstep, make, seeds):
    for seed in seeds:
        lockstep.transport.set_options(memory_options(seed))
        yield lockstep.run(make(lockstep.config, seed))


def test_legal_programs(lockstep):
    outcomes = list(run(lockstep, random_program, PROGRAMS))
    assert {outcome.status for outcome in outcomes} == {Status.DONE}


def test_faulting_programs_and_the_programs_after_them(lockstep):
    outcomes = list(run(lockstep, random_faulting_program, FAULTS))
    assert {outcome.status for outcome in outcomes} == {Status.FAULTED}
    assert len({outcome.cause for outcome in outcomes}) >= 8


def test_long_programs(lockstep):
    for seed in range(3):
        lockstep.transport.set_options(memory_options(seed))
        lockstep.run(random_program(lockstep.config, seed, 400))


def test_a_difference_is_named(lockstep):
    program = random_program(lockstep.config, 2)
    lockstep.run(program)
    idle = replace(program, code=encode(insn("halt")))
    for row in (5, lockstep.config.ub_rows - 1):
        right = lockstep.transport.peek("ub", row, 1)
        lockstep.transport.poke("ub", row, right ^ 1)
        with pytest.raises(LockstepError, match=rf"(?s)seed 2: ub row {row} must be.*"
                                                r"written before the program.*differ: 1 of ub"):
            lockstep.run(idle)
        lockstep.transport.poke("ub", row, right)


@pytest.mark.slow
def test_many_programs(lockstep):
    for make, seeds in ((random_program, range(1000, 6000)),
                        (random_faulting_program, range(1000, 3000))):
        for _ in run(lockstep, make, seeds):
            pass
