"""What a process runs on chips, left in a folder for ``celosia profile -- COMMAND``."""

from __future__ import annotations

import atexit
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from celosia.graph import Graph, to_text

__all__ = ["FOLDER", "note_graph", "observer"]

#: The environment variable with the folder.
FOLDER = "CELOSIA_PROFILE"
#: Programs that are kept of a process; the runs of others are left out.
_MOST = 256
#: What programs were made of: `note_graph`.
_graphs: WeakKeyDictionary[Any, tuple[Graph, Mapping[str, object]]] = WeakKeyDictionary()


def note_graph(compiled: Any, graph: Graph, options: Mapping[str, object]) -> None:
    """Remember what a program was made of, and how, if somebody looks."""
    if os.environ.get(FOLDER):
        _graphs[compiled] = graph, options


def observer() -> Callable[[Any], None] | None:
    """Return what is called with a compiled program before each of its runs; None: nobody looks."""
    folder = os.environ.get(FOLDER)
    return _Observer(Path(folder)) if folder else None


class _Observer:
    """Writes each program once, and at the end how often it ran; each process of a fork its own."""

    def __init__(self, folder: Path):
        self._folder = folder
        self._begin()
        atexit.register(self._count)

    def _begin(self) -> None:
        self._pid = os.getpid()
        #: Programs, and how often each ran.
        self._runs: dict[Any, int] = {}

    def __call__(self, compiled: Any) -> None:
        if os.getpid() != self._pid:
            self._begin()
        if compiled not in self._runs:
            if len(self._runs) == _MOST:
                return
            self._runs[compiled] = 0
            last = len(self._runs) - 1
            self._path(last, "celosia").write_bytes(compiled.to_bytes())
            if (made_of := _graphs.get(compiled)) is not None:
                self._path(last, "graph").write_text(to_text(made_of[0]))
        self._runs[compiled] += 1

    def _path(self, number: int, suffix: str) -> Path:
        return self._folder / f"{self._pid}-{number}.{suffix}"

    def _count(self) -> None:
        if os.getpid() != self._pid:
            return
        for number, (compiled, runs) in enumerate(self._runs.items()):
            _, options = _graphs.get(compiled, (None, {}))
            self._path(number, "json").write_text(json.dumps({
                "program": self._path(number, "celosia").name, "runs": runs,
                "fast": bool(options.get("fast"))}))
