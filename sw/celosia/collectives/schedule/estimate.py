"""How many cycles a schedule takes, and how many it must."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from celosia.arch.ici import link_cycles
from celosia.collectives.schedule.table import Action, Schedule

__all__ = ["LinkModel", "bound", "estimate"]


@dataclass(frozen=True)
class LinkModel:
    """What one direction of a link does.

    Attributes
    ----------
    bytes
        A cycle.
    word
        Bytes of a word of the schedule.
    latency
        Cycles from a word's leaving to its arrival.
    pipe, join
        Cycles of both ends beside the last frame's words, from when a message's last word has come
        to the first word of a step that uses it; and what rows that are joined take longer.
    """

    bytes: int = 4
    word: int = 4
    latency: int = 64
    pipe: int = 17
    join: int = 24

    def cycles(self, words: int) -> int:
        """Return for how long a message keeps the link busy, with the word that it begins with."""
        return link_cycles(self._taken(words))[0]

    def drain(self, words: int) -> int:
        """Return how many words of a message leave the receiver when the last one has come."""
        return link_cycles(self._taken(words))[1]

    def way(self, words: int, joins: bool = False) -> int:
        """Return the cycles from a message's first word on the link to rows at the other end."""
        return (self.cycles(words) + self.latency + self.pipe + self.drain(words)
                + self.join * joins)

    def _taken(self, words: int) -> int:
        return -(-words * self.word // self.bytes) + 1


def bound(schedule: Schedule, link: LinkModel | None = None) -> float:
    """Return the cycles that no schedule can be better than: bytes by bytes a cycle.

    That is 2 (n-1)/n S/(k W) for an all-reduce of S bytes on n chips with k links of W bytes a
    cycle, half of it for its halves, S n/(8 W) for an all-to-all on a ring (which an even n has
    exactly), S/W for a permutation, and half of it between two chips, which two links connect.
    """
    link = link or LinkModel()
    rate = link.bytes
    topology = schedule.topology
    chips, ports = topology.chips, 2 * sum(extent > 1 for extent in topology.extents)
    size = schedule.words * link.word
    if chips == 1:
        return 0
    match schedule.name:
        case "all_reduce":
            return 2 * (chips - 1) / chips * size / (ports * rate)
        case "all_gather" | "reduce_scatter":
            return (chips - 1) / chips * size / (ports * rate)
        case "all_to_all":
            return size / chips * max(topology.extents) / (8 * rate)
        case _:
            return size / chips / rate / (2 if chips == 2 else 1)


def estimate(schedule: Schedule, link: LinkModel | None = None, window: int | None = None) -> int:
    """Return in how many cycles a schedule ends if all chips begin it together.

    A step is sent when its words are there and the link is free; ports work side by side; the
    receiver's buffer never stops a sender.

    Parameters
    ----------
    schedule
        What is run.
    link
        Each of its links.
    window
        How many steps of a chip may be under way at once: a step begins when all those that are so
        many before it have ended. None: any number.
    """
    link = link or LinkModel()
    free: dict[tuple[int, int], int] = defaultdict(int)
    ready: list[dict[int, int]] = [defaultdict(int) for _ in range(schedule.topology.chips)]
    ends: list[list[int]] = [[0] for _ in range(schedule.topology.chips)]
    leaves: dict[tuple[int, int], list[int]] = defaultdict(list)
    cuts = sorted({cut for step in schedule.steps for cut in step.words})
    number = {cut: i for i, cut in enumerate(cuts)}
    for _, chip, port, words, action in schedule.steps:
        before, there = ends[chip], ready[chip]
        begin = 0 if window is None or len(before) <= window else before[-window]
        atoms = range(number[words.start], number[words.stop])
        if action == Action.SEND:
            start = max(begin, free[chip, port], *(there[atom] for atom in atoms))
            end = free[chip, port] = start + link.cycles(words.count)
            leaves[schedule.topology.peer(chip, port)].append(end)
        else:
            end = (max(begin, leaves[chip, port].pop(0) + link.latency)
                   + link.way(words.count, action == Action.JOIN)
                   - link.cycles(words.count) - link.latency)
            for atom in atoms:
                there[atom] = max(there[atom], end)
        before.append(max(before[-1], end))
    return max(each[-1] for each in ends)
