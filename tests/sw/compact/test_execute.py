"""Random programs on the firmware and on the golden model: every row and byte, with ``==``.

``python -m celosia_sim.lockstep --compact`` runs more.
"""

import pytest

from celosia.arch import registers
from celosia.arch.config import preset
from celosia.arch.faults import Fault
from celosia.arch.registers import Status
from celosia.model import Machine
from celosia_sim.compact import CompactHost
from celosia_sim.lockstep import Lockstep, cut_options
from celosia_sim.randprog import (
    random_bad_indexes,
    random_faulting_program,
    random_program,
    random_walks,
)

PROGRAMS, FAULTS, INDEXES, CUTS = range(100), range(120), range(20), range(80)


@pytest.fixture(scope="module", params=[
    "nano", "core4", *(pytest.param(name, marks=pytest.mark.slow) for name in ("pico", "edge"))])
def lockstep(request):
    config = preset(request.param)
    transport = CompactHost(config)
    yield Lockstep(config, transport, exact=False)
    transport.close()


def counters(lockstep):
    return {name: lockstep.transport.read_register(registers.COUNTERS[name])
            for name in ("instructions", "bytes_read", "bytes_written")}


def legal(lockstep, seeds):
    for seed in seeds:
        program = random_program(lockstep.config, seed, memory=lockstep.transport.memory_bytes)
        assert lockstep.run(program).status == Status.DONE
        wanted = program.run(Machine(lockstep.config)).counters
        assert counters(lockstep).items() <= wanted.items()


def test_legal_programs_and_what_they_count(lockstep):
    legal(lockstep, PROGRAMS)


def test_faulting_programs_and_the_programs_after_them(lockstep):
    memory = lockstep.transport.memory_bytes
    causes = {lockstep.run(random_faulting_program(lockstep.config, seed, memory=memory)).cause
              for seed in FAULTS}
    assert len(causes) == 11


def test_first_bad_index_is_named_and_nothing_behind_it_runs(lockstep):
    for seed in INDEXES:
        outcome = lockstep.run(random_bad_indexes(lockstep.config, seed))
        assert outcome.cause == Fault.INDEX_RANGE


def cut(lockstep, seeds):
    """Stop a program in the middle and run another, for each seed; return states before it."""
    for seed in seeds:
        cycles, by_host = cut_options(seed, compact=True)
        yield lockstep.cut(random_walks(lockstep.config, seed), cycles, by_host=by_host)
        lockstep.run(random_program(lockstep.config, seed))


def test_nothing_but_rows_outlives_a_reset_in_the_middle(lockstep):
    states = list(cut(lockstep, CUTS))
    assert states.count(Status.FAULTED) > len(CUTS) / 4
    assert states.count(Status.RUNNING) > len(CUTS) / 20


def test_long_programs(lockstep):
    for seed in range(3):
        lockstep.run(random_program(lockstep.config, seed, 400))


@pytest.mark.slow
def test_many_programs(lockstep):
    seeds = range(1000, 6000)
    legal(lockstep, seeds)
    for seed in seeds:
        lockstep.run(random_faulting_program(lockstep.config, seed))
    for _ in cut(lockstep, seeds):
        pass
