"""The registers of the golden model behind its transport."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from celosia.arch import registers
from celosia.arch.config import TpuConfig
from celosia.arch.encoding import encode, insn
from celosia.arch.faults import Fault
from celosia.arch.registers import Control, Status
from celosia.driver.errors import BusError
from celosia.driver.model import ModelTransport

CHIP = TpuConfig("chip", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=32, bus_bytes=8,
                 window=4, ibuf=16)
OFFSETS = {register.name: register.offset for register in registers.REGISTERS}


@pytest.fixture
def chip():
    return ModelTransport(CHIP)


def read(chip, *names):
    found = [chip.read_register(OFFSETS[name]) for name in names]
    return found if len(found) > 1 else found[0]


def start(chip, *insns, address=4096):
    chip.write_memory(address, b"".join(encode(each) for each in insns))
    chip.write_register(OFFSETS["PROGRAM"], address)
    chip.write_register(OFFSETS["LENGTH"], len(insns))
    chip.write_register(OFFSETS["CONTROL"], Control.START)


@pytest.mark.parametrize(("int8", "bf16", "formats"), [
    (True, False, 1), (False, True, 2), (True, True, 3)])
def test_a_chip_says_what_it_is(int8, bf16, formats):
    config = dataclasses.replace(CHIP, int8=int8, bf16=bf16)
    assert read(ModelTransport(config), "MAGIC", "VERSION", "FINGERPRINT", "DIM", "FORMATS",
                "UB_ROWS", "ACC_ROWS", "BUS_BYTES", "WINDOW", "IBUF") == [
        registers.MAGIC, registers.ISA_VERSION, config.fingerprint, 4, formats, 64, 32, 8, 4, 16]


def test_registers_are_as_they_were_reset(chip):
    known = {"MAGIC", "VERSION", "FINGERPRINT", "DIM", "FORMATS", "UB_ROWS", "ACC_ROWS",
             "BUS_BYTES", "WINDOW", "IBUF"}
    for register in registers.REGISTERS:
        if register.name not in known:
            assert read(chip, register.name) == register.init, register.name


def test_what_is_written_is_read(chip):
    names = ["PROGRAM", "LENGTH", "WATCHDOG",
             *(f"WINDOW{i}_{end}" for i in range(registers.NUM_WINDOWS)
               for end in ("BASE", "LAST"))]
    for i, name in enumerate(names):
        chip.write_register(OFFSETS[name], 0xFFFFFFFF - i)
    assert read(chip, *names) == [0xFFFFFFFF - i for i in range(len(names))]
    chip.write_register(OFFSETS["IRQ_ENABLE"], 3)
    assert read(chip, "IRQ_ENABLE") == 1
    chip.write_register(OFFSETS["IRQ_ENABLE"], 2)
    assert read(chip, "IRQ_ENABLE") == 0


@pytest.mark.parametrize("value", [-1, 1 << 32])
def test_values_have_32_bits(chip, value):
    with pytest.raises(ValueError, match=f"^value must be 32 bits unsigned, not {value}$"):
        chip.write_register(OFFSETS["PROGRAM"], value)


def test_registers_that_are_not_there(chip):
    with pytest.raises(BusError, match="^read of register 0xffc must be of one that the chip has"):
        chip.read_register(0xFFC)
    for offset in (0xFFC, OFFSETS["MAGIC"]):
        with pytest.raises(BusError, match=f"^write of register {offset:#05x} must be to one that "
                                           "can be written"):
            chip.write_register(offset, 0)


def test_a_run_ends_before_anything_else_is_done(chip):
    start(chip, insn("nop"), insn("halt"))
    assert read(chip, "STATUS", "IRQ_STATUS", "FAULT_CAUSE", "FAULT_PC", "PC") == [
        Status.DONE, 1, 0, 0, 1]
    chip.write_register(OFFSETS["IRQ_STATUS"], 2)
    assert read(chip, "IRQ_STATUS") == 1
    chip.write_register(OFFSETS["IRQ_STATUS"], 1)
    assert read(chip, "IRQ_STATUS") == 0
    start(chip, insn("halt"))
    assert read(chip, "STATUS", "PC") == [Status.DONE, 0]
    assert read(chip, "CYCLES_LO", "CYCLES_HI")[0] > 0


def test_a_fault_stops_the_chip_until_it_is_reset(chip):
    start(chip, insn("nop"), insn("load", mem="ub", fmt="i8", row=0, addr=0, rows=0, cols=4,
                                  pitch=4))
    assert read(chip, "STATUS", "FAULT_CAUSE", "FAULT_PC", "PC") == [
        Status.FAULTED, Fault.ILLEGAL_COUNT, 1, 1]
    with pytest.raises(BusError, match="^START must come while the chip is idle or done$"):
        chip.write_register(OFFSETS["CONTROL"], Control.START)
    chip.write_register(OFFSETS["CONTROL"], Control.RESET)
    assert read(chip, "STATUS", "IRQ_STATUS", "FAULT_CAUSE", "FAULT_PC", "FAULT_ADDR", "PC") == [
        Status.IDLE, 0, 0, 0, 0, 0]
    start(chip, insn("halt"))
    assert read(chip, "STATUS") == Status.DONE


def test_programs_are_aligned(chip):
    message = f"^START must come with a PROGRAM that is a multiple of {registers.PROGRAM_ALIGN}$"
    chip.write_register(OFFSETS["PROGRAM"], registers.PROGRAM_ALIGN // 2)
    with pytest.raises(BusError, match=message):
        chip.write_register(OFFSETS["CONTROL"], Control.START)
    assert read(chip, "STATUS") == Status.IDLE


def test_counters_have_64_bits(chip, monkeypatch):
    asked = []

    def run(*arguments, progress):
        asked.append(arguments)
        return SimpleNamespace(
            status=Status.DONE, pc=3, cause=0, addr=-1,
            counters={name: (i + 1 << 32) + 100 + i for i, name in enumerate(registers.COUNTERS)})

    monkeypatch.setattr(chip.machine, "run", run)
    chip.write_register(OFFSETS["WATCHDOG"], 77)
    chip.write_register(OFFSETS["WINDOW0_BASE"], 5)
    chip.write_register(OFFSETS["WINDOW0_LAST"], 6)
    start(chip)
    seen = []
    chip.wait_interrupt(None, seen.append)
    assert seen == [(read(chip, "CYCLES_HI") << 32) + read(chip, "CYCLES_LO")]
    assert seen[0] > 1 << 32
    for i, name in enumerate(registers.COUNTERS):
        assert read(chip, f"{name.upper()}_LO", f"{name.upper()}_HI") == [100 + i, i + 1]
    assert read(chip, "FAULT_ADDR", "FAULT_PC") == [0xFFFFFFFF, 0]
    [(program, length, windows, watchdog)] = asked
    assert (program, length, watchdog) == (4096, 0, 77)
    assert windows[0] == (5, 6)
    assert len(windows) == registers.NUM_WINDOWS


@pytest.mark.parametrize(("address", "size"), [(0, 1), (4095, 1), (4000, 96), (4096, 0)])
def test_memory_has_an_end(address, size):
    chip = ModelTransport(CHIP, memory_bytes=4096)
    chip.write_memory(address, np.full(size, 7, np.uint8))
    assert chip.read_memory(address, size).tolist() == [7] * size


@pytest.mark.parametrize(("address", "size"), [(4096, 1), (4000, 97), (-1, 1)])
def test_nothing_is_beyond_it(address, size):
    chip = ModelTransport(CHIP, memory_bytes=4096)
    message = f"^access to memory must end inside its 4096 bytes, not at {address + size:#x}$"
    with pytest.raises(BusError, match=message):
        chip.write_memory(address, bytes(size))
    with pytest.raises(BusError, match=message):
        chip.read_memory(address, size)


@pytest.mark.parametrize("enabled", [0, 1])
def test_the_interrupt_is_high_after_a_run_where_it_is_enabled(chip, enabled):
    chip.write_register(OFFSETS["IRQ_ENABLE"], enabled)
    assert not chip.wait_interrupt(None)
    start(chip, insn("halt"))
    seen = []
    assert chip.wait_interrupt(None, seen.append) == bool(enabled)
    assert seen[-1] == read(chip, "CYCLES_LO") > 0
