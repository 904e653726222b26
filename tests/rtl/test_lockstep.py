"""Random programs on the RTL and on the golden model: every row and byte, with ``==``.

A seed that ever failed stays in REGRESSIONS; ``python -m celosia_sim.lockstep`` runs more.
"""

import numpy as np
import pytest

from celosia.arch.config import preset
from celosia.arch.registers import Status
from celosia_sim.lockstep import Lockstep, LockstepError, memory_options
from celosia_sim.randprog import random_faulting_program, random_program
from celosia_sim.rtl import RtlTransport
from celosia_sim.verilog import chip_verilog

#: Seeds of programs that found a difference once (requantise by a shift above 47).
REGRESSIONS = {"nano": (4, 10, 12)}
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
    seeds = [*PROGRAMS, *REGRESSIONS.get(lockstep.config.name, ())]
    outcomes = list(run(lockstep, random_program, seeds))
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
    rows = lockstep.transport.peek("ub", 0, lockstep.config.ub_rows)
    untouched = int(np.flatnonzero(~rows.any(axis=1))[-1])
    wrong = np.ones((1, rows.shape[1]), np.uint8)
    lockstep.transport.poke("ub", untouched, wrong)
    with pytest.raises(LockstepError, match=rf"(?s)seed 2: ub row {untouched} must be.*"
                                            r"written before the program.*differ: 1 of ub"):
        lockstep.run(program)
    lockstep.transport.poke("ub", untouched, 0 * wrong)


@pytest.mark.slow
def test_many_programs(lockstep):
    for make, seeds in ((random_program, range(1000, 6000)),
                        (random_faulting_program, range(1000, 3000))):
        for _ in run(lockstep, make, seeds):
            pass
