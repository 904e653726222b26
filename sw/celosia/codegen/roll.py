"""Find the loops in a sequence of operations."""

from __future__ import annotations

from celosia.arch import isa
from celosia.codegen.nodes import Loop, Node

__all__ = ["roll"]

#: Longest bodies, in nodes, that are looked for: short ones first, so that loops nest.
PERIODS = (4, 16, 64, 256)
#: A body that runs fewer times than this is left as it is; `_Level.count` leans on it.
MIN_COUNT = 3


def _depth(node: Node) -> int:
    return 1 + max(map(_depth, node.body)) if isinstance(node, Loop) else 0


def _registers(body: tuple[Node, ...], steps: tuple[int, ...], sources: tuple) -> int:
    """Registers that a loop and the loops in it hold at once.

    ``sources`` says for each varying operand where its first value comes from; operands that come
    from the same place and step alike share a register.
    """
    inside = tuple((source, step) if step else source
                   for source, step in zip(sources, steps, strict=True))
    deepest = at = 0
    for node in body:
        count = len(node.varying)
        if isinstance(node, Loop):
            deepest = max(deepest, _registers(node.body, node.steps, inside[at:at + count]))
        at += count
    return len({source for source, step in zip(inside, steps, strict=True) if step}) + deepest


def _instructions(node: Node) -> int:
    """Instructions of a node, about: a loop sets and steps a register for most of its operands."""
    if not isinstance(node, Loop):
        return 1
    own = len({pair for pair in zip(node.varying, node.steps, strict=True) if pair[1]})
    return sum(map(_instructions, node.body)) + 2 * own + 1


def _registers_of(body: tuple[Node, ...], steps: tuple[int, ...]) -> int:
    values = tuple(value for node in body for value in node.varying)
    arena = tuple(flag for node in body for flag in node.arena)
    return _registers(body, steps, tuple(zip(values, arena, strict=True)))


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
        if _registers_of(tuple(self.nodes[at:end]), self.steps(at, period)) > isa.NUM_REGISTERS:
            return 1
        count = 3
        while (keys[at + count * period:end + count * period] == body
               and self.linear(at + (count - 2) * period, period)):
            count += 1
        return count

    def first(self, at: int, longest: int) -> tuple[int, int]:
        """Return period and count of the shortest run at ``at`` that saves instructions.

        (1, 1) where there is none. Longer bodies are found around the shorter ones later.
        """
        longest = min(longest, (len(self.nodes) - at) // MIN_COUNT)
        after = self.next[at]
        while after - at <= longest:
            period = after - at
            count = self.count(at, period)
            if count >= MIN_COUNT:
                body = tuple(self.nodes[at:at + period])
                loop = Loop(count, body, self.steps(at, period))
                if _instructions(loop) < count * sum(map(_instructions, body)):
                    return period, count
            after = self.next[after]
        return 1, 1

    def rolled(self, longest: int) -> list[Node]:
        out: list[Node] = []
        at = 0
        while at < len(self.nodes):
            period, count = self.first(at, longest)
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
