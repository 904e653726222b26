"""Compiled programs that are there already: in this process, and in the user's cache folder."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from celosia.arch.config import TpuConfig
from celosia.compiled import Compiled, read
from celosia.graph import Graph, fingerprint
from celosia.storage.cachefolder import cache_folder, digest, grew

__all__ = ["ROOMS", "clear", "fetch", "key_of"]

#: Programs that a process keeps.
_IN_MEMORY = 16
_memory: OrderedDict[str, Compiled] = OrderedDict()


#: The package, and its rooms that have a say in what a program becomes.
_PACKAGE = Path(__file__).parents[1]
ROOMS = ("arch", "program", "model", "graph", "frontend", "compiled", "compiler")


@lru_cache(maxsize=1)
def _sources() -> str:
    """Return a hash of every file that has a say in what a program becomes."""
    total = hashlib.sha256()
    for room in ROOMS:
        for path in sorted((_PACKAGE / room).rglob("*.py")):
            name = path.relative_to(_PACKAGE).as_posix()
            total.update(name.encode() + b"\0" + path.read_bytes())
    return total.hexdigest()


def key_of(graph: Graph, config: TpuConfig, options: Mapping[str, object]) -> str:
    """Return what names a program: graph, chip, options, and the compiler itself."""
    return digest({"graph": fingerprint(graph), "config": config.fingerprint,
                   "options": sorted((name, repr(value)) for name, value in options.items()),
                   "version": version("celosia"), "sources": _sources()})


def clear() -> None:
    """Forget what this process keeps; the folder stays."""
    _memory.clear()


def fetch(key: str, make: Callable[[], Compiled]) -> Compiled:
    """Return the program of a key, making it where it is missing or damaged.

    Several processes may do so at once: a file is written under another name first. Where the
    folder cannot be used, programs are kept in memory only.
    """
    found = _memory.get(key)
    if found is None:
        path = cache_folder() / "compiled" / f"{key}.celosia"
        found = _read(path)
        if found is None:
            found = make()
            with contextlib.suppress(OSError):
                _write(path, found.to_bytes())
        _memory[key] = found
        if len(_memory) > _IN_MEMORY:
            _memory.popitem(last=False)
    _memory.move_to_end(key)
    return found


def _read(path: Path) -> Compiled | None:
    try:
        found = read(path.read_bytes())
    except (OSError, ValueError):
        return None
    with contextlib.suppress(OSError):  # it may be gone by now, or somebody else's
        os.utime(path)  # the oldest go first
    return found


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
    grew(len(data))
