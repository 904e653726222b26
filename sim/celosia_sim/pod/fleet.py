"""Boards in processes of their own, and what makes up for one that ends.

What a board does depends on what it is asked only. So all of them are saved now and then, each in
its own memory and in those of the next two boards, and what they are asked since is kept here: when
one ends, all begin anew as they were saved and are asked the same again. Whoever uses the pod sees
nothing of it but the time that it takes.
"""

from __future__ import annotations

import dataclasses
import secrets
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, count
from multiprocessing.connection import wait
from time import monotonic
from types import MappingProxyType
from typing import Any, NamedTuple

from celosia.arch.config import TpuConfig
from celosia_sim.pod.apart import ApartBoard, BoardLost, LocalStarter, Starter, raised
from celosia_sim.pod.asked import ApartChip, ChipPart
from celosia_sim.pod.board import VERSION, NeighbourLost, PodBoardError, say_chips
from celosia_sim.pod.options import End, PodOptions

__all__ = ["Fleet"]

#: What boards are asked that changes nothing.
_LOOKS = frozenset({"sent", "links", "read_memory", "peek"})
#: Saving takes at most this part of the time.
_PART = 1 / 20
#: Bytes of what boards are asked that are kept before all are saved.
_MOST_KEPT = 1 << 28
#: Seconds that boards have to answer in after one of them was lost.
_AFTER = 5.0
#: Seconds after which one that a neighbour has seen end is seen to have ended.
_NAMED = 1.0
#: Times that boards begin anew for one thing that they are asked.
_TRIES = 3

#: Boards that keep a board's state, beside itself: so many behind it.
_KEEPERS = 2

_Bytes = bytes | bytearray | memoryview
#: What a board gives: a value and bytes, or an error.
_Given = tuple[Any, bytearray] | Exception


class _Request(NamedTuple):
    """What some boards are asked at once: by their numbers, what, and bytes."""

    asked: Mapping[int, Sequence[Any]]
    data: Mapping[int, _Bytes] = MappingProxyType({})

    @property
    def changes(self) -> bool:
        """Whether boards are others afterwards."""
        return not all(
            all(part[2] in _LOOKS for part in each[1]) if each[0] == "chips" else each[0] in _LOOKS
            for each in self.asked.values())


class _Saved(NamedTuple):
    """A state of all boards: its number, 0 if they are new, the boards as they were then, and what
    they were asked since with what they have answered.
    """

    number: int
    boards: Sequence[ApartBoard]
    since: list[tuple[_Request, list[Any]]]


class Fleet:
    """Boards of a pod, each in a process.

    Any thread may ask them; they do one thing after the other.

    Parameters
    ----------
    config, links, options
        Of the pod.
    spans
        The chips of each board.
    starter
        Of boards; None: they are processes of this machine.

    Attributes
    ----------
    boards
        As they are now.
    chips
        The way to each chip.
    lock
        Of all.
    replaced
        Of each board that has ended and was replaced, how.
    """

    def __init__(self, config: TpuConfig, links: Mapping[End, End], options: PodOptions,
                 spans: Sequence[range], starter: Starter | None = None):
        self._spans, self._options = spans, options
        self._pod = {"version": VERSION, "config": dataclasses.asdict(config),
                     "links": [[*a, *b] for a, b in links.items()],
                     "options": dataclasses.asdict(options), "program": secrets.randbits(63)}
        self._neighbours = _neighbours(links, spans)
        self._starter = starter or LocalStarter()
        self.boards: list[ApartBoard] = []
        self.chips = [ApartChip(number, place, self._answer) for number, span in enumerate(spans)
                      for place in range(len(span))]
        self.replaced: list[str] = []
        self.lock = threading.RLock()
        self._broken = ""
        self._saved, self._numbers = _Saved(0, (), []), count(1)
        self._kept, self._due, self._seconds = 0, options.save_seconds, 0.0
        self._ready = False
        self._do(_Request({}))

    def close(self) -> None:
        """End the processes; closing twice does nothing."""
        with self.lock:
            self._broken = self._broken or "the pod must be open, but it was closed"
            for board in self.boards:
                board.close()

    def all(self, name: str, arguments: Sequence[Sequence[Any]]) -> list[Any]:
        """Ask all boards for the same at once, each with arguments of its own.

        Returns
        -------
        list
            Their values, or bytes where there are none.

        Raises
        ------
        PodBoardError
            If boards end again and again; the pod cannot be used any more.
        Exception
            That of a board.
        """
        with self.lock:
            self._flush()
            return [data if value is None else value for value, data in self._do(_Request(
                {number: [name, *own] for number, own in enumerate(arguments)}))]

    def _answer(self, part: ChipPart) -> None:
        """Have a part be answered: by now another thread may have asked for it as well."""
        with self.lock:
            if part.answer is None:
                self._flush()

    def _flush(self) -> None:
        """Ask all chips at once what they were to be asked and were not yet; raise the error of
        what nobody waits for.
        """
        asked = {number: [(chip.place, part) for chip in self.chips if chip.board == number
                          for part in chip.take()] for number in range(len(self._spans))}
        asked = {number: parts for number, parts in asked.items() if parts}
        if not asked:
            return
        try:
            found = self._do(_Request(
                {number: ["chips", [[len(part.data), place, *part.asked] for place, part in parts]]
                 for number, parts in asked.items()},
                {number: b"".join(part.data for _, part in parts)
                 for number, parts in asked.items()}))
        except BaseException as error:
            for _, part in chain(*asked.values()):
                part.answer = PodBoardError(self._broken or str(error))
            raise
        for parts, (values, data) in zip(asked.values(), found, strict=True):
            left = memoryview(data)
            for (_, part), (kind, value, size) in zip(parts, values, strict=True):
                part.answer = raised(kind, value) if kind else (value, left[:size])
                left = left[size:]
        for _, part in chain(*asked.values()):
            if isinstance(part.answer, Exception) and not part.waited:
                raise part.answer

    def links(self, chip: int) -> list[dict[str, int]]:
        """As of `PodBoard.links`; errors as of `all`."""
        [board] = (number for number, span in enumerate(self._spans) if chip in span)
        with self.lock:
            self._flush()
            [(found, _)] = self._do(_Request({board: ["links", chip]}))
        return found

    def _do(self, request: _Request) -> list[tuple[Any, bytearray]]:
        with self.lock:
            if self._broken:
                raise PodBoardError(self._broken)
            try:
                begin = monotonic()
                found = self._done(lambda: self._send(request))
                if request.changes:
                    self._saved.since.append((request, [_value(each) for each in found]))
                    self._kept += sum(map(len, request.data.values()))
                    self._seconds += monotonic() - begin
                    if self._seconds > self._due or self._kept > _MOST_KEPT:
                        self._save()
            except BaseException as error:
                # Of an interrupt, too: what boards have done is not known then.
                self._broken = str(error) or f"the pod must not be stopped, but by {error!r}"
                for board in self.boards:
                    board.close()
                raise
        return _raised(found)

    def _done(self, work: Callable[[], list[_Given]]) -> list[_Given]:
        """Have boards do something; they begin anew where one ends."""
        for tries in range(_TRIES + 1):
            try:
                if not self._ready:
                    self._begin()
                return work()
            except (BoardLost, NeighbourLost) as error:
                if tries == _TRIES:
                    raise PodBoardError(str(error)) from error
                self._ready = False
                self._note(error)
        raise AssertionError

    def _note(self, error: Exception) -> None:
        """Say that a board has ended and is replaced."""
        self.replaced.append(str(error))
        print(f"celosia: {error}; all go on from where they were {self._seconds:.1f} s before",
              file=sys.stderr)

    def _send(self, request: _Request) -> list[_Given]:
        """Ask boards for something, and wait for all of them."""
        asked = [self.boards[number] for number in request.asked]
        for board, (number, each) in zip(asked, request.asked.items(), strict=True):
            board.begin(*each, data=request.data.get(number, b""))
        found: dict[int, _Given] = {}
        seconds = max((board.seconds for board in asked), default=0.0)
        end = monotonic() + seconds
        while waiting := {board.control: i for i, board in enumerate(asked) if i not in found}:
            ready = wait([*waiting], max(end - monotonic(), 0))
            for control, i in waiting.items():
                if ready and control not in ready:
                    continue
                try:
                    found[i] = asked[i].end() if ready else asked[i].silent(seconds)
                except Exception as error:  # noqa: BLE001 - all answer before one is raised
                    found[i] = error
                if asked[i].lost and monotonic() + _AFTER < end:
                    # The others may wait for it in vain.
                    seconds, end = _AFTER, monotonic() + _AFTER
                    for place, board in enumerate(asked):
                        if place not in found:
                            board.hurry()
        given = [found[i] for i in range(len(asked))]
        # Neighbours of a board that has ended say that it is gone; how it ended says more.
        for kind in (BoardLost, NeighbourLost):
            if lost := [each for each in given if isinstance(each, kind)]:
                self._look_for_ended()
                for each in lost[1:] if kind is BoardLost else ():
                    self._note(each)
                raise lost[0]
        return given

    def _look_for_ended(self) -> None:
        """Raise what a board has ended by that had answered before, if there is one."""
        living = [board for board in self.boards if not board.lost]
        if len(living) == len(self.boards):
            ready = wait([board.control for board in living], _NAMED)
            for board in living:
                if board.control in ready:
                    board.end()

    def _save(self) -> None:
        begin = monotonic()
        _raised(self._done(lambda: self._keep([])))
        self._kept, self._seconds = 0, 0.0
        self._due = max(self._options.save_seconds, (monotonic() - begin) / _PART)

    def _keepers(self, number: int) -> list[int]:
        """Return the boards that keep a board's state beside itself."""
        boards = len(self._spans)
        return [(number + i) % boards for i in range(1, min(_KEEPERS + 1, boards))]

    def _places(self, boards: Sequence[int]) -> list[tuple[int, str, int]]:
        return [(self._spans[each].start, *self.boards[each].host.address()) for each in boards]

    def _keep(self, since: list[tuple[_Request, list[Any]]]) -> list[_Given]:
        """Have boards be saved as they are now, before they are asked what is kept from now on.

        Until all have what they keep, what was there before counts.
        """
        every, number = range(len(self.boards)), next(self._numbers)
        _raised(self._send(_Request({each: ["save", number, self._places(self._keepers(each))]
                                     for each in every})))
        self._saved = _Saved(number, tuple(self.boards), since)
        return self._send(_Request({each: ["forget", number] for each in every}))

    def _lives(self, number: int) -> bool:
        """Whether a board is still the one that was saved."""
        return self._saved.boards[number] is self.boards[number] and not self.boards[number].lost

    def _restore(self) -> None:
        """Have boards be what they were when they were saved, and be kept as before.

        Raises
        ------
        PodBoardError
            If nobody is left who has what one was.
        """
        saved, every = self._saved, range(len(self.boards))
        for number in every:
            if self._lives(number):
                continue
            keepers = [each for each in self._keepers(number) if self._lives(each)]
            if not keepers:
                gone = "; ".join(f"{each.host.name} of {say_chips(each.numbers)}" for each in (
                    saved.boards[place] for place in (number, *self._keepers(number))))
                raise PodBoardError(
                    f"one of the boards that had the state of {say_chips(self._spans[number])} "
                    f"must live, but all have ended: {gone}: the run must go on from a checkpoint "
                    "of its program")
            _raised(self._send(_Request({keepers[0]: [
                "give", saved.number, self._spans[number].start, self._places([number])]})))
        _raised(self._send(_Request({each: ["load", saved.number] for each in every})))
        _raised(self._keep(saved.since))

    def _begin(self) -> None:
        """Have boards be what they were, whatever they are now."""
        for number, span in enumerate(self._spans):
            if number < len(self.boards) and self.boards[number].lost:
                self.boards[number].close()
            elif number < len(self.boards):
                continue
            self.boards[number:number + 1] = [
                ApartBoard(span, self._starter.start(number), self._options.patience)]
        for board in self.boards:
            if board.lost:
                board.connect(self._starter.token)
        epoch = secrets.randbits(63)
        places = [[span.start, span.stop, *board.host.address()]
                  for span, board in zip(self._spans, self.boards, strict=True)]
        _raised(self._send(_Request({
            number: ["open", self._pod | {
                "epoch": epoch, "chips": [span.start, span.stop], "near": _near(places, number),
                "neighbours": [places[other] for other in self._neighbours[number]]}]
            for number, span in enumerate(self._spans)})))
        if self._saved.number:
            self._restore()
        for request, values in self._saved.since:
            found = [_value(each) for each in self._send(request)]
            if found != values:
                raise PodBoardError(f"boards must do again what they have done, {values!r}, not "
                                    f"{found!r}")
        self._ready = True


def _near(places: Sequence[Sequence[Any]], number: int) -> tuple[int, int]:
    """Return which board of its machine one is, and of how many, of first and last chip, host and
    port of each.
    """
    same = [other for other, place in enumerate(places) if place[2] == places[number][2]]
    return same.index(number), len(same)


def _neighbours(links: Mapping[End, End], spans: Sequence[range]) -> list[list[int]]:
    """Return of each board the others that links lead to."""
    place = {chip: number for number, span in enumerate(spans) for chip in span}
    pairs = {(place[a], place[b]) for x, y in links.items() for (a, _), (b, _) in ((x, y), (y, x))}
    return [sorted(b for a, b in pairs if a == number != b) for number in range(len(spans))]


def _raised(given: Sequence[_Given]) -> list[tuple[Any, bytearray]]:
    """Return what boards have given, or raise the first error."""
    found: list[tuple[Any, bytearray]] = []
    for each in given:
        if isinstance(each, Exception):
            raise each
        found.append(each)
    return found


def _value(given: _Given) -> Any:
    return str(given) if isinstance(given, Exception) else given[0]
