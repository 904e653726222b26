"""Software pipelining: blocks that repeat become a loop in which their stages overlap.

In step t of a run of blocks, block t is in its first stage, block t - 1 in its second, and so on.
The steps in which all stages have a block become the turns of a loop, a period of steps each. What
comes before and after the loops is plain code, put into order across the pieces of work, so that
the end of the one overlaps the beginning of the next.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from celosia.arch.commands import Load, Store
from celosia.arch.config import TpuConfig
from celosia.arch.isa import INSTRUCTION_BYTES, LOOP_DEPTH, Unit
from celosia.compiler.codegen.blocks import MIN_TURNS, BlockRun, Emitted
from celosia.compiler.codegen.legality import Moving, conflicts, tile_touches
from celosia.compiler.codegen.nodes import ARENA_OPERAND, CodeNode, CodeOp, Loop, WordSteps
from celosia.compiler.codegen.play import Play
from celosia.compiler.codegen.reorder import reorder
from celosia.compiler.codegen.roll import roll
from celosia.compiler.codegen.spans import EXTERNAL, CommandCost, Costs
from celosia.compiler.codegen.waits import followers

__all__ = ["pipeline"]

#: Runs of up to so many operations are plain code: in a loop, none could overlap what comes before;
#: unless fetching them takes a larger part than this of their cycles.
_PLAIN, _FETCHED = 1024, 0.08
#: Turns that are played to find the order of one of them, and operations of all of these.
_PLAYED = 6
_PLAYED_OPS = 4096
#: Operations that are put into order at once.
_STRAIGHT = 16384
#: Cycles of an operation that hide the instructions of a loop around it.
_LONG = 32
#: Likewise where the memory port is busy in so much of the time.
_SHORT, _BUSY = 15, 0.7


#: An operation, and its step from one turn of a loop to the next.
_Stepping = tuple[CodeOp, WordSteps]


@dataclass
class _Overlap:
    """A run of blocks, each of them a stage behind the next one.

    Attributes
    ----------
    period
        The first blocks; all have the same number of stages.
    count
        How many blocks there are.
    """

    period: list[list[list[_Stepping]]]
    count: int

    @classmethod
    def of(cls, run: BlockRun) -> _Overlap:
        more = [run.stages - len(block.stages) for block in run.period]
        return cls([[[*zip(ops, steps, strict=True)]
                     for ops, steps in zip(block.stages, each, strict=True)] + [[]] * missing
                    for block, each, missing in zip(run.period, run.steps, more, strict=True)],
                   run.count)

    def joined(self) -> _Overlap:
        """Return the same run with its first two stages together."""
        return _Overlap([[one + two, *rest] for one, two, *rest in self.period], self.count)

    @property
    def stages(self) -> int:
        """Stages of a block."""
        return len(self.period[0])

    @property
    def turns(self) -> int:
        """Turns in which all stages are busy."""
        return (self.count - self.stages + 1) // len(self.period)

    def stage(self, number: int, stage: int) -> list[_Stepping]:
        """Operations of one stage of a block."""
        turn, at = divmod(number, len(self.period))
        return [(op.stepped(step, turn), step) for op, step in self.period[at][stage]]

    def step(self, number: int) -> Iterator[_Stepping]:
        """Operations of a step, the oldest block first."""
        for stage in reversed(range(self.stages)):
            if 0 <= number - stage < self.count:
                yield from self.stage(number - stage, stage)

    def straight(self, first: int, end: int) -> list[CodeOp]:
        """Operations of the steps from ``first`` to before ``end``."""
        return [op for number in range(first, end) for op, _ in self.step(number)]


def _turns(count: int, now: list[CodeNode], then: list[CodeNode]) -> Loop:
    """Return a loop, from the bodies of its first and second turn."""
    steps = tuple(b - a for node, later in zip(now, then, strict=True)
                  for a, b in zip(node.varying, later.varying, strict=True))
    return Loop(count, tuple(now), steps)


class _Pipeline:
    def __init__(self, config: TpuConfig, depth: int):
        self._config, self._depth = config, depth
        self._costs = Costs(config)
        self._waiting: list[CodeOp] = []
        self._orders: dict[tuple, list[int]] = {}
        self.out: list[CodeNode] = []

    def flush(self, *, urgent: bool = False) -> None:
        """Put the plain operations so far into order."""
        for at in range(0, len(self._waiting), _STRAIGHT):
            self.out += reorder(self._config, self._waiting[at:at + _STRAIGHT], self._costs,
                                urgent=urgent)
        self._waiting = []

    def begin(self, size: int) -> None:
        """Put what came before into order, unless so many operations more are put with it."""
        if len(self._waiting) + size > _STRAIGHT:
            self.flush()

    def work(self, work: Emitted) -> None:
        self._waiting += work.before
        for run in work.runs:
            overlap = self._overlap(run)
            if overlap is not None and not work.beside and not self._is_plain(run):
                self._loop(overlap)
                continue
            for number in range(run.count):
                self._waiting += run.block(number).operations
        self._waiting += work.after

    def _overlap(self, run: BlockRun) -> _Overlap | None:
        """Return a run that may overlap, with stages that must not put together."""
        if run.turns < MIN_TURNS:
            return None
        overlap = _Overlap.of(run)
        while not self._may_overlap(overlap):
            overlap = overlap.joined()
        return overlap

    def _is_plain(self, run: BlockRun) -> bool:
        """Whether the instructions of a run may stand one after another, without a loop."""
        if run.size > _PLAIN:
            return False
        busy = [0] * len(Unit)
        for number in range(run.count):
            for op in run.block(number).operations:
                cost = self._costs(op)
                busy[cost.unit] += cost.occupied
        fetched = run.size * INSTRUCTION_BYTES // self._config.bus_bytes
        return fetched <= _FETCHED * max(busy)

    def _may_overlap(self, run: _Overlap) -> bool:
        """Whether stages of one block may run beside earlier ones of later blocks."""
        period = len(run.period)
        turns = run.count // period
        for late in range(2, run.stages):
            for early in range(late - 1):
                for distance in range(1, late - early):
                    for at in range(period):
                        if at + distance + period >= run.count:
                            continue
                        one = self._touches(run.stage(at, late))
                        other = self._touches(run.stage(at + distance, early))
                        if next(conflicts(one, other, turns), None) is not None:
                            return False
        return True

    def _touches(self, stepping: Sequence[_Stepping]) -> list[list[Moving]]:
        """What operations touch, and how it moves to where they are a turn later."""
        costs = [self._costs(op) for op, _ in stepping]
        tiles = tile_touches([cost.unit for cost in costs], [cost.tile for cost in costs])
        return [Moving.between(cost.of(op), cost.of(op.stepped(step))) + tile
                for cost, (op, step), tile in zip(costs, stepping, tiles, strict=True)]

    def _loop(self, run: _Overlap) -> None:
        first, period = run.stages - 1, len(run.period)
        end = first + run.turns * period
        self._waiting += run.straight(0, first)
        self.flush()
        body = [each for number in range(first, first + period) for each in run.step(number)]
        turns = min(run.turns, max(3, min(_PLAYED, _PLAYED_OPS // len(body))))
        played = [run.straight(first + turn * period, first + (turn + 1) * period)
                  for turn in range(turns)]
        touches = self._touches(body)
        key = self._alike(body, touches, run.turns)
        order = self._orders.get(key) if key is not None else None
        if order is None:
            order = self._order(played, touches, run.turns)
            if key is not None:
                self._orders[key] = order
        now, then = ([body[i][0].stepped(body[i][1], turn) for i in order] for turn in range(2))
        self.out.append(_turns(run.turns, *self._shorter(now, then)))
        self._waiting += run.straight(end, run.count + run.stages - 1)

    def _shorter(self, now: list[CodeOp],
                 then: list[CodeOp]) -> tuple[list[CodeNode], list[CodeNode]]:
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

    def _alike(self, body: list[_Stepping], touches: list[list[Moving]],
               turns: int) -> tuple | None:
        """What loops share that have the same order: all but where they load from and store to.

        None where that counts, too.
        """
        outside = [(touch.written, touch.first + min(0, (turns - 1) * touch.step),
                    touch.last + max(0, (turns - 1) * touch.step))
                   for each in touches for touch in each if touch.space == EXTERNAL]
        stored = [(first, last) for written, first, last in outside if written]
        if any(op.base is not None for op, _ in body) or any(
                not written and first <= last_stored and first_stored <= last
                for written, first, last in outside for first_stored, last_stored in stored):
            return None
        out: list[Hashable] = [turns]
        start: int | None = None
        for op, step in body:
            values, then = op.varying, step
            if isinstance(op.command, Load):
                values, then = values[:ARENA_OPERAND], then[:ARENA_OPERAND]
            elif isinstance(op.command, Store):
                start = values[ARENA_OPERAND] if start is None else start
                values = values[0], values[ARENA_OPERAND] - start
            out += (op.command, tuple(values), tuple(then))
        return tuple(out)

    def _order(self, played: list[list[CodeOp]], touches: list[list[Moving]],
               turns: int) -> list[int]:
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
        play = Play(self._config, ops, costs, waiting)
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


def pipeline(config: TpuConfig, works: Sequence[Emitted],
             depth: int = LOOP_DEPTH) -> list[CodeNode]:
    """Return operations and loops that do what pieces of work do one after another.

    Strides stay triples. Loops nest less deep than ``depth``: what repeats of the result is found
    by `celosia.compiler.codegen.roll`.
    """
    made = _Pipeline(config, depth)
    for _, group in groupby(works, lambda work: None if work.beside else work):
        together = [*group]
        made.begin(sum(work.size for work in together))
        for work in together:
            made.work(work)
    # Beside a loop, what most depends on is not known: the loop is behind it.
    made.flush(urgent=not made.out)
    return made.out
