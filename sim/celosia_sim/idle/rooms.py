"""List scheduling of a cycle's statements: those of one room of the chip stand together."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter

from celosia_sim.idle.statements import Statement

__all__ = ["Modules", "homes", "parts", "paths", "segments"]

Modules = tuple[str, ...]

#: Bytes of C++ of a room, at least; smaller modules are one with what they are in.
LEAST = 6_000
#: And of a part of it: what has less is one with its neighbour.
PART = 5_000

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


def homes(found: Sequence[Modules], statements: Sequence[Statement]) -> list[Modules]:
    """The room of each statement, by the module that it belongs to."""
    size: Counter[Modules] = Counter()
    for path, statement in zip(found, statements, strict=True):
        size[path] += len(statement.text)
    within = {path[:length] for path in size for length in range(1, len(path) + 1)}
    joined: dict[Modules, Modules] = {}
    for path in sorted(within, key=lambda each: (-len(each), each)):
        if size[path] < LEAST:
            joined[path] = path[:-1]
            size[path[:-1]] += size[path]
    home: dict[Modules, Modules] = {}
    for path in found:
        end = path
        while end in joined:
            end = joined[end]
        home[path] = end
    return [home[path] for path in found]


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
    runs: dict[Modules, list[int]] = {}
    while ready:
        runs.update((key, run(key)) for key in ready if key not in runs)
        key = max(runs, key=lambda home: (len(runs[home]) / left[home], len(runs[home]), home))
        order.append(runs.pop(key))
        left[key] -= len(order[-1])
        del ready[key]
        done = set(order[-1])
        for index in order[-1]:
            for later in after[index]:
                waits[later] -= 1
                runs.pop(homes[later], None)
                if not waits[later] and later not in done:
                    ready[homes[later]].append(later)
    return order


def parts(statements: Sequence[Statement], run: Sequence[int]) -> list[list[int]]:
    """Cut a run into parts of which none reads in a cycle what another has written in it.

    What is left between them is an order: a variable is read before it is written. Where two parts
    would each have to stand before the other they are one.
    """
    root = {index: index for index in run}

    def find(index: int) -> int:
        while root[index] != index:
            root[index] = root[root[index]]
            index = root[index]
        return index

    writer: dict[str, int] = {}
    for index in run:
        names = statements[index].reads | statements[index].writes
        for name in names:
            if name in writer:
                root[find(index)] = find(writer[name])
        writer.update(dict.fromkeys(statements[index].writes, index))
    reads: dict[str, list[int]] = defaultdict(list)
    pairs: list[tuple[int, int]] = []  # statements of which the first must stand before the second
    for index in run:
        for name in statements[index].writes:
            pairs += ((reader, index) for reader in reads[name])
        for name in statements[index].reads - statements[index].writes:
            reads[name].append(index)
    while True:
        members: dict[int, list[int]] = defaultdict(list)
        for index in run:
            members[find(index)].append(index)
        order = TopologicalSorter({node: () for node in members})
        for first, second in pairs:
            if find(first) != find(second):
                order.add(find(second), find(first))
        try:
            found = [members[node] for node in order.static_order()]
            break
        except CycleError as error:
            for node in error.args[1]:
                root[find(node)] = find(error.args[1][0])
    cut: list[list[int]] = []
    size = PART
    for part in found:
        own = sum(len(statements[index].text) for index in part)
        if size + own > PART:
            cut.append([])
            size = 0
        cut[-1] += part
        size += own
    return [sorted(part) for part in cut]
