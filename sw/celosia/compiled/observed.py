"""What a process runs on chips, left in a folder for ``celosia profile -- COMMAND``."""

from __future__ import annotations

import atexit
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from celosia.graph import Graph, to_text

__all__ = ["FOLDER", "note_graph", "observer"]

#: The environment variable with the folder.
FOLDER = "CELOSIA_PROFILE"
#: Programs that are kept of a process; the runs of others are left out.
_MOST = 256


#: What programs were made of, by their number: `note_graph`.
_graphs: dict[int, tuple[Graph, Mapping[str, object]]] = {}


def note_graph(compiled: Any, graph: Graph, options: Mapping[str, object]) -> None:
    """Remember what a program was made of, and how, if somebody looks."""
    if os.environ.get(FOLDER):
        _graphs[id(compiled)] = graph, options


def observer() -> Callable[[Any], None] | None:
    """Return what is called with a compiled program before each of its runs; None: nobody looks."""
    folder = os.environ.get(FOLDER)
    return _Observer(Path(folder)) if folder else None


class _Observer:
    """Writes each program once, and at the end how often it ran."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._runs: dict[int, int] = {}
        #: Programs, which keep their place in memory and so their number.
        self._programs: list[Any] = []
        atexit.register(self._count)

    def __call__(self, compiled: Any) -> None:
        number = id(compiled)
        if number not in self._runs:
            if len(self._programs) == _MOST:
                return
            self._programs.append(compiled)
            self._runs[number] = 0
            last = len(self._programs) - 1
            self._path(last, "celosia").write_bytes(compiled.to_bytes())
            if number in _graphs:
                graph, _ = _graphs[number]
                self._path(last, "graph").write_text(to_text(graph))
        self._runs[number] += 1

    def _path(self, number: int, suffix: str) -> Path:
        return self._folder / f"{os.getpid()}-{number}.{suffix}"

    def _count(self) -> None:
        for number, compiled in enumerate(self._programs):
            _, options = _graphs.get(id(compiled), (None, {}))
            self._path(number, "json").write_text(json.dumps({
                "program": self._path(number, "celosia").name, "runs": self._runs[id(compiled)],
                "fast": bool(options.get("fast"))}))
