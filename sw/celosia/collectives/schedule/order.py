"""Several schedules as one: what one of them waits for, another one's messages hide."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from heapq import heappop, heappush
from itertools import accumulate
from typing import NamedTuple

from celosia.collectives.schedule.estimate import LinkModel
from celosia.collectives.schedule.table import Action, Alike, Held, LinkStep, Schedule, Words

__all__ = ["merged"]

#: What all chips do alike, each beginning with its own words.
_ALIKE = ("all_reduce", "reduce_scatter", "all_gather")


class _Message(NamedTuple):
    """What each chip sends by a port in a round of a schedule."""

    number: int
    round: int
    port: int


#: Short messages that may be sent for each long one while there are some.
_SHORTS = 1
#: When a message is to be sent: what comes first is less.
_Turn = tuple[float, int, int, int]


class _Sent(NamedTuple):
    """A message: how long it is on the link; from when on it is at the other end, after its first
    word has left; the messages, by round and port, whose words it has.
    """

    busy: int
    way: int
    waits: frozenset[tuple[int, int]]


def merged(schedules: Sequence[Schedule], link: LinkModel | None = None,
           together: int | None = None) -> Schedule:
    """Return schedules on words behind each other as one, in which they have no rounds of their
    own.

    A link is given what is there to be sent: of the first schedule first, and where that waits,
    of the next one; what nothing waits for comes behind what the next schedule waits for. Where
    chips do not do alike the schedules follow each other.

    Parameters
    ----------
    schedules
        Of one operation and topology.
    link
        Each of its links.
    together
        How many schedules may have begun and not ended, where chips have no room for more; None:
        all. Where chips do not do alike it is one.
    """
    link = link or LinkModel()
    times = (_times(schedules, link, together or len(schedules))
             if len(schedules) > 1 and schedules[0].name in _ALIKE
             else _in_turn(schedules, link))
    begins = sorted(set(times.values()))
    ranks = {time: rank for rank, time in enumerate(begins)}

    def turn(number: int, step: LinkStep) -> int:
        port = step.port if step.action == Action.SEND else step.port ^ 1
        return ranks[times[_Message(number, step.round, port)]]

    first = schedules[0]
    starts_at = [0, *accumulate(each.words for each in schedules)]
    steps = sorted((step._replace(round=turn(number, step), words=_moved(step.words, at))
                    for number, (each, at) in enumerate(zip(schedules, starts_at, strict=False))
                    for step in each.steps),
                   key=lambda step: (step.round, step.action != Action.SEND))
    given, result = (_behind([getattr(each, name) for each in schedules], starts_at)
                     for name in ("given", "result"))
    return Schedule(first.name, first.topology, starts_at[-1], tuple(steps), given, result,
                    begins=tuple(begins))


def _behind(held: Sequence[Sequence[tuple[Held, ...]]],
            starts: Sequence[int]) -> Sequence[tuple[Held, ...]]:
    """Return what chips have of several schedules whose words begin somewhere else."""
    alike = [each for each in held if isinstance(each, Alike)]
    if len(alike) == len(held):
        return Alike(tuple(_moved(words, at) for each, at in zip(alike, starts, strict=False)
                           for words in each.words), len(held[0]), joined=alike[0].joined)
    return tuple(tuple(own._replace(words=_moved(own.words, at))
                       for each, at in zip(held, starts, strict=False) for own in each[chip])
                 for chip in range(len(held[0])))


def _moved(words: Words, by: int) -> Words:
    return Words(words.start + by, words.stop + by)


def _in_turn(schedules: Sequence[Schedule], link: LinkModel) -> dict[_Message, int]:
    """Return when each message begins if rounds follow each other."""
    times = {}
    now = 0
    for number, each in enumerate(schedules):
        rounds: dict[int, list[LinkStep]] = defaultdict(list)
        for step in each.steps:
            if step.action == Action.SEND:
                rounds[step.round].append(step)
        for round_, steps in sorted(rounds.items()):
            times.update({_Message(number, round_, step.port): now for step in steps})
            now += link.cycles(max(step.words.count for step in steps))
    return times


def _sent(schedule: Schedule, link: LinkModel) -> dict[tuple[int, int], _Sent]:
    """Return what each chip sends by round and port, and waits for so that any of them can."""
    cuts = sorted({cut for step in schedule.steps for cut in step.words})
    number = {cut: i for i, cut in enumerate(cuts)}
    longest: dict[tuple[int, int], int] = defaultdict(int)
    waits: dict[tuple[int, int], set[tuple[int, int]]] = defaultdict(set)
    joined = set()
    for chip in range(schedule.topology.chips):
        came: dict[int, tuple[int, int]] = {}
        for round_, _, port, words, action in schedule.of_chip(chip):
            atoms = range(number[words.start], number[words.stop])
            if action == Action.SEND:
                key = round_, port
                longest[key] = max(longest[key], words.count)
                waits[key].update(came[atom] for atom in atoms if atom in came)
                continue
            key = round_, port ^ 1
            came.update(dict.fromkeys(atoms, key))
            if action == Action.JOIN:
                joined.add(key)
    found = {}
    for key, words in longest.items():
        found[key] = _Sent(link.cycles(words), link.way(words, key in joined),
                           frozenset(waits[key]))
    return found


class _Port:
    """What can be sent by a port: the earliest turn first, but not more than some short messages
    for each long one while there are any.

    A long message gives the chip time for the instructions of several short ones.
    """

    def __init__(self, longest: int):
        self._longest = longest
        self._ready: tuple[list[_Turn], list[_Turn]] = [], []  # long ones, short ones
        self._allowed = _SHORTS
        self.free = 0

    def add(self, turn: _Turn, busy: int) -> None:
        """Let a message be sent in its turn."""
        heappush(self._ready[3 * busy < self._longest], turn)

    def next(self) -> _Message | None:
        """Return what is to be sent; None: nothing is there."""
        long, short = self._ready
        if not long and not short:
            return None
        is_short = not long or (bool(short) and self._allowed >= 1 and short[0] < long[0])
        self._allowed = (max(self._allowed - 1, 0) if is_short else
                         min(self._allowed + _SHORTS, 2 * _SHORTS))
        return _Message(*heappop(self._ready[is_short])[1:])


def _times(schedules: Sequence[Schedule], link: LinkModel,
           together: int) -> dict[_Message, int]:
    """Return when each message begins, if all chips begin together."""
    sent_of = cache(lambda schedule_id: _sent(by_id[schedule_id], link))
    by_id = {id(each): each for each in schedules}
    sent = {_Message(number, *key): message for number, each in enumerate(schedules)
            for key, message in sent_of(id(each)).items()}
    turns: dict[_Message, _Turn] = {
        key: (key.number if (last := schedules[key.number].last) is None or key.round < last
              else key.number + 1.5, key.number, key.round, key.port) for key in sent}
    behind: dict[_Message, list[_Message]] = defaultdict(list)
    missing = {key: len(message.waits) for key, message in sent.items()}
    longest = max((each.busy for each in sent.values()), default=0)
    ports: dict[int, _Port] = defaultdict(lambda: _Port(longest))
    # What waits for no message waits for the end of a schedule before.
    firsts: dict[int, list[_Message]] = defaultdict(list)
    left = Counter(key.number for key in sent)
    for key, message in sent.items():
        for each in message.waits:
            behind[_Message(key.number, *each)].append(key)
        if not message.waits:
            firsts[key.number].append(key)
    ended = 0

    def begin(numbers: Iterable[int]) -> None:
        for key in (key for number in numbers for key in firsts[number]):
            ports[key.port].add(turns[key], sent[key].busy)

    begin(range(together))
    times: dict[_Message, int] = {}
    arrivals: list[tuple[int, _Message]] = []
    events = [0]
    while events:
        now = heappop(events)
        while arrivals and arrivals[0][0] <= now:
            for key in behind[heappop(arrivals)[1]]:
                missing[key] -= 1
                if not missing[key]:
                    ports[key.port].add(turns[key], sent[key].busy)
        while ended < len(schedules) and not left[ended]:
            begin([ended + together])
            ended += 1
        for port in ports.values():
            if port.free <= now and (found := port.next()) is not None:
                times[found] = now
                left[found.number] -= 1
                port.free = now + sent[found].busy
                heappush(arrivals, (now + sent[found].way, found))
                heappush(events, port.free)
                heappush(events, now + sent[found].way)
    return times
