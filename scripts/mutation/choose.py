"""Which mutants a run has: fixed by seed, count and tree."""

import random
from collections import defaultdict
from fractions import Fraction

from mutation.find import compiles, mutants
from mutation.mutant import Mutant
from mutation.project import Project

__all__ = ["choose", "shares"]


def shares(sizes: dict[str, int], count: int) -> dict[str, int]:
    """Divide ``count`` among rooms in proportion to their sizes, at least one for each.

    What is left over goes to the largest remainders; where there are more rooms than ``count``, the
    largest rooms have one each.
    """
    rooms = sorted((room for room in sizes if sizes[room]), key=lambda room: (-sizes[room], room))
    given = dict.fromkeys(rooms[:count], 1)
    total, left = sum(sizes[room] for room in given), count - len(given)
    exact = {room: Fraction(sizes[room] * left, total) for room in given}
    for room in given:
        given[room] += int(exact[room])
    for room in sorted(given, key=lambda room: (int(exact[room]) - exact[room], room))[
            :count - sum(given.values())]:
        given[room] += 1
    return {room: min(number, sizes[room]) for room, number in given.items()}


def choose(project: Project, seed: int, count: int) -> list[Mutant]:
    """Return the mutants of a run, sorted.

    Rooms have shares by the number of their mutants; within a room the operators take turns, each
    with a place that is as likely as any other.
    """
    found: dict[str, list[Mutant]] = {path: mutants(path, (project.root / path).read_bytes())
                                      for path in project.mutable()}
    rooms: dict[str, list[Mutant]] = defaultdict(list)
    for path in found:
        rooms[project.room(path)] += found[path]
    chosen: list[Mutant] = []
    for room, number in shares({room: len(all_) for room, all_ in rooms.items()}, count).items():
        chosen += _turns(project, rooms[room], number, f"{seed}:{room}")
    return sorted(chosen)


def _turns(project: Project, room: list[Mutant], number: int, seed: str) -> list[Mutant]:
    """Return ``number`` mutants of a room."""
    rng = random.Random(seed)
    by_operator: dict[str, list[Mutant]] = defaultdict(list)
    for mutant in room:
        by_operator[mutant.operator].append(mutant)
    queues = []
    for operator in sorted(by_operator):
        queue = by_operator[operator]
        rng.shuffle(queue)
        queues.append(queue)
    rng.shuffle(queues)
    chosen: list[Mutant] = []
    while len(chosen) < number and any(queues):
        for queue in queues:
            while queue and len(chosen) < number:
                mutant = queue.pop()
                if compiles(mutant.apply((project.root / mutant.path).read_bytes())):
                    chosen.append(mutant)
                    break
    return chosen
