"""Collective operations as instructions of a chip: loads, sends and receives, stores."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from celosia.arch.config import COUNT_MAX, TpuConfig
from celosia.arch.encoding import Insn, insn
from celosia.arch.isa import DmaFormat, RecvOp
from celosia.collectives.schedule.estimate import LinkModel, bound
from celosia.collectives.schedule.rings import (
    Sizes,
    all_gather,
    all_reduce,
    reduce_scatter,
    ring_sizes,
)
from celosia.collectives.schedule.routes import all_to_all, permute
from celosia.collectives.schedule.table import BLOCK, Action, Held, LinkStep, Schedule, Words
from celosia.collectives.topology import Topology

__all__ = ["Exchange", "Payload", "Slice", "copies"]

#: Payloads of more than the accumulators hold go through in halves: one is loaded and the one
#: before is stored while a third is under way.
_HALVES = 2
#: Steps before which a load is issued, and after which a store is.
_AHEAD, _BEHIND = 8, 4
#: Rows that are loaded or stored at once: links wait for the first ones, the end for the last.
_MOVED = 32
#: Exchanges whose schedules are kept: those of a program's chips, one after another.
_KEPT = 64
#: Rows of a part from which on it is cut in pieces, one joined while the other is sent.
_CUT = 2
_TAGS = 1 << 12
#: What makes more words of all chips' than one has.
_GATHERED = ("all_gather", "all_to_all", "collective_permute")


class Payload(NamedTuple):
    """An array in external memory: the address of its first byte, and what its elements are."""

    address: int
    fmt: DmaFormat


class Slice(NamedTuple):
    """Elements of one of a chip's arrays, and the rows that have them: of the schedule, or of the
    chip.
    """

    array: int
    first: int
    count: int
    rows: Words


@dataclass(frozen=True)
class _Segment:
    """A part of an exchange that the accumulators have room for, of one chip."""

    schedule: Schedule
    steps: tuple[LinkStep, ...]
    given: tuple[Slice, ...]
    result: tuple[Slice, ...]


class _Rows:
    """The rows of a schedule that a chip uses, without gaps."""

    def __init__(self, segment: _Segment):
        used = sorted({*(step.words for step in segment.steps),
                       *(each.rows for each in (*segment.given, *segment.result))})
        self._starts: list[int] = []
        ends: list[int] = []
        for start, stop in used:
            if ends and start <= ends[-1]:
                ends[-1] = max(ends[-1], stop)
            else:
                self._starts.append(start)
                ends.append(stop)
        sizes = [b - a for a, b in zip(self._starts, ends, strict=True)]
        self._at = [0, *accumulate(sizes)]

    def __len__(self) -> int:
        return self._at[-1]

    def __getitem__(self, row: int) -> int:
        i = bisect_right(self._starts, row) - 1
        return self._at[i] + row - self._starts[i]


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
    """

    name: str
    topology: Topology
    words: tuple[int, ...]
    pairs: tuple[tuple[int, int], ...] = ()

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

    @lru_cache(_KEPT)  # noqa: B019 - exchanges are values
    def _schedule(self, rows: tuple[tuple[int, ...], ...]) -> Schedule:
        """Return the schedule of parts of so many rows."""
        topology, most = self.topology, max(map(max, rows))
        pieces = 2 if most >= _CUT else 1
        match self.name:
            case "all_to_all":
                return all_to_all(topology, topology.chips * most, pieces)
            case "collective_permute":
                return permute(topology, self.pairs, most, pieces)
            case "all_gather":
                return all_gather(topology, rows, pieces)
            case "reduce_scatter":
                return reduce_scatter(topology, rows, pieces)
            case "all_reduce":
                return all_reduce(topology, rows, pieces)
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

    def _segments(self, dim: int, chip: int, most: int) -> Iterator[_Segment]:
        """Give a chip's segments, each of as many rows of every part."""
        arrays = [self._held(self._parts(words), chip) for words in self.words]
        rows = self._deep(dim)
        for first in range(0, max(map(max, rows)), most):
            schedule = self._schedule(tuple(
                tuple(min(most, max(0, each - first)) for each in owner) for owner in rows))
            given, result = (
                tuple(_slices([each[i] for each in arrays], held[chip], first, dim))
                for i, held in enumerate((schedule.given, schedule.result)))
            yield _Segment(schedule, schedule.of_chip(chip), given, result)

    @lru_cache(_KEPT)  # noqa: B019 - exchanges are values
    def _room(self, config: TpuConfig) -> int:
        """Return how many rows of every part fit any chip's accumulators at once, at most."""
        most, halves = max(1, max(map(max, self._deep(config.dim)))), 1
        while True:
            rows = max(len(_Rows(next(self._segments(config.dim, chip, most))))
                       for chip in range(self.topology.chips))
            if rows * halves <= config.acc_rows:
                return most
            if most == 1:
                raise ValueError(f"accumulators must hold {rows * halves} rows for {self.name} on "
                                 f"{self.topology}, not {config.acc_rows}")
            halves = _HALVES
            most = max(1, min(most - 1, most * config.acc_rows // (rows * halves)))

    def bound(self, link: LinkModel | None = None) -> float:
        """Return the cycles of words of 32 bits that no schedule is better than, as of `bound`."""
        many = self.topology.chips if self.name in _GATHERED else 1
        return bound(Schedule(self.name, self.topology, sum(self.words) * many, (), (), ()), link)

    def resident(self, config: TpuConfig,
                 chip: int) -> tuple[tuple[Slice, ...], tuple[Slice, ...]] | None:
        """Return in which accumulators a chip's array and its result are if they stay there.

        None: there is no room for all of them at once.
        """
        first, *others = self._segments(config.dim, chip, self._room(config))
        if others:
            return None
        rows = _Rows(first)
        given, result = (tuple(
            each._replace(rows=Words(rows[each.rows.start], rows[each.rows.stop - 1] + 1))
            for each in slices) for slices in (first.given, first.result))
        return given, result

    def emit(self, config: TpuConfig, chip: int, op: RecvOp = RecvOp.SET,
             sources: Sequence[Payload] = (), targets: Sequence[Payload] = (), *,
             tag: int = 0, dims: Sequence[int] | None = None) -> list[Insn]:
        """Return the instructions of a chip.

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
        most = self._room(config)
        emitted: list[tuple[int, Insn]] = []  # in the order of time, in steps
        before = begin = 0  # steps of segments before the last one, and with it
        for number, segment in enumerate(self._segments(config.dim, chip, most)):
            rows = _Rows(segment)
            base = number % _HALVES * (config.acc_rows // _HALVES)
            ends = begin + len(segment.steps)
            if sources:
                for each in segment.given:
                    used = next((i for i, step in enumerate(segment.steps)
                                 if _meet(step.words, each.rows)), len(segment.steps))
                    # Behind what was in these rows, the last segment but one.
                    emitted += [(max(begin + used - _AHEAD, before), made) for made in _moves(
                        "load", config, base + rows[each.rows.start], sources[each.array], each)]
                for each in segment.result:
                    written = max((i for i, step in enumerate(segment.steps) if _meet(
                        step.words, each.rows) and step.action != Action.SEND),
                        default=len(segment.steps))
                    emitted += [(min(begin + written + _BEHIND, ends), made) for made in _moves(
                        "store", config, base + rows[each.rows.start], targets[each.array], each)]
            for i, (round_, _, port, words, action) in enumerate(segment.steps):
                port = port if dims is None else 2 * dims[port // 2] + port % 2
                rest = {"mem": "acc", "fmt": wire, "port": port, "n0": words.count,
                        "row": base + rows[words.start], "tag": (tag + round_) % _TAGS}
                emitted.append((begin + i, insn("send", **rest) if action == Action.SEND else insn(
                    "recv", op=op if action == Action.JOIN else RecvOp.SET, **rest)))
            before, begin = begin, ends
            tag += 1 + max((step.round for step in segment.schedule.steps), default=0)
        return [made for _, made in sorted(emitted, key=lambda each: each[0])]


def _slices(arrays: Sequence[Sequence[int]], held: Sequence[Held], first: int,
            dim: int) -> Iterator[Slice]:
    """Give elements of the arrays' parts, from a row on.

    Parts follow each other in an array, and arrays in the rows of a part.
    """
    starts = [[0, *accumulate(sizes)] for sizes in arrays]
    for part, (rows, _) in enumerate(held):
        top = 0
        for number, sizes in enumerate(arrays):
            size = sizes[part]
            depth = -(-size // dim)
            last = min(first + rows.count, top + depth)
            for at in range(max(first, top), last, _MOVED):
                end, element = min(at + _MOVED, last), (at - top) * dim
                yield Slice(number, starts[number][part] + element,
                            min((end - at) * dim, size - element),
                            Words(rows.start + at - first, rows.start + end - first))
            top += depth


def copies(config: TpuConfig, source: Payload, target: Payload, count: int) -> Iterator[Insn]:
    """Give the instructions that copy elements of one format, by way of the accumulators."""
    most = config.acc_rows * config.dim
    for at in range(0, count, most):
        each = Slice(0, at, min(most, count - at), Words(0, 0))
        yield from _moves("load", config, 0, source, each)
        yield from _moves("store", config, 0, target, each)


def _meet(a: Words, b: Words) -> bool:
    return a.start < b.stop and b.start < a.stop


def _moves(name: str, config: TpuConfig, row: int, place: Payload,
           each: Slice) -> Iterator[Insn]:
    """Give the loads or stores of elements, which begin at a row of the accumulators."""
    step = COUNT_MAX // config.dim * config.dim
    for at in range(0, each.count, step):
        cols = min(step, each.count - at)
        yield insn(name, mem="acc", fmt=place.fmt, row=row + at // config.dim,
                   addr=place.address + (each.first + at) * place.fmt.nbytes,
                   shape=1 | cols << 16, group_step=1)
