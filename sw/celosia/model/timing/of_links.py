"""The clocks of chips that links connect."""

from __future__ import annotations

from collections.abc import Mapping

from celosia.arch.latency import Latency, link_latencies
from celosia.model.timing.memory import Timing

__all__ = ["link_timings"]


def link_timings(chips: int, links: Mapping[tuple[int, int], tuple[int, int]], latency: Latency,
                 seed: int) -> list[Timing]:
    """Return the clock of each chip, whose ports have these links; as of `link_latencies`."""
    found = link_latencies(links, latency, seed)
    ports = 1 + max((port for _, port in found), default=-1)
    return [Timing(link_latency=tuple(found.get((chip, port), 0) for port in range(ports)))
            for chip in range(chips)]
