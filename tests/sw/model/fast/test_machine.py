"""Random programs leave and count the same on the fast machine as on the plain one."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.arch.config import PRESETS, TpuConfig
from celosia.arch.registers import Status
from celosia.model import Machine, PlainMachine
from celosia_sim.randprog import (
    RandomProgram,
    random_bad_indexes,
    random_bus_errors,
    random_faulting_program,
    random_program,
    random_walks,
)

#: Every preset as it is, and where it lacks bf16 or int8 with both.
CONFIGS = list(PRESETS.values()) + [
    replace(config, name=f"{config.name}_both", int8=True, bf16=True)
    for config in PRESETS.values() if not (config.int8 and config.bf16)]
KINDS = [random_program, random_faulting_program, random_bad_indexes, random_bus_errors]
#: Each with each; long walks of large arrays would take minutes, and 256 columns of what no preset
#: is take as long as all others: 128 of it see the same.
CASES = [pytest.param(config, kind, marks=[pytest.mark.slow] * (
    config.dim > 128 and config not in PRESETS.values()))
         for config in CONFIGS for kind in KINDS] + [
    (config, random_walks) for config in CONFIGS if config.dim <= 16]


def same(plain: PlainMachine, fast: Machine, program: RandomProgram, where: str) -> None:
    np.testing.assert_array_equal(fast.ub, plain.ub, err_msg=where)
    np.testing.assert_array_equal(fast.acc, plain.acc, err_msg=where)
    for addr, size in ((program.data_addr, len(program.image)),
                       (program.program_addr, len(program.code))):
        assert (fast.memory.read(addr, size) == plain.memory.read(addr, size)).all(), where


def check(config: TpuConfig, program: RandomProgram, where: str) -> None:
    """Run it for some instructions, to its end, and again."""
    for limit in (7, 10_000):
        plain, fast = PlainMachine(config), Machine(config)
        try:
            wanted = program.run(plain, limit)
        except TimeoutError as error:
            with pytest.raises(TimeoutError, match=f"^{error}$"):
                program.run(fast, limit)
        else:
            assert program.run(fast, limit) == wanted, where
        same(plain, fast, program, where)
    if wanted.status == Status.DONE and not program.errors:
        for time in range(2, 5):
            program.load(fast.memory)
            assert fast.run(program.program_addr, program.length, program.windows) == program.run(
                plain), where
            same(plain, fast, program, f"{where}, run {time}")


@pytest.mark.parametrize(("config", "kind"), CASES, ids=lambda each: getattr(
    each, "name", None) or each.__name__)
def test_random_programs(config, kind):
    for seed in range(1 if config.dim > 16 else 6):
        check(config, kind(config, seed), f"{kind.__name__}, seed {seed}")
