"""A program as ``xla.HloProto``: its operations, and what it has of the chip's memory."""

from __future__ import annotations

import contextlib

from celosia.pjrt.programs import DeviceProgram
from celosia.storage.protobuf import fields, message, number

__all__ = ["hlo_of"]

#: Fields of HloModuleProto and HloComputationProto.
_ENTRY, _COMPUTATION, _INSTRUCTION = 2, 3, 2
_NAME, _OPCODE, _ID = 1, 2, 35


def hlo_of(program: DeviceProgram) -> bytes | None:
    """Return the HloProto of a program; None where XLA cannot make HLO of it."""
    module = _module(program)
    if module is None:
        return None
    return message(1, module) + message(3, _assignment(program, module))


def _module(program: DeviceProgram) -> bytes | None:
    # jaxlib's internals may have gone; XLA does not take every module.
    with contextlib.suppress(ImportError, AttributeError, TypeError, ValueError, RuntimeError):
        from jax._src.lib import _jax  # pyright: ignore[reportPrivateImportUsage]
        made = _jax.mlir.mlir_module_to_xla_computation(
            program.module, use_tuple_args=False, return_tuple=False)
        return made.as_serialized_hlo_module_proto()
    return None


def _assignment(program: DeviceProgram, module: bytes) -> bytes:
    """Return a BufferAssignmentProto: arguments, results, and what is between as one buffer."""
    entry, instructions = _entry(module)
    arguments = [each for each in instructions if each[1] == "parameter"]
    root = instructions[-1]
    compiled = program.compiled
    sizes = [(name, each.type.nbytes) for (name, _, _), each in zip(
        arguments, compiled.inputs, strict=False)]
    ids = {name: id for name, _, id in instructions}
    given = sum(size for _, size in sizes)
    sizes.append((root[0], max(compiled.arena_bytes - given, 0)))
    buffers, assigned, events, at = b"", b"", b"", 0
    for index, (name, size) in enumerate(sizes, 1):
        buffers += message(1, number(1, index) + number(2, size) + message(
            3, message(2, name) + number(4, ids[name])) + number(4, 0))
        assigned += message(9, number(1, index) + number(2, at) + number(3, size))
        events += message(1, number(1, 0) + number(2, index) + message(3, entry)
                          + message(4, name))
        at += size
    for index, (name, _) in enumerate(sizes, 1):
        events += message(1, number(1, 1) + number(2, index) + message(3, entry)
                          + message(4, name))
    allocation = number(1, 0) + number(2, at) + number(8, 0) + assigned
    return buffers + message(3, allocation) + message(4, events + number(2, 1) + number(3, 0))


def _entry(module: bytes) -> tuple[str, list[tuple[str, str, int]]]:
    """Return the name of the entry computation, and name, operation and number of what is in it."""
    entry, found = "", {}
    for field, value in fields(module):
        if not isinstance(value, bytes):
            continue
        if field == _ENTRY:
            entry = value.decode()
        elif field == _COMPUTATION:
            name, instructions = "", []
            for inner, each in fields(value):
                if inner == _NAME and isinstance(each, bytes):
                    name = each.decode()
                elif inner == _INSTRUCTION and isinstance(each, bytes):
                    instructions.append(_instruction(each))
            found[name] = instructions
    return entry, found[entry]


def _instruction(data: bytes) -> tuple[str, str, int]:
    name, opcode, id = "", "", 0
    for field, value in fields(data):
        if field == _NAME and isinstance(value, bytes):
            name = value.decode()
        elif field == _OPCODE and isinstance(value, bytes):
            opcode = value.decode()
        elif field == _ID and isinstance(value, int):
            id = value
    return name, opcode, id
