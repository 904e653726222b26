"""The load and store units."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from celosia.arch.commands import Dma
from celosia.arch.isa import DmaFormat, Mem
from celosia.arch.messages import MessageCommand
from celosia.arch.numerics import bf16_to_f32, f32_to_bf16, saturate_i8
from celosia.model.memory import Memory

__all__ = ["load", "store", "to_elements", "to_lanes"]

#: What rounds fp32 to bf16.
_Rounding = Callable[[NDArray[np.uint32]], NDArray | np.uint16]

_DTYPES = {DmaFormat.I8: "i1", DmaFormat.BF16: "<u2", DmaFormat.W32: "<u4"}


def load(command: Dma, memory: Memory, chip: NDArray, to_bf16: _Rounding = f32_to_bf16) -> None:
    """Run a load into the rows of ``chip``, the memory that the command names."""
    data = memory.read_rows(command.addr, command.rows, command.row_bytes, command.pitch)
    lanes = to_lanes(command, data.view(_DTYPES[command.fmt]), chip.dtype, to_bf16)
    dim = chip.shape[1]
    rows = command.chip(dim)
    groups = rows.counts[0]
    if command.cols != groups * dim:
        padded = np.zeros((command.rows, groups * dim), chip.dtype)
        padded[:, :command.cols] = lanes
        lanes = padded
    # Where a row repeats, NumPy keeps the last, as the chip does.
    chip[rows.index()] = lanes.reshape(-1, dim)


def store(command: Dma, memory: Memory, chip: NDArray, to_bf16: _Rounding = f32_to_bf16) -> None:
    """Run a store from the rows of ``chip``, the memory that the command names."""
    rows = chip[command.chip(chip.shape[1]).index()].reshape(command.rows, -1)[:, :command.cols]
    elements = to_elements(command, rows, to_bf16)
    data = np.ascontiguousarray(elements).view(np.uint8)
    memory.write_rows(command.addr, data.reshape(command.rows, -1), command.pitch)


def to_lanes(command: Dma | MessageCommand, elements: NDArray, dtype: np.dtype,
             to_bf16: _Rounding = f32_to_bf16) -> NDArray:
    """Return elements of external memory or a message as lanes of on-chip memory."""
    if command.mem == Mem.UB:
        if command.fmt == DmaFormat.W32:
            return np.asarray(to_bf16(elements))
        return elements.astype(dtype)  # int8 is extended by its sign
    if command.fmt == DmaFormat.BF16:
        return np.asarray(bf16_to_f32(elements))
    return elements.astype(np.int32 if command.fmt == DmaFormat.I8 else np.uint32).view(np.uint32)


def to_elements(command: Dma | MessageCommand, lanes: NDArray,
                to_bf16: _Rounding = f32_to_bf16) -> NDArray:
    """Return lanes of on-chip memory as elements of external memory or a message."""
    return _converted(command, lanes, to_bf16).astype(_DTYPES[command.fmt])


def _converted(command: Dma | MessageCommand, lanes: NDArray, to_bf16: _Rounding) -> NDArray:
    if command.mem == Mem.UB:
        return np.asarray(bf16_to_f32(lanes)) if command.fmt == DmaFormat.W32 else lanes
    if command.fmt == DmaFormat.I8:
        return saturate_i8(lanes.view(np.int32))
    return np.asarray(to_bf16(lanes)) if command.fmt == DmaFormat.BF16 else lanes
