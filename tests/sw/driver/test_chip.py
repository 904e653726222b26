"""What the driver makes of a chip's registers."""

from typing import Any

from celosia.arch import registers
from celosia.driver.chip import Chip


class Registers:
    """A chip of which each register holds its own offset."""

    def __init__(self):
        self.written = {}

    def read_register(self, offset):
        return offset

    def write_register(self, offset, value):
        self.written[offset] = value


def test_a_counter_is_of_two_words():
    chip: Any = Registers()
    assert Chip(chip).counters() == {
        name: (offset + 4 << 32) + offset for name, offset in registers.COUNTERS.items()}


def test_a_run_is_started_behind_all_else_with_the_other_windows_closed():
    chip: Any = Registers()
    Chip(chip).start(0x1000, 7, [(0x2000, 0x2FFF)], 99)
    names = {register.offset: register.name for register in registers.REGISTERS}
    wanted = {"PROGRAM": 0x1000, "LENGTH": 7, "WINDOW0_BASE": 0x2000, "WINDOW0_LAST": 0x2FFF}
    for window in range(1, registers.NUM_WINDOWS):
        wanted |= {f"WINDOW{window}_BASE": 1, f"WINDOW{window}_LAST": 0}
    wanted |= {"WATCHDOG": 99, "IRQ_STATUS": 1, "IRQ_ENABLE": 1,
               "CONTROL": registers.Control.START}
    found = {names[offset]: value for offset, value in chip.written.items()}
    assert found == wanted
    assert [*found][:2] == ["PROGRAM", "LENGTH"]
    assert [*found][-1] == "CONTROL"
