"""The stand-in chip of stub_chip.v and a handle on it, for tests of the harness."""

from pathlib import Path

import numpy as np

from celosia.arch.config import TpuConfig

SCRATCH, SRC, DST, SHAPE, START, STATUS, IRQ_ENABLE = 0, 4, 8, 0xC, 0x10, 0x14, 0x18
FIRST_AR, FIRST_R, LAST_R, FIRST_W, LAST_W, LAST_B, BAD = 0x20, 0x24, 0x28, 0x2C, 0x30, 0x34, 0x38
READ, WRITE = 1, 2
BUSY, DONE, ERROR = 1, 2, 4


def stub_config(bus_bytes: int) -> TpuConfig:
    return TpuConfig("stub", dim=4, int8=True, bf16=False, ub_rows=2048, acc_rows=512,
                     bus_bytes=bus_bytes)


def stub_verilog(bus_bytes: int) -> str:
    text = (Path(__file__).parent / "stub_chip.v").read_text()
    return text.replace("BUS_BYTES", str(bus_bytes))


def move(chip, what: int, address: int, bursts: int, beats: int, limit: int = 1_000_000) -> int:
    """Read or write bursts of ``beats`` beats from ``address`` on; return STATUS after it."""
    chip.write_register(STATUS, 0)
    chip.write_register(SRC if what == READ else DST, address)
    chip.write_register(SHAPE, bursts - 1 << 16 | beats - 1)
    chip.write_register(IRQ_ENABLE, 1)
    chip.write_register(START, what)
    assert chip.wait_interrupt(limit)
    return chip.read_register(STATUS)


def random_bytes(size: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, size, dtype=np.uint8)
