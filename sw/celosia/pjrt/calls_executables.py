"""Calls about programs."""

from __future__ import annotations

import ctypes
from functools import cached_property
from typing import Any

from celosia.pjrt.client import LoadedExecutable
from celosia.pjrt.handles import HANDLES, Text, integers_at, pointers
from celosia.pjrt.named import NamedValues
from celosia.pjrt.native import native
from celosia.pjrt.protobuf import device_assignment
from celosia.pjrt.serialised import serialise
from celosia.pjrt.structs import ElementType, structure
from celosia.pjrt.table import entry

__all__: list[str] = []

_POINTER = ctypes.sizeof(ctypes.c_size_t)
_KIND, _MLIR = Text("device"), Text("mlir")
_PROGRAM = structure("Program")
_OPTIONS = structure("ExecuteOptions")


class _Facts:
    """What is said of a program, in memory."""

    def __init__(self, executable: LoadedExecutable):
        types = [each.type for each in executable.program.outputs]
        self.name = Text(executable.program.name)
        self.fingerprint = Text(executable.program.fingerprint)
        self.count = len(types)
        self.devices = pointers(chip.handle for chip in executable.chips)
        self.types = (ctypes.c_int32 * max(self.count, 1))(
            *(ElementType.of(dtype) for _, dtype in executable.program.results))
        extents = [extent for type in types for extent in type.shape]
        self.dims = (ctypes.c_int64 * max(len(extents), 1))(*extents)
        self.ranks = pointers(len(type.shape) for type in types)
        self.kinds = pointers([_KIND.address] * self.count)
        self.kind_sizes = pointers([_KIND.size] * self.count)
        self.assignment = Text(device_assignment(
            [[chip.number for chip in replicas] for replicas in executable.devices]))
        self._program, self._executable = executable.program, executable

    @cached_property
    def serialised(self) -> Text:
        """The program as it was given, and who runs it."""
        return Text(serialise(self._executable))

    @cached_property
    def cost(self) -> NamedValues:
        """What a run is expected to cost."""
        return NamedValues(self._program.cost)


def _facts(number: int) -> _Facts:
    executable: LoadedExecutable = HANDLES[number]
    if executable.facts is None:
        executable.facts = _Facts(executable)
    return executable.facts


@entry("LoadedExecutable_Delete")
def _delete(args: Any) -> None:
    HANDLES[args.executable].deleted = True


@entry("LoadedExecutable_IsDeleted")
def _is_deleted(args: Any) -> None:
    args.is_deleted = HANDLES[args.executable].deleted


@entry("LoadedExecutable_GetExecutable")
def _executable(args: Any) -> None:
    args.executable = HANDLES.add(HANDLES[args.loaded])


@entry("Executable_Name")
def _name(args: Any) -> None:
    text = _facts(args.executable).name
    args.text, args.text_size = text.address, text.size


@entry("Executable_Fingerprint", "LoadedExecutable_Fingerprint")
def _fingerprint(args: Any) -> None:
    text = _facts(args.executable).fingerprint
    args.text, args.text_size = text.address, text.size


@entry("Executable_NumReplicas")
def _num_replicas(args: Any) -> None:
    args.count = len(HANDLES[args.executable].devices[0])


@entry("Executable_NumPartitions")
def _num_partitions(args: Any) -> None:
    args.count = len(HANDLES[args.executable].devices)


@entry("Executable_NumOutputs")
def _num_outputs(args: Any) -> None:
    args.count = _facts(args.executable).count


@entry("Executable_SizeOfGeneratedCodeInBytes")
def _size(args: Any) -> None:
    args.size = HANDLES[args.executable].program.code_bytes


@entry("Executable_GetCostAnalysis")
def _cost(args: Any) -> None:
    cost = _facts(args.executable).cost
    args.properties, args.num_properties = cost.address, cost.count


@entry("Executable_GetCompiledMemoryStats")
def _memory_stats(args: Any) -> None:
    for name, size in HANDLES[args.executable].program.memory.items():
        # The last ones came with later versions: a caller's structure may end before.
        if args.struct_size >= getattr(type(args), name).offset + 8:
            setattr(args, name, size)


@entry("Executable_OutputElementTypes")
def _output_types(args: Any) -> None:
    facts = _facts(args.executable)
    args.types, args.num_types = ctypes.addressof(facts.types), facts.count


@entry("Executable_OutputDimensions")
def _output_dimensions(args: Any) -> None:
    facts = _facts(args.executable)
    args.num_outputs = facts.count
    args.dims, args.dim_sizes = ctypes.addressof(facts.dims), ctypes.addressof(facts.ranks)


@entry("Executable_OutputMemoryKinds")
def _output_memory_kinds(args: Any) -> None:
    facts = _facts(args.executable)
    args.num_outputs = facts.count
    args.kinds, args.kind_sizes = ctypes.addressof(facts.kinds), ctypes.addressof(
        facts.kind_sizes)


@entry("Executable_OptimizedProgram")
def _optimized_program(args: Any) -> None:
    executable: LoadedExecutable = HANDLES[args.executable]
    code = executable.program.stub.encode()
    program = _PROGRAM.from_address(args.program)
    program.format, program.format_size = _MLIR.address, _MLIR.size
    if program.code:
        if program.code_size < len(code):
            raise ValueError(f"code must have room for {len(code)} bytes, "
                             f"not {program.code_size}")
        ctypes.memmove(program.code, code, len(code))
    program.code_size = len(code)


@entry("Executable_Serialize")
def _serialise(args: Any) -> None:
    text = _facts(args.executable).serialised
    args.bytes, args.bytes_size = text.address, text.size
    args.owner, args.deleter = args.executable, native().nothing


@entry("LoadedExecutable_AddressableDevices")
def _addressable_devices(args: Any) -> None:
    facts = _facts(args.executable)
    args.devices = ctypes.addressof(facts.devices)
    args.num_devices = len(HANDLES[args.executable].chips)


@entry("LoadedExecutable_GetDeviceAssignment")
def _device_assignment(args: Any) -> None:
    text = _facts(args.executable).assignment
    args.bytes, args.bytes_size = text.address, text.size
    args.owner, args.deleter = args.executable, native().nothing


def _pointer_at(address: int, index: int) -> int:
    return ctypes.c_size_t.from_address(address + index * _POINTER).value


@entry("LoadedExecutable_Execute")
def _execute(args: Any) -> None:
    executable: LoadedExecutable = HANDLES[args.executable]
    options = _OPTIONS.from_address(args.options)
    kept = integers_at(options.kept, options.num_kept)
    count, width = args.num_args, args.num_devices
    chips = executable.chips
    if args.execute_device:
        chips = (HANDLES[args.execute_device],)
    if width != len(chips):
        raise ValueError(f"{executable.program.name} must be given the arguments of {len(chips)} "
                         f"devices, not of {width}")
    inputs = []
    for i in range(width):
        address = _pointer_at(args.argument_lists, i) if count else 0
        numbers = (ctypes.c_size_t * count).from_address(address)[:] if count else ()
        inputs.append([HANDLES[number] for number in numbers])
    outputs, events = executable.client.execute(executable, inputs, kept, chips)
    for i, (buffers, event) in enumerate(zip(outputs, events, strict=True)):
        if buffers:
            place = (ctypes.c_size_t * len(buffers)).from_address(
                _pointer_at(args.output_lists, i))
            place[:] = [HANDLES.add(buffer) for buffer in buffers]
        if args.device_complete_events:
            ctypes.c_size_t.from_address(
                args.device_complete_events + i * _POINTER).value = HANDLES.add(event)
