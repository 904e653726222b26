"""Software pipelining: blocks that repeat become a loop in which their stages overlap.

In step t of a run of blocks, block t is in its first stage, block t - 1 in its second, and so on.
The steps in which all stages have a block become the turns of a loop, ``period`` steps each, where
a block differs from the one ``period`` before in nothing but rows and addresses, by the same
amounts all along. What comes before and after the loops is plain code, put into order across
the pieces of work, so that the end of the one overlaps the beginning of the next.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from celosia.arch.commands import Load, Store
from celosia.arch.config import TpuConfig
from celosia.arch.isa import INSTRUCTION_BYTES, LOOP_DEPTH, Unit
from celosia.compiler.codegen.blocks import Block, Emitted
from celosia.compiler.codegen.legality import Moving, conflicts, tile_touches
from celosia.compiler.codegen.nodes import ARENA_OPERAND, Loop, Node, Op
from celosia.compiler.codegen.play import Play
from celosia.compiler.codegen.reorder import reorder
from celosia.compiler.codegen.roll import fingerprint, roll
from celosia.compiler.codegen.spans import EXTERNAL, CommandCost, Costs
from celosia.compiler.codegen.waits import followers

__all__ = ["pipeline"]

#: Longest period of blocks, and fewest turns of a loop.
PERIODS = range(1, 17)
MIN_TURNS = 3
#: Runs of up to so many operations are plain code: in a loop, none could overlap what comes before;
#: unless fetching them takes a larger part than this of their cycles.
_PLAIN, _FETCHED = 1024, 0.08
#: Turns that are played to find the order of one of them, and operations of all of these.
_PLAYED = 6
_PLAYED_OPS = 4096
#: Operations that are put into order at once.
_STRAIGHT = 8192
#: Cycles of an operation that hide the instructions of a loop around it.
_LONG = 32
#: Likewise where the memory port is busy in so much of the time.
_SHORT, _BUSY = 15, 0.7


@dataclass
class _Run:
    """Blocks that become a loop: each differs from that ``period`` before by the same amounts."""

    blocks: list[Block]
    period: int
    stages: int

    @property
    def turns(self) -> int:
        """Turns in which all stages are busy."""
        return (len(self.blocks) - self.stages + 1) // self.period

    @property
    def size(self) -> int:
        """Operations of all blocks."""
        return sum(len(stage) for block in self.blocks for stage in block.stages)

    def step(self, number: int, period: int = 0) -> Iterator[tuple[Op, Op]]:
        """Operations of a step, the oldest block first, and those ``period`` blocks later."""
        for stage in reversed(range(self.stages)):
            at = number - stage
            if 0 <= at < len(self.blocks):
                yield from zip(self.blocks[at].stages[stage],
                               self.blocks[at + period].stages[stage], strict=True)

    def straight(self, first: int, end: int) -> list[Op]:
        """Operations of the steps from ``first`` to before ``end``."""
        return [op for number in range(first, end) for op, _ in self.step(number)]


class _Finder:
    """Finds runs of blocks."""

    def __init__(self, keys: list[int], values: list[tuple[int, ...]]):
        self._values, self._count = values, len(keys)
        shapes = np.array(keys)
        marks = np.array([fingerprint(block) for block in values], np.uint64)
        #: For each period, blocks that are not of the shape of the one a period before; and that
        #: are not as far from that as it is from the one before it, either.
        self._other: dict[int, list[int]] = {}
        self._uneven: dict[int, list[int]] = {}
        for period in PERIODS:
            if period * MIN_TURNS > self._count:
                break
            other = shapes[period:] != shapes[:-period]
            step = marks[period:] - marks[:-period]
            uneven = other[period:] | (step[period:] != step[:-period])
            self._other[period] = (np.flatnonzero(other) + period).tolist()
            self._uneven[period] = (np.flatnonzero(uneven) + 2 * period).tolist()

    def _end(self, at: int, period: int) -> int:
        """Block up to which all from ``at`` on repeat."""
        end = _next(self._other[period], at + period, self._count)
        if end > at + 2 * period:
            end = min(end, _next(self._uneven[period], at + 2 * period, self._count))
        return end

    def _even(self, at: int, end: int, period: int) -> bool:
        """Whether blocks truly repeat, after their fingerprints do."""
        for first in range(at, at + period):
            table = np.array(self._values[first:end:period], np.int64)
            if np.any(np.diff(table, 2, axis=0)):
                return False
        return True

    def find(self, at: int) -> tuple[int, int]:
        """Period and number of the blocks from ``at`` on that repeat; (0, 0) where none do."""
        best = (0, 0)
        for period in self._other:
            if best[1] == self._count - at:
                break
            count = min(self._end(at, period), self._count) - at
            # A longer period must cover clearly more.
            if count >= max(period * MIN_TURNS, best[1] + best[1] // 4 + 1):
                best = period, count
        return best if best[0] and self._even(at, at + best[1], best[0]) else (0, 0)


def _next(places: list[int], at: int, none: int) -> int:
    """First of ``places``, which are in order, from ``at`` on."""
    i = bisect_left(places, at)
    return places[i] if i < len(places) else none


def _turns(count: int, now: list[Node], then: list[Node]) -> Loop:
    """Return a loop, from the bodies of its first and second turn."""
    steps = tuple(b - a for node, later in zip(now, then, strict=True)
                  for a, b in zip(node.varying, later.varying, strict=True))
    return Loop(count, tuple(now), steps)


class _Pipeline:
    def __init__(self, config: TpuConfig, depth: int):
        self._config, self._depth = config, depth
        self._costs = Costs(config)
        self._waiting: list[Op] = []
        self._ids: dict[tuple, int] = {}
        self._orders: dict[tuple, list[int]] = {}
        self.out: list[Node] = []

    def flush(self, *, urgent: bool = False) -> None:
        """Put the plain operations so far into order."""
        for at in range(0, len(self._waiting), _STRAIGHT):
            self.out += reorder(self._config, self._waiting[at:at + _STRAIGHT], self._costs,
                                urgent=urgent)
        self._waiting = []

    def work(self, work: Emitted) -> None:
        self._waiting += work.before
        blocks = work.blocks
        keys = [self._key(block) for block in blocks]
        finder = _Finder(keys, [
            tuple(value for stage in block.stages for op in stage
                  for value in op.varying + (op.reach or ())) for block in blocks])
        at = 0
        while at < len(blocks):
            period, count = finder.find(at)
            run = self._run(blocks[at:at + count], period)
            if run is not None and not self._is_plain(run):
                self._loop(run)
                at += count
            else:
                self._waiting += [op for stage in blocks[at].stages for op in stage]
                at += 1
        self._waiting += work.after

    def _key(self, block: Block) -> int:
        key = tuple(tuple(op.shape for op in stage) for stage in block.stages)
        return self._ids.setdefault(key, len(self._ids))

    def _run(self, blocks: list[Block], period: int) -> _Run | None:
        """Return a run of blocks that may overlap, with stages that must not put together."""
        if not blocks:
            return None
        while True:
            stages = max(len(block.stages) for block in blocks)
            blocks = [Block(block.stages + [[]] * (stages - len(block.stages))) for block in blocks]
            run = _Run(blocks, period, stages)
            if run.turns < MIN_TURNS:
                return None
            if self._overlaps(run):
                return run
            blocks = [Block([block.stages[0] + block.stages[1], *block.stages[2:]])
                      for block in blocks]

    def _is_plain(self, run: _Run) -> bool:
        """Whether the instructions of a run may stand one after another, without a loop."""
        if run.size > _PLAIN:
            return False
        busy = [0] * len(Unit)
        for block in run.blocks:
            for stage in block.stages:
                for op in stage:
                    cost = self._costs(op)
                    busy[cost.unit] += cost.occupied
        fetched = run.size * INSTRUCTION_BYTES // self._config.bus_bytes
        return fetched <= _FETCHED * max(busy)

    def _overlaps(self, run: _Run) -> bool:
        """Whether stages of one block may run beside earlier ones of later blocks."""
        turns = len(run.blocks) // run.period
        for late in range(2, run.stages):
            for early in range(late - 1):
                for distance in range(1, late - early):
                    for at in range(run.period):
                        if at + distance + run.period >= len(run.blocks):
                            continue
                        one = self._moving(run, at, late)
                        other = self._moving(run, at + distance, early)
                        if next(conflicts(one, other, turns), None) is not None:
                            return False
        return True

    def _moving(self, run: _Run, at: int, stage: int) -> list[list[Moving]]:
        now, later = run.blocks[at].stages[stage], run.blocks[at + run.period].stages[stage]
        return self._touches([*zip(now, later, strict=True)])

    def _touches(self, pairs: Sequence[tuple[Op, Op]]) -> list[list[Moving]]:
        """What operations touch, and how it moves to where they are a turn later."""
        costs = [self._costs(op) for op, _ in pairs]
        tiles = tile_touches([cost.unit for cost in costs], [cost.tile for cost in costs])
        return [Moving.between(cost.of(op), cost.of(later)) + tile
                for cost, (op, later), tile in zip(costs, pairs, tiles, strict=True)]

    def _loop(self, run: _Run) -> None:
        first, period = run.stages - 1, run.period
        end = first + run.turns * period
        self._waiting += run.straight(0, first)
        self.flush()
        pairs = [pair for number in range(first, first + period)
                 for pair in run.step(number, period)]
        turns = min(run.turns, max(3, min(_PLAYED, _PLAYED_OPS // len(pairs))))
        played = [run.straight(first + turn * period, first + (turn + 1) * period)
                  for turn in range(turns)]
        touches = self._touches(pairs)
        key = self._alike(pairs, touches, run.turns)
        order = self._orders.get(key) if key is not None else None
        if order is None:
            order = self._order(played, touches, run.turns)
            if key is not None:
                self._orders[key] = order
        now, then = ([pairs[i][turn] for i in order] for turn in range(2))
        self.out.append(_turns(run.turns, *self._shorter(now, then)))
        self._waiting += run.straight(end, len(run.blocks) + run.stages - 1)

    def _shorter(self, now: list[Op], then: list[Op]) -> tuple[list[Node], list[Node]]:
        """Return the bodies of two turns, with loops in them where they do not fit the buffer.

        Short operations stay as they are: a loop would have the units wait for the scalar unit;
        but where the memory port is busy they would wait for their instructions.
        """
        costs, config = [self._costs(op) for op in now], self._config
        cycles = sum(cost.occupied for cost in costs)
        # Instructions come through the port that loads have.
        loads = sum(cost.occupied for cost in costs if cost.unit == Unit.LOAD)
        port = loads + len(now) * INSTRUCTION_BYTES // config.bus_bytes
        long = _LONG if port < _BUSY * (cycles - loads) else _SHORT
        if len(now) > config.ibuf and cycles >= long * len(now) and self._depth > 2:
            # The outermost loops are this one, and one around it.
            rolled = roll([*now], self._depth - 2), roll([*then], self._depth - 2)
            if [node.shape for node in rolled[0]] == [node.shape for node in rolled[1]]:
                return rolled
        return [*now], [*then]

    def _alike(self, pairs: list[tuple[Op, Op]], touches: list[list[Moving]],
               turns: int) -> tuple | None:
        """What loops share that have the same order: all but where they load from and store to.

        None where that counts, too.
        """
        outside = [(touch.written, touch.first + min(0, (turns - 1) * touch.step),
                    touch.last + max(0, (turns - 1) * touch.step))
                   for each in touches for touch in each if touch.space == EXTERNAL]
        stored = [(first, last) for written, first, last in outside if written]
        if any(op.base is not None for op, _ in pairs) or any(
                not written and first <= last_stored and first_stored <= last
                for written, first, last in outside for first_stored, last_stored in stored):
            return None
        out: list[Hashable] = [turns]
        start: int | None = None
        for op, later in pairs:
            values, then = op.varying, later.varying
            if isinstance(op.command, Load):
                values, then = values[:ARENA_OPERAND], then[:ARENA_OPERAND]
            elif isinstance(op.command, Store):
                start = values[ARENA_OPERAND] if start is None else start
                values, then = ((row, at - start) for row, at in (values, then))
            out += (op.command, tuple(values), tuple(then))
        return tuple(out)

    def _order(self, played: list[list[Op]], touches: list[list[Moving]], turns: int) -> list[int]:
        """Order of the operations of a turn, from how a few turns would go one after another."""
        count = len(touches)
        ops = [op for turn in played for op in turn]
        costs: list[CommandCost] = [self._costs(op) for op in ops]
        waiting = followers(costs, [cost.of(op) for cost, op in zip(costs, ops, strict=True)])
        for i, j in conflicts(touches, touches, turns, apart=True):
            if i < j:
                for turn in range(len(played)):
                    if turn * count + j not in waiting[turn * count + i]:
                        waiting[turn * count + i].append(turn * count + j)
        play = Play(costs, waiting)
        begun = play.starts()
        middle = max(1, len(played) - 2) * count
        at = begun[middle:middle + count]
        inside = [[j - middle for j in waiting[middle + i] if j < middle + count]
                  for i in range(count)]
        orders = [sorted(range(count), key=lambda i, keys=keys: (keys[i], i))
                  for keys in (at, _spread(costs[:count], at, inside))]
        if orders[0] == orders[1]:
            return orders[0]
        return min(orders, key=lambda order: max(play.ends(
            [turn * count + i for turn in range(len(played)) for i in order],
            self._config.window)))


def _spread(costs: Sequence[CommandCost], begun: list[int], waiting: list[list[int]]) -> list[int]:
    """Return places in time of the operations of a turn, none before the turn itself.

    The turn begins where the unit begins that has the most to do. What other units could do before,
    in the turn that went ahead, is spread over it: in front of it, it would fill the scoreboard.
    """
    most = [0] * len(Unit)
    for cost in costs:
        most[cost.unit] += cost.occupied
    unit = most.index(max(most))
    first = min(at for at, cost in zip(begun, costs, strict=True) if cost.unit == unit)
    free = [first] * len(Unit)
    out = [*begun]
    for i in sorted(range(len(costs)), key=lambda i: (begun[i], i)):
        cost = costs[i]
        out[i] = max(begun[i], free[cost.unit])
        free[cost.unit] = out[i] + cost.occupied
    for i in range(len(costs) - 1, -1, -1):
        out[i] = min([out[i], *(out[j] - 1 for j in waiting[i])])
    return out


def pipeline(config: TpuConfig, works: Sequence[Emitted], depth: int = LOOP_DEPTH) -> list[Node]:
    """Return operations and loops that do what pieces of work do one after another.

    Strides stay triples. Loops nest less deep than ``depth``: what repeats of the result is found
    by `celosia.compiler.codegen.roll`.
    """
    made = _Pipeline(config, depth)
    for work in works:
        made.work(work)
    # Beside a loop, what most depends on is not known: the loop is behind it.
    made.flush(urgent=not made.out)
    return made.out
