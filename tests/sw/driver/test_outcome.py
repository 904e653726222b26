"""How a run ended, as registers and program tell it; what chips do is tested in test_device."""

from types import SimpleNamespace
from typing import Any

import pytest

from celosia.arch.config import preset
from celosia.arch.encoding import Reg, insn
from celosia.arch.faults import Fault, LinkFault
from celosia.arch.registers import Status
from celosia.driver.errors import ChipFault, Divergence, RunTimeout
from celosia.driver.outcome import RunResult, error_of, located
from celosia.program import Program

CORE4 = preset("core4")
RECV = {"port": 2, "tag": 0xABC, "fmt": "bf16", "mem": "acc", "row": 0}
INSNS = (
    insn("recv", **RECV, n0=3, n1=5),
    insn("recv", **RECV, counts=Reg(7)),
    insn("vector", op="gather", dst_kind="acc", a_kind="acc", b_kind="acc", dst=0, a=0, b=8, n0=1,
         param=12),
    insn("vector", op="gather", dst_kind="acc", a_kind="acc", b_kind="acc", dst=0, a=0, b=8, n0=1,
         param=Reg(9)),
    insn("read", rd=1, row=0, lane=4),
    insn("halt"),
)
ARENA = 0x4000


def loaded(config=CORE4, sources=True) -> Any:
    program = Program(config.fingerprint, INSNS, name="p", arena_bytes=96,
                      sources=tuple(f"line {i}" for i in range(len(INSNS))) if sources else ())
    return SimpleNamespace(program=program, arena=ARENA)


def ended(status, cause=0, pc=0, address=0, timeout=None, config=CORE4, sources=True) -> Any:
    """Return the error of a run whose registers hold these numbers."""
    registers = {"STATUS": status, "FAULT_CAUSE": cause, "FAULT_ADDR": address,
                 "PC" if status == Status.RUNNING else "FAULT_PC": pc}
    chip: Any = SimpleNamespace(read=registers.__getitem__)
    return error_of(chip, loaded(config, sources), config, timeout)


def fault(cause, pc, address, config=CORE4) -> ChipFault:
    error = ended(Status.FAULTED, cause, pc, address, config=config)
    assert isinstance(error, ChipFault)
    assert (error.cause, error.pc, error.address) == (cause, pc, address)
    return error


def test_a_run_that_is_done_has_no_error():
    assert ended(Status.DONE) is None
    result = RunResult({"y": 3}, {"cycles": 12, "instructions": 5})  # type: ignore[dict-item]
    assert (result["y"], result.cycles, result.instructions) == (3, 12, 5)


@pytest.mark.parametrize(("status", "cause"), [(Status.RUNNING, 0), (Status.FAULTED, 14)])
@pytest.mark.parametrize(("timeout", "cycles"), [(None, 0), (1, 1), (700, 700)])
def test_a_run_that_goes_on_has_taken_too_long(status, cause, timeout, cycles):
    error = ended(status, cause, pc=5, timeout=timeout)
    assert isinstance(error, RunTimeout)
    assert (error.cycles, error.pc) == (cycles, 5)
    assert (error.instruction, error.source, error.program) == ("halt", "line 5", "p")


@pytest.mark.parametrize(("status", "cause", "text"), [
    (Status.IDLE, 0, "register STATUS must be 2 (done) after a run, not 0"),
    (7, 4, "register STATUS must be 2 (done) after a run, not 7"),
    (Status.FAULTED, 0, "register FAULT_CAUSE must hold a fault, not 0"),
    (Status.FAULTED, 18, "register FAULT_CAUSE must hold a fault, not 18"),
])
def test_registers_that_no_run_leaves(status, cause, text):
    error = ended(status, cause)
    assert type(error).__name__ == "DeviceError"
    assert str(error) == text


@pytest.mark.parametrize(("pc", "instruction", "source"), [
    (0, "recv", "line 0"), (5, "halt", "line 5"),
    (6, "(outside the program)", ""), (9, "(outside the program)", ""),
    (-1, "(outside the program)", "")])
def test_the_instruction_is_named_where_there_is_one(pc, instruction, source):
    error = fault(Fault.BUS_READ, pc, 0)
    assert error.instruction.split()[0] == instruction.split()[0]
    assert (error.source, error.program, error.place) == (source, "p", "")
    assert ended(Status.FAULTED, Fault.BUS_READ, pc, sources=False).source == ""
    found = located(Divergence(pc, "it is wrong", 3, 4, 5), loaded())
    assert (found.instruction, found.source, found.program) == (
        error.instruction, source, "p")


@pytest.mark.parametrize("name", ["core4", "nano"])
def test_rows_are_of_so_many(name):
    config = preset(name)
    assert fault(Fault.UB_RANGE, 5, 9999, config).place == f"of {config.ub_rows} rows"
    assert fault(Fault.ACC_RANGE, 5, 9999, config).place == f"of {config.acc_rows} rows"
    assert config.ub_rows != config.acc_rows


@pytest.mark.parametrize(("pc", "place"), [
    (2, "of 12 rows of the table"), (3, "of r9 rows of the table"),
    (4, "of 4 lanes"), (0, "of 4 lanes"), (6, "of 4 lanes"), (7, "of 4 lanes")])
def test_indexes_are_of_a_table_and_lanes_of_the_chip(pc, place):
    assert fault(Fault.INDEX_RANGE, pc, 99).place == place


@pytest.mark.parametrize("cause", [Fault.WINDOW, Fault.MISALIGNED])
@pytest.mark.parametrize(("address", "place"), [
    (ARENA - 1, ""), (ARENA, "which is @0x0"), (ARENA + 95, "which is @0x5f"), (ARENA + 96, "")])
def test_an_address_in_the_arena_is_named(cause, address, place):
    assert fault(cause, 5, address).place == place
    assert fault(Fault.BUS_WRITE, 5, address).place == ""


WANTED = "port 2 was to bring tag 2748 with"
UNKNOWN = "as many rows as a register says"


@pytest.mark.parametrize(("pc", "head", "place"), [
    (0, 0x0004_0005, f"which is tag 5 with 4 rows of i8; {WANTED} 15 rows of bf16"),
    (0, 0xFFFF_1FFF, f"which is tag 4095 with 65535 rows of bf16; {WANTED} 15 rows of bf16"),
    (0, 0x8000_2800, f"which is tag 2048 with 32768 rows of w32; {WANTED} 15 rows of bf16"),
    # Bits 14 and 15 are of no use.
    (0, 0x0001_D001, f"which is tag 1 with 1 rows of bf16; {WANTED} 15 rows of bf16"),
    (1, 0x0004_0005, f"which is tag 5 with 4 rows of i8; {WANTED} {UNKNOWN} of bf16"),
    (4, 0x0004_0005, ""), (5, 0x0004_0005, ""), (6, 0x0004_0005, ""), (7, 0x0004_0005, ""),
])
def test_a_message_is_compared_with_what_was_to_come(pc, head, place):
    assert fault(LinkFault.LINK_MISMATCH, pc, head).place == place


def test_what_an_instruction_should_have_been_is_said():
    legal, outside = fault(Fault.BUS_READ, 5, 0), fault(Fault.PC_RANGE, 6, 6)
    assert legal.reason == outside.reason == ""
    error = fault(Fault.ILLEGAL_FIELD, 0, 0)
    assert error.reason == "port must be below the chip's 0, not 2"
    assert str(error).startswith("fault ILLEGAL_FIELD: port must be below the chip's 0, not 2\n"
                                 "  at instruction 0 of p: recv ")
