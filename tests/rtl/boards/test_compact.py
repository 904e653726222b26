"""The compact chip as it is in a bitstream, at the pins of a board, against the golden model."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.arch.config import PRESETS
from celosia.arch.encoding import encode, insn
from celosia.arch.registers import BY_NAME, Control, Status
from celosia.driver import Device
from celosia.driver.link import LinkTransport
from celosia.program.asm import assemble
from celosia_hw.boards import BOARDS
from celosia_sim.board import STRICTEST
from celosia_sim.board_library import BoardLibrary, BuiltBoard, build_board
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

    def __init__(self, built: BuiltBoard):
        self.config = built.config
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
        config, dim = self.config, self.config.dim
        size = (config.acc_row_bits if name == "acc" else config.ub_row_bits) // 8
        fmt = "w32" if name == "acc" else "bf16" if config.bf16 else "i8"
        store = insn("store", mem=name, fmt=fmt, row=row, addr=ROWS,
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


@pytest.fixture(scope="module", params=[
    "nano", *(pytest.param(name, marks=pytest.mark.slow) for name in ("pico", "edge", "core4"))])
def lockstep(request):
    """`edge` and `core4` are on the ULX3S with its SDRAM.

    To read the rows of `edge` takes a minute; tests/e2e/test_board_demo.py, which is not slow,
    has it on that board.
    """
    board = BOARDS["ulx3s"] if request.param in ("edge", "core4") else LARGE
    wire = Wire(build_board(board, PRESETS[request.param], baud=10_000_000))
    chip = Chip(wire)
    yield Lockstep(PRESETS[request.param], chip, timeout=50_000_000, exact=False)
    if wire.library.sdram is not None:
        assert wire.library.sdram.violations == []
        assert wire.library.sdram.counts.reads > 1000
    chip.close()


@pytest.mark.parametrize(("make", "seed"), [
    (random_program, 0), *(pytest.param(make, seed, marks=pytest.mark.slow)
                           for make in (random_program, random_faulting_program)
                           for seed in range(12) if make is random_faulting_program or seed)])
def test_random_programs(lockstep, make, seed):
    lockstep.run(make(lockstep.config, 50_000 + seed))


def test_cycles_are_those_of_the_engine_too(lockstep):
    """One long run of the array: the firmware has nothing to do, and waits for it."""
    rows = 50_000
    program = assemble(f".chip {lockstep.config.name}\n stride x1, 0\n matmul acc[0,x1], "
                       f"ub[0,x1], ub[0], n0={rows}, wrows=1\n halt")
    result = Device(lockstep.transport).run(program)
    assert result.counters["mxu_busy"] > rows
    assert result.cycles < rows + 20_000
