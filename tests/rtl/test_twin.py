"""RTL and golden model side by side: equal on what is right, named where something is wrong."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.arch import registers
from celosia.arch.commands import Matmul
from celosia.arch.config import preset
from celosia.arch.registers import Control, Status
from celosia.cli.main import main
from celosia.driver import open as open_device
from celosia.driver.errors import ChipFault, Divergence
from celosia.model import Machine
from celosia.program.asm import assemble
from celosia_sim import twin as twins
from celosia_sim.lockstep import memory_options
from celosia_sim.randprog import random_faulting_program, random_program
from celosia_sim.rtl import ErrorRange, SimOptions
from celosia_sim.twin import TwinTransport

NANO = preset("nano")
#: Two layers on nano: each unit works.
TEXT = """\
.chip nano
.buffer x, int8[4, 4], input
.buffer y, int32[4, 4], output
    load    ub[0], @x, fmt=i8, rows=4, cols=4, pitch=4
    load    ub[4], @x, fmt=i8, rows=4, cols=4, pitch=4
    matmul  acc[0], ub[0], ub[4], fmt=int8, n0=4, wrows=4, wload
    vector  iadd, acc[8], acc[0], scalar[1], n0=4
    store   acc[8], @y, fmt=w32, rows=4, cols=4, pitch=16
    halt
"""


@pytest.fixture
def twin():
    chip = TwinTransport(NANO, quiet=True)
    yield chip
    chip.close()


def write(chip, name, value):
    chip.write_register(registers.BY_NAME[name].offset, int(value))


def run(chip, program):
    chip.write_memory(program.program_addr, program.code)
    chip.write_memory(program.data_addr, program.image)
    write(chip, "PROGRAM", program.program_addr)
    write(chip, "LENGTH", program.length)
    closed = [(1, 0)] * (registers.NUM_WINDOWS - len(program.windows))
    for i, (base, last) in enumerate([*program.windows, *closed]):
        write(chip, f"WINDOW{i}_BASE", base)
        write(chip, f"WINDOW{i}_LAST", last)
    for name, value in (("IRQ_STATUS", 1), ("IRQ_ENABLE", 1), ("CONTROL", Control.START)):
        write(chip, name, value)
    assert chip.wait_interrupt(1_000_000)
    status = Status(chip.read_register(registers.BY_NAME["STATUS"].offset))
    if status == Status.FAULTED:
        write(chip, "CONTROL", Control.RESET)
        for name in ("ub", "acc"):  # instructions behind the fault may have run
            mine = getattr(chip.machine, name)
            mine[:] = chip.rtl.peek(name, 0, len(mine)).view(mine.dtype)
    return status


def test_random_programs_are_equal(twin):
    for seed in range(40):
        twin.rtl.set_options(memory_options(seed))
        assert run(twin, random_program(NANO, seed, memory=twin.memory_bytes)) == Status.DONE


def test_faults_are_equal(twin):
    ends = {run(twin, random_faulting_program(NANO, seed, memory=twin.memory_bytes))
            for seed in range(20)}
    assert ends == {Status.FAULTED}


@pytest.fixture
def device():
    with open_device("twin", config=NANO, quiet=True) as found:
        yield found


def on(device):
    x = np.arange(16, dtype=np.int8).reshape(4, 4)
    return device.run(assemble(TEXT, line_sources=True, filename="net.s"), {"x": x})["y"]


def spoil(device, pc, spoilt):
    """Have the model, after an instruction, hold something else than what it has computed."""
    machine = device.transport.machine
    start = machine.start

    def wrong(*arguments):
        made = start(*arguments)
        observe = machine.observer

        def late(at, command):
            if at == pc:
                spoilt(machine)
            observe(at, command)

        machine.observer = late
        return made

    machine.start = wrong


def test_what_is_right_is_equal(device):
    x = np.arange(16, dtype=np.int32).reshape(4, 4)
    assert np.array_equal(on(device), x @ x + 1)


@pytest.mark.parametrize(("pc", "memory", "row", "unit"), [
    (1, "ub", 6, "load"), (2, "acc", 3, "matmul"), (3, "acc", 10, "vector")])
def test_the_first_instruction_that_differs_is_named(device, pc, memory, row, unit):
    def spoilt(machine):
        getattr(machine, memory)[row, 2] ^= 1

    spoil(device, pc, spoilt)
    with pytest.raises(Divergence) as found:
        on(device)
    error = found.value
    assert (error.pc, error.order) == (pc, pc + 1)
    assert error.instruction.startswith(unit)
    assert error.source == f"net.s:{4 + pc}"
    assert f"{memory} row {row}, lanes 2 must be" in str(error)
    assert "(1 of its 4 rows differ)" in str(error)
    with pytest.raises(Divergence):  # the two have gone apart, and the device works on
        on(device)


def test_a_store_and_what_nobody_writes_are_named(device):
    def byte(machine):
        at = device.transport.windows()[0][0] + assemble(TEXT).buffer("y").offset + 5
        machine.memory.write(at, machine.memory.read(at, 1) ^ 1)

    spoil(device, 4, byte)
    with pytest.raises(Divergence, match=r"of external memory must be .*1 of its 64 bytes"):
        on(device)


def test_rows_that_no_instruction_writes_are_compared_at_the_end(device):
    spoil(device, 0, lambda machine: machine.acc.__setitem__((slice(100, 103), 0), 7))
    with pytest.raises(Divergence, match="acc row 0x64 is not what the model has at the end.*; so "
                                         "are 2 more\n"):
        on(device)


def test_of_many_lanes_the_first_are_shown():
    shown = [twins._short(np.arange(10, 10 + count)) for count in (0, 1, 8, 9)]
    assert shown == ["", "10", "10 11 12 13 14 15 16 17", "10 11 12 13 14 15 16 17 .."]
    assert twins._short(np.array([[10], [255]]), hexadecimal=True) == "0xa 0xff"


def test_a_run_that_ends_well_behind_one_that_did_not(device):
    x = np.zeros((4, 4), np.int8)
    with pytest.raises(ChipFault, match="ACC_RANGE"):
        device.run(assemble(TEXT.replace("acc[8], acc[0]", "acc[4094], acc[0]")), {"x": x})
    y = np.arange(16, dtype=np.int32).reshape(4, 4)
    assert np.array_equal(on(device), y @ y + 1)


def test_a_fault_of_both_is_the_drivers(device):
    x = np.zeros((4, 4), np.int8)
    bad = TEXT.replace("acc[8], acc[0]", "acc[4094], acc[0]")
    with pytest.raises(ChipFault, match="ACC_RANGE"):
        device.run(assemble(bad), {"x": x})


def test_a_fault_of_the_chip_alone_is_named(device):
    code = ErrorRange(1 << 31, (1 << 32) - 1)  # programs are at that end of the memory
    device.transport.rtl.set_options(SimOptions(errors=(code,)))
    with pytest.raises(Divergence, match=r"must end well, not by fault BUS_FETCH at instruction 0"):
        on(device)


def test_a_chip_that_hangs_is_named_by_its_oldest_instruction(device, monkeypatch):
    monkeypatch.setattr(twins, "_QUIET", 20_000)
    device.transport.rtl.set_options(SimOptions(read_latency=1 << 20))
    with pytest.raises(Divergence, match="the load unit must finish it, but nothing has for 20,000"
                       ) as found:
        on(device)
    assert (found.value.pc, found.value.order) == (0, 1)


def test_what_it_is_not_made_for_is_refused():
    with pytest.raises(ValueError, match=r"SimOptions\.probe must be False for a twin"):
        TwinTransport(NANO, SimOptions(probe=True))
    with pytest.raises(ValueError, match=r"TpuConfig\.ports .* must be 0, not 2"):
        TwinTransport(replace(NANO, name="linked", ports=2))


def test_the_command(tmp_path, capsys):
    path = tmp_path / "net.s"
    path.write_text(TEXT)
    assert main(["debug", "diverge", str(path)]) == 0
    assert "RTL and golden model are equal: 6 instructions" in capsys.readouterr().out


@pytest.mark.slow
def test_many_random_programs_are_equal(twin):
    for seed in range(1000, 3000):
        twin.rtl.set_options(memory_options(seed))
        run(twin, random_program(NANO, seed, memory=twin.memory_bytes))
        run(twin, random_faulting_program(NANO, seed, memory=twin.memory_bytes))


def test_the_command_saves_what_differs_by_itself(tmp_path, capsys, monkeypatch):
    start = Machine.start

    def wrong(machine, *arguments):
        """Have every model spoil a row after a matmul."""
        made = start(machine, *arguments)
        observe = machine.observer

        def late(at, command):
            if isinstance(command, Matmul):
                machine.acc[3, 2] ^= 1
            observe(at, command)

        machine.observer = late
        return made

    monkeypatch.setattr(Machine, "start", wrong)
    path, saved = tmp_path / "net.s", tmp_path / "less.s"
    path.write_text(TEXT)
    assert main(["debug", "diverge", str(path), "--save", str(saved)]) == 1
    out = capsys.readouterr().out
    assert f"wrote {saved}: 4 instructions that differ by themselves" in out
    assert main(["debug", "diverge", str(saved)]) == 1
    again = capsys.readouterr().out
    assert again.splitlines()[0].split(": ", 1)[1] == out.splitlines()[0].split(": ", 1)[1]
    assert "matmul" in again
    monkeypatch.undo()
    assert main(["debug", "diverge", str(saved)]) == 0
