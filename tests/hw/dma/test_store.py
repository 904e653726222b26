import numpy as np
import pytest

from celosia.arch.config import TpuConfig
from hw.dma_world import World, random_commands


def config(bus: int, dim: int, int8: bool = True, bf16: bool = True) -> TpuConfig:
    return TpuConfig("test", dim=dim, int8=int8, bf16=bf16, ub_rows=64, acc_rows=32, bus_bytes=bus)


CONFIGS = [config(4, 4), config(8, 4), config(8, 4, bf16=False), config(16, 2, int8=False)]


@pytest.mark.parametrize("chip", CONFIGS, ids=str)
@pytest.mark.parametrize("rough", [False, True])
def test_random_commands(chip, rough):
    commands = random_commands(chip, np.random.default_rng(7), 30)
    world = World(chip, "store", busy=0.3 if rough else 0, refuse=0.3 if rough else 0,
                  gap=0.5 if rough else 0, latency=20 if rough else 2)
    world.run(commands)
