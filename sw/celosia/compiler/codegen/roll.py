"""Loop rerolling: finds the loops in operations that are in order already.

The loops of emitters are loops from the beginning (`celosia.compiler.codegen.blocks.BlockRun`).
These are others: of pieces of work that are alike, of short runs that became plain code, of what
comes before and behind a loop, and loops around loops. They make code shorter, not faster.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import accumulate, chain

import numpy as np
from numpy.typing import NDArray

from celosia.arch import isa
from celosia.compiler.codegen.nodes import CodeNode, Loop

__all__ = ["roll"]

#: Longest bodies, in nodes, that are looked for: short ones first, so that loops nest.
PERIODS = (4, 16, 64, 256, 1024)
#: A body that runs fewer times than this is left as it is; `_Level.look` leans on it.
MIN_COUNT = 3
#: Registers that loops in each other may hold; the others are for bases and sums.
LOOP_REGISTERS = isa.NUM_REGISTERS - 8


def _depth(node: CodeNode) -> int:
    return 1 + max(map(_depth, node.body)) if isinstance(node, Loop) else 0


def _registers(loop: Loop) -> int:
    """Registers that a loop and the loops in it hold at the least, where operands share them."""
    own = {pair for pair in zip(loop.steps, loop.arena, strict=True) if pair[0]}
    return len(own) + max((_registers(node) for node in loop.body if isinstance(node, Loop)),
                          default=0)


def _instructions(node: CodeNode) -> int:
    """Instructions of a node, about: a loop sets and steps a register for most of its operands."""
    if not isinstance(node, Loop):
        return 1
    own = len({pair for pair in zip(node.varying, node.steps, strict=True) if pair[1]})
    return sum(map(_instructions, node.body)) + 2 * own + 1


#: Periods that are tried at a place, shortest first.
_TRIED = 4
#: Odd number that spreads the operands of a node over 64 bits.
_SPREAD = 0x9E3779B97F4A7C15


def _fingerprint(values: tuple[int, ...]) -> int:
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
        self._of: dict[int, tuple[int, tuple[int, ...], int, int, int, CodeNode]] = {}

    def __call__(self, node: CodeNode) -> tuple[int, tuple[int, ...], int, int, int, CodeNode]:
        """Return shape, operands, fingerprint, depth of loops, instructions (and the node)."""
        found = self._of.get(id(node))
        if found is None:
            values = node.varying
            found = (self._ids.setdefault(node.shape, len(self._ids)), values,
                     _fingerprint(values), _depth(node), _instructions(node), node)
            self._of[id(node)] = found
        return found


class _Level:
    """Looks for runs among the nodes of one level."""

    def __init__(self, nodes: list[CodeNode], depth: int, known: _Known):
        self._nodes = nodes
        keys, values, marks, depths, sizes, _ = zip(*map(known, nodes), strict=True)
        self._keys, self._marks = np.array(keys), np.array(marks, np.uint64)
        self._values = np.fromiter(chain.from_iterable(values), np.int64)
        #: Of the nodes before each place: operands, instructions, those that no loop may be around.
        self._at = _sums(map(len, values))
        self._sizes = _sums(sizes)
        self._closed = _sums(own >= depth for own in depths)
        #: Periods looked for so far; where bodies may begin that repeat: the shortest of their
        #: periods, and the turns of each.
        self._longest = 0
        self._runs: dict[int, list[tuple[int, int]]] = {}
        self._tried = np.zeros(len(nodes), np.int64)

    def look(self, longest: int) -> None:
        """Find bodies of up to ``longest`` nodes."""
        longest = min(longest, len(self._nodes) // MIN_COUNT)
        for period in range(self._longest + 1, longest + 1):
            # Among as many nodes as a body has, one lies at a multiple of their number.
            if not self._even(period, period).any():
                continue
            even = self._even(period)
            sums = np.concatenate(([0], np.cumsum(even)))
            whole = sums[period:] - sums[:-period] == period
            places = np.flatnonzero(whole & (self._tried[:len(whole)] < _TRIED))
            self._tried[places] += 1
            uneven = np.append(np.flatnonzero(~even), len(even))
            turns = 2 + (uneven[np.searchsorted(uneven, places)] - places) // period
            for at, count in zip(places.tolist(), turns.tolist(), strict=True):
                self._runs.setdefault(at, []).append((period, count))
        self._longest = max(longest, self._longest)

    def _even(self, period: int, every: int = 1) -> NDArray[np.bool_]:
        """Whether a node comes again twice, each time ``period`` later and as much further on.

        By fingerprints; of ``every`` so many nodes, first of all the first one.
        """
        keys, marks = ((each[:-2 * period:every], each[period:-period:every],
                        each[2 * period::every]) for each in (self._keys, self._marks))
        return ((keys[0] == keys[1]) & (keys[1] == keys[2])
                & (marks[1] - marks[0] == marks[2] - marks[1]))

    def _loop(self, at: int, period: int, count: int) -> Loop | None:
        """Return a run as a loop; None where it may be none, or would save no instructions."""
        end = at + period
        if self._closed[end] > self._closed[at]:
            return None
        values = self._values[self._at[at]:self._at[at + period * count]].reshape(count, -1)
        steps = values[1:] - values[:-1]
        if (steps != steps[0]).any():
            return None  # the fingerprints were wrong
        loop = Loop(count, tuple(self._nodes[at:end]), tuple(steps[0].tolist()))
        saved = count * (self._sizes[end] - self._sizes[at])
        return loop if _instructions(loop) < saved and _registers(loop) <= LOOP_REGISTERS else None

    def rolled(self) -> list[CodeNode]:
        """Return the nodes, and in the place of each run the shortest loop that may be one.

        Longer bodies are found around the shorter ones later.
        """
        out: list[CodeNode] = []
        at = 0
        while at < len(self._nodes):
            for period, count in self._runs.get(at, ()):
                if loop := self._loop(at, period, count):
                    out.append(loop)
                    at += period * count
                    break
            else:
                out.append(self._nodes[at])
                at += 1
        return out


def _sums(numbers: Iterable[int]) -> list[int]:
    """Return the sum of all numbers before each place, the last behind all of them."""
    return [*accumulate(numbers, initial=0)]


def roll(nodes: list[CodeNode], depth: int = isa.LOOP_DEPTH) -> list[CodeNode]:
    """Return nodes that stand for the same operations in the same order, fewer where they repeat.

    Operations repeat where they differ in nothing but their rows and addresses, and those by the
    same amount from turn to turn. Loops nest at most ``depth`` deep.
    """
    if not nodes:
        return nodes
    known = _Known()
    level = _Level(nodes, depth, known)
    for longest in PERIODS:
        while True:
            level.look(longest)
            shorter = level.rolled()
            if len(shorter) == len(nodes):
                break
            nodes = shorter
            level = _Level(nodes, depth, known)
    return nodes
