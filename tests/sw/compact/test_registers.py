"""The firmware's register file: what the tests of celosia_hw.host say of the hardware's."""

import numpy as np
import pytest

from celosia.arch import registers
from celosia.arch.config import preset
from celosia.arch.encoding import Insn, encode, insn
from celosia.arch.faults import Fault
from celosia.arch.registers import BY_NAME, AccessMode, Activity, Control, Status
from celosia.driver.errors import BusError
from celosia.driver.model import ModelTransport
from celosia_hw.host.interface import FIXED_IN_A_RUN as WORDS
from celosia_hw.host.interface import constants
from celosia_sim.compact import CompactHost

NANO = preset("nano")
PROGRAM = 3 * registers.PROGRAM_ALIGN
FOREVER = insn("jump", target=0)
#: 10**12 rows, all of them row 0.
LONG = insn("vector", op="mov", dst_kind="acc", a_kind="scalar", dst=0, a=0, n0=65535, n1=65535,
            n2=1023, xdst=1)


class Host:
    """Registers of the firmware by name."""

    def __init__(self, config=NANO):
        self.chip = CompactHost(config)

    def read(self, name: str) -> int:
        return self.chip.read_register(BY_NAME[name].offset)

    def write(self, name: str, value: int) -> None:
        self.chip.write_register(BY_NAME[name].offset, value)

    def counter(self, name: str) -> int:
        low = self.read(f"{name.upper()}_LO")
        return self.read(f"{name.upper()}_HI") << 32 | low

    def last_fault(self) -> tuple[int, int, int]:
        return self.read("FAULT_CAUSE"), self.read("FAULT_PC"), self.read("FAULT_ADDR")

    def load(self, *program: Insn | bytes) -> None:
        code = b"".join(i if isinstance(i, bytes) else encode(i) for i in program)
        self.chip.write_memory(PROGRAM, code)
        self.write("PROGRAM", PROGRAM)
        self.write("LENGTH", len(code) // 32)

    def start(self, *program: Insn | bytes, cycles: int = 500) -> None:
        self.load(*program)
        self.write("CONTROL", Control.START)
        self.chip.run(cycles)

    def reset(self) -> None:
        self.write("CONTROL", Control.RESET)
        self.chip.run(50)


@pytest.fixture
def host():
    host = Host()
    yield host
    host.chip.close()


def answer(transport, offset: int, value: int | None = None) -> int | None:
    """Return what an access gives: a word, or None, or -1 for an error."""
    try:
        if value is None:
            return transport.read_register(offset)
        return transport.write_register(offset, value)
    except BusError:
        return -1


@pytest.mark.parametrize("name", ["pico", "nano", "edge"])
def test_every_register_reads_its_initial_value(name):
    host, expected = Host(preset(name)), constants(preset(name))
    for register in registers.REGISTERS:
        assert host.read(register.name) == expected.get(register.name, register.init), register.name
    host.chip.close()


def test_every_address_answers_as_the_map_says(host):
    access = {register.offset: register.access for register in registers.REGISTERS}
    for address in [*range(1 << registers.ADDRESS_BITS), 1 << registers.ADDRESS_BITS, 1 << 31]:
        value = answer(host.chip, address)
        assert (value != -1) == (address in access), hex(address)
        writable = access.get(address, AccessMode.RO) is not AccessMode.RO
        assert answer(host.chip, address, 0) == (None if writable else -1), hex(address)


@pytest.mark.parametrize("seed", range(4))
def test_random_accesses_do_what_they_do_to_the_model(host, seed):
    rng = np.random.default_rng(seed)
    model = ModelTransport(NANO, 1 << 20)
    offsets = [register.offset for register in registers.REGISTERS]
    for _ in range(5_000):
        offset = int(rng.choice(offsets if rng.random() < 0.5 else 4 * np.arange(64)))
        offset += int(rng.random() < 0.02)
        value = None if rng.random() < 0.5 else int(rng.integers(1 << 32))
        if value is not None and rng.random() < 0.5:
            value &= 0x81
        if offset == BY_NAME["CONTROL"].offset and value is not None:
            value &= ~Control.START
        assert answer(host.chip, offset, value) == answer(model, offset, value)
        if offset == BY_NAME["CONTROL"].offset:
            host.chip.run(10)


def test_words_are_stored_and_outlive_a_reset(host):
    rng = np.random.default_rng(1)
    values = {name: int(rng.integers(1 << 32)) for name in WORDS}
    for name, value in values.items():
        host.write(name, value)
    host.write("IRQ_ENABLE", 1)
    host.reset()
    assert host.read("IRQ_ENABLE") == 1
    for name, value in values.items():
        assert host.read(name) == value


def test_program_must_be_aligned_at_start(host):
    host.load(insn("halt"))
    for wrong in (4, registers.PROGRAM_ALIGN // 2, PROGRAM + 32, PROGRAM - 1):
        host.write("PROGRAM", wrong)
        with pytest.raises(BusError):
            host.write("CONTROL", Control.START)
        assert host.read("STATUS") == Status.IDLE
    host.start(FOREVER)
    assert host.read("STATUS") == Status.RUNNING


def test_start_is_refused_unless_idle_or_done(host):
    for _ in range(2):
        host.start(insn("nop"), insn("halt"))
        assert host.read("STATUS") == Status.DONE
        assert host.read("PC") == 1
    host.start(FOREVER)
    with pytest.raises(BusError):
        host.write("CONTROL", Control.START)
    assert host.read("STATUS") == Status.RUNNING
    host.reset()
    host.start(insn("nop"), bytes(32))
    for _ in range(2):
        assert host.read("STATUS") == Status.FAULTED
        assert host.last_fault() == (Fault.ILLEGAL_OPCODE, 1, 0)
        with pytest.raises(BusError):
            host.write("CONTROL", Control.START)
    host.write("CONTROL", 0)
    host.write("CONTROL", Control.RESET)
    assert host.read("STATUS") in (Status.RESETTING, Status.IDLE)
    assert host.last_fault() == (Fault.NONE, 0, 0)
    host.chip.run(10)
    assert host.read("STATUS") == Status.IDLE
    assert host.read("PC") == 0
    host.start(insn("halt"))
    assert host.read("STATUS") == Status.DONE


@pytest.mark.parametrize("program", [None, FOREVER, LONG])
def test_reset_wins_over_start_in_one_write(host, program):
    host.load(insn("halt") if program is None else program)
    if program is not None:
        host.start(program)
        assert host.read("STATUS") == Status.RUNNING
    host.write("CONTROL", Control.START | Control.RESET)
    host.chip.run(50)
    assert host.read("STATUS") == Status.IDLE
    assert not host.read("IRQ_STATUS")


@pytest.mark.parametrize("program", [FOREVER, LONG])
def test_configuration_of_a_run_is_fixed_while_it_runs(host, program):
    host.start(program)
    for name in WORDS:
        before = host.read(name)
        with pytest.raises(BusError):
            host.write(name, 7)
        assert host.read(name) == before
    host.write("IRQ_ENABLE", 1)
    host.reset()
    for name in WORDS:
        host.write(name, 1)
        assert host.read(name) == 1


def test_interrupt(host):
    host.start(insn("halt"))
    assert host.read("IRQ_STATUS") == 1
    assert not host.chip.wait_interrupt(10)  # not enabled
    host.write("IRQ_ENABLE", 0xFFFFFFFF)
    assert host.read("IRQ_ENABLE") == 1
    assert host.chip.wait_interrupt(0)
    host.write("IRQ_STATUS", 0xFFFFFFFE)
    assert host.chip.wait_interrupt(0)
    host.write("IRQ_STATUS", 1)
    assert not host.chip.wait_interrupt(0)
    assert host.read("IRQ_STATUS") == 0
    host.start(bytes(32))
    assert host.chip.wait_interrupt(0)
    host.write("CONTROL", Control.RESET)
    assert not host.chip.wait_interrupt(0)
    assert host.read("IRQ_STATUS") == 0


@pytest.mark.parametrize("program", [FOREVER, LONG])
def test_watchdog(host, program):
    host.write("WATCHDOG", 4000)
    host.start(insn("nop"), program, cycles=3000)
    assert host.read("STATUS") == Status.RUNNING
    host.chip.run(2000)
    assert host.read("STATUS") == Status.FAULTED
    cause, pc, addr = host.last_fault()
    assert (cause, addr) == (Fault.WATCHDOG, 0)
    assert pc == host.read("PC") <= 1
    assert host.read("IRQ_STATUS") == 1
    cycles = host.counter("cycles")
    assert 4000 <= cycles < 4100
    host.reset()
    assert host.counter("cycles") == cycles  # kept over the reset
    host.start(insn("halt"))
    assert host.read("STATUS") == Status.DONE


def test_counters_are_live_restart_and_add_up(host):
    host.start(insn("nop"), LONG)
    times = []
    for _ in range(3):
        times.append((host.counter("cycles"), host.counter("vpu_busy")))
        host.chip.run(1000)
    assert all(c1 >= c0 + 1000 and v1 >= v0 + 1000
               for (c0, v0), (c1, v1) in zip(times, times[1:], strict=False))
    assert host.counter("instructions") == 1
    host.reset()
    counts = {name: host.counter(name) for name in registers.counter_names()}
    assert counts["cycles"] > 3000
    for unit in registers.UNIT_NAMES:
        states = {state: counts[f"{unit}_{state.name.lower()}"] for state in Activity}
        assert sum(states.values()) == counts["cycles"], unit
    assert counts["vpu_busy"] == counts["scalar_wait_unit"] > 3000
    assert counts["scalar_busy"] == counts["vpu_idle"] > 0
    assert counts["mxu_idle"] == counts["load_idle"] == counts["cycles"]
    assert not any(count for name, count in counts.items() if name.startswith("conflicts"))
    host.start(insn("halt"))
    assert 0 < host.counter("cycles") < 100
    assert host.counter("vpu_busy") == 0
    assert host.counter("scalar_busy") == host.counter("cycles")


def test_halves_of_a_counter_belong_together(host):
    host.start(FOREVER)
    for top in (32, 48):
        host.chip.skip((1 << top) - host.counter("cycles") - 30)
        before, carried = host.counter("cycles"), False
        for _ in range(40):
            value = host.counter("cycles")
            assert 0 < (value - before) % (1 << 48) < 10
            carried |= before >> 32 != value >> 32
            before = value
        assert carried
    # There is one place for upper bits: any HI shows those of the LO that was read last.
    host.chip.skip(5 << 32)
    host.read("CYCLES_LO")
    assert host.read("VPU_BUSY_HI") == 5
    host.read("VPU_BUSY_LO")
    assert host.read("CYCLES_HI") == 0


def test_long_watchdog(host):
    host.write("WATCHDOG", 0xFFFF_FFFF)
    host.start(FOREVER)
    for _ in range(8):
        assert host.read("STATUS") == Status.RUNNING
        host.chip.skip((1 << 29) - 200)
        host.chip.run(100)
    host.chip.run(0xFFFF_FFFF - host.counter("cycles") - 20)
    assert host.read("STATUS") == Status.RUNNING
    host.chip.run(40)
    assert host.read("STATUS") == Status.FAULTED
    assert host.counter("cycles") >= 0xFFFF_FFFF
