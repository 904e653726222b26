"""Coverage of the rooms of sw/ and sim/: what was measured, and what is known without measuring.

A room is a folder of ``celosia`` with all below it, the files beside these folders, or
``celosia_sim``. Its places are its lines and its branches, as coverage.py counts them.
"""

import ast
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

__all__ = ["FLOOR", "RATCHET", "ROOT", "Room", "fallen", "read", "room_of", "sources",
           "statements", "uncertain", "write"]

ROOT = Path(__file__).resolve().parent.parent
#: What was measured last; scripts/coverage writes it.
RATCHET = ROOT / "tests" / "coverage.txt"
#: Percent of its places that the tests of each room must reach.
FLOOR = 95.0
#: Percent that differ from run to run: what threads and processes happen to meet.
SLACK = 0.3


class Room(NamedTuple):
    """What was measured: ``statements`` are those of Python's grammar, which need no measuring."""

    statements: int
    places: int
    missed: int

    @property
    def percent(self) -> float:
        """Places that were reached, in percent."""
        return 100 * (1 - self.missed / self.places) if self.places else 100.0


def sources() -> list[Path]:
    """Every file that is measured."""
    return [path for folder in ("sw/celosia", "sim/celosia_sim")
            for path in sorted((ROOT / folder).rglob("*.py"))]


def room_of(path: Path) -> str:
    """Return the room of a file."""
    package, *inside = path.relative_to(ROOT).parts[1:]
    return f"{package}/{inside[0]}" if package == "celosia" and len(inside) > 1 else package


def statements(paths: Iterable[Path]) -> dict[str, int]:
    """Return how many statements each room has today."""
    counts: Counter[str] = Counter()
    for path in paths:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        counts[room_of(path)] += sum(isinstance(node, ast.stmt) for node in ast.walk(tree))
    return dict(counts)


def read(text: str) -> dict[str, Room]:
    """Return the rooms of a ratchet file."""
    rows = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return {name: Room(*map(int, numbers)) for name, *numbers, _ in rows}


def write(rooms: Mapping[str, Room]) -> str:
    """Return the text of a ratchet file."""
    lines = ["# Lines and branches of each room that the tests reach; written by scripts/coverage.",
             f"#{'room':<23}{'statements':>11}{'places':>8}{'missed':>8}{'percent':>9}"]
    lines += [f"{name:<24}{room.statements:>11}{room.places:>8}{room.missed:>8}{room.percent:>9.1f}"
              for name, room in sorted(rooms.items())]
    return "\n".join(lines) + "\n"


def fallen(measured: Mapping[str, Room], before: Mapping[str, Room]) -> list[str]:
    """Say which rooms are below the floor, or below what they were."""
    found = []
    for name, room in sorted(measured.items()):
        least = max(FLOOR, before[name].percent - SLACK if name in before else FLOOR)
        if room.percent < least:
            found.append(f"{name}: tests must reach {least:.1f} % of its lines and branches, "
                         f"not {room.percent:.1f} %")
    return found


def uncertain(today: Mapping[str, int], measured: Mapping[str, Room]) -> list[str]:
    """Say in which rooms less than the floor may be reached: what was added since counts as missed.

    So a room may grow as far as what it is above the floor allows, then it is to be measured.
    """
    found = [f"{name}: there is no such room" for name in sorted(measured.keys() - today.keys())]
    for name, count in sorted(today.items()):
        room = measured.get(name)
        if room is None:
            found.append(f"{name}: has not been measured")
            continue
        least = room.percent * min(1, room.statements / count)
        if least < FLOOR:
            found.append(f"{name}: at least {least:.1f} % of its lines and branches are reached, "
                         f"{FLOOR:g} % must be; {count - room.statements} statements are new")
    return found
