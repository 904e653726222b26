"""Random programs on the RTL and on the golden model: every row and byte, with ``==``.

``python -m celosia_sim.lockstep`` runs more.
"""

from collections import Counter
from dataclasses import replace

import pytest

from celosia.arch.config import BANKS, preset
from celosia.arch.encoding import encode, insn
from celosia.arch.faults import Fault
from celosia.arch.registers import Status
from celosia_sim.coverage import chip_bins
from celosia_sim.lockstep import Lockstep, LockstepError, cut_options, memory_options
from celosia_sim.randprog import (
    random_bad_indexes,
    random_bus_errors,
    random_faulting_program,
    random_program,
    random_walks,
)
from celosia_sim.rtl import RtlTransport, SimOptions
from celosia_sim.verilog import chip_verilog

PROGRAMS, FAULTS, INDEXES, CUTS = range(120), range(65), range(30), range(90)
BUS_ERRORS = range(40)
#: Seeds that once found a mistake: in units that follow one load, in the end of a program, in sums
#: of one row by the host's BLAS, in a lane of a row whose first beat was written before the last
#: one was read.
FOUND = (900012, 920001, 1020, 80945)
#: Presets, others with fewer lanes or banks, some in the form of its Verilog that is for synthesis.
#: `edge` and `core4` are `nano` and `core` in other sizes.
CHIPS = ("nano", "core", "nano 1 synthesis",
         *(pytest.param(name, marks=pytest.mark.slow) for name in (
             "nano synthesis", "nano 1", "nano 1 banks2", "nano 1 banks1", "edge", "core4",
             "nano 2", "edge 4", "edge 2", "edge 2 banks2", "core4 2", "core4 1")))


@pytest.fixture(scope="module", params=CHIPS)
def lockstep(request):
    name, *forms = request.param.split()
    lanes = next((int(form) for form in forms if form.isdigit()), 0)
    banks = next((int(form[5:]) for form in forms if form.startswith("banks")), BANKS)
    config = replace(preset(name), lanes=lanes, banks=banks)
    simulation = "synthesis" not in forms  # which alone has the probe
    transport = RtlTransport(config, SimOptions(probe=simulation),
                             verilog=chip_verilog(config, simulation=simulation))
    yield Lockstep(config, transport)
    transport.close()


def run(lockstep, make, seeds):
    for seed in seeds:
        lockstep.transport.set_options(memory_options(seed))
        yield lockstep.run(make(lockstep.config, seed, memory=lockstep.transport.memory_bytes))


def unseen(lockstep):
    """What units of the chip have not done so far, nor waited for, though they can."""
    return set(chip_bins()).intersection(lockstep.coverage.missing())


def test_legal_programs(lockstep):
    outcomes = list(run(lockstep, random_program, (*PROGRAMS, *FOUND)))
    assert {outcome.status for outcome in outcomes} == {Status.DONE}
    if lockstep.config.name == "core":  # on small chips a few banks lie idle for long
        assert unseen(lockstep) <= {("fault", "WATCHDOG")}


def test_faulting_programs_and_the_programs_after_them(lockstep):
    outcomes = list(run(lockstep, random_faulting_program, FAULTS))
    assert {outcome.status for outcome in outcomes} == {Status.FAULTED}
    assert len({outcome.cause for outcome in outcomes}) >= 8


def test_bus_errors_and_the_programs_after_them(lockstep):
    outcomes = list(run(lockstep, random_bus_errors, BUS_ERRORS))
    causes = Counter(outcome.cause for outcome in outcomes)
    assert set(causes) == {Fault.NONE, Fault.BUS_READ, Fault.BUS_WRITE, Fault.BUS_FETCH}


def bad_indexes(lockstep, seeds):
    """Run a program with indexes out of range and another one behind it, for each seed."""
    for seed in seeds:
        lockstep.transport.set_options(memory_options(seed))
        yield lockstep.run(random_bad_indexes(lockstep.config, seed), rows=False)
        lockstep.run(random_program(lockstep.config, seed))


def test_first_bad_index_is_named_whatever_is_behind_it(lockstep):
    assert {outcome.cause for outcome in bad_indexes(lockstep, INDEXES)} == {Fault.INDEX_RANGE}


def cut(lockstep, seeds):
    """Reset a program in the middle and run another, for each seed; return states before it."""
    for seed in seeds:
        lockstep.transport.set_options(memory_options(seed))
        cycles, by_host = cut_options(seed)
        yield lockstep.cut(random_walks(lockstep.config, seed), cycles, by_host=by_host)
        lockstep.run(random_program(lockstep.config, seed))


def test_nothing_but_rows_outlives_a_reset_in_the_middle(lockstep):
    states = list(cut(lockstep, CUTS))
    assert states.count(Status.FAULTED) > len(CUTS) / 4
    assert states.count(Status.RUNNING) > len(CUTS) / 10
    assert ("fault", "WATCHDOG") not in unseen(lockstep)


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
                        (random_faulting_program, range(1000, 3000)),
                        (random_bus_errors, range(1000, 3000))):
        for _ in run(lockstep, make, seeds):
            pass
    for attack in bad_indexes, cut:
        for _ in attack(lockstep, range(1000, 3000)):
            pass
    assert not unseen(lockstep)
