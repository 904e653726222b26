"""What loads have asked for by a cycle: burst after burst, as many as may be on their way."""

from types import SimpleNamespace

import pytest

from celosia.model.timing.asked import asked
from celosia.model.timing.cost import ASKS, LANDS
from celosia.model.timing.memory import Timing

TIMING = Timing(read_latency=64, outstanding=8)


def load(asks, bursts, burst=1.0, share=1.0, waits=0):
    """A load whose data come ``waits`` cycles later than the memory alone would have it."""
    work = bursts * burst
    latency = round(work / share) + ASKS + TIMING.way + LANDS
    return SimpleNamespace(asks=asks, work=work, burst=burst, share=share, latency=latency,
                           end=asks + waits + latency)


FIRST = 100 + ASKS  #: When a load of cycle 100 asks for its first burst.


@pytest.mark.parametrize(("loads", "now", "until"), [
    ([], 500, 0),
    ([load(100, 4)], FIRST - 1, 0),
    ([load(100, 4)], FIRST + 1, FIRST + 64 + 1),  # one burst, which comes 64 cycles later
    ([load(100, 4)], FIRST + 40, FIRST + 64 + 4),
    ([load(100, 4, waits=30)], FIRST + 40, FIRST + 64 + 34),
    ([load(100, 4, burst=16.0)], FIRST + 2, FIRST + 64 + 32),
    ([load(100, 20)], FIRST + 40, FIRST + 64 + 10),  # eight on their way, two within the chip
    ([load(100, 9, burst=16.0)], FIRST + 40, FIRST + 64 + 128),  # beats ahead
    ([load(100, 4, share=0.5)], FIRST + 40, FIRST + 64 + 8),  # of which each takes two cycles
    ([load(100, 20, share=0.5)], FIRST + 40, FIRST + 64 + 20),
    # The second one asks behind the bursts of the first, and comes behind its data.
    ([load(100, 4), load(101, 3, waits=3)], FIRST + 3, FIRST + 64 + 3),
    ([load(100, 4), load(101, 3, waits=3)], FIRST + 6, FIRST + 64 + 6),
    ([load(100, 4), load(101, 3, waits=3)], FIRST + 40, FIRST + 64 + 7),
    ([load(100, 4), load(300, 3)], FIRST + 40, FIRST + 64 + 4),
    ([load(100, 6), load(101, 6, waits=5)], FIRST + 40, FIRST + 64 + 10),
    # What has come is asked for no more.
    ([load(100, 100)], FIRST + 64 + 30, FIRST + 64 + 40),
])
def test_the_last_beat_that_was_asked_for(loads, now, until):
    assert asked(loads, now, TIMING) == until


def test_an_sdram_takes_longer_for_each():
    slow = Timing(read_latency=64, outstanding=8, beat_cycles=4, page_cycles=6)
    work = 40
    latency = work + ASKS + slow.way + LANDS
    one = SimpleNamespace(asks=100, work=work, burst=10.0, share=1.0, latency=latency,
                          end=100 + latency)
    assert slow.way == 64 - 3 - 6
    assert asked([one], FIRST + 2, slow) == FIRST + slow.way + 20
    assert asked([one], FIRST + 20, slow) == FIRST + slow.way + 40
