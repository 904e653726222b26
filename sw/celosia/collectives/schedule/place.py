"""Where in a chip's accumulators the words of a schedule are, and for how long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from celosia.collectives.schedule.table import Action, LinkStep, Words

__all__ = ["LATE", "Moved", "Placed", "TimedStep", "cuts_of", "place"]

#: Cycles between copies of what no step uses.
_APART = 64
#: Of the time before a step the part that it has at least behind what comes before its loads, so
#: that nothing waits for those of later steps where all are late.
LATE = 8


class TimedStep(NamedTuple):
    """A step, when it is expected to be issued and to end, and when it needs what is loaded."""

    step: LinkStep
    begins: int
    ends: int
    needs: int


class Moved(NamedTuple):
    """A load or a store.

    Attributes
    ----------
    time
        When it is issued.
    wanted
        When a step that waits for it is issued.
    row
        Of its first word.
    """

    time: int
    wanted: int
    row: int


@dataclass(frozen=True)
class Placed:
    """Where words are.

    Attributes
    ----------
    steps
        The row of each step's first word.
    loads, stores
        Of what is given, None where nobody wants it; of the result.
    rows
        How many are used.
    """

    steps: tuple[int, ...]
    loads: tuple[Moved | None, ...]
    stores: tuple[Moved, ...]
    rows: int


def cuts_of(steps: Sequence[LinkStep]) -> list[int]:
    """Return where words begin and end that are always used together."""
    return sorted({cut for step in steps for cut in step.words})


class _Life:
    """Words from when they are loaded or received until they are sent or stored for the last time.

    Those that one step uses follow each other in the accumulators: they are one group, as long as
    one of them lives.
    """

    def __init__(self, words: Words, used: int):
        self.words = words
        self.used = self.loaded = self.wrote = used
        # These are of the group.
        self.start, self.stop = words
        self.first = self.wanted = self.last = used
        self.row = 0
        self._group: _Life = self

    @property
    def group(self) -> _Life:
        """The life that stands for the group."""
        life = self
        while life._group is not life:
            life._group = life = life._group._group
        return life

    def join(self, other: _Life) -> None:
        """Make one group of two."""
        a, b = self.group, other.group
        if a is not b:
            b._group = a
            a.start, a.stop = min(a.start, b.start), max(a.stop, b.stop)
            a.first, a.last = min(a.first, b.first), max(a.last, b.last)
            a.wanted = min(a.wanted, b.wanted)

    def until(self, time: int) -> None:
        """Live till behind a time."""
        self.group.last = max(self.group.last, time)

    def row_of(self, words: Words) -> int:
        """Return the row of the first one of some words of the group."""
        return self.group.row + words.start - self.group.start


class _Lives:
    """The lives of a chip's words, by the words that are always used together."""

    def __init__(self, steps: Sequence[TimedStep], given: Sequence[Words],
                 result: Sequence[Words], row_cycles: int, ahead: int):
        self._cuts = sorted({*cuts_of([each.step for each in steps]),
                             *(cut for words in (*given, *result) for cut in words)})
        self._number = {cut: i for i, cut in enumerate(self._cuts)}
        self._last: dict[int, _Life] = {}
        self._loaded: dict[int, _Life] = {}
        self._loads: list[tuple[int, list[_Life]]] = []  # at once, and when they must be there
        self._fresh = {atom for words in given for atom in self._atoms(words)}
        self.used = [self._step(*each) for each in steps]
        time = max((each.ends for each in steps), default=0)
        for words in result:  # what no step uses is copied behind them
            if self._atoms(words)[0] in self._fresh:
                self._use(words, time, time)
                time += _APART
        begins = time
        for needs, lives in sorted(self._loads, key=lambda load: load[0], reverse=True):
            rows = sum(life.words.count for life in lives)
            begins = min(needs - ahead, begins) - rows * row_cycles
            for life in lives:
                life.loaded = min(max(begins, needs // LATE), life.used)
                life.group.first = min(life.group.first, life.loaded)
        self.groups = {id(life.group): life.group
                       for life in (*self.used, *self._last.values())}.values()

    def _atoms(self, words: Words) -> range:
        return range(self._number[words.start], self._number[words.stop])

    def _step(self, step: LinkStep, begins: int, ends: int, needs: int) -> _Life:
        if step.action == Action.SET:
            for atom in self._atoms(step.words):
                self._fresh.discard(atom)
                self._last[atom] = _Life(Words(*self._cuts[atom:atom + 2]), begins)
        return self._use(step.words, begins, needs, None if step.action == Action.SEND else ends)

    def _use(self, words: Words, time: int, needs: int, wrote: int | None = None) -> _Life:
        """Let words be used together; return the life of the first ones."""
        atoms = self._atoms(words)
        if fresh := [atom for atom in atoms if atom in self._fresh]:
            lives = {atom: _Life(Words(*self._cuts[atom:atom + 2]), time) for atom in fresh}
            self._fresh.difference_update(fresh)
            self._loads.append((needs, list(lives.values())))
            self._loaded.update(lives)
            self._last.update(lives)
        for atom in atoms:
            if wrote is not None:
                self._last[atom].wrote = wrote
            self._last[atoms[0]].join(self._last[atom])
        self._last[atoms[0]].until(time)
        return self._last[atoms[0]]

    def loaded(self, words: Words) -> _Life | None:
        """Return the life for which words are loaded."""
        return self._loaded.get(self._number[words.start])

    def stored(self, words: Words) -> tuple[_Life, int]:
        """Return the life at whose end words are stored, and when they are."""
        lives = [self._last[atom] for atom in self._atoms(words)]
        return lives[0], max(life.wrote for life in lives)


def place(steps: Sequence[TimedStep], given: Sequence[Words], result: Sequence[Words],
          most: int | None = None, row_cycles: int = 1, ahead: int = 0) -> Placed | None:
    """Find places in the accumulators for the words of a chip's steps; None: there is no room.

    Words are loaded shortly before the step that uses them first, and stored when the one that
    changes them last has ended; before and behind that others have their rows.

    Parameters
    ----------
    steps
        Of the chip.
    given, result
        What is loaded and what is stored at once: words that no step cuts.
    most
        Rows that there are; None: any number.
    row_cycles
        How long the bus needs for one.
    ahead
        Cycles before a step in which the bus must have begun to bring its words.
    """
    lives = _Lives(steps, given, result, row_cycles, ahead)
    stored = [lives.stored(words) for words in result]
    for life, time in stored:
        life.until(time)
    rows = _allocate(sorted(lives.groups, key=lambda group: (group.first, group.start)), most)
    if rows is None:
        return None
    return Placed(
        tuple(life.row_of(each.step.words) for life, each in zip(lives.used, steps, strict=True)),
        tuple(None if life is None else
              Moved(max(life.loaded, life.group.first), life.used, life.row_of(words))
              for words in given for life in [lives.loaded(words)]),
        tuple(Moved(time, time, life.row_of(words))
              for words, (life, time) in zip(result, stored, strict=True)), rows)


def _allocate(groups: Sequence[_Life], most: int | None) -> int | None:
    """Give rows to groups, which are sorted by their beginnings; return how many are used.

    Rows that were free for the longest time come first: what was there may still be on its way.
    What is loaded waits for rows as long as it can.
    """
    live: list[_Life] = []
    pointer = used = 0
    for group in groups:
        size = group.stop - group.start
        live = [each for each in live if each.last >= group.first]
        at = _free(live, size, pointer, most)
        for life in sorted(live, key=lambda life: life.last):
            if at is not None or life.last >= group.wanted:
                break
            group.first = life.last + 1
            at = _free([each for each in live if each.last >= group.first], size, pointer, most)
        if at is None:
            return None
        group.row = at
        live.append(group)
        pointer = at + size if most is not None else 0
        used = max(used, at + size)
    return used


def _free(live: Sequence[_Life], size: int, pointer: int, most: int | None) -> int | None:
    """Return the first row, from some row on or from the first one, of so many that are free."""
    taken = sorted((each.row, each.row + each.stop - each.start) for each in live)
    for row in (pointer, 0):
        for start, stop in taken:
            if row + size <= start:
                break
            row = max(row, stop)
        if most is None or row + size <= most:
            return row
    return None
