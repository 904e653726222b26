"""List scheduling of a cycle's statements: those of one room of the chip stand together."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from celosia_sim.idle.statements import Statement

__all__ = ["ALWAYS", "REST", "Modules", "paths", "room", "segments"]

Modules = tuple[str, ...]

#: Rooms that sleep alone: modules of the chip, and where there is ``*`` all that is within one, but
#: not what joins it. Finer rooms sleep longer, and cost more looks at what they tell each other.
SLEEPERS = ("scalar.tensor.scoreboard", "scalar.tensor.checker", "scalar.*", "vpu.*", "load.*",
            "store.*", "host.counters", "mxu.*")
#: A ring that turns in every cycle, full or not: it never sleeps.
ALWAYS: Modules = ("mxu", "retire")
#: The room of all else: what joins the units, both memories, links. It works whenever another
#: room does, but for `ALWAYS`.
REST: Modules = ("rest",)

_PREFIX = re.compile(r"^(?:__Vdly__|__VdlySet__|__VdlyVal__|__VdlyDim\d+__|__Vtask_)+")


def _path(name: str) -> Modules | None:
    """Modules that a variable lies in, without the top; None for what Verilator made up."""
    parts = _PREFIX.sub("", name).split("__DOT__")
    return tuple(parts[1:-1]) if len(parts) > 1 else None


def paths(statements: Sequence[Statement]) -> list[Modules]:
    """Modules that each statement belongs to: by what it writes, else by who reads that."""
    found: list[Modules | None] = []
    readers: dict[str, list[int]] = defaultdict(list)
    for index, statement in enumerate(statements):
        count = Counter(path for name in sorted(statement.writes)
                        if (path := _path(name)) is not None)
        found.append(count.most_common(1)[0][0] if count else None)
        for name in statement.reads:
            readers[name].append(index)
    open_ = [index for index, path in enumerate(found) if path is None]
    while open_:
        for index in open_:
            count = Counter(path for name in sorted(statements[index].writes)
                            for reader in readers[name]
                            if reader != index and (path := found[reader]) is not None)
            if count:
                found[index] = count.most_common(1)[0][0]
        left = [index for index in open_ if found[index] is None]
        if left == open_:
            break
        open_ = left
    return [path or () for path in found]


def room(path: Modules) -> Modules:
    """The room of a module."""
    for length in range(len(path), 0, -1):
        if path[:length] == ALWAYS or ".".join(path[:length]) in SLEEPERS:
            return path[:length]
        if length > 1 and ".".join([*path[:length - 1], "*"]) in SLEEPERS:
            return path[:length - 1]
    return REST


def _before(statements: Sequence[Statement]) -> list[set[int]]:
    """Statements that must stand before each: who wrote or read what it writes or reads."""
    writer: dict[str, int] = {}
    readers: dict[str, list[int]] = defaultdict(list)
    before: list[set[int]] = []
    for index, statement in enumerate(statements):
        needs = {writer[name] for name in statement.reads | statement.writes if name in writer}
        for name in statement.writes:
            needs.update(readers.pop(name, ()))
            writer[name] = index
        for name in statement.reads - statement.writes:
            readers[name].append(index)
        before.append(needs - {index})
    return before


def segments(statements: Sequence[Statement],
             homes: Sequence[Modules]) -> list[list[int]]:
    """Order statements so that few runs of one room come of it; return those.

    Nothing passes what it depends on. Of the rooms that could go on, the one goes on that has the
    largest part of its statements ready: few runs are few functions, of which a C++ compiler makes
    faster code than of many.
    """
    before = _before(statements)
    after: list[list[int]] = [[] for _ in statements]
    for index, needs in enumerate(before):
        for need in needs:
            after[need].append(index)
    waits = [len(needs) for needs in before]
    ready: dict[Modules, list[int]] = defaultdict(list)
    left: Counter[Modules] = Counter(homes)
    for index, wait in enumerate(waits):
        if not wait:
            ready[homes[index]].append(index)

    def run(key: Modules) -> list[int]:
        missing: dict[int, int] = {}
        stack, found = list(ready[key]), list[int]()
        while stack:
            found.append(stack.pop())
            for index in after[found[-1]]:
                missing[index] = missing.get(index, waits[index]) - 1
                if not missing[index] and homes[index] == key:
                    stack.append(index)
        return sorted(found)

    order = []
    while ready:
        runs = {key: run(key) for key in ready}
        key = max(runs, key=lambda home: (len(runs[home]) / left[home], len(runs[home]), home))
        order.append(runs[key])
        left[key] -= len(runs[key])
        del ready[key]
        done = set(runs[key])
        for index in runs[key]:
            for later in after[index]:
                waits[later] -= 1
                if not waits[later] and later not in done:
                    ready[homes[later]].append(later)
    return order
