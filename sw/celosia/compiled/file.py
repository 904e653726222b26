"""The file that a compiled program is kept in.

The envelope of `celosia.program.file` with a magic of its own; in it the bytes of a JSON header as
a 32-bit word, the header, and what each step runs: a program file, or the text of a graph for the
host.
"""

from __future__ import annotations

import dataclasses
import json
import struct
from importlib.metadata import version
from typing import Any

from celosia.compiled.description import Description
from celosia.compiled.parts import Argument
from celosia.compiled.steps import ChipStep, ProgramStep
from celosia.graph import TensorType, to_text
from celosia.program.file import seal

__all__ = ["LENGTH", "MAGIC", "VERSION", "write"]

MAGIC = b"CELCODE\x1a"
VERSION = 5
#: Bytes of the header.
LENGTH = struct.Struct("<I")


def write(compiled: Description) -> bytes:
    """Return the contents of the file of a program."""
    blobs = [step.program.to_bytes() if isinstance(step, ChipStep)
             else to_text(step.graph).encode() for step in compiled.steps]
    header = json.dumps({
        "celosia": version("celosia"), "name": compiled.name, "graph": compiled.graph,
        "config": dataclasses.asdict(compiled.config), **_arguments(compiled),
        "gives": compiled.gives,
        "steps": [_step(step, blob) for step, blob in zip(compiled.steps, blobs, strict=True)],
    }, separators=(",", ":")).encode()
    return seal(MAGIC, VERSION, b"".join((LENGTH.pack(len(header)), header, *blobs)))


def _step(step: ProgramStep, blob: bytes) -> dict[str, Any]:
    """Return what the header says of a step; of one of the host there are no places."""
    common = {"takes": step.takes, "size": len(blob),
              "works": [dataclasses.astuple(work) for work in step.works]}
    if not isinstance(step, ChipStep):
        return common
    return {**common, **_arguments(step), "proofs": step.proofs,
            "apart": [dataclasses.astuple(each) for each in step.apart], "places": [
        [place.name, *_type(place.type), place.memory, place.first, place.size, place.begin,
         place.end]
        for place in step.places]}


def _arguments(of: Description | ChipStep) -> dict[str, Any]:
    return {"inputs": [_argument(each) for each in of.inputs],
            "outputs": [_argument(each) for each in of.outputs]}


def _type(type: TensorType) -> tuple[str, tuple[int, ...]]:
    return type.dtype.value, type.shape


def _argument(argument: Argument) -> list[Any]:
    return [argument.name, *_type(argument.type), argument.label]
