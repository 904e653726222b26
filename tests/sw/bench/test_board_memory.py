"""What the cycle model is told of a board's memory; tests/rtl/boards has the cycles beside it."""

import pytest

from celosia.arch.config import preset
from celosia.bench.board_memory import memory_timing
from celosia.model.timing import Timing
from celosia_hw.boards import BOARDS
from celosia_hw.soc.sdram_timing import SdramTiming

EDGE, NANO = preset("edge"), preset("nano")
ULX3S = BOARDS["ulx3s"]


def test_an_sdram_has_its_words_rows_and_refreshes():
    found, device = memory_timing(ULX3S, EDGE), SdramTiming()
    cycles = device.cycles(80_000_000)
    assert found.beat_cycles == EDGE.bus_bytes // 2
    assert found.page_bytes << (device.row_bits + device.bank_bits) == device.bytes
    assert found.refresh_interval == cycles.interval
    assert found.refresh_cycles > cycles.precharge + cycles.refresh
    assert found.page_cycles > cycles.precharge + cycles.activate_to_column - 1
    assert found.shared
    assert memory_timing(ULX3S, NANO).beat_cycles == NANO.bus_bytes // 2


@pytest.mark.parametrize(("chip", "read", "write", "beat", "interval", "refresh"), [
    ("edge", 20, 3, 4, 624, 15), ("nano", 18, 1, 2, 624, 15), ("core4", 20, 3, 4, 468, 14)])
def test_an_sdram_costs_what_its_controller_was_measured_to(chip, read, write, beat, interval,
                                                            refresh):
    """A row is opened in five cycles; a turn of the bus is five, too."""
    assert memory_timing(ULX3S, preset(chip)) == Timing(
        read_latency=read, write_latency=write, outstanding=4, ahead=10_000, beat_cycles=beat,
        shared=True, turn_cycles=5, page_bytes=1024, page_cycles=5, page_banks=4,
        refresh_interval=interval, refresh_cycles=refresh)


def test_times_are_of_the_clock_of_the_chip():
    slow, fast = (memory_timing(ULX3S, EDGE, hz) for hz in (40_000_000, 100_000_000))
    assert slow.refresh_interval < fast.refresh_interval
    assert slow.refresh_cycles < fast.refresh_cycles
    core4 = preset("core4")
    assert memory_timing(ULX3S, core4) == memory_timing(ULX3S, core4, ULX3S.clock(core4))
    assert ULX3S.clock(EDGE) == ULX3S.freq_hz


@pytest.mark.parametrize("name", [name for name in BOARDS if BOARDS[name].memory == "on-chip"])
def test_block_ram_gives_a_beat_a_cycle_both_ways(name):
    found = memory_timing(BOARDS[name], NANO)
    assert (found.beat_cycles, found.shared, found.page_bytes) == (1, False, 0)
    assert found == Timing(read_latency=5, write_latency=3, outstanding=4, ahead=10_000)
