"""The sources of boards; that the tools take them, and that they work, is tested elsewhere."""

import dataclasses
import re
import struct
from types import SimpleNamespace

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
    "icebreaker": "set_io -pullup yes rx 6",
    "tangnano9k": 'IO_LOC "tx" 17;',
    "tangprimer20k": 'IO_LOC "clk" H11;',
    "arty_a7": "set_property PACKAGE_PIN D10 [get_ports {tx}]",
}


@pytest.fixture
def tops(monkeypatch):
    """Leave the system out: it takes its time."""
    seen = []
    monkeypatch.setattr(module, "system_verilog",
                        lambda config, system, **_: seen.append(system) or "// system")
    monkeypatch.setattr(module, "compact_verilog", lambda config, link, firmware, **how: (
        seen.append(SimpleNamespace(link=link, firmware=firmware, **how)) or "// system"))
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
    assert found.constraints_file == {"ecp5": "top.lpf", "ice40": "top.pcf", "gowin": "top.cst",
                                      "xilinx7": "top.xdc"}[item.family]
    assert found.clocks == {"clk": item.clock_hz, "clk_sys": found.freq_hz}
    assert abs(found.freq_hz - item.freq_hz) < 0.003 * item.freq_hz
    assert found.baud == item.baud
    (system,) = tops
    assert system.link.clock_hz == found.freq_hz
    assert system.link.memory_bytes == item.memory_bytes == found.memory_bytes
    assert bool(found.script) == (item.family == "xilinx7")
    assert bool(found.flash) == (item.family == "ice40")


def test_firmware_is_in_the_bitstream_or_behind_it(tops):
    nano = preset("nano")
    behind = sources(board("icebreaker"), nano)
    inside = sources(board("tangnano9k"), nano)
    assert [top.spram for top in tops] == [True, False]
    assert len(behind.flash) == 16384
    assert not tops[0].firmware
    assert not inside.flash
    # The two differ in the size of the memory alone.
    words = struct.unpack("<4096I", behind.flash)
    both = zip(words, [*tops[1].firmware, *[0] * 4096], strict=False)
    assert [pair for pair in both if pair[0] != pair[1]] == [(32768, 16384)]
    assert nano.fingerprint in words


@pytest.mark.parametrize("chip", ["compact", "pipelined"])
def test_a_wish_for_clock_and_baud(tops, chip):
    found = sources(board("ulx3s"), preset("nano"), 92_000_000, chip=chip, baud=1_000_000)
    assert (found.freq_hz, found.baud) == (91_666_667, 1_000_000)
    assert tops[0].pad_cycles == 2


@pytest.mark.parametrize("chip", ["compact", "pipelined"])
def test_a_slow_sdram_answers_an_edge_earlier(tops, chip):
    sources(board("ulx3s"), preset("nano"), 25_000_000, chip=chip)
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


@pytest.mark.parametrize(("name", "wish", "made"), [
    ("edge", None, "compact"), ("edge", "pipelined", "pipelined"), ("core", None, "pipelined")])
def test_a_chip_that_the_preset_can_be(tops, name, wish, made):
    found = sources(board("ulx3s"), preset(name), chip=wish)
    assert found.chip == made
    assert hasattr(tops[0], "firmware") == (made == "compact")


BIG = dataclasses.replace(preset("nano"), ub_rows=32768)
FLOATING = dataclasses.replace(preset("nano"), name="floating", bf16=True)


@pytest.mark.parametrize(("name", "config", "options", "message"), [
    ("tangnano9k", BIG, {}, (
        "config must be a chip whose memories and external memory fit in the 53248 bytes of block "
        "RAM of Sipeed Tang Nano 9K, not 'nano', which wants 174080")),
    *((name, config, options, (
        "config must be a chip of int8 alone with D = 2, 4 or 8, or of int8 and bf16 with D = 2 or "
        f"4, where it is compact, as on {title}, not {config.name!r}"))
      for name, config, options, title in (
          ("tangnano9k", preset("core"), {}, "Sipeed Tang Nano 9K"),
          ("tangnano9k", preset("v1"), {}, "Sipeed Tang Nano 9K"),
          ("ulx3s", preset("core"), {"chip": "compact"}, "Radiona ULX3S-85F"))),
    ("tangnano9k", FLOATING, {}, (
        "config must be a chip whose memories and external memory fit in the 53248 bytes of block "
        "RAM of Sipeed Tang Nano 9K, not 'floating', which wants 75776")),
    ("icebreaker", FLOATING, {}, (
        "config must be a chip of int8 alone with D = 2, 4 or 8 where it is compact, as on "
        "1BitSquared iCEBreaker, not 'floating'")),
    ("tangnano9k", preset("edge"), {}, (
        "config must be a chip whose memories and external memory fit in the 53248 bytes of block "
        "RAM of Sipeed Tang Nano 9K, not 'edge', which wants 133120")),
    ("icebreaker", preset("edge"), {}, (
        "config must be a chip whose memories and external memory fit in the 15360 bytes of block "
        "RAM of 1BitSquared iCEBreaker, not 'edge', which wants 34816")),
    ("tangnano9k", preset("nano"), {"chip": "pipelined"},
     "chip must be compact on Sipeed Tang Nano 9K, not 'pipelined'"),
    ("arty_a7", preset("nano"), {"chip": "compact"},
     "chip must be pipelined on Digilent Arty A7-100T, not 'compact'"),
    ("icebreaker", preset("pico"), {"baud": 8_000_000},
     "LinkConfig.baud must be from 1 to a quarter of the clock, 6000000, not 8000000"),
    ("ulx3s", preset("nano"), {"freq_hz": 150_000_000}, (
        "clock_hz of an SDRAM at these pads must leave time for its data, not 150000000, where "
        "0.3 ns are missing")),
])
def test_what_a_board_cannot_take(name, config, options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        sources(board(name), config, **options)
