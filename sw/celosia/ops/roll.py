"""Find the loops in a sequence of operations."""

from __future__ import annotations

from celosia.arch import isa
from celosia.ops.nodes import Loop, Node

__all__ = ["roll"]

#: Longest bodies, in nodes, that are looked for: short ones first, so that loops nest.
PERIODS = (4, 16, 64, 256)
#: A body that runs fewer times than this is left as it is; `_Level.count` leans on it.
MIN_COUNT = 3


def _depth(node: Node) -> int:
    return 1 + max(map(_depth, node.body)) if isinstance(node, Loop) else 0


def _registers(body: tuple[Node, ...], steps: tuple[int, ...]) -> int:
    """Registers that a loop and the loops in it hold at once."""
    values = tuple(value for node in body for value in node.varying)
    own = len({pair for pair in zip(values, steps, strict=True) if pair[1]})
    return own + max((_registers(node.body, node.steps) for node in body
                      if isinstance(node, Loop)), default=0)


class _Level:
    """Looks for runs among the nodes of one level."""

    def __init__(self, nodes: list[Node]):
        self.nodes = nodes
        ids: dict[tuple, int] = {}
        self.keys = [ids.setdefault(node.shape, len(ids)) for node in nodes]
        self.values = [node.varying for node in nodes]
        self.open = [_depth(node) < isa.LOOP_DEPTH for node in nodes]
        #: Where the same shape comes next.
        self.next = [len(nodes)] * len(nodes)
        seen: dict[int, int] = {}
        for i in range(len(nodes) - 1, -1, -1):
            self.next[i] = seen.get(self.keys[i], len(nodes))
            seen[self.keys[i]] = i

    def steps(self, at: int, period: int) -> tuple[int, ...]:
        return tuple(after - before for i in range(at, at + period)
                     for before, after in zip(self.values[i], self.values[i + period], strict=True))

    def linear(self, at: int, period: int) -> bool:
        """Whether ``period`` nodes step by the same amounts into the next turn as from there on."""
        values = self.values
        return all(
            all(b - a == c - b for a, b, c in zip(values[i], values[i + period],
                                                  values[i + 2 * period], strict=True))
            for i in range(at, at + period))

    def count(self, at: int, period: int) -> int:
        """How many turns of ``period`` nodes there are from ``at`` on; 1 for fewer than three."""
        keys, end = self.keys, at + period
        body = keys[at:end]
        if (keys[end:end + period] != body or keys[end + period:end + 2 * period] != body
                or not self.linear(at, period) or not all(self.open[at:end])):
            return 1
        if _registers(tuple(self.nodes[at:end]), self.steps(at, period)) > isa.NUM_REGISTERS:
            return 1
        count = 3
        while (keys[at + count * period:end + count * period] == body
               and self.linear(at + (count - 2) * period, period)):
            count += 1
        return count

    def best(self, at: int, longest: int) -> tuple[int, int]:
        """Return period and count of the run at ``at`` that saves the most; (1, 1) for none."""
        saved, found = 0, (1, 1)
        longest = min(longest, (len(self.nodes) - at) // MIN_COUNT)
        after = self.next[at]
        while after - at <= longest:
            count = self.count(at, after - at)
            if count >= MIN_COUNT and (count - 1) * (after - at) > saved:
                saved, found = (count - 1) * (after - at), (after - at, count)
            after = self.next[after]
        return found

    def rolled(self, longest: int) -> list[Node]:
        out: list[Node] = []
        at = 0
        while at < len(self.nodes):
            period, count = self.best(at, longest)
            body = tuple(self.nodes[at:at + period])
            out += body if count == 1 else [Loop(count, body, self.steps(at, period))]
            at += period * count
        return out


def roll(nodes: list[Node]) -> list[Node]:
    """Return nodes that stand for the same operations in the same order, fewer where they repeat.

    Operations repeat where they differ in nothing but their rows and addresses, and those by the
    same amount from turn to turn. Loops nest at most as deep as the chip allows.
    """
    for longest in PERIODS:
        while True:
            shorter = _Level(nodes).rolled(longest)
            if len(shorter) == len(nodes):
                break
            nodes = shorter
    return nodes
