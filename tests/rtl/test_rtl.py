"""Options of a simulated chip, and how its runs are cut: without a chip."""

from __future__ import annotations

import io
import re
import sys
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from celosia.arch.config import PRESETS
from celosia.arch.registers import BY_NAME
from celosia.driver.errors import BusError
from celosia_sim import rtl
from celosia_sim.library import RunEnd
from celosia_sim.rtl import ErrorRange, RtlTransport, SimOptions, check_write

TRACES = ("None or a path that ends in .vcd, .fst or .toggles",
          [None, "a.vcd", "a.fst", Path("b/a.toggles")],
          ["a", "a.txt", Path("b.vcd/a.fs"), "a.vcd.gz"])
CYCLES = ("a positive integer", [1, 2, (1 << 31) - 1], [0, -1, 1 << 31, 1 << 32])
#: Of each option what it must be, its last values that are, and its first ones that are not.
EDGES = {
    "bytes_per_cycle": ("None or above 0", [None, 1e-9, 1, 1 << 20], [0, -1e-9, -1]),
    "read_latency": CYCLES, "write_latency": CYCLES, "max_outstanding": CYCLES,
    "stall_seed": ("None or an integer from 0 to 2**64 - 2", [None, 0, 1, (1 << 64) - 2],
                   [-1, (1 << 64) - 1, 1 << 64]),
    "stall_rate": ("at least 0 and below 1", [0, 1e-9, 0.5, 0.999999], [-1e-9, 1, 1.5]),
    "trace": TRACES,
}


@pytest.mark.parametrize("name", EDGES)
def test_options_are_taken_up_to_their_edges(name):
    wanted, taken, refused = EDGES[name]
    for value in taken:
        assert getattr(SimOptions(**{name: value}), name) == value
    for value in refused:
        says = f"SimOptions.{name} must be {wanted}, not {value!r}"
        with pytest.raises(ValueError, match=f"^{re.escape(says)}$"):
            SimOptions(**{name: value})


def test_memory_is_that_of_which_cycles_are_told_where_nothing_else_is_said():
    assert asdict(SimOptions()) == {
        "bytes_per_cycle": None, "read_latency": 64, "write_latency": 8, "max_outstanding": 64,
        "stall_seed": None, "stall_rate": 0.3, "errors": (), "trace": None,
        "trace_cycles": (0, 0x7FFF_FFFF_FFFF_FFFF), "probe": False}
    assert ErrorRange(3, 9) == ErrorRange(3, 9, read=True, write=True)


def test_registers_are_words_at_offsets_that_pins_can_carry():
    program = BY_NAME["PROGRAM"].offset
    for offset, value in ((0, 0), (0xFFF, 0), (program, 0xFFFF_FFFF)):
        check_write(offset, value)
    for value in (-1, 1 << 32, 1 << 40):
        with pytest.raises(ValueError, match=rf"^value of register PROGRAM must be 32 bits, not "
                           rf"{value}$"):
            check_write(program, value)
        with pytest.raises(ValueError, match=rf"^value of register 0xffd must be 32 bits, not "
                           rf"{value}$"):
            check_write(0xFFD, value)
    for offset in (-1, 0x1000):
        with pytest.raises(BusError, match=r"^register offset must be from 0 to 0xfff, not "
                           rf"{offset:#x}$"):
            check_write(offset, 0)


class FakeChip:
    """A chip that runs so many cycles a second, and interrupts at a cycle."""

    def __init__(self, _path):
        self.runs: list[int] = []
        self.calls: list[tuple] = []
        self.now, self.clock = 0, 100.0
        self.rate, self.interrupt = 1e6, float("inf")

    def run(self, limit):
        ends = self.interrupt <= self.now + limit
        cycles = self.interrupt - self.now if ends else limit
        self.runs.append(limit)
        self.now += cycles
        self.clock += cycles / self.rate
        return RunEnd.INTERRUPT if ends else RunEnd.CYCLES, cycles

    def __getattr__(self, name):
        return lambda *values, **named: self.calls.append((name, *values, *named.values()))


@pytest.fixture
def transport(monkeypatch):
    monkeypatch.setattr(rtl, "ChipLibrary", FakeChip)
    made: Any = RtlTransport(PRESETS["nano"], built=Path("chip.so"))
    clock = lambda: made.chip.clock  # noqa: E731
    monkeypatch.setattr(rtl, "time", SimpleNamespace(perf_counter=clock, monotonic=clock))
    return made


def test_a_run_is_cut_into_slices_of_the_same_time(transport):
    chip, seen = transport.chip, []
    assert not transport.wait_interrupt(400_000, seen.append)
    # A slice twice as long as the one before, up to 0.05 s; and no cycle more than were asked for.
    assert chip.runs == [1000, 2000, 4000, 8000, 16000, 32000, *[50_000] * 6, 37_000]
    assert chip.now == 400_000
    assert seen == [sum(chip.runs[:n]) for n in range(1, len(chip.runs))]
    chip.runs.clear()
    # A chip that is slow is looked at all the same, but not at every cycle.
    chip.rate = 10_000
    assert not transport.wait_interrupt(2000)
    assert chip.runs == [1000, 500, 500]
    chip.runs.clear()
    chip.rate = 100
    assert not transport.wait_interrupt(1250)
    assert chip.runs == [1000, 100, 100, 50]


@pytest.mark.parametrize("timeout", [None, 12_345, 1 << 40])
def test_a_run_ends_with_the_interrupt(transport, timeout):
    transport.chip.interrupt = 12_345
    assert transport.wait_interrupt(timeout)
    assert transport.chip.now == 12_345


def test_a_run_of_no_cycles_is_one(transport):
    assert not transport.wait_interrupt(0)
    assert transport.chip.runs == [0]
    transport.chip.interrupt = 0
    assert transport.wait_interrupt(0)
    with pytest.raises(ValueError, match=r"^timeout_cycles must be None or at least 0, not -1$"):
        transport.wait_interrupt(-1)


def test_options_reach_the_chip_and_replace_those_before(transport):
    chip = transport.chip
    chip.calls.clear()
    options = SimOptions(7.5, 11, 12, 13, 14, 0.25, (ErrorRange(1, 2),
                                                     ErrorRange(3, 4, read=False)))
    transport.set_options(options)
    assert transport.options is options
    assert chip.calls == [("set_timing", 7.5, 11, 12, 13, 14, 0.25), ("clear_errors",),
                          ("add_error", 1, 2, True, True), ("add_error", 3, 4, False, True)]


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_appears_on_a_terminal_when_a_run_has_taken_two_seconds(monkeypatch):
    rate = 200_000
    monkeypatch.setattr(rtl, "ChipLibrary", FakeChip)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    for name, value in {"TERM": "xterm", "COLUMNS": "120"}.items():
        monkeypatch.setenv(name, value)
    loud: Any = RtlTransport(PRESETS["nano"], built=Path("chip.so"))
    quiet: Any = RtlTransport(PRESETS["nano"], built=Path("chip.so"), quiet=True)
    for made, seconds, bar in ((loud, 1.9, False), (quiet, 2.5, False), (loud, 2.5, True)):
        clock = lambda made=made: made.chip.clock  # noqa: E731
        monkeypatch.setattr(rtl, "time", SimpleNamespace(perf_counter=clock, monotonic=clock))
        made.chip.rate = rate
        made.wait_interrupt(int(seconds * rate))
        text = terminal.getvalue()
        assert bool(text) == bar
    assert f"{rate:,.0f} cycles/s" in text
    shown = [int(number.replace(",", "")) for number in re.findall(r"simulating ([\d,]+) ", text)]
    assert shown
    assert 2 * rate < max(shown) < 2.5 * rate
