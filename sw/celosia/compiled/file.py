"""The file that a compiled program is kept in.

The envelope of `celosia.program.file` with a magic of its own; in it the bytes of a JSON header as
a 32-bit word, the header, and the program as a program file; or the steps of a program of which a
part runs on the host, each a file like this or the text of a graph.
"""

from __future__ import annotations

import dataclasses
import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from typing import Any

from celosia.compiled.description import Description
from celosia.compiled.parts import Argument, WorkInfo
from celosia.graph import TensorType
from celosia.program.file import seal

__all__ = ["LENGTH", "MAGIC", "VERSION", "write", "write_steps"]

MAGIC = b"CELCODE\x1a"
VERSION = 1
#: Bytes of the header.
LENGTH = struct.Struct("<I")


def write(compiled: Description) -> bytes:
    """Return the contents of the file of a program that runs on the chip alone."""
    return _sealed(compiled, {
        "works": _works(compiled.works),
        "places": [[place.name, *_type(place.type), place.memory, place.first, place.size]
                   for place in compiled.places],
        "proofs": compiled.proofs,
    }, [compiled.program.to_bytes()])


def write_steps(compiled: Description, gives: Sequence[int],
                steps: Sequence[tuple[tuple[int, ...], bytes, Iterable[WorkInfo] | None]],
                ) -> bytes:
    """Return the contents of the file of a program of which a part runs on the host.

    Parameters
    ----------
    compiled
        The program.
    gives
        Numbers of the values that are its results.
    steps
        Numbers of the values that each takes, its file or the text of its graph, and the work of
        such a graph.
    """
    return _sealed(compiled, {
        "gives": gives,
        "steps": [[takes, len(blob), None if works is None else _works(works)]
                  for takes, blob, works in steps],
    }, [blob for _, blob, _ in steps])


def _sealed(compiled: Description, more: Mapping[str, Any], blobs: Iterable[bytes]) -> bytes:
    header = json.dumps({
        "celosia": version("celosia"), "name": compiled.name, "graph": compiled.graph,
        "config": dataclasses.asdict(compiled.config),
        "inputs": [_argument(each) for each in compiled.inputs],
        "outputs": [_argument(each) for each in compiled.outputs],
        **more}, separators=(",", ":")).encode()
    return seal(MAGIC, VERSION, b"".join((LENGTH.pack(len(header)), header, *blobs)))


def _works(works: Iterable[WorkInfo]) -> list[tuple[Any, ...]]:
    return [dataclasses.astuple(work) for work in works]


def _type(type: TensorType) -> tuple[str, tuple[int, ...]]:
    return type.dtype.value, type.shape


def _argument(argument: Argument) -> list[Any]:
    return [argument.name, *_type(argument.type), argument.label]
