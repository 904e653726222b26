"""Compiled programs as bytes: what JAX gave, and the chips that run it.

The code of a chip is in the cache folder, where the program is found again: the bytes are the
same for every chip, and for every version of the compiler.
"""

from __future__ import annotations

import json

from celosia.pjrt.client import Client, LoadedExecutable
from celosia.pjrt.errors import ErrorCode, PjrtError
from celosia.pjrt.protobuf import CompileOptions

__all__ = ["deserialise", "serialise"]

_FORMAT = "celosia 1"


def serialise(executable: LoadedExecutable) -> bytes:
    """Return a program as bytes; PjrtError if its module is not kept, for it is large."""
    module = executable.program.module
    if not module:
        raise PjrtError(ErrorCode.UNIMPLEMENTED, f"{executable.program.name} must have a module "
                        "of 1 MiB at most for its serialisation: make constants arguments")
    head = {"format": _FORMAT,
            "devices": [[chip.number for chip in replicas] for replicas in executable.devices]}
    return json.dumps(head).encode() + b"\n" + module


def deserialise(client: Client, data: bytes) -> LoadedExecutable:
    """Return the program of bytes; ValueError if they are none of `serialise`."""
    head, _, module = data.partition(b"\n")
    try:
        found = json.loads(head)
        form, devices = found["format"], found["devices"]
    except (ValueError, TypeError, KeyError):
        form, devices = repr(head[:20]), []
    if form != _FORMAT:
        raise ValueError(f"bytes must be a program of {_FORMAT!r}, not {form}")
    return client.compile(module, CompileOptions(len(devices[0]), len(devices),
                                                 tuple(map(tuple, devices))))
