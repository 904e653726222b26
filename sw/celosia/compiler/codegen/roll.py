"""Loop rerolling: finds the loops in a sequence of operations."""

from __future__ import annotations

import numpy as np

from celosia.arch import isa
from celosia.compiler.codegen.nodes import Loop, Node

__all__ = ["fingerprint", "roll"]

#: Longest bodies, in nodes, that are looked for: short ones first, so that loops nest.
PERIODS = (4, 16, 64, 256, 1024)
#: A body that runs fewer times than this is left as it is; `_Level.count` leans on it.
MIN_COUNT = 3
#: Registers that loops in each other may hold; the others are for bases and sums.
REGISTERS = isa.NUM_REGISTERS - 8


def _depth(node: Node) -> int:
    return 1 + max(map(_depth, node.body)) if isinstance(node, Loop) else 0


def _registers(loop: Loop) -> int:
    """Registers that a loop and the loops in it hold at the least, where operands share them."""
    own = {pair for pair in zip(loop.steps, loop.arena, strict=True) if pair[0]}
    return len(own) + max((_registers(node) for node in loop.body if isinstance(node, Loop)),
                          default=0)


def _instructions(node: Node) -> int:
    """Instructions of a node, about: a loop sets and steps a register for most of its operands."""
    if not isinstance(node, Loop):
        return 1
    own = len({pair for pair in zip(node.varying, node.steps, strict=True) if pair[1]})
    return sum(map(_instructions, node.body)) + 2 * own + 1


#: Periods that are tried at a place, shortest first.
_TRIED = 4
#: Odd number that spreads the operands of a node over 64 bits.
_SPREAD = 0x9E3779B97F4A7C15


def fingerprint(values: tuple[int, ...]) -> int:
    """A number that steps evenly where all values do (and hardly ever where they do not)."""
    out = 0
    for value in values:
        out = (out * _SPREAD + value) & 0xFFFFFFFFFFFFFFFF
    return out


class _Known:
    """What is known of nodes: a number for their shape, their operands, and these in one number."""

    def __init__(self) -> None:
        self._ids: dict[tuple, int] = {}
        #: By the address of a node, which is kept so that the address stays its own.
        self._of: dict[int, tuple[int, tuple[int, ...], int, int, Node]] = {}

    def __call__(self, node: Node) -> tuple[int, tuple[int, ...], int, int, Node]:
        """Return shape, operands, fingerprint and depth of loops (and the node)."""
        found = self._of.get(id(node))
        if found is None:
            values = node.varying
            found = (self._ids.setdefault(node.shape, len(self._ids)), values,
                     fingerprint(values), _depth(node), node)
            self._of[id(node)] = found
        return found


class _Level:
    """Looks for runs among the nodes of one level."""

    def __init__(self, nodes: list[Node], depth: int, longest: int, known: _Known):
        self.nodes = nodes
        each = [known(node) for node in nodes]
        self.keys = [key for key, _, _, _, _ in each]
        self.values = [values for _, values, _, _, _ in each]
        self.marks = [mark for _, _, mark, _, _ in each]
        self.open = [own < depth for _, _, _, own, _ in each]
        self.periods = self._periods(longest)

    def _periods(self, longest: int) -> dict[int, list[int]]:
        """Where bodies may begin that repeat, and the shortest of their periods."""
        keys = np.array(self.keys)
        marks = np.array(self.marks, np.uint64)
        tried = np.zeros(len(keys), np.int64)
        out: dict[int, list[int]] = {}
        for period in range(1, min(longest, len(keys) // MIN_COUNT) + 1):
            same = keys[period:] == keys[:-period]
            step = marks[period:] - marks[:-period]
            # Each node of the body comes again twice, each time as much further on.
            good = same[:-period] & same[period:] & (step[:-period] == step[period:])
            sums = np.concatenate(([0], np.cumsum(good)))
            whole = sums[period:] - sums[:-period] == period
            places = np.flatnonzero(whole & (tried[:len(whole)] < _TRIED))
            tried[places] += 1
            for at in places.tolist():
                out.setdefault(at, []).append(period)
        return out

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
        count = 3
        while (keys[at + count * period:end + count * period] == body
               and self.linear(at + (count - 2) * period, period)):
            count += 1
        return count

    def first(self, at: int) -> tuple[int, int]:
        """Return period and count of the shortest run at ``at`` that saves instructions.

        (1, 1) where there is none. Longer bodies are found around the shorter ones later.
        """
        for period in self.periods.get(at, ()):
            count = self.count(at, period)
            if count >= MIN_COUNT:
                body = tuple(self.nodes[at:at + period])
                loop = Loop(count, body, self.steps(at, period))
                if (_instructions(loop) < count * sum(map(_instructions, body))
                        and _registers(loop) <= REGISTERS):
                    return period, count
        return 1, 1

    def rolled(self) -> list[Node]:
        out: list[Node] = []
        at = 0
        while at < len(self.nodes):
            period, count = self.first(at)
            body = tuple(self.nodes[at:at + period])
            out += body if count == 1 else [Loop(count, body, self.steps(at, period))]
            at += period * count
        return out


def roll(nodes: list[Node], depth: int = isa.LOOP_DEPTH) -> list[Node]:
    """Return nodes that stand for the same operations in the same order, fewer where they repeat.

    Operations repeat where they differ in nothing but their rows and addresses, and those by the
    same amount from turn to turn. Loops nest at most ``depth`` deep.
    """
    known = _Known()
    for longest in PERIODS:
        while True:
            shorter = _Level(nodes, depth, longest, known).rolled()
            if len(shorter) == len(nodes):
                break
            nodes = shorter
    return nodes
