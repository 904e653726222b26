"""Compiled programs that are there already: in this process, and in the user's cache folder."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import struct
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

__all__ = ["ROOMS", "clear", "fetch", "key_of", "places_of"]

#: Programs that a process keeps.
_IN_MEMORY = 16
#: Bytes of the sources before a program in its file.
_LENGTH = struct.Struct("<I")
_memory: OrderedDict[tuple[str, tuple[str, ...]], Compiled] = OrderedDict()


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
    """Return what names a program: graph, chip, options, and the compiler itself.

    Of the graph's sources it has which nodes share one, and not where that is.
    """
    sources = [node.source.told("") for node in graph.walk()]
    numbers = {text: number for number, text in enumerate(dict.fromkeys(sources))}
    return digest({"graph": fingerprint(graph), "config": config.fingerprint,
                   "shared": [numbers[text] for text in sources],
                   "options": sorted((name, repr(value)) for name, value in options.items()),
                   "version": version("celosia"), "sources": _sources()})


def places_of(graph: Graph) -> tuple[str, ...]:
    """Return the sources of a graph's nodes, each once, in the order in which they come."""
    return tuple(dict.fromkeys(node.source.told("") for node in graph.walk()))


def clear() -> None:
    """Forget what this process keeps; the folder stays."""
    _memory.clear()


def fetch(key: str, places: tuple[str, ...], make: Callable[[], Compiled]) -> Compiled:
    """Return the program of a key, making it where it is missing or damaged.

    Its sources are ``places`` (`places_of`), wherever those of the graph that it was made of were.
    Several processes may do so at once: a file is written under another name first. Where the
    folder cannot be used, programs are kept in memory only.
    """
    found = _memory.get((key, places))
    if found is None:
        path = cache_folder() / "compiled" / f"{key}.celosia"
        found = _read(path, places)
        if found is None:
            found = make()
            with contextlib.suppress(OSError):
                _write(path, places, found)
        _memory[key, places] = found
        if len(_memory) > _IN_MEMORY:
            _memory.popitem(last=False)
    _memory.move_to_end((key, places))
    return found


def _read(path: Path, places: tuple[str, ...]) -> Compiled | None:
    try:
        data = path.read_bytes()
        end = _LENGTH.size + _LENGTH.unpack_from(data)[0]
        known = json.loads(data[_LENGTH.size:end])
        found = read(data[end:]).moved(dict(zip(known, places, strict=True)))
    except (OSError, ValueError, TypeError, struct.error):
        return None
    with contextlib.suppress(OSError):  # it may be gone by now, or somebody else's
        os.utime(path)  # the oldest go first
    return found


def _write(path: Path, places: tuple[str, ...], compiled: Compiled) -> None:
    known = json.dumps(places).encode()
    data = b"".join((_LENGTH.pack(len(known)), known, compiled.to_bytes()))
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
