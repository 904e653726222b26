"""Collectives that move words from chip to chip and join nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from celosia.collectives.schedule.table import (
    Action,
    Held,
    Schedule,
    Transfer,
    Words,
    parts_of,
    steps_of,
)
from celosia.collectives.topology import Topology

__all__ = ["all_to_all", "permute"]


@dataclass
class _Load:
    """Words on their way: the ports by which they go on from a chip, and when they came there."""

    words: Words
    chip: int
    ports: list[int]
    came: int = -1


def _ways(topology: Topology, source: int, target: int) -> list[list[int]]:
    """Return the ports of the shortest ways, one dimension after another; all of them in turn.

    Where half a ring lies between, there are two.
    """
    choices = []
    for dim, (a, b, extent) in enumerate(zip(
            topology.coordinates(source), topology.coordinates(target), topology.extents,
            strict=True)):
        up = (b - a) % extent
        down = extent - up
        choices.append([[2 * dim + port] * hops for port, hops in ((0, up), (1, down))
                        if hops == min(up, down)] if up else [[]])
    return [sum(choice, []) for choice in product(*choices)]


def _loads(topology: Topology, source: int, target: int, words: Words,
           pieces: int) -> list[_Load]:
    ways = _ways(topology, source, target)
    if not ways[0]:
        return []
    return [_Load(piece, source, list(ways[i]))
            for i, share in enumerate(parts_of(words, len(ways)))
            for piece in parts_of(share, pieces) if piece.count]


def _transfers(topology: Topology, loads: list[_Load]) -> list[Transfer]:
    """Return the transfers of loads: first goes what has the longest way, then what came first."""
    found: list[Transfer] = []
    turn = 0
    waiting = loads
    while waiting:
        waiting.sort(key=lambda load: (-len(load.ports), load.came))
        used: set[tuple[int, int]] = set()
        for load in waiting:
            link = (load.chip, load.ports[0])
            if link not in used:
                used.add(link)
                found.append(Transfer(turn, *link, load.words, Action.SET))
                load.chip, _ = topology.peer(*link)
                load.ports.pop(0)
                load.came = turn
        waiting = [load for load in waiting if load.ports]
        turn += 1
    return found


def all_to_all(topology: Topology, words: int, pieces: int = 2) -> Schedule:
    """Return how each chip gets a share of each other chip's payload.

    Parameters
    ----------
    topology
        Of the chips that take part.
    words
        Of each chip's payload, a multiple of the chips: share i goes to chip i.
    pieces
        In how many each share is cut.

    Raises
    ------
    ValueError
        If the chips have no equal shares.
    """
    chips = topology.chips
    share, rest = divmod(words, chips)
    if rest:
        raise ValueError(f"words of all_to_all must be a multiple of {chips} chips, not {words!r}")

    def at(source: int, target: int) -> Words:
        first = (source * chips + target) * share
        return Words(first, first + share)

    pairs = list(product(range(chips), repeat=2))
    loads = sum((_loads(topology, a, b, at(a, b), pieces) for a, b in pairs), [])
    return Schedule(
        "all_to_all", topology, chips * words, steps_of(topology, _transfers(topology, loads)),
        tuple(tuple(Held(at(a, b), frozenset([a])) for b in range(chips)) for a in range(chips)),
        tuple(tuple(Held(at(a, b), frozenset([a])) for a in range(chips)) for b in range(chips)))


def permute(topology: Topology, pairs: Sequence[tuple[int, int]], words: int,
            pieces: int = 2) -> Schedule:
    """Return how chip b gets the payload of chip a for each pair (a, b).

    Parameters
    ----------
    topology
        Of the chips.
    pairs
        Each source and each target once; a chip that is no target gets nothing.
    words
        Of each payload.
    pieces
        In how many it is cut.
    """
    source = {b: a for a, b in pairs}
    if len(source) != len(pairs) or len(set(source.values())) != len(pairs):
        raise ValueError(f"pairs must have each source and target once, not {list(pairs)}")
    loads = sum((_loads(topology, a, b, Words(a * words, (a + 1) * words), pieces)
                 for a, b in pairs), [])
    held = tuple((Held(Words(chip * words, (chip + 1) * words), frozenset([chip])),)
                 for chip in range(topology.chips))
    return Schedule(
        "collective_permute", topology, topology.chips * words,
        steps_of(topology, _transfers(topology, loads)), held,
        tuple(held[source[chip]] if chip in source else () for chip in range(topology.chips)))
