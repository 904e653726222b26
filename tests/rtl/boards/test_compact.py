"""The compact chip as it is in a bitstream, at the pins of a board, against the golden model."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.arch.config import PRESETS
from celosia.arch.encoding import encode, insn
from celosia.arch.registers import BY_NAME, Control, Status
from celosia.link import LinkTransport
from celosia_hw.boards import BOARDS
from celosia_sim.board import STRICTEST
from celosia_sim.board_library import BoardLibrary, build_board
from celosia_sim.lockstep import Lockstep
from celosia_sim.randprog import random_faulting_program, random_program

#: With the memory that random programs use, and in it what they leave alone.
LARGE = replace(
    BOARDS["tangnano9k"], memory_bytes=1 << 22,
    capacity=replace(BOARDS["tangnano9k"].capacity, block_rams=10_000))
PROGRAM, ROWS = 0x0030_0000, 0x0031_0000


class Wire:
    """The pins of a board: time passes while the host waits for a byte."""

    name = "the pins"

    def __init__(self, name: str):
        self.config = PRESETS[name]
        built = build_board(LARGE, self.config, baud=10_000_000)
        self.hz, self.byte_seconds = built.freq_hz, 10 / built.baud
        self.library = BoardLibrary(built, STRICTEST)
        self.library.run(5000)  # it hears nothing until it is out of reset

    def clock(self) -> float:
        return self.library.now / self.hz

    def write(self, data: bytes) -> None:
        self.library.send(data)

    def read(self, seconds: float) -> bytes:
        end = self.library.now + seconds * self.hz
        while self.library.now < end:
            if data := self.library.run(500):
                return data
        return b""

    def close(self) -> None:
        self.library.close()


class Chip(LinkTransport):
    """A chip behind its wire, which stores its rows to be seen."""

    def __init__(self, wire: Wire):
        super().__init__(wire, wire.config, clock=wire.clock)
        self.config = wire.config

    def peek(self, name: str, row: int, count: int) -> np.ndarray:
        dim, words = self.config.dim, name == "acc"
        size = dim * (4 if words else 1)
        store = insn("store", mem=name, fmt="w32" if words else "i8", row=row, addr=ROWS,
                     shape=dim << 16 | count, pitch=size)
        self.write_memory(PROGRAM, encode(store) + encode(insn("halt")))
        for register, value in (
                ("CONTROL", Control.RESET), ("PROGRAM", PROGRAM), ("LENGTH", 2), ("WATCHDOG", 0),
                ("WINDOW0_BASE", ROWS), ("WINDOW0_LAST", ROWS + count * size - 1),
                ("IRQ_STATUS", 1), ("IRQ_ENABLE", 1), ("CONTROL", Control.START)):
            self.write_register(BY_NAME[register].offset, int(value))
        assert self.wait_interrupt(10_000_000)
        assert self.read_register(BY_NAME["STATUS"].offset) == Status.DONE
        return self.read_memory(ROWS, count * size).reshape(count, size)


@pytest.fixture(scope="module", params=["nano", pytest.param("pico", marks=pytest.mark.slow)])
def lockstep(request):
    chip = Chip(Wire(request.param))
    yield Lockstep(PRESETS[request.param], chip, timeout=50_000_000, exact=False)
    chip.close()


@pytest.mark.parametrize("make", [random_program, random_faulting_program])
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow)
                                       for seed in range(1, 12))])
def test_random_programs(lockstep, make, seed):
    lockstep.run(make(lockstep.config, 50_000 + seed))
