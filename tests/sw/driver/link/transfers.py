"""Random accesses through a link, compared with what must be there."""

import numpy as np

from celosia.arch.registers import BY_NAME
from celosia.driver import Transport
from celosia.driver.link import LinkTransport

__all__ = ["transfers"]

#: A register that keeps what is written.
SCRATCH = BY_NAME["WATCHDOG"].offset


def transfers(link: LinkTransport, chip: Transport, count: int, seed: int) -> None:
    """Read and write at random; ``chip`` is the one behind the link, seen directly."""
    rng = np.random.default_rng(seed)
    wanted, word = chip.read_memory(0, link.memory_bytes), link.read_register(SCRATCH)
    for i in range(count):
        kind = rng.integers(4)
        size = int(rng.integers(1, 1500 if i % 10 == 0 else 200))
        address = int(rng.integers(link.memory_bytes - size))
        if kind == 0:
            data = rng.integers(0, 256, size, dtype=np.uint8)
            wanted[address:address + size] = data
            link.write_memory(address, data)
        elif kind == 1:
            assert np.array_equal(link.read_memory(address, size), wanted[address:address + size])
        elif kind == 2:
            word = int(rng.integers(1 << 32))
            link.write_register(SCRATCH, word)
        else:
            assert link.read_register(SCRATCH) == word
    assert np.array_equal(chip.read_memory(0, link.memory_bytes), wanted)
