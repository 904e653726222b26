"""Calls about devices and their memories, of which each device has one."""

from __future__ import annotations

import ctypes
from typing import Any

from celosia.pjrt.chips import FarChip, PjrtChip
from celosia.pjrt.handles import HANDLES, Text
from celosia.pjrt.table import entry

__all__: list[str] = []

_KIND = Text("device")
_texts: dict[str, Text] = {}


def _say(args: Any, text: str) -> None:
    """Give a text that stays for good; there are few."""
    found = _texts.setdefault(text, Text(text))
    args.text, args.text_size = found.address, found.size


@entry("DeviceDescription_Id")
def _id(args: Any) -> None:
    args.id = HANDLES[args.device].number


@entry("Device_LocalHardwareId")
def _local_id(args: Any) -> None:
    args.id = HANDLES[args.device].local


@entry("DeviceDescription_ProcessIndex")
def _process_index(args: Any) -> None:
    args.process_index = HANDLES[args.device].process


@entry("DeviceDescription_Kind")
def _kind(args: Any) -> None:
    _say(args, HANDLES[args.device].kind)


@entry("DeviceDescription_DebugString", "DeviceDescription_ToString")
def _text(args: Any) -> None:
    _say(args, f"CelosiaDevice(id={HANDLES[args.device].number})")


@entry("Device_GetDescription")
def _description(args: Any) -> None:
    args.description = args.device


@entry("Device_IsAddressable")
def _is_addressable(args: Any) -> None:
    args.is_addressable = not isinstance(HANDLES[args.device], FarChip)


@entry("Device_AddressableMemories")
def _memories(args: Any) -> None:
    args.memories = ctypes.addressof(HANDLES[args.device].memories)
    args.num_memories = 1


@entry("Device_DefaultMemory")
def _default_memory(args: Any) -> None:
    args.memory = HANDLES[args.device].memory_handle


@entry("Device_MemoryStats")
def _memory_stats(args: Any) -> None:
    HANDLES.sweep()  # what was destroyed is not to be counted
    chip: PjrtChip = HANDLES[args.device]
    args.bytes_in_use = chip.bytes_in_use
    args.peak_bytes_in_use, args.peak_bytes_in_use_is_set = chip.peak_bytes, True
    args.bytes_limit, args.bytes_limit_is_set = chip.bytes_limit, chip.bytes_limit > 0
    for name in ("num_allocs", "largest_alloc_size", "bytes_reserved", "peak_bytes_reserved",
                 "bytes_reservable_limit", "largest_free_block_bytes", "pool_bytes",
                 "peak_pool_bytes"):
        setattr(args, f"{name}_is_set", False)


@entry("Memory_Id")
def _memory_id(args: Any) -> None:
    args.id = HANDLES[args.memory].number


@entry("Memory_Kind")
def _memory_kind(args: Any) -> None:
    args.text, args.text_size = _KIND.address, _KIND.size


@entry("Memory_Kind_Id")
def _memory_kind_id(args: Any) -> None:
    args.kind_id = 0


@entry("Memory_DebugString", "Memory_ToString")
def _memory_text(args: Any) -> None:
    _say(args, f"memory of CelosiaDevice(id={HANDLES[args.memory].number})")


@entry("Memory_AddressableByDevices")
def _memory_devices(args: Any) -> None:
    args.devices = ctypes.addressof(HANDLES[args.memory].devices)
    args.num_devices = 1
