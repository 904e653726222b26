"""What the memory outside a chip costs, and how those who use it meet there."""

import pytest

from celosia.arch.commands import Load, Store
from celosia.arch.config import PRESETS
from celosia.arch.isa import DmaFormat, Mem
from celosia.model.timing import Timing, cost
from celosia.model.timing.memory import Occupancy, meeting, pages

SDRAM = Timing(beat_cycles=4, page_bytes=1024, page_cycles=5, page_banks=4, refresh_interval=600,
               refresh_cycles=12)


def load(rows: int, cols: int, pitch: int, addr: int = 0) -> Load:
    return Load(Mem.UB, DmaFormat.I8, 0, addr, rows, cols, pitch)


@pytest.mark.parametrize(("rows", "cols"), [(0, 8), (8, 0), (0, 0)])
def test_nothing_takes_no_time_of_the_memory(rows, cols):
    found = cost(Store(Mem.ACC, DmaFormat.W32, 0, 0, rows, cols, 4 * cols), PRESETS["nano"],
                 Timing())
    assert found.occupied == found.work == 0


def test_refreshes_take_their_part():
    assert Timing().occupied(588) == 588
    assert SDRAM.occupied(588) == 600


@pytest.mark.parametrize(("transfer", "count"), [
    (load(1, 8, 8), 1), (load(1, 8, 8, 1020), 2), (load(128, 8, 8), 1), (load(129, 8, 8), 2),
    (load(8, 8, 512), 4), (load(8, 8, 1024), 8), (load(8, 8, 5000), 8),
    (load(4, 2048, 4096), 8), (load(2, 8, 4096, 1020), 4)])
def test_rows_of_an_sdram_that_a_transfer_opens(transfer, count):
    assert pages(transfer, SDRAM) == count
    assert pages(transfer, Timing()) == 0


def test_bursts_take_turns():
    """Half of the cycles each, until the shorter one is through."""
    read, written = Occupancy(100, 200, 10, 0), Occupancy(100, 400, 10, 0)
    assert meeting(read, [written], Timing()) == (100, [100])
    assert meeting(written, [read], Timing()) == (100, [100])


def test_longer_bursts_get_more_of_the_cycles():
    late, (other,) = meeting(Occupancy(0, 100, 10, 0), [Occupancy(0, 1000, 30, 0)], Timing())
    assert (late, other) == (300, 100)


def test_turning_costs_both():
    late, (other,) = meeting(Occupancy(0, 100, 10, 0), [Occupancy(0, 200, 10, 4)], Timing())
    assert (late, other) == (140, 140)


def test_what_is_over_or_comes_later_costs_nothing():
    mine = Occupancy(100, 200, 10, 0)
    assert meeting(mine, [], Timing()) == (0, [])
    others = [Occupancy(0, 100, 10, 0), Occupancy(200, 300, 10, 0)]
    assert meeting(mine, others, Timing()) == (0, [0, 0])
    assert meeting(mine, [Occupancy(150, 160, 10, 0)], Timing()) == (10, [10])


def test_those_that_follow_one_that_is_late_are_late():
    mine = Occupancy(0, 100, 10, 0)
    late, others = meeting(mine, [Occupancy(0, 50, 10, 0), Occupancy(50, 100, 10, 0)], Timing())
    assert (late, others) == (100, [50, 50])


@pytest.mark.parametrize(("first", "turn"), [
    (0, 4), (24, 4),  # in one row, which is open for both
    (1024, 4), (4096, 10), (4096 - 256, 4 + 6 / 2), (8192, 10)])
def test_both_open_their_rows_where_these_are_in_one_bank(first, turn):
    """As long as they are: half of what one of them does meanwhile is in the row before."""
    read = Occupancy(0, 100, 10, first=0, size=1000)
    written = Occupancy(0, 200, 10, 4, 10, first=first, size=1000)
    assert meeting(read, [written], SDRAM)[0] == meeting(written, [read], SDRAM)[1][0] == (
        10 * (10 + turn))
    # Of bytes that are not known a quarter is.
    assert meeting(read._replace(size=0), [written], SDRAM)[0] == 10 * (10 + 4 + 6 / 4)


def test_they_are_compared_where_they_are_beside_each_other():
    """The last half of one with the first of the other, which is long."""
    read = Occupancy(0, 100, 10, first=0, size=2048)
    meets = Occupancy(50, 1050, 10, 4, 10, first=4096 + 1024, size=1024)
    misses = meets._replace(first=4096)
    assert meeting(read, [meets], SDRAM)[0] == 5 * (10 + 10)
    assert meeting(read, [misses], SDRAM)[0] == 5 * (10 + 4)
