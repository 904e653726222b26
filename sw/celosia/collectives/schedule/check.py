"""A proof, by running it on names, that a schedule does what it says and comes to an end."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator
from itertools import pairwise

from celosia.collectives.schedule.table import Action, LinkStep, Schedule

__all__ = ["ScheduleError", "check"]

#: Of a chip: a port, and whether it sends.
_Engine = tuple[int, int, bool]


class ScheduleError(ValueError):
    """A schedule that is wrong, and where."""


def check(schedule: Schedule) -> None:
    """Prove a schedule.

    - No link is used twice at once: in a round, once in each direction, by both of its ends.
    - No step waits for ever where links hold nothing: a word is sent only while it is received.
      Ports send and receive side by side, each in its own order; a step waits for earlier ones of
      its chip that use its words, as the scoreboard has it.
    - Each chip's part is joined exactly once in all that is left at the end.

    Raises
    ------
    ScheduleError
        With the first thing that is wrong, the chip and the step.
    """
    _check_rounds(schedule)
    order = _meetings(schedule)
    _check_parts(schedule, order)


def _where(step: LinkStep) -> str:
    return f"chip {step.chip}: {step}"


def _check_rounds(schedule: Schedule) -> None:
    used: set[tuple[int, int, int, bool]] = set()
    last = 0
    for step in schedule.steps:
        key = (step.round, step.chip, step.port, step.action == Action.SEND)
        if key in used or step.round < last:
            raise ScheduleError(f"{schedule.name}: {_where(step)} must be alone there, and not "
                                "before an earlier round")
        used.add(key)
        last = step.round


def _atoms(schedule: Schedule) -> tuple[list[int], dict[int, int]]:
    """Return where words that are always used together begin and end, and each cut's number."""
    cuts = {0, schedule.words}
    for step in schedule.steps:
        cuts.update(step.words)
    for chip in (*schedule.given, *schedule.result):
        for held in chip:
            cuts.update(held.words)
    bounds = sorted(cuts)
    return bounds, {cut: i for i, cut in enumerate(bounds)}


def _waits(schedule: Schedule) -> list[set[int]]:
    """Return the steps before each one, by number, that it waits for because of their words."""
    _, number = _atoms(schedule)
    written: dict[tuple[int, int], int] = {}
    read: dict[tuple[int, int], list[int]] = defaultdict(list)
    found = []
    for i, step in enumerate(schedule.steps):
        waits: set[int] = set()
        for atom in range(number[step.words.start], number[step.words.stop]):
            key = (step.chip, atom)
            if key in written:
                waits.add(written[key])
            if step.action == Action.SEND:
                read[key].append(i)
            else:
                waits.update(read.pop(key, ()))
                written[key] = i
        found.append(waits)
    return found


def _meetings(schedule: Schedule) -> list[tuple[LinkStep, LinkStep]]:
    """Return senders and receivers in an order in which they can meet."""
    steps, waits = schedule.steps, _waits(schedule)
    queues: dict[_Engine, deque[int]] = defaultdict(deque)
    for i, step in enumerate(steps):
        queues[step.chip, step.port, step.action == Action.SEND].append(i)
    done: set[int] = set()
    order = []
    moved = True
    while moved:
        moved = False
        for (chip, port, sends), queue in list(queues.items()):
            there = queues.get((*schedule.topology.peer(chip, port), False))
            while sends and queue and there and (waits[queue[0]] | waits[there[0]]) <= done:
                a, b = queue.popleft(), there.popleft()
                if (steps[a].words, steps[a].round) != (steps[b].words, steps[b].round):
                    raise ScheduleError(f"{schedule.name}: {_where(steps[b])} must be what chip "
                                        f"{steps[a].chip} sends: {steps[a]}")
                done |= {a, b}
                order.append((steps[a], steps[b]))
                moved = True
    stuck = [queue[0] for queue in queues.values() if queue]
    if stuck:
        raise ScheduleError(f"{schedule.name}: a step must not wait for ever: "
                            + ", which waits: ".join(_cycle(schedule, stuck, waits, done)))
    return order


def _cycle(schedule: Schedule, stuck: list[int], waits: list[set[int]],
           done: set[int]) -> Iterator[str]:
    """Give steps, each of which waits for the next one, till one comes again or has no partner."""
    steps = schedule.steps
    heads = {(steps[i].chip, steps[i].port, steps[i].action == Action.SEND): i for i in stuck}
    at: int | None = min(stuck)
    seen: set[int] = set()
    while at is not None and at not in seen:
        seen.add(at)
        step = steps[at]
        yield f"{_where(step)}"
        open_ = sorted(waits[at] - done)
        if open_:  # its engine may have others before it
            other = steps[open_[0]]
            at = heads.get((other.chip, other.port, other.action == Action.SEND))
            continue
        peer = schedule.topology.peer(step.chip, step.port)
        at = heads.get((*peer, step.action != Action.SEND))
        if at is None:
            yield f"chip {peer[0]}: nothing on port {peer[1]}"


def _check_parts(schedule: Schedule, order: list[tuple[LinkStep, LinkStep]]) -> None:
    bounds, number = _atoms(schedule)
    has: list[dict[int, frozenset[int]]] = []
    for given in schedule.given:
        has.append({atom: held.chips for held in given
                    for atom in range(number[held.words.start], number[held.words.stop])})
    for sent, received in order:
        for atom in range(number[sent.words.start], number[sent.words.stop]):
            new = has[sent.chip].get(atom)
            if new is None:
                raise ScheduleError(f"{schedule.name}: {_where(sent)} must be of words that the "
                                    f"chip has, not of {bounds[atom]}")
            if received.action == Action.JOIN:
                old = has[received.chip].get(atom, frozenset())
                if not old or old & new:
                    raise ScheduleError(
                        f"{schedule.name}: {_where(received)} must join other chips' parts, not "
                        f"{sorted(new)} with {sorted(old)}")
                new = old | new
            has[received.chip][atom] = new
    for chip, result in enumerate(schedule.result):
        for held in result:
            for first, _ in pairwise(bounds[number[held.words.start]:number[held.words.stop] + 1]):
                found = has[chip].get(number[first], frozenset())
                if found != held.chips:
                    raise ScheduleError(
                        f"{schedule.name}: chip {chip} must have the parts of "
                        f"{sorted(held.chips)} in word {first} at the end, not {sorted(found)}")
