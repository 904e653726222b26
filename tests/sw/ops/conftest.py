import numpy as np
import pytest

from celosia import driver


@pytest.fixture
def run():
    """Run a program on the model, its on-chip memories full of garbage; return its outputs."""
    def run(config, program, inputs):
        with driver.open("model", config=config) as device:
            machine = device.transport.machine
            rng = np.random.default_rng(1)
            machine.acc[:] = rng.integers(0, 1 << 32, machine.acc.shape, dtype=np.uint32)
            top = np.iinfo(machine.ub.dtype).max
            machine.ub[:] = rng.integers(0, top, machine.ub.shape, endpoint=True)
            machine.ub[::3] = 0x7FC0 & top  # NaN
            return device.run(program, inputs)
    return run
