"""What the instruction buffer asks for, and when that comes."""

from celosia.arch.config import TpuConfig
from celosia.model.timing import Timing
from celosia.model.timing.fetch import Fetch

#: 4 blocks, of 16 beats each.
CHIP = TpuConfig("narrow", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=32, bus_bytes=8,
                 ibuf=16)
MEMORY = Timing(read_latency=50)


def test_as_far_ahead_as_there_is_room():
    fetch = Fetch(CHIP, MEMORY, 100)
    assert fetch.wanted(0, ()) == 4
    fetch.request(4, 10, 0)
    assert [fetch.ready(pc) for pc in (0, 3, 4, 15)] == [76, 76, 92, 124]
    assert fetch.wanted(3, ()) == 0
    assert fetch.wanted(4, ()) == 1
    fetch.request(1, 100, 0)
    assert fetch.last == fetch.ready(16) == 166


def test_the_program_ends():
    fetch = Fetch(CHIP, MEMORY, 9)
    assert fetch.wanted(0, ()) == 3


def test_beats_wait_for_others():
    fetch = Fetch(CHIP, MEMORY, 100)
    assert fetch.request(1, 10, 300) == 300
    assert fetch.ready(0) == 316


def test_a_loop_that_fits_stays():
    fetch = Fetch(CHIP, MEMORY, 100)
    fetch.request(fetch.wanted(0, ()), 0, 0)
    for end, kept in ((14, True), (15, False)):  # 12 instructions fit wherever they begin
        assert (fetch.wanted(12, [[2, end, 7]]) == 0) is kept


def test_the_outermost_loop_that_fits():
    fetch = Fetch(CHIP, MEMORY, 100)
    fetch.request(fetch.wanted(0, ()), 0, 0)
    assert fetch.wanted(12, [[1, 40, 7], [4, 14, 7], [8, 14, 7]]) == 1


def test_jumps():
    fetch = Fetch(CHIP, MEMORY, 100)
    fetch.request(fetch.wanted(0, ()), 0, 0)
    fetch.request(fetch.wanted(12, ()), 200, 0)
    assert fetch.wanted(80, ()) == 4  # elsewhere
    fetch.request(4, 500, 0)
    assert fetch.ready(80) == 566
    assert fetch.wanted(12, ()) == 4  # and back: nothing is left
    fetch.request(4, 700, 0)
    assert fetch.ready(12) == 766


def test_what_comes_late_is_late_in_proportion():
    fetch = Fetch(CHIP, MEMORY, 100)
    fetch.request(4, 10, 0)
    fetch.late(4, 40)
    assert [fetch.ready(pc) for pc in (0, 4, 8, 12)] == [86, 112, 138, 164]
    assert fetch.last == 164


def test_a_slow_memory_takes_longer_for_a_block():
    fetch = Fetch(CHIP, Timing(read_latency=50, beat_cycles=4), 100)
    fetch.request(2, -100, 0)
    assert [fetch.ready(pc) for pc in (0, 4)] == [14, 78]
