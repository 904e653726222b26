"""Calls about arrays."""

from __future__ import annotations

import ctypes
from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from celosia.pjrt.buffers import PjrtBuffer
from celosia.pjrt.chips import PjrtChip
from celosia.pjrt.errors import ErrorCode, PjrtError
from celosia.pjrt.events import Event
from celosia.pjrt.handles import HANDLES, integers_at
from celosia.pjrt.structs import ElementType, MemoryLayout
from celosia.pjrt.table import entry

__all__: list[str] = []

_DTYPES = {number: np.dtype(getattr(ml_dtypes, name, None) or name)
           for number, name in ElementType.NAMES.items()}


def _strided(address: int, shape: tuple[int, ...], dtype: np.dtype,
             strides: tuple[int, ...]) -> NDArray[Any]:
    """Return memory of the caller as an array, as long as the caller keeps it."""
    if 0 in shape:
        return np.empty(shape, dtype)
    low = sum(min(0, stride * (extent - 1)) for stride, extent in zip(strides, shape, strict=True))
    high = sum(max(0, stride * (extent - 1))
               for stride, extent in zip(strides, shape, strict=True)) + dtype.itemsize
    memory: Any = (ctypes.c_char * (high - low)).from_address(address + low)
    return np.ndarray(shape, dtype, memory, -low, strides)


def _dense(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    strides = []
    for extent in reversed(shape):
        strides.append(size)
        size *= extent
    return tuple(reversed(strides))


@entry("Client_BufferFromHostBuffer")
def _from_host(args: Any) -> None:
    dtype = _DTYPES.get(args.type)
    if dtype is None:
        raise PjrtError(ErrorCode.UNIMPLEMENTED, f"elements must be of one of the types "
                                            f"{', '.join(ElementType.NUMBERS)}, not of PJRT's "
                                            f"type {args.type}")
    shape = tuple(integers_at(args.dims, args.num_dims))
    strides = (tuple(integers_at(args.byte_strides, args.num_byte_strides))
               if args.num_byte_strides else _dense(shape, dtype.itemsize))
    chip: PjrtChip = HANDLES[args.memory or args.device]
    array = np.array(_strided(args.data, shape, dtype, strides), order="C", copy=True)
    done = Event()
    done.set()
    args.done_with_host_buffer = HANDLES.add(done)
    args.buffer = HANDLES.add(PjrtBuffer.of(chip, array))


@entry("Buffer_Delete")
def _delete(args: Any) -> None:
    HANDLES[args.buffer].deleted = True


@entry("Buffer_IsDeleted")
def _is_deleted(args: Any) -> None:
    args.is_deleted = HANDLES[args.buffer].deleted


@entry("Buffer_ElementType")
def _element_type(args: Any) -> None:
    args.type = HANDLES[args.buffer].number


@entry("Buffer_Dimensions", "Buffer_UnpaddedDimensions")
def _dimensions(args: Any) -> None:
    buffer: PjrtBuffer = HANDLES[args.buffer]
    if buffer.dims is None:
        buffer.dims = (ctypes.c_int64 * max(len(buffer.shape), 1))(*buffer.shape)
    args.dims, args.num_dims = ctypes.addressof(buffer.dims), len(buffer.shape)


@entry("Buffer_DynamicDimensionIndices")
def _dynamic_dimensions(args: Any) -> None:
    args.indices, args.count = 0, 0


@entry("Buffer_OnDeviceSizeInBytes")
def _size(args: Any) -> None:
    args.size = HANDLES[args.buffer].nbytes


@entry("Buffer_Device")
def _device(args: Any) -> None:
    args.device = HANDLES[args.buffer].chip.handle


@entry("Buffer_Memory")
def _memory(args: Any) -> None:
    args.memory = HANDLES[args.buffer].chip.memory_handle


@entry("Buffer_IsOnCpu")
def _is_on_cpu(args: Any) -> None:
    args.is_on_cpu = False


@entry("Buffer_ReadyEvent")
def _ready_event(args: Any) -> None:
    buffer: PjrtBuffer = HANDLES[args.buffer]
    buffer.asked = True
    args.event = HANDLES.add(buffer.ready)


@entry("Buffer_IncreaseExternalReferenceCount", "Buffer_DecreaseExternalReferenceCount")
def _reference_count(args: Any) -> None:
    pass  # what has an address stays where it is as long as the array


@entry("Buffer_UnsafePointer", "Buffer_OpaqueDeviceMemoryDataPointer")
def _pointer(args: Any) -> None:
    buffer: PjrtBuffer = HANDLES[args.buffer]
    _check(buffer)
    args.pointer = buffer.address()


def _order(buffer: PjrtBuffer, address: int) -> tuple[int, ...] | None:
    """Return the order of dimensions that a layout wants, from the slowest; None: as they are."""
    if not address or len(buffer.shape) < 2:
        return None
    layout = MemoryLayout.from_address(address)
    if layout.type == MemoryLayout.STRIDES:
        strides = tuple(integers_at(layout.strides.byte_strides, layout.strides.num_byte_strides))
        order = tuple(sorted(range(len(strides)), key=lambda i: (-strides[i], i)))
    elif layout.tiled.num_tiles:
        raise PjrtError(ErrorCode.UNIMPLEMENTED, "the layout on the host must have no tiles")
    else:
        order = tuple(reversed(integers_at(layout.tiled.minor_to_major,
                                           layout.tiled.minor_to_major_size)))
    return None if order == tuple(range(len(order))) else order


@entry("Buffer_ToHostBuffer")
def _to_host(args: Any) -> None:
    buffer: PjrtBuffer = HANDLES[args.buffer]
    if not args.dst:
        args.dst_size = buffer.nbytes
        return
    _check(buffer)
    if args.dst_size < buffer.nbytes:
        raise ValueError(f"dst must have {buffer.nbytes} bytes, not {args.dst_size}")
    event = Event()
    order = _order(buffer, args.host_layout)
    buffer.deliver(event, partial(_copy, args.dst, order, 0, buffer.nbytes))
    args.event = HANDLES.add(event)


@entry("Buffer_CopyRawToHost")
def _copy_raw(args: Any) -> None:
    buffer: PjrtBuffer = HANDLES[args.buffer]
    _check(buffer)
    if args.offset < 0 or args.transfer_size < 0 or (
            args.offset + args.transfer_size > buffer.nbytes):
        raise ValueError(f"offset and size must be inside {buffer.nbytes} bytes, not "
                         f"{args.offset} and {args.transfer_size}")
    event = Event()
    buffer.deliver(event, partial(_copy, args.dst, None, args.offset, args.transfer_size))
    args.event = HANDLES.add(event)


def _check(buffer: PjrtBuffer) -> None:
    if buffer.deleted:
        raise PjrtError(ErrorCode.INVALID_ARGUMENT, "the array was deleted or donated")


def _copy(address: int, order: tuple[int, ...] | None, offset: int, size: int,
          array: NDArray[Any]) -> None:
    if order is not None:
        array = array.transpose(order)
    array = np.ascontiguousarray(array)
    ctypes.memmove(address, array.ctypes.data + offset, size)


@entry("Buffer_CopyToDevice")
def _copy_to_device(args: Any) -> None:
    args.copy = _copied(HANDLES[args.buffer], HANDLES[args.device])


@entry("Buffer_CopyToMemory")
def _copy_to_memory(args: Any) -> None:
    args.copy = _copied(HANDLES[args.buffer], HANDLES[args.memory])


def _copied(buffer: PjrtBuffer, chip: PjrtChip) -> int:
    _check(buffer)
    copy = PjrtBuffer(chip, buffer.shape, buffer.dtype)

    def take(array: NDArray[Any]) -> None:
        copy.host = array

    buffer.deliver(copy.ready, take)
    return HANDLES.add(copy)
