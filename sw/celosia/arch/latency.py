"""Cycles that links take: all the same, or each its own, drawn by a seed."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

__all__ = ["Latency", "check_latency", "link_latencies", "parse_latency"]

#: Cycles of each link, or the least and the most, of which each link has some number.
Latency = int | tuple[int, int]
#: A chip and its port.
_End = tuple[int, int]


def check_latency(latency: int | Sequence[int]) -> Latency:
    """Return it, a range as a tuple.

    Raises
    ------
    ValueError
        If it is no positive number of cycles, and no range of them.
    """
    both = [latency, latency] if isinstance(latency, int) else list(latency)
    if len(both) != 2 or not all(isinstance(each, int) for each in both) or (
            not 1 <= both[0] <= both[1]):
        raise ValueError("latency must be a positive number of cycles, or the least and the most "
                         f"of them, not {latency!r}")
    return latency if isinstance(latency, int) else (both[0], both[1])


def parse_latency(text: str) -> Latency:
    """Return what a text such as ``64`` or ``1..300`` names.

    Raises
    ------
    ValueError
        If it is no such text.
    """
    parts = text.split("..")
    if len(parts) <= 2 and all(each.isdecimal() for each in parts):
        found = [int(each) for each in parts]
        if 1 <= found[0] <= found[-1]:
            return found[0] if len(found) == 1 else (found[0], found[1])
    raise ValueError(f"latency must be cycles of all links, such as 64, or the least and the most "
                     f"of one, such as 1..300, not {text!r}")


def link_latencies(links: Mapping[_End, _End], latency: Latency, seed: int) -> dict[_End, int]:
    """Return the cycles of each end's link, which are the same in both directions.

    Parameters
    ----------
    links
        As of `celosia.model.Pod`.
    latency
        Of a range the seed says which number each link has, whoever else draws.
    """
    drawn = random.Random(f"latency {seed}")
    found = {}
    for a, b in sorted({(min(each), max(each)) for each in links.items()}):
        found[a] = found[b] = latency if isinstance(latency, int) else drawn.randint(*latency)
    return found
