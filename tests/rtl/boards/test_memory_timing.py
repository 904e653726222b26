"""Transfers through the SDRAM of a board at its pins take the cycles that the model says."""

import pytest
from board_pins import BAUDS, Pins

from celosia.arch.config import preset
from celosia.arch.encoding import encode
from celosia.arch.registers import BY_NAME, Control, Status
from celosia.bench.board_memory import memory_timing
from celosia.driver.link import LinkTransport
from celosia.model.timing.predict import predict
from celosia.program import Program
from celosia.program.asm import assemble
from celosia_hw.boards import BOARDS
from celosia_sim.board_library import build_board

BOARD = BOARDS["ulx3s"]
EDGE = BOARD.folded(preset("edge"))
#: Addresses of what is read and what is written.
_A, _B = 1 << 20, 2 << 20
_NOPS = ["mov r1, 1"] * 200


def load(i: int, pitch: int = 8, apart: int = 4096) -> str:
    return f"load ub[{512 * i}], {_A + apart * i}, fmt=i8, rows=512, cols=8, pitch={pitch}"


def store(i: int, pitch: int = 32, apart: int = 8192) -> str:
    return f"store acc[{256 * (i % 4)}], {_B + apart * i}, fmt=w32, rows=256, cols=8, pitch={pitch}"


#: Instructions by what they do.
PROGRAMS = {
    "loads": [load(i) for i in range(4)],
    "loads of far rows": [load(i, 784, 8) for i in range(4)],
    "loads of long rows": [f"load ub[{1024 * i}], {_A + 6272 * i}, fmt=i8, rows=8, cols=784, "
                            "pitch=784, row_step=98, group_step=1" for i in range(4)],
    "stores": [store(i) for i in range(4)],
    "stores of far rows": [store(i, 2048, 32) for i in range(4)],
    "loads beside stores": [each for i in range(4) for each in (load(i), store(i))],
    "all of far rows": [each for i in range(4) for each in
                         (load(i, 784, 8), store(i, 2048, 32))],
    "instructions": _NOPS,
    "instructions beside loads": [*(load(i) for i in range(4)), *_NOPS],
    "instructions beside stores": [*(store(i) for i in range(4)), *_NOPS],
}


@pytest.fixture(scope="module")
def link():
    pins = Pins(build_board(BOARD, EDGE, baud=BAUDS["ulx3s"]))
    yield pins.open()
    pins.library.close()


def cycles(link: LinkTransport, program: Program) -> int:
    """Run a program at the address 0 of the board; nothing else is written there."""
    link.write_memory(0, b"".join(map(encode, program.insns)))
    for name, value in (("PROGRAM", 0), ("LENGTH", len(program.insns)), ("WINDOW0_BASE", 0),
                        ("WINDOW0_LAST", link.memory_bytes - 1), ("IRQ_STATUS", 1),
                        ("IRQ_ENABLE", 1), ("CONTROL", Control.START)):
        link.write_register(BY_NAME[name].offset, value)
    assert link.wait_interrupt(200_000)
    assert link.read_register(BY_NAME["STATUS"].offset) == Status.DONE
    return link.read_register(BY_NAME["CYCLES_LO"].offset)


@pytest.mark.parametrize("name", PROGRAMS)
def test_cycles(link, name):
    program = assemble("\n".join((".chip edge", *PROGRAMS[name], "halt")))
    said = predict(program, EDGE, memory_timing(BOARD, EDGE)).cycles
    assert said == pytest.approx(cycles(link, program), rel=0.05)
