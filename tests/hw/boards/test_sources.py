"""The sources of boards; that the tools take them, and that they work, is tested elsewhere."""

import dataclasses
import re

import pytest

from celosia.arch.config import preset
from celosia_hw.boards import BOARDS, board
from celosia_hw.boards import sources as module
from celosia_hw.boards.sources import sources
from celosia_hw.soc.sdram_pads import PHASES, sdram_pads
from celosia_hw.soc.sdram_timing import SdramTiming

PINS = {
    "ulx3s": 'LOCATE COMP "sdram_dq[15]" SITE "J17";',
    "icesugarpro": 'LOCATE COMP "rx" SITE "A9";',
    "icepizero": 'LOCATE COMP "tx" SITE "K15";',
    "colorlight5a75b": 'LOCATE COMP "clk" SITE "P6";',
    "ecp5evn": 'LOCATE COMP "led_fault" SITE "A12";',
    "tangprimer20k": 'IO_LOC "clk" H11;',
    "arty_a7": "set_property PACKAGE_PIN D10 [get_ports {tx}]",
}


@pytest.fixture
def tops(monkeypatch):
    """Leave the system out: it takes its time."""
    seen = []
    monkeypatch.setattr(module, "system_verilog",
                        lambda config, system, **_: seen.append(system) or "// system")
    return seen


@pytest.mark.parametrize("name", list(BOARDS))
def test_every_port_of_the_top_has_its_pin(tops, name):
    item = board(name)
    found = sources(item, preset(item.preset))
    header = found.verilog[found.verilog.index("module top("):].split(");")[0]
    ports = re.findall(r"(?:input|output|inout) wire (?:\[(\d+):0\] )?(\w+)", header)
    lights = [port for _, port in ports if port.startswith("led_")]
    assert len(lights) == len(item.lights)
    assert {port for _, port in ports} >= {"clk", "rx", "tx"}
    for top, port in ports:
        for bit in range(int(top or 0) + 1):
            pin = rf"{port}\[{bit}\]" if top else port
            assert re.search(rf'(?:^|[ "{{]){pin}(?:[ "}}]|$)', found.constraints, re.M), pin
    assert PINS[name] in found.constraints.splitlines()
    assert "<" not in found.constraints
    assert found.constraints_file == {"ecp5": "top.lpf", "gowin": "top.cst",
                                      "xilinx7": "top.xdc"}[item.family]
    assert found.clocks == {"clk": item.clock_hz, "clk_sys": found.freq_hz}
    assert abs(found.freq_hz - item.freq_hz) < 0.003 * item.freq_hz
    assert found.baud == item.baud
    (system,) = tops
    assert system.link.clock_hz == found.freq_hz
    assert system.link.memory_bytes == item.memory_bytes == found.memory_bytes
    assert bool(found.script) == (item.family == "xilinx7")
    assert ("clk_sdram" in found.verilog) == (item.memory == "sdram")
    assert system.memory == item.memory


def test_a_wish_for_clock_and_baud(tops):
    found = sources(board("ulx3s"), preset("nano"), 92_000_000, baud=1_000_000)
    assert (found.freq_hz, found.baud) == (91_666_667, 1_000_000)
    assert tops[0].pad_cycles == 2


def test_a_slow_sdram_answers_an_edge_earlier(tops):
    sources(board("ulx3s"), preset("nano"), 25_000_000)
    assert tops[0].pad_cycles == 1


@pytest.mark.parametrize("mhz", range(5, 127))
def test_every_clock_has_a_phase_for_an_sdram(mhz):
    pads, period = sdram_pads(SdramTiming(), mhz * 1_000_000), 1e3 / mhz
    rises = pads.phase / PHASES * period
    for pad in (3.0, 6.5):
        valid = rises + 5.4 + pad, rises + period + 2.7 + pad
        assert valid[0] + pads.margin <= pads.cycles * period <= valid[1] - pads.margin
    assert pads.margin > 0.5
    assert 2.5 <= rises <= period - 1.8


@pytest.mark.parametrize(("mhz", "phase", "cycles", "margin"), [
    # Where the clock is slow, an edge is to be far from all that changes; where it is fast, one
    # later takes the data.
    (5, 4, 1, 88.1), (20, 3, 1, 16.75), (25, 3, 1, 13.0), (40, 2, 1, 4.25), (50, 2, 1, 3.0),
    (60, 6, 2, 1.533), (80, 6, 2, 1.825), (100, 5, 2, 1.85), (126, 3, 2, 0.740)])
def test_phases_and_cycles_that_leave_most_to_spare(mhz, phase, cycles, margin):
    found = sdram_pads(SdramTiming(), mhz * 1_000_000)
    assert (found.phase, found.cycles) == (phase, cycles)
    assert found.margin == pytest.approx(margin, abs=0.0006)


@pytest.mark.parametrize("left", [0, -16])
def test_block_ram_may_be_full(tops, left):
    config, item = preset("nano"), board("tangprimer20k")
    size = 94208 - config.ub_bytes - config.acc_bytes - left
    item = dataclasses.replace(item, memory_bytes=size)
    if left >= 0:
        assert sources(item, config).memory_bytes == size
    else:
        with pytest.raises(ValueError, match=r"which wants 94224$"):
            sources(item, config)


BIG = dataclasses.replace(preset("nano"), ub_rows=65536)


@pytest.mark.parametrize(("name", "config", "options", "message"), [
    *(("tangprimer20k", config, {}, (
        "config must be a chip whose memories and external memory fit in the 94208 bytes of block "
        f"RAM of Sipeed Tang Primer 20K, not {config.name!r}, which wants {wanted}"))
      for config, wanted in ((BIG, 286720), (preset("edge"), 114688), (preset("v1"), 29376512))),
    ("ulx3s", preset("pico"), {"baud": 30_000_000},
     "LinkConfig.baud must be from 1 to a quarter of the clock, 20000000, not 30000000"),
    ("ulx3s", preset("nano"), {"freq_hz": 150_000_000}, (
        "clock_hz of an SDRAM at these pads must leave time for its data, not 150000000, where "
        "0.3 ns are missing")),
])
def test_what_a_board_cannot_take(name, config, options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        sources(board(name), config, **options)
