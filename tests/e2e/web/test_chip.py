"""The whole RTL of nano as WebAssembly: equal to the golden model, fast and small enough."""

import gzip
from collections import Counter

import pytest

from celosia.arch.config import preset
from celosia.arch.faults import Fault
from celosia.arch.probe import BY_NAME as BY_FIELD
from celosia.arch.registers import BY_NAME, COUNTERS, MAGIC, UNIT_NAMES, Activity
from celosia.program.asm import assemble
from celosia_sim.build import ABI
from celosia_sim.lockstep import Lockstep
from celosia_sim.randprog import random_faulting_program, random_program
from celosia_sim.wasm import build_wasm
from node import NodeChip

pytestmark = pytest.mark.extra(name="docs")
NANO = preset("nano")


@pytest.fixture
def chip():
    made = NodeChip(NANO)
    yield made
    made.close()


def test_a_thousand_random_programs_leave_what_the_model_leaves(chip):
    both = Lockstep(NANO, chip)
    cycles = sum(both.run(random_program(NANO, seed)).cycles for seed in range(1000))
    assert cycles > 500_000


def test_faults_are_those_of_the_model(chip):
    both = Lockstep(NANO, chip)
    causes = {both.run(random_faulting_program(NANO, seed), rows=False).cause
              for seed in range(100)}
    assert {Fault.ILLEGAL_FIELD, Fault.UB_RANGE, Fault.WINDOW} <= causes


def test_it_is_fast_enough(chip):
    assert max(chip.ask("speed", 100_000) for _ in range(5)) >= 50_000


def test_it_is_small_enough():
    assert len(gzip.compress(build_wasm(NANO).module.read_bytes(), 9)) <= 1_500_000


def test_signals_are_those_of_the_chip(chip):
    assert chip.read_register(0) == MAGIC
    assert len(chip.ask("signal", "weight")) == NANO.dim ** 2
    assert len(chip.ask("signal", "pcs")) == NANO.window
    assert int(chip.ask("signal", "probe")) & 1 == 0  # no program runs


def test_a_step_shows_what_the_units_do(chip):
    """A program is in the window, and its weights in the array, in the cycles in which it is so."""
    program = assemble("load ub[0], 0, fmt=i8, rows=4, cols=4, pitch=4\n"
                       "matmul acc[0], ub[0], w=ub[0], fmt=int8, n0=4, wrows=4\nhalt", NANO)
    chip.write_memory(0, bytes(range(16)))
    chip.write_memory(1 << 20, program.code())
    for name, value in (("PROGRAM", 1 << 20), ("LENGTH", 3), ("WINDOW0_BASE", 0),
                        ("WINDOW0_LAST", 15), ("IRQ_STATUS", 1), ("IRQ_ENABLE", 1), ("CONTROL", 1)):
        chip.write_register(BY_NAME[name].offset, value)
    seen, weights, waiting = set(), [], set()
    for _ in range(400):
        chip.ask("step", 1)
        probe = int(chip.ask("signal", "probe"))
        seen.add(Activity(probe >> BY_FIELD["mxu_activity"].first & 7))  # of the matrix unit
        weights = chip.ask("signal", "weight")
        slots, pcs = chip.ask("signal", "slots"), chip.ask("signal", "pcs")
        waiting |= {(pcs[slot], *(pcs[other] for other in range(NANO.window)
                                 if chip.ask("signal", f"waits{slot}") >> other & 1))
                    for slot in range(NANO.window) if slots >> slot & 1}
        if not probe & 1:
            break
    assert {Activity.IDLE, Activity.BUSY, Activity.WAIT_DEPS} <= seen
    assert weights == list(range(16))
    assert waiting == {(0,), (1, 0), (1,)}  # the matmul for the load, then for nothing
    assert not slots


class _Looked(NodeChip):
    """Looks at the counters in each cycle of a run: they hold what the probe has shown."""

    def wait_interrupt(self, timeout_cycles, progress=None):
        first, names = min(COUNTERS.values()), list(COUNTERS)
        shown = None  # of the cycle before the first there is nothing to compare with
        for cycle in range(1, timeout_cycles):
            probe = int(self.ask("signal", "probe"))
            self.found = dict(zip(names, self.ask("counters", first, len(names)), strict=True))
            if not probe & 1:
                return super().wait_interrupt(timeout_cycles)
            assert self.found["cycles"] == cycle
            states = Counter({name: value for name, value in self.found.items()
                              if name.split("_")[0] in UNIT_NAMES and value})
            shown = states.copy() if shown is None else shown
            assert states == shown
            assert sum(states.values()) == cycle * len(UNIT_NAMES)
            for unit in UNIT_NAMES:
                state = Activity(probe >> BY_FIELD[f"{unit}_activity"].first & 7)
                shown[f"{unit}_{state.name.lower()}"] += 1
            self.ask("step", 1)
        return False


def test_counters_are_those_of_each_cycle_and_to_look_at_them_leaves_no_trace(chip):
    looked = _Looked(NANO)
    try:
        both, plain = Lockstep(NANO, looked), Lockstep(NANO, chip)
        for seed in range(2):
            program = random_program(NANO, seed)
            assert both.run(program) == plain.run(program)
            assert looked.found == {name: looked.read_register(offset)
                                    for name, offset in COUNTERS.items()}
    finally:
        looked.close()


def test_a_module_of_another_interface_is_refused(chip):
    with pytest.raises(RuntimeError, match=f"interface must be version 1, not {ABI}"):
        chip.ask("other_interface")
