#!/usr/bin/env python3
"""The structure of the sources: rooms in their order, what imports what, long functions.

usage: scripts/house.py    say what is against the rules; exit with 1 if anything is

A room is a folder or file of a package, and its `__init__`; the names of those of celosia_hw and
celosia_sim have their package before them. Every import counts: at the top of a module, in a
function, for types only.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

__all__ = ["LAYERS", "LAZY", "MOST_ENTRIES", "MOST_LINES", "MOST_PARAMETERS", "ROOT",
           "SOURCES", "Import", "cycles", "edges", "entries", "imports", "inside",
           "long_functions", "meanings", "misplaced", "modules", "problems", "resolved", "room_of",
           "rooms", "shared_names", "tree", "wide_functions"]

ROOT = Path(__file__).resolve().parents[1]
#: Import packages and their source roots.
SOURCES = {"celosia": ROOT / "sw", "celosia_hw": ROOT / "hw", "celosia_sim": ROOT / "sim"}
#: The rooms in their order: each imports only what stands before it.
LAYERS = (
    "arch", "storage", "program", "model", "graph", "frontend", "driver",
    "compiled", "compiler", "profile", "collectives", "ops", "train", "pjrt", "tensorflow", "serve",
    "celosia", "bench", "cli", "__main__",
    # The chip: its folders are the boxes of docs/chip.md.
    "celosia_hw", "celosia_hw.stream", "celosia_hw.pipeline", "celosia_hw.grid", "celosia_hw.fp",
    "celosia_hw.memory", "celosia_hw.bus", "celosia_hw.commands", "celosia_hw.follow",
    "celosia_hw.mxu", "celosia_hw.vpu", "celosia_hw.dma", "celosia_hw.ici", "celosia_hw.scalar",
    "celosia_hw.host",
    "celosia_hw.top",
    # What is around it on a board, and what is written of it.
    "celosia_hw.soc", "celosia_hw.verilog", "celosia_hw.boards",
    # Simulators.
    "celosia_sim", "celosia_sim.toolchain", "celosia_sim.loops", "celosia_sim.idle",
    "celosia_sim.verilog", "celosia_sim.build", "celosia_sim.module", "celosia_sim.library",
    "celosia_sim.probe", "celosia_sim.wasm", "celosia_sim.rtl", "celosia_sim.pod",
    "celosia_sim.pod_chips", "celosia_sim.twin", "celosia_sim.lint",
    "celosia_sim.cocotb_build", "celosia_sim.cocotb_agents", "celosia_sim.cocotb_server",
    "celosia_sim.cocotb_transport", "celosia_sim.wire_library",
    "celosia_sim.boards", "celosia_sim.board_library", "celosia_sim.board_port",
    "celosia_sim.board", "celosia_sim.board_process", "celosia_sim.wire",
    # Random programs, and their runs beside the model.
    "celosia_sim.randbuild", "celosia_sim.randvector", "celosia_sim.randgen",
    "celosia_sim.randprog", "celosia_sim.linkcheck", "celosia_sim.podcheck",
    "celosia_sim.coverage", "celosia_sim.lockstep", "celosia_sim.toggles")
#: Parts of celosia that may reach for the chip or a simulator all the same, inside a function.
LAZY = ("celosia.driver", "celosia.cli", "celosia.bench")
#: A name of a type: words with capitals, or a format such as U32.
_CAPITALS = re.compile(r"[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*|[A-Z]\d+")
#: Lines of a function.
MOST_LINES = 100
#: Parameters of a function of hw and sim.
MOST_PARAMETERS = 8
#: Files and folders of the package celosia.
MOST_ENTRIES = 18


class Import(NamedTuple):
    """``module`` imports ``target``; ``lazy``: inside a function."""

    module: str
    target: str
    lazy: bool


def inside(name: str, *packages: str) -> bool:
    """Whether a module is one of some packages, or in one."""
    return any(name == package or name.startswith(f"{package}.") for package in packages)


@cache
def modules() -> dict[str, Path]:
    """Return the file of each module."""
    found = {}
    for package, root in SOURCES.items():
        for path in sorted((root / package).rglob("*.py")):
            name = ".".join(path.relative_to(root).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


@cache
def tree(path: Path) -> ast.Module:
    """Return the syntax of a file, read once."""
    return ast.parse(path.read_text(encoding="utf-8"))


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Return the statements in one, and what holds some: nothing else of a tree imports."""
    for field in ("body", "handlers", "orelse", "finalbody", "cases"):
        inner = getattr(node, field, ())
        if isinstance(inner, list):  # the body of a lambda is an expression
            yield from inner


def _imports_of(module: str, path: Path) -> Iterator[Import]:
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]

    def walk(node: ast.AST, lazy: bool) -> Iterator[Import]:
        for child in _statements(node):
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield Import(module, alias.name, lazy)
            elif isinstance(child, ast.ImportFrom):
                base = child.module or ""
                if child.level:
                    parts = package.split(".")
                    parts = parts[:len(parts) - child.level + 1]
                    base = ".".join([*parts, base] if base else parts)
                # "from package import module" names a module, too.
                for alias in child.names:
                    yield Import(module, f"{base}.{alias.name}", lazy)
            else:
                yield from walk(child, lazy or isinstance(
                    child, (ast.FunctionDef, ast.AsyncFunctionDef)))

    yield from walk(tree(path), False)


@cache
def imports() -> tuple[Import, ...]:
    """Return every import of the sources, those of libraries included."""
    return tuple(found for module, path in modules().items()
                 for found in _imports_of(module, path))


def resolved(target: str) -> str | None:
    """Return the module of ours that an import is of; None if it is of a library."""
    if target in modules():
        return target
    package = target.rpartition(".")[0]
    return package if package in modules() else None


def edges() -> dict[str, set[str]]:
    """Return the modules of ours that each module imports."""
    found: dict[str, set[str]] = {module: set() for module in modules()}
    for each in imports():
        target = resolved(each.target)
        if target is not None and target != each.module:
            found[each.module].add(target)
    return found


def room_of(module: str) -> str:
    """Return the room of a module."""
    package, _, rest = module.partition(".")
    room = rest.partition(".")[0]
    return room or package if package == "celosia" else f"{package}.{room}".removesuffix(".")


def rooms() -> dict[str, set[str]]:
    """Return the rooms that each room imports, but for what `LAZY` allows."""
    found: dict[str, set[str]] = {room: set() for room in LAYERS}
    for each in imports():
        target = resolved(each.target)
        if target is not None and not _excused(each):
            found.setdefault(room_of(each.module), set()).add(room_of(target))
    return {room: others - {room} for room, others in found.items()}


def _excused(found: Import) -> bool:
    return (found.lazy and inside(found.module, *LAZY)
            and inside(found.target, "celosia_hw", "celosia_sim"))


def misplaced() -> list[Import]:
    """Return the imports of what stands later in the order."""
    order = {room: place for place, room in enumerate(LAYERS)}
    return [found for found in imports() if (target := resolved(found.target)) is not None
            and not _excused(found) and order[room_of(target)] > order[room_of(found.module)]]


def cycles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Return what imports itself by way of others, as groups (Tarjan's algorithm)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def long_functions() -> list[str]:
    """Say which functions have too many lines."""
    return [f"{module}.{node.name}: {lines} lines, {MOST_LINES} at most"
            for module, path in modules().items()
            for node in _functions(path)
            if (lines := (node.end_lineno or 0) - node.lineno + 1) > MOST_LINES]


def wide_functions() -> list[str]:
    """Say which functions of hw and sim have too many parameters."""
    return [f"{module}.{node.name}: {count} parameters, {MOST_PARAMETERS} at most"
            for module, path in modules().items() if inside(module, "celosia_hw", "celosia_sim")
            for node in _functions(path)
            if (count := sum(each.arg not in ("self", "cls") for each in (
                *node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)))
            > MOST_PARAMETERS]


def _functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree(path))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))


def _types_of(path: Path) -> Iterator[str]:
    """Names of the public classes of a file, and of other types: what a name in capitals is."""
    for node in tree(path).body:
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets
                        if isinstance(target, ast.Name) and _CAPITALS.fullmatch(target.id))


def meanings() -> dict[str, list[str]]:
    """Return the modules that define a public type of each name, where there are several."""
    found: dict[str, list[str]] = {}
    for module, path in modules().items():
        for name in _types_of(path):
            if not name.startswith("_"):
                found.setdefault(name, []).append(module)
    return {name: where for name, where in sorted(found.items()) if len(where) > 1}


def shared_names() -> list[str]:
    """Say which public type shares its name with others."""
    return [f"one public type must be called {name}, not {len(where)}: {', '.join(where)}"
            for name, where in meanings().items()]


def entries() -> list[str]:
    """Return the files and folders of the package celosia that have a name of their own."""
    return sorted(path.name for path in (SOURCES["celosia"] / "celosia").iterdir()
                  if not path.name.startswith(("__", ".")))


def problems() -> list[str]:
    """Say everything that is against the rules."""
    unknown = {room_of(module) for module in modules()} - set(LAYERS)
    if unknown:
        return [f"room {room} must have a place in LAYERS" for room in sorted(unknown)]
    found = [f"{each.module} imports {each.target}, which comes later" for each in misplaced()]
    found += [f"cycle of files: {', '.join(group)}" for group in cycles(edges())]
    found += [f"cycle of rooms: {', '.join(group)}" for group in cycles(rooms())]
    found += long_functions()
    found += wide_functions()
    found += shared_names()
    if len(entries()) > MOST_ENTRIES:
        found.append(f"celosia must have {MOST_ENTRIES} entries at most, not {len(entries())}")
    return found


if __name__ == "__main__":
    said = problems()
    print("\n".join(said) or f"{len(modules())} modules in {len(LAYERS)} rooms, all in order")
    sys.exit(bool(said))
