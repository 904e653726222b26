"""What loads have asked the memory for."""

from __future__ import annotations

from collections.abc import Iterable

from celosia.arch.config import BEATS_AHEAD
from celosia.model.timing.cost import ASKS, LANDS
from celosia.model.timing.memory import Timing
from celosia.model.timing.window import WindowEntry

__all__ = ["asked"]

#: Bursts that have left the load engine, but not the chip.
_OFFERED = 2


def asked(loads: Iterable[WindowEntry], now: int, timing: Timing) -> int:
    """Return when the last beat comes that loads have asked for by a cycle; 0 for none.

    Addresses go out a burst a cycle, load after load, as far as beats and bursts may be on their
    way.
    """
    last = walked = 0
    bursts = float(timing.outstanding + _OFFERED)
    ahead = float(timing.occupied(BEATS_AHEAD * timing.beat_cycles))
    for load in loads:
        since = max(load.asks + ASKS, walked)
        if since > now:
            break
        walked = since + int(load.work / load.burst)
        each = load.burst / load.share  # cycles from a burst's data to the next one's
        begins = load.end - load.latency + ASKS + timing.way
        end = min(load.end - LANDS, begins + (now - since) * each)
        begins = max(begins, now, last)
        if (count := min(end - begins, ahead / load.share, bursts * each)) > 0:
            last = int(begins + count)
            ahead, bursts = ahead - count * load.share, bursts - count / each
    return last
