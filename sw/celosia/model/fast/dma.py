"""Transfers that are known in advance: both ends found once."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from celosia.arch.commands import Dma, Store
from celosia.arch.isa import DmaFormat, Mem
from celosia.arch.streams import Stream
from celosia.model import dma
from celosia.model.fast.numerics import f32_to_bf16
from celosia.model.memory import Memory

__all__ = ["prepare"]

_COPIED = {(Mem.ACC, DmaFormat.W32), (Mem.UB, DmaFormat.BF16)}


def prepare(command: Dma, memory: Memory, chip: NDArray) -> Callable[[], object]:
    """Return a function that does what :func:`celosia.model.dma.load`, or ``store``, does.

    It keeps views of the memories. ``chip`` is the memory that the command names.
    """
    store = isinstance(command, Store)
    narrowed = (command.mem, command.fmt) == (Mem.UB, DmaFormat.W32) and not store
    if narrowed or (command.mem, command.fmt) in _COPIED:
        inside = _rows(command, chip)
        outside = None if inside is None else _elements(command, memory, chip.shape[1])
        if inside is not None and outside is not None:
            if narrowed:
                return partial(_narrow, outside, inside)
            return partial(np.copyto, *((outside, inside) if store else (inside, outside)))
    if store:
        return partial(dma.store, command, memory, chip, f32_to_bf16)
    return partial(dma.load, command, memory, chip, f32_to_bf16)


def _rows(command: Dma, chip: NDArray) -> NDArray | None:
    """Return the rows of the chip, (rows, groups, D), or None where some repeat or are cut."""
    dim = chip.shape[1]
    stream = command.chip(dim)
    if command.cols != stream.counts[0] * dim or not _distinct(stream.at(0)):
        return None
    row, lane = chip.strides
    inner, outer = stream.strides
    return np.ndarray((command.rows, stream.counts[0], dim), chip.dtype, chip, stream.base * row,
                      (outer * row, inner * row, lane))


@lru_cache(maxsize=256)
def _distinct(stream: Stream) -> bool:
    return len(np.unique(stream.offsets())) == stream.length


def _elements(command: Dma, memory: Memory, dim: int) -> NDArray | None:
    """Return the elements of the memory, (rows, groups, D), or None where that is no view."""
    if command.rows > 1 and command.pitch < command.row_bytes:
        return None
    data = memory.view(command.addr, command.rows, command.row_bytes, command.pitch)
    if data is None:
        return None
    elements = data.view("<u4" if command.fmt == DmaFormat.W32 else "<u2")
    return elements.reshape(command.rows, command.chip(dim).counts[0], -1)


def _narrow(source: NDArray, target: NDArray) -> None:
    target[...] = f32_to_bf16(source)
