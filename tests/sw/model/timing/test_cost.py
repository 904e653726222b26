"""What a command costs by itself, as measured on the RTL."""

from dataclasses import replace

import pytest

from celosia.arch.commands import Load
from celosia.arch.config import preset
from celosia.arch.isa import DmaFormat, Mem
from celosia.model.timing import Timing
from celosia.model.timing.cost import cost, repeats

EDGE = preset("edge")


def latency(chip, cols, pitch, rows=32, timing=None):
    command = Load(Mem.UB, DmaFormat.I8, 0, 0, rows, cols, pitch, 1, rows)
    return cost(command, chip, timing or Timing()).latency


@pytest.mark.parametrize(("cols", "pitch", "more"), [
    # Rows of a beat, of two, of three; and those that lie across beats.
    (8, 8, 0), (16, 16, 32), (24, 24, 64), (7, 7, 24), (8, 39, 28), (14, 20, 48),
    # Where a beat brings the ends of two on-chip rows, and the next one another, a cycle each time.
    (11, 11, 44), (19, 19, 76), (11, 45, 44), (13, 45, 52), (9, 9, 36), (45, 45, 180),
    (30, 30, 120)])
def test_a_load_waits_where_two_rows_end_in_a_beat(cols, pitch, more):
    """Cycles of 32 rows of edge beside those of 32 that are a beat each."""
    assert latency(EDGE, cols, pitch) - latency(EDGE, 8, 8) == pytest.approx(more, abs=1)


@pytest.mark.parametrize(("cols", "pitch", "stalls"), [(30, 30, 8), (9, 9, 4), (14, 20, 0)])
def test_where_rows_are_many_it_waits_as_often_for_each_of_them(cols, pitch, stalls):
    """Those of a period are counted once, that of the first row behind the last one, too."""
    def beats(rows):
        return sum((i * pitch % 8 + cols + 7) // 8 for i in range(rows))

    for rows in (8, 32, 48, 4096, 4099):
        found = latency(EDGE, cols, pitch, rows) - latency(EDGE, 8, 8, rows) - beats(rows) + rows
        assert found == pytest.approx(rows * stalls / 32, abs=1.5)


def test_what_a_slow_memory_brings_has_the_time():
    slow = Timing(beat_cycles=4)
    assert latency(EDGE, 30, 30, timing=slow) - latency(EDGE, 8, 8, timing=slow) == 4 * (144 - 32)


def test_how_soon_a_row_may_be_added_to_again():
    assert [repeats(replace(preset(name), lanes=lanes)) for name, lanes in (
        ("core", 16), ("edge", 8), ("edge", 2), ("core4", 2), ("core4", 1))] == [4, 4, 5, 6, 8]
