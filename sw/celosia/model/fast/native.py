"""Commands done by a library of C: see native.c, which is compiled where it is used, once.

A command becomes a record of integers, a run of them one call. Where there is no compiler, or not
this kind of processor, and for what the library does not do, :mod:`celosia.model.fast.steps` has
another way.
"""

from __future__ import annotations

import ctypes
import functools
import platform
import sys
from array import array
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from celosia.arch import special
from celosia.arch.commands import (
    DST_MEM,
    SRC_MEM,
    Command,
    Dma,
    Matmul,
    Store,
    Vector,
    VectorOperand,
)
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem
from celosia.arch.streams import Stream
from celosia.arch.vector import INDEXED_OPS, INT8_SRCS, Dst, Post, Src
from celosia.arch.vector import VectorOp as Op
from celosia.arch.words import ceil_div
from celosia.model import vpu
from celosia.model.state import State
from celosia.storage import ToolchainError
from celosia.storage.libraries import library

__all__ = ["SOURCE", "Records", "Tile", "load"]

#: What is compiled, for this processor.
SOURCE = Path(__file__).with_suffix(".c")
#: Nothing is fused that the chip rounds twice.
FLAGS = ("-O3", "-ffp-contract=off", "-fno-math-errno")
#: Records of a call: between two calls a run can be interrupted.
_MOST = 256

_MATMUL, _VECTOR, _LOAD, _STORE = range(4)
_WORD, _BF16, _I8_OF_16, _I8_OF_8, _VALUE = range(5)
#: Operand: memory, offsets, pitch, form, spread, together.
_NONE = (0, 0, 0, _VALUE, 0, 0)
_CHUNK = 512
_COLUMNS = 16
#: How elements become others: (store, memory, format).
_CONVERSIONS = {
    (False, Mem.UB, DmaFormat.W32): 3, (False, Mem.UB, DmaFormat.BF16): 1,
    (False, Mem.UB, DmaFormat.I8): 5, (False, Mem.ACC, DmaFormat.W32): 0,
    (False, Mem.ACC, DmaFormat.BF16): 4, (False, Mem.ACC, DmaFormat.I8): 6,
    (True, Mem.UB, DmaFormat.W32): 4, (True, Mem.UB, DmaFormat.BF16): 1,
    (True, Mem.UB, DmaFormat.I8): 8, (True, Mem.ACC, DmaFormat.W32): 0,
    (True, Mem.ACC, DmaFormat.BF16): 3, (True, Mem.ACC, DmaFormat.I8): 7,
}
#: Of the unified buffer of a chip that has int8 only.
_BYTES = 2


@functools.cache
def load() -> ctypes.CDLL | None:
    """Build the library and load it; None where it cannot be, or would not be exact."""
    if sys.platform == "win32" or platform.machine() != "x86_64":
        return None
    try:
        found = ctypes.CDLL(str(library("model", SOURCE, FLAGS, tuned=True)))
    except (ToolchainError, OSError):
        return None
    found.run.restype = None
    found.run.argtypes = (ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p,
                          ctypes.c_void_p)
    return found if ctypes.c_int32.in_dll(found, "exact").value else None


@functools.cache
def _coefficients() -> NDArray[np.int64]:
    return np.array(special.tables(), np.int64)


def _address(of: NDArray) -> int:
    return of.__array_interface__["data"][0]


class _Call:
    """A call of a function, with what must stay where it is."""

    __slots__ = ("_arguments", "_function", "_kept")

    def __init__(self, function: Callable[..., object], arguments: tuple[int, ...],
                 kept: tuple[object, ...]):
        self._function, self._arguments, self._kept = function, arguments, kept

    def __call__(self) -> None:
        self._function(*self._arguments)


class Tile:
    """The tile of weights that the array of a chip with lanes ``dim`` has."""

    def __init__(self, dim: int):
        size = ceil_div(dim, _COLUMNS) * dim * _COLUMNS
        #: Numbers and lanes, and where these are; the format.
        self._weights = np.zeros((2, size), np.uint32)
        self._parts = np.array([0, size, *(_address(part) for part in self._weights)], np.int64)
        self.address = _address(self._parts)


class Records:
    """Commands as records, as far as the library does them.

    Parameters
    ----------
    state
        The memories on which they work.
    found
        The library.
    tile
        Of the chip.
    """

    def __init__(self, state: State, found: ctypes.CDLL, tile: Tile):
        self._run, self._state, self._tile = found.run, state, tile
        self._dim = dim = state.config.dim
        self._bases = {Mem.UB: _address(state.ub), Mem.ACC: _address(state.acc)}
        self._pitches = {Mem.UB: dim * state.ub.itemsize, Mem.ACC: 4 * dim}
        self._narrow = state.ub.itemsize == 1
        self._int8 = _I8_OF_8 if self._narrow else _I8_OF_16
        #: Rows of streams by counts and strides: where these stay, and whether they are together.
        self._offsets: dict[tuple, tuple[int, bool, NDArray[np.int64]]] = {}
        self._words = array("q")
        self._count = 0
        self._kept: list[NDArray] = []

    @property
    def full(self) -> bool:
        """Whether a call has as many as it may have."""
        return self._count >= _MOST

    def add(self, command: Command) -> bool:
        """Add a command behind the others; return whether the library does it."""
        if isinstance(command, Matmul):
            record = self._matmul(command)
        elif isinstance(command, Dma):
            record = self._dma(command)
        else:
            record = self._vector(command)
        if record is None:
            return False
        self._words.extend(record)
        self._count += 1
        return True

    def take(self) -> Callable[[], object] | None:
        """Return what does the commands that were added since the last call; None if none was."""
        if not self._count:
            return None
        words, count, coefficients = self._words, self._count, _coefficients()
        kept = (words, self._kept, self._offsets, self._tile, self._state)
        self._words, self._count, self._kept = array("q"), 0, []
        arguments = (words.buffer_info()[0], count, self._dim, self._tile.address,
                     _address(coefficients))
        return _Call(self._run, arguments, (*kept, coefficients))

    def _rows(self, mem: Mem, form: int, stream: Stream) -> tuple[int, ...]:
        """Return an operand of whole rows."""
        pitch = self._pitches[mem]
        key = stream.counts, stream.strides
        known = self._offsets.get(key)
        if known is None:
            rows = stream.offsets()
            together = isinstance(stream.index(), slice)
            known = self._offsets[key] = _address(rows), together, rows
        return self._bases[mem] + stream.base * pitch, known[0], pitch, form, 0, known[1]

    def _matmul(self, command: Matmul) -> tuple[int, ...]:
        bf16 = command.fmt == MatmulFormat.BF16
        form, weights = _BF16 if bf16 else self._int8, command.weights
        return (_MATMUL, command.length, bf16, command.accumulate, command.transpose,
                0 if weights is None else weights.length, 0, 0, 0,
                *self._rows(Mem.UB, form, command.acts),
                *(_NONE if weights is None else self._rows(Mem.UB, form, weights)),
                *_NONE, *self._rows(Mem.ACC, _WORD, command.acc))

    def _dma(self, command: Dma) -> tuple[int, ...] | None:
        store = isinstance(command, Store)
        view = self._state.memory.view(command.addr, command.rows, command.row_bytes,
                                       command.pitch)
        if view is None:
            return None
        how = _CONVERSIONS[store, command.mem, command.fmt]
        form = _WORD if command.mem == Mem.ACC else _BF16
        if command.mem == Mem.UB and self._narrow:
            how, form = _BYTES, _I8_OF_8
        return (_STORE if store else _LOAD, command.rows, _address(view), command.pitch,
                command.fmt.nbytes, command.cols, how, 0, 0,
                *self._rows(command.mem, form, command.chip(self._dim)),
                *_NONE, *_NONE, *_NONE)

    def _vector(self, command: Vector) -> tuple[int, ...] | None:
        op, dim = command.op, self._dim
        if op in INDEXED_OPS or op == Op.ROTATE:
            return None
        if op == Op.TRANSPOSE and (dim * dim > _CHUNK or not self._whole(command)):
            return None
        operands = [self._operand(source, command.length) for source in command.sources]
        numerator = len(operands) - 1 if command.post == Post.DIV else 0
        operands += [_NONE] * (3 - len(operands))
        form = (_WORD if command.kind == Dst.ACC else
                _BF16 if command.kind == Dst.UB_BF16 else self._int8)
        return (_VECTOR, command.length, op, command.post, command.param, command.reduce,
                command.reduce_op, command.counts[0], numerator,
                *operands[0], *operands[1], *operands[2],
                *self._rows(DST_MEM[command.kind], form, command.dst))

    def _whole(self, command: Vector) -> bool:
        """Whether the first operand is a row for each row, of all lanes."""
        source = command.sources[0]
        return (source.stream is not None and source.lane is None
                and source.stream.length == command.length)

    def _operand(self, source: VectorOperand, length: int) -> tuple[int, ...]:
        stream, dim = source.stream, self._dim
        if stream is None:
            if source.kind not in (Src.LANE_INDEX, Src.ROW_INDEX):
                return (source.value, 0, 0, _VALUE, 0, 0)
            words = np.ascontiguousarray(vpu.values(source, length, dim))
            self._kept.append(words)
            if source.kind == Src.LANE_INDEX:
                return (_address(words), 0, 0, _WORD, 0, 0)
            return (_address(words), self._rows(
                Mem.ACC, _WORD, Stream(0, (length,), (1,)))[1], 4, _WORD, 1, 0)
        mem = SRC_MEM[source.kind]
        form = (_WORD if mem == Mem.ACC else self._int8 if source.kind in INT8_SRCS else _BF16)
        memory, offsets, pitch, form, spread, together = self._rows(mem, form, stream)
        if source.lane is not None:
            memory += source.lane * (pitch // dim)
            spread, together = 1, 0
        if stream.length == 1:
            offsets = together = 0
        return memory, offsets, pitch, form, spread, together

