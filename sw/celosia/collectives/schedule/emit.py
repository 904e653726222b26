"""Collective operations as instructions of a chip: loads, sends and receives, stores."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Insn, insn
from celosia.arch.isa import DmaFormat, RecvOp
from celosia.arch.words import ceil_div
from celosia.collectives.schedule.estimate import LinkModel, bound, estimate
from celosia.collectives.schedule.moves import (
    LOAD,
    STEP,
    STORE,
    IssueTime,
    MoveRun,
    Payload,
    RowMove,
    Slice,
    consecutive,
    issued,
)
from celosia.collectives.schedule.order import merged
from celosia.collectives.schedule.place import Placed, TimedStep, cuts_of, place
from celosia.collectives.schedule.resident import ResidentRows, Whole, resident_moves
from celosia.collectives.schedule.rings import (
    Sizes,
    all_gather,
    all_reduce,
    reduce_scatter,
    ring_sizes,
)
from celosia.collectives.schedule.routes import all_to_all, permute
from celosia.collectives.schedule.table import (
    BLOCK,
    Action,
    LinkStep,
    Schedule,
    Words,
    parts_of,
)
from celosia.collectives.topology import Topology

__all__ = ["Exchange"]

#: Rows that are loaded or stored or in a message at once: links wait for the first ones, the end
#: for the last.
_MOVED = 32
#: Exchanges whose schedules are kept: those of a program's chips, one after another.
_KEPT = 64
#: Cycles behind a message's first word at which its receive is issued.
_COMING = 48
#: In how many what is sent at once is cut at least, where no other segment is under way.
_PIECES = 2
#: Segments under way together where there is no room for all that could be.
_TOGETHER = 2
_TAGS = 1 << 12
#: Cycles before a step in which the bus must have begun to bring its words: what memory needs to
#: answer, and some; and where a part of the chip is beside.
_AHEAD, _AHEAD_BESIDE = 256, 512
#: What makes more words of all chips' than one has.
_GATHERED = ("all_gather", "all_to_all", "collective_permute")
#: What chips do by ways that are not alike.
_ROUTED = ("all_to_all", "collective_permute")
#: Segments: how many, and how many of them are under way together, None: as many as there are.
_Cut = tuple[int, int | None]


@dataclass(frozen=True)
class Exchange:
    """A collective operation on flat arrays, the same number and sizes on each chip.

    Each array is cut and joined as it would be alone.

    Attributes
    ----------
    name
        ``all_reduce``, ``reduce_scatter``, ``all_gather``, ``all_to_all`` or
        ``collective_permute``.
    topology
        Of the chips that take part.
    words
        Elements of each array that a chip gives: a multiple of the chips where they get shares.
    pairs
        Of a permutation: sources and targets.
    beside
        Whether a part of the chip is beside it, whose loads the bus brings, too, and which waits
        for rows that it does not use.
    """

    name: str
    topology: Topology
    words: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...] = ()
    beside: bool = False

    @property
    def _ahead(self) -> int:
        return _AHEAD_BESIDE if self.beside else _AHEAD

    @lru_cache(_KEPT)  # noqa: B019 - exchanges are values
    def _parts(self, words: int) -> Sizes:
        """Return the elements of an array's parts, which are always sent as a whole: by owner."""
        chips = self.topology.chips
        match self.name:
            case "all_to_all":
                return ((words // chips,),) * chips
            case "collective_permute":
                return ((words,),)
        return ring_sizes(self.topology, words * (chips if self.name == "all_gather" else 1),
                          BLOCK, equal=self.name != "all_reduce")

    def _deep(self, dim: int) -> list[list[int]]:
        """Return the rows that all arrays together have of each part."""
        arrays = [self._parts(words) for words in self.words]
        return [[sum(-(-size // dim) for size in part) for part in zip(*owner, strict=True)]
                for owner in zip(*arrays, strict=True)]

    def _deepest(self, dim: int) -> int:
        """Return the rows of the largest part."""
        return max(map(max, self._deep(dim)))

    @lru_cache(_KEPT)  # noqa: B019 - exchanges are values
    def schedule(self, config: TpuConfig, count: int = 1,
                 together: int | None = None) -> Schedule:
        """Return the schedule, its words rows of chips, in so many segments, of which some are
        under way ``together``, as of `merged`.
        """
        cuts = [[[each.count for each in parts_of(Words(0, part), count)] for part in owner]
                for owner in self._deep(config.dim)]
        return merged([self._segment(tuple(tuple(part[i] for part in owner) for owner in cuts),
                                     1 if count > 1 else _PIECES) for i in range(count)],
                      _link(config), together)

    @lru_cache(_KEPT)  # noqa: B019 - exchanges are values
    def _segment(self, rows: tuple[tuple[int, ...], ...], pieces: int) -> Schedule:
        """Return the schedule of parts of so many rows."""
        topology, most = self.topology, max(map(max, rows))
        if self.name in _ROUTED:
            pieces = min(pieces, max(1, most))
        match self.name:
            case "all_to_all":
                return all_to_all(topology, topology.chips * most, max(pieces, -(-most // _MOVED)))
            case "collective_permute":
                return permute(topology, self.pairs, most, max(pieces, -(-most // _MOVED)))
            case "all_gather":
                return all_gather(topology, rows, pieces, _MOVED)
            case "reduce_scatter":
                return reduce_scatter(topology, rows, pieces, _MOVED)
            case "all_reduce":
                return all_reduce(topology, rows, pieces, _MOVED)
        raise ValueError(f"name must be of a collective operation, not {self.name!r}")

    def _held(self, parts: Sizes, chip: int) -> tuple[list[int], list[int]]:
        """Return the elements of each part that a chip gives, and of each that it gets."""
        every = [size for owner in parts for size in owner]
        match self.name:
            case "all_gather":
                return list(parts[chip]), every
            case "reduce_scatter":
                return every, list(parts[chip])
            case "collective_permute":
                return every, every if any(chip == b for _, b in self.pairs) else []
        return every, every

    @lru_cache(_KEPT)  # noqa: B019 - exchanges are values
    def _whole(self, config: TpuConfig, chip: int, cut: _Cut) -> Whole:
        """Return what a chip does if there are such segments."""
        arrays = [self._held(self._parts(words), chip) for words in self.words]
        schedule = self.schedule(config, *cut)
        steps = schedule.of_chip(chip)
        cuts = cuts_of(steps)
        given, result = (_slices(tuple(tuple(each[i]) for each in arrays), words, config.dim, cuts)
                         for i, words in enumerate(schedule.words_of(chip)))
        return Whole(tuple(_timed(steps, schedule.begins, _link(config))), given, result)

    @lru_cache(_KEPT)  # noqa: B019 - exchanges are values
    def _cuts(self, config: TpuConfig) -> list[_Cut]:
        """Return numbers of segments, and how many are under way together, the best one first: on
        a torus two may hide each other's waiting. The last ones need the fewest rows.
        """
        deepest = max(1, self._deepest(config.dim))
        first = 1
        if deepest > 1 and sum(extent > 1 for extent in self.topology.extents) > 1:
            first = min(1, 2, key=lambda count: estimate(
                self.schedule(config, count), _link(config), config.window))
        found = [first]
        while found[-1] < deepest:
            found.append(min(2 * found[-1], deepest))
        rows = sum(map(sum, self._deep(config.dim)))
        few = [] if self.name in _ROUTED else [
            count for count in found if _TOGETHER * rows <= count * config.acc_rows]
        return [*((count, None) for count in found), *((count, _TOGETHER) for count in few)]

    def _place(self, config: TpuConfig, whole: Whole, most: int | None) -> Placed | None:
        """Return where the words of a chip are in so many rows."""
        return place(whole.steps, [each.rows for each in whole.given],
                     [each.rows for each in whole.result], most,
                     ceil_div(4 * config.dim, config.bus_bytes), self._ahead)

    def _moved(self, whole: Whole,
               config: TpuConfig) -> tuple[tuple[int, ...], list[MoveRun], list[MoveRun]]:
        """Return what `resident_moves` does where others have the rows before and behind."""
        placed = self._place(config, whole, config.acc_rows)
        assert placed is not None, "chips that are alike need alike rows"
        loads, stores = (
            list(consecutive(sorted(
                RowMove((move.time, order, move.wanted), each, move.row)
                for each, move in zip(slices, moved, strict=True) if move is not None), config.dim))
            for slices, moved, order in ((whole.given, placed.loads, LOAD),
                                         (whole.result, placed.stores, STORE)))
        return placed.steps, loads, stores

    def _chips(self, dim: int) -> range:
        """Return chips that need as many rows as any."""
        rows = self._deep(dim)
        alike = (self.name not in _ROUTED
                 and all(owner == rows[0] for owner in rows))
        return range(1 if alike else self.topology.chips)

    @lru_cache(_KEPT)  # noqa: B019 - exchanges are values
    def _cut(self, config: TpuConfig) -> _Cut:
        """Return in which segments all chips' accumulators have room for what is under way."""
        for cut in self._cuts(config):
            wholes = [self._whole(config, chip, cut) for chip in self._chips(config.dim)]
            if all(self._place(config, each, config.acc_rows) for each in wholes):
                return cut
        rows = max(placed.rows for placed in (self._place(config, each, None) for each in wholes)
                   if placed)
        raise ValueError(f"accumulators must hold {rows} rows for {self.name} on {self.topology}, "
                         f"not {config.acc_rows}")

    @lru_cache(_KEPT)  # noqa: B019 - exchanges are values
    def _stays(self, config: TpuConfig) -> _Cut | None:
        """Return in which segments an exchange is whose payload is in accumulators all the time;
        None: there is no room.
        """
        cut = self._cuts(config)[0]
        # Of a ring each chip gives or gets all.
        chips = range(self.topology.chips if self.name in _ROUTED else 1)
        rows = max(len(ResidentRows(self._whole(config, chip, cut))) for chip in chips)
        return cut if rows <= config.acc_rows else None

    def bound(self, link: LinkModel | None = None) -> float:
        """Return the cycles of words of 32 bits that no schedule is better than, as of `bound`."""
        many = self.topology.chips if self.name in _GATHERED else 1
        return bound(Schedule(self.name, self.topology, sum(self.words) * many, (), (), ()), link)

    def resident(self, config: TpuConfig,
                 chip: int) -> tuple[tuple[Slice, ...], tuple[Slice, ...]] | None:
        """Return in which accumulators a chip's array and its result are if they stay there.

        None: there is no room for all of them at once.
        """
        cut = self._stays(config)
        if cut is None:
            return None
        whole = self._whole(config, chip, cut)
        rows = ResidentRows(whole)
        if rows.whole:
            return whole.given, whole.result
        given, result = (tuple(
            each._replace(rows=Words(rows[each.rows.start], rows[each.rows.stop - 1] + 1))
            for each in slices) for slices in (whole.given, whole.result))
        return given, result

    def emit(self, config: TpuConfig, chip: int, op: RecvOp = RecvOp.SET,
             sources: Sequence[Payload] = (), targets: Sequence[Payload] = (), *,
             tag: int = 0, dims: Sequence[int] | None = None) -> list[Insn]:
        """Return the instructions of a chip; parameters and errors as of `timed`."""
        return [made for _, made in self.timed(config, chip, op, sources, targets, tag=tag,
                                               dims=dims)]

    def timed(self, config: TpuConfig, chip: int, op: RecvOp = RecvOp.SET,
              sources: Sequence[Payload] = (), targets: Sequence[Payload] = (), *,
              tag: int = 0, dims: Sequence[int] | None = None) -> list[tuple[int, Insn]]:
        """Return the instructions of a chip, in order, each with the cycle in which it is expected
        to be issued.

        Parameters
        ----------
        config
            Of the chips; they have the topology's ports.
        chip
            Its number in the topology.
        op
            How what arrives is joined.
        sources, targets
            Where its arrays and their results are, elements of one size where they are not joined.
            Of a permutation, the target of a chip that gets nothing is not written. None: they
            stay in the accumulators, as `resident` says.
        tag
            Of the first message; all chips have the same.
        dims
            The dimension of the chips' links that each one of the topology's is; None: the same.

        Raises
        ------
        ValueError
            If the accumulators have too few rows.
        """
        if not sum(self.words):
            return []
        joins = self.name in ("all_reduce", "reduce_scatter")
        wire = DmaFormat.W32 if joins or not sources else sources[0].fmt
        timed: list[tuple[IssueTime, Insn]] = []
        if sources:
            cut = None if self.beside else self._stays(config)
            if cut is not None:
                whole = self._whole(config, chip, cut)
                at, *moves = resident_moves(whole, config, _MOVED, self._ahead)
            else:
                whole = self._whole(config, chip, self._cut(config))
                at, *moves = self._moved(whole, config)
            for name, places, found in zip(("load", "store"), (sources, targets), moves,
                                           strict=True):
                timed += issued(name, config, found, places)
        else:
            if (cut := self._stays(config)) is None:
                raise ValueError(f"accumulators must hold all of {self.name} on {self.topology} "
                                 f"where it stays there, not {config.acc_rows} rows")
            whole = self._whole(config, chip, cut)
            at = ResidentRows(whole).of_steps
        for i, ((round_, _, port, words, action), begins, _, _) in enumerate(whole.steps):
            port = port if dims is None else 2 * dims[port // 2] + port % 2
            rest = {"mem": "acc", "fmt": wire, "port": port, "n0": words.count, "row": at[i],
                    "tag": (tag + round_) % _TAGS}
            timed.append(((begins, STEP), insn("send", **rest) if action == Action.SEND else insn(
                "recv", op=op if action == Action.JOIN else RecvOp.SET, **rest)))
        return [(time[0], made) for time, made in sorted(timed, key=lambda each: each[0])]


def _link(config: TpuConfig) -> LinkModel:
    """Return a link as schedules see it whose words are rows."""
    return LinkModel(config.link_bytes, 4 * config.dim)


def _timed(steps: Sequence[LinkStep], begins: Sequence[int],
           link: LinkModel) -> Iterator[TimedStep]:
    """Give steps with their times.

    A receive is issued when its words come, so that it is not under way for longer than it must,
    but not behind what uses its words or the next message of its port: what is sent is always there
    in the end where a link holds one message.
    """
    for i, step in enumerate(steps):
        begin = begins[step.round]
        if step.action == Action.SEND:
            yield TimedStep(step, begin, begin + link.cycles(step.words.count), begin)
            continue
        ends = begin + link.way(step.words.count, step.action == Action.JOIN)
        issued = min(begin + _COMING, ends - 1)
        for other in steps[i + 1:]:
            if begins[other.round] >= issued:
                break
            if _meet(step.words, other.words) or (
                    other.port == step.port and other.action != Action.SEND):
                issued = begins[other.round]
        # Its words can wait in the link for a while, but not those that go on at once.
        yield TimedStep(step, issued, ends, ends - link.cycles(step.words.count) // 2)


def _meet(a: Words, b: Words) -> bool:
    return a.start < b.stop and b.start < a.stop


#: Of each array the elements of its parts.
_Arrays = tuple[tuple[int, ...], ...]


@lru_cache(4)
def _uncut(arrays: _Arrays, held: tuple[Words, ...],
           dim: int) -> tuple[tuple[tuple[Slice, ...], ...], tuple[Slice, ...]]:
    """Return `_slices` where no step cuts rows: of each of those that are held, and all in order.

    Most chips have the same.
    """
    found = tuple(tuple(_of_held(arrays, rows, part, first, (dim, ())))
                  for rows, part, first in _firsts(arrays, held))
    return found, tuple(sorted(each for slices in found for each in slices))


def _firsts(arrays: _Arrays, held: Sequence[Words]) -> Iterator[tuple[Words, int, int]]:
    """Give with rows the part that they are of, and how many of it segments before have."""
    gone = [0] * len(arrays[0])
    for i, rows in enumerate(held):
        part = i % len(gone)
        yield rows, part, gone[part]
        gone[part] += rows.count


def _slices(arrays: _Arrays, held: tuple[Words, ...], dim: int,
            cuts: Sequence[int]) -> tuple[Slice, ...]:
    """Return elements of the arrays' parts, cut where steps cut their rows.

    Parts follow each other in an array, and arrays in the rows of a part, of which each segment has
    some.
    """
    found, plain = _uncut(arrays, held, dim)
    cut = {i for i, (start, stop) in enumerate(held) if stop - start > 1
           and bisect_left(cuts, stop) > bisect_right(cuts, start)}
    if not cut:
        return plain
    return tuple(sorted(each for i, (rows, part, first) in enumerate(_firsts(arrays, held))
                        for each in (_of_held(arrays, rows, part, first, (dim, cuts))
                                     if i in cut else found[i])))


def _of_held(arrays: _Arrays, rows: Words, part: int, first: int,
             how: tuple[int, Sequence[int]]) -> Iterator[Slice]:
    """Give elements that rows of a part have, from one of its rows on; ``how``: the words of a row,
    and where rows are cut.
    """
    dim, cuts = how
    top = 0
    for number, sizes in enumerate(arrays):
        size, begin = sizes[part], sum(sizes[:part])
        depth = -(-size // dim)
        at, last = max(first, top), min(first + rows.count, top + depth)
        while at < last:
            row = rows.start + at - first
            cut = bisect_right(cuts, row)
            end = min(at + _MOVED, last, *(at + each - row for each in cuts[cut:cut + 1]))
            element = (at - top) * dim
            yield Slice(number, begin + element, min((end - at) * dim, size - element),
                        Words(row, row + end - at))
            at = end
        top += depth
