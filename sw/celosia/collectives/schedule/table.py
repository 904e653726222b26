"""The table: steps of chips on words of a payload."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from celosia.collectives.topology import Topology

__all__ = ["BLOCK", "Action", "Alike", "Held", "Schedule", "LinkStep", "Transfer", "Words",
           "parts_of", "steps_of"]

#: Words of a payload that stay together: an all-reduce of fewer goes round as one message.
BLOCK = 16


class Action(StrEnum):
    """What a step does with its words and a port."""

    SEND = "send"
    #: Receive: the words become what arrives.
    SET = "set"
    #: Receive: the words become what arrives joined with what they were.
    JOIN = "join"


class Words(NamedTuple):
    """Words of the payload, ``stop`` not with them."""

    start: int
    stop: int

    def __str__(self) -> str:
        return f"{self.start}:{self.stop}"

    @property
    def count(self) -> int:
        """How many they are."""
        return self.stop - self.start


class LinkStep(NamedTuple):
    """One instruction of one chip.

    Attributes
    ----------
    round
        When, in turns: each link is used once in each direction in a round.
    chip, port
        Who, and where.
    words
        What is sent, or is there when it has been received.
    action
        What is done.
    """

    round: int
    chip: int
    port: int
    words: Words
    action: Action

    def __str__(self) -> str:
        verb = "send" if self.action == Action.SEND else f"recv {self.action}"
        return f"{verb} of words {self.words} on port {self.port} in round {self.round}"


class Held(NamedTuple):
    """Words that a chip has, and the chips whose numbers are joined there."""

    words: Words
    chips: frozenset[int]


class Alike(Sequence[tuple[Held, ...]]):
    """For each chip the same words: of its own payload, or of all chips joined.

    Of a thousand chips there would be millions of `Held` otherwise.
    """

    def __init__(self, words: tuple[Words, ...], chips: int, *, joined: bool):
        self.words, self.joined = words, joined
        self._chips = chips

    def __len__(self) -> int:
        return self._chips

    def __getitem__(self, chip: int) -> tuple[Held, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        if not 0 <= chip < self._chips:
            raise IndexError(chip)
        chips = frozenset(range(self._chips) if self.joined else [chip])
        return tuple(Held(words, chips) for words in self.words)


class Transfer(NamedTuple):
    """Two steps: words leave a chip by a port, and are set or joined at the other end."""

    round: int
    chip: int
    port: int
    words: Words
    action: Action


@dataclass(frozen=True)
class Schedule:
    """A collective operation as what each chip does, in order.

    Payload addresses are the schedule's own: a chip's array, flat, goes to the words of ``given``
    one after another, and its result is those of ``result``.

    Attributes
    ----------
    name
        Of the operation.
    topology
        Of the chips.
    words
        How many the payload has.
    steps
        A chip's steps are its program, in this order. They are sorted by round.
    given, result
        For each chip, what it has before and after.
    last
        A round from which on nothing else waits for what is sent: the last phase of a gathering.
        None: there is no such phase.
    begins
        The cycle in which each round is expected to begin; empty: it was not asked.
    """

    name: str
    topology: Topology
    words: int
    steps: tuple[LinkStep, ...]
    given: Sequence[tuple[Held, ...]]
    result: Sequence[tuple[Held, ...]]
    last: int | None = None
    begins: tuple[int, ...] = ()

    @cached_property
    def _programs(self) -> dict[int, list[LinkStep]]:
        found: dict[int, list[LinkStep]] = defaultdict(list)
        for step in self.steps:
            found[step.chip].append(step)
        return found

    def words_of(self, chip: int) -> Iterator[tuple[Words, ...]]:
        """Give the words that a chip gives, and those that it gets, in the order of its array."""
        for held in (self.given, self.result):
            yield (held.words if isinstance(held, Alike)
                   else tuple(each.words for each in held[chip]))

    def of_chip(self, chip: int) -> tuple[LinkStep, ...]:
        """Return the program of a chip."""
        return tuple(self._programs.get(chip, ()))


def parts_of(words: Words, count: int, block: int = 1) -> list[Words]:
    """Return ``count`` parts of words as equal as can be, empty ones too.

    All but the last one that has words are whole blocks.
    """
    blocks = -(-words.count // block)
    cuts = [words.start + min(block * (blocks * i // count), words.count)
            for i in range(count + 1)]
    return [Words(a, b) for a, b in pairwise(cuts)]


def steps_of(topology: Topology, transfers: Iterable[Transfer]) -> tuple[LinkStep, ...]:
    """Return the steps of transfers: of a round, first what is sent; nothing for no words."""
    steps = []
    for round_, chip, port, words, action in transfers:
        if words.count:
            steps.append(LinkStep(round_, chip, port, words, Action.SEND))
            steps.append(LinkStep(round_, *topology.peer(chip, port), words, action))
    return tuple(sorted(steps, key=lambda step: (step.round, step.action != Action.SEND)))
