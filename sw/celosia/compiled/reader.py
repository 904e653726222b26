"""Reads the file of a compiled program; `celosia.compiled.file` says what is in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from celosia.arch.config import TpuConfig
from celosia.compiled.artifact import Compiled
from celosia.compiled.file import LENGTH, MAGIC, VERSION
from celosia.compiled.parts import Apart, Argument, Place, WorkInfo
from celosia.compiled.steps import ChipStep, HostStep, ProgramStep
from celosia.graph import DType, TensorType, parse
from celosia.program import Program
from celosia.program.file import unseal

__all__ = ["load", "read"]

_WHAT = "compiled program"


def read(data: bytes) -> Compiled:
    """Read what `Compiled.to_bytes` returned; ValueError as of `load`."""
    body = unseal(data, MAGIC, VERSION, _WHAT)
    if len(body) < LENGTH.size:
        raise ValueError(f"{_WHAT}: the length of the header must have {LENGTH.size} bytes, "
                         f"not {len(body)}")
    end = LENGTH.size + LENGTH.unpack_from(body)[0]
    try:
        header: dict[str, Any] = json.loads(body[LENGTH.size:end])
        config = TpuConfig(**header["config"])
        return Compiled(_steps(header["steps"], body[end:]), header["gives"], config,
                        _arguments(header["inputs"]), _arguments(header["outputs"]),
                        header["name"], header["graph"])
    except (KeyError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"{_WHAT}: its contents must describe one, but "
                         f"{type(error).__name__}: {error}") from None


def _work(kind: str, source: str, operations: list[str], *rest: Any) -> WorkInfo:
    *counts, origins = rest
    return WorkInfo(kind, source, tuple(operations), *counts, origins=tuple(origins))


def _steps(steps: list[Mapping[str, Any]], blobs: bytes) -> Iterator[ProgramStep]:
    at = 0
    for step in steps:
        blob = blobs[at:at + step["size"]]
        at += step["size"]
        takes = tuple(step["takes"])
        works = tuple(_work(*each) for each in step["works"])
        if "places" not in step:
            yield HostStep(takes, parse(blob.decode()), works)
            continue
        places = tuple(Place(name, _typed(dtype, shape), *rest)
                       for name, dtype, shape, *rest in step["places"])
        yield ChipStep(takes, Program.from_bytes(blob), _arguments(step["inputs"]),
                       _arguments(step["outputs"]), works, places, tuple(step["proofs"]),
                       tuple(Apart(*each) for each in step["apart"]))


def _arguments(arguments: list[list[Any]]) -> tuple[Argument, ...]:
    return tuple(Argument(name, _typed(dtype, shape), label)
                 for name, dtype, shape, label in arguments)


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
