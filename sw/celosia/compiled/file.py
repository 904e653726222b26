"""The file that a compiled program is kept in.

The envelope of `celosia.program_file` with a magic of its own; in it the bytes of a JSON header as
a 32-bit word, the header, and the program as a program file; or the steps of a program of which a
part runs on the host, each a file like this or the text of a graph.
"""

from __future__ import annotations

import dataclasses
import json
import struct
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

from celosia.arch.config import TpuConfig
from celosia.compiled.artifact import Compiled
from celosia.compiled.mixed import HostPart, Mixed, Step
from celosia.compiled.parts import Argument, Place, WorkInfo
from celosia.graph import DType, TensorType, parse, to_text
from celosia.program import Program
from celosia.program_file import seal, unseal

__all__ = ["MAGIC", "VERSION", "load", "read", "write"]

MAGIC = b"CELCODE\x1a"
VERSION = 1
_WHAT = "compiled program"
_LENGTH = struct.Struct("<I")


def write(compiled: Compiled) -> bytes:
    """Return the contents of the file of a compiled program."""
    facts: dict[str, Any] = {
        "celosia": version("celosia"), "name": compiled.name, "graph": compiled.graph,
        "config": dataclasses.asdict(compiled.config),
        "inputs": [_argument(each) for each in compiled.inputs],
        "outputs": [_argument(each) for each in compiled.outputs]}
    if isinstance(compiled, Mixed):
        blobs = [to_text(step.part.graph).encode() if isinstance(step.part, HostPart)
                 else write(step.part) for step in compiled.steps]
        facts["gives"] = compiled.gives
        facts["steps"] = [[step.takes, len(blob), _works(step.part.works)
                           if isinstance(step.part, HostPart) else None]
                          for step, blob in zip(compiled.steps, blobs, strict=True)]
    else:
        blobs = [compiled.program.to_bytes()]
        facts["works"] = _works(compiled.works)
        facts["places"] = [[place.name, *_type(place.type), place.memory, place.first, place.size]
                           for place in compiled.places]
        facts["proofs"] = compiled.proofs
    header = json.dumps(facts, separators=(",", ":")).encode()
    return seal(MAGIC, VERSION, b"".join((_LENGTH.pack(len(header)), header, *blobs)))


def _works(works: Iterable[WorkInfo]) -> list[tuple[Any, ...]]:
    return [dataclasses.astuple(work) for work in works]


def _type(type: TensorType) -> tuple[str, tuple[int, ...]]:
    return type.dtype.value, type.shape


def _argument(argument: Argument) -> list[Any]:
    return [argument.name, *_type(argument.type), argument.label]


def read(data: bytes) -> Compiled:
    """Read what `write` returned; ValueError as of `load`."""
    body = unseal(data, MAGIC, VERSION, _WHAT)
    if len(body) < _LENGTH.size:
        raise ValueError(f"{_WHAT}: the length of the header must have {_LENGTH.size} bytes, "
                         f"not {len(body)}")
    end = _LENGTH.size + _LENGTH.unpack_from(body)[0]
    try:
        header: dict[str, Any] = json.loads(body[_LENGTH.size:end])
        config = TpuConfig(**header["config"])
        inputs, outputs = ([Argument(name, _typed(dtype, shape), label)
                            for name, dtype, shape, label in header[each]]
                           for each in ("inputs", "outputs"))
        if "steps" in header:
            return Mixed(_steps(header["steps"], body[end:]), header["gives"], config, inputs,
                         outputs, header["name"], header["graph"])
        works = _read_works(header["works"])
        places = [Place(name, _typed(dtype, shape), *rest)
                  for name, dtype, shape, *rest in header["places"]]
        return Compiled(Program.from_bytes(body[end:]), config, inputs, outputs, works, places,
                        header["name"], header["graph"], header.get("proofs", ()))
    except (KeyError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"{_WHAT}: its contents must describe one, but "
                         f"{type(error).__name__}: {error}") from None


def _read_works(works: list[list[Any]]) -> tuple[WorkInfo, ...]:
    return tuple(WorkInfo(kind, source, tuple(operations), *rest)
                 for kind, source, operations, *rest in works)


def _steps(steps: list[list[Any]], blobs: bytes) -> Iterator[Step]:
    at = 0
    for takes, size, works in steps:
        blob = blobs[at:at + size]
        at += size
        part = read(blob) if works is None else HostPart(parse(blob.decode()), _read_works(works))
        yield Step(part, tuple(takes))


def _typed(dtype: str, shape: list[int]) -> TensorType:
    return TensorType(DType(dtype), tuple(shape))


def load(path: str | Path) -> Compiled:
    """Read a file that `Compiled.save` wrote.

    Raises
    ------
    ValueError
        If it is no compiled program of this version, or is cut or damaged: what was expected and
        what came, with the name of the file.
    OSError
        If the file cannot be read.
    """
    try:
        return read(Path(path).read_bytes())
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
