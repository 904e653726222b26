"""What a value is: its element type and its shape."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["Array", "DType", "TensorType"]


class DType(Enum):
    """Element types, named as in the text form.

    Those of 64 bits exist for importers, which fold them away: no level of the grammar accepts
    them in a graph, but for complex numbers and integers as what a program takes and gives.
    """

    BOOL = "bool"
    I8 = "i8"
    U8 = "u8"
    I16 = "i16"
    U16 = "u16"
    I32 = "i32"
    U32 = "u32"
    F16 = "f16"
    BF16 = "bf16"
    F32 = "f32"
    I64 = "i64"
    U64 = "u64"
    F64 = "f64"
    C64 = "c64"

    def __str__(self) -> str:
        return self.value

    @property
    def numpy(self) -> np.dtype:
        """The NumPy type of the same elements."""
        return _NUMPY[self]

    @property
    def bits(self) -> int:
        """Bits that an element occupies in `bitcast`."""
        return 1 if self is DType.BOOL else self.numpy.itemsize * 8

    @property
    def is_float(self) -> bool:
        """Whether this is f16, bf16, f32 or f64."""
        return self.is_half or self in (DType.F32, DType.F64)

    @property
    def is_half(self) -> bool:
        """Whether this is a float of 16 bits: arithmetic is in f32, and rounded once."""
        return self in (DType.F16, DType.BF16)

    @property
    def is_integer(self) -> bool:
        """Whether this is an integer; bool is none."""
        return not self.is_float and self not in (DType.BOOL, DType.C64)

    @property
    def is_signed(self) -> bool:
        """Whether this is an integer with a sign."""
        return self.is_integer and self.value[0] == "i"

    @property
    def is_wide(self) -> bool:
        """Whether this is one of the types that importers fold away."""
        return self in (DType.I64, DType.U64, DType.F64, DType.C64)

    @property
    def is_complex(self) -> bool:
        """Whether this is a pair of f32, the real part and the imaginary one."""
        return self is DType.C64

    @property
    def pair_of(self) -> DType | None:
        """Of what an element is two, one after the other, where it is taken apart; else None."""
        return _PAIRS.get(self)

    @classmethod
    def of(cls, dtype: DTypeLike) -> DType:
        """Return the element type of a NumPy type; `ValueError` if there is none."""
        found = _BY_NUMPY.get(np.dtype(dtype))
        if found is None:
            names = ", ".join(str(known) for known in _NUMPY.values())
            raise ValueError(f"dtype must be one of {names}, not {np.dtype(dtype)}")
        return found


_NUMPY = {
    DType.BOOL: np.dtype(np.bool_), DType.I8: np.dtype(np.int8), DType.U8: np.dtype(np.uint8),
    DType.I16: np.dtype(np.int16), DType.U16: np.dtype(np.uint16), DType.I32: np.dtype(np.int32),
    DType.U32: np.dtype(np.uint32), DType.F16: np.dtype(np.float16),
    DType.BF16: np.dtype(ml_dtypes.bfloat16), DType.F32: np.dtype(np.float32),
    DType.I64: np.dtype(np.int64), DType.U64: np.dtype(np.uint64), DType.F64: np.dtype(np.float64),
    DType.C64: np.dtype(np.complex64),
}
_PAIRS = {DType.C64: DType.F32, DType.I64: DType.U32, DType.U64: DType.U32}
_BY_NUMPY = {numpy: dtype for dtype, numpy in _NUMPY.items()}


@dataclass(frozen=True, slots=True)
class TensorType:
    """Element type and shape; prints as ``f32[2,3]``.

    Raises
    ------
    ValueError
        If an extent is no integer, or negative.
    """

    dtype: DType
    shape: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.dtype, DType):
            raise ValueError(f"dtype must be a DType, not {self.dtype!r}")
        shape = tuple(self.shape)
        if not all(isinstance(extent, int) and extent >= 0 for extent in shape):
            raise ValueError(f"shape must be of non-negative integers, not {shape!r}")
        object.__setattr__(self, "shape", shape)

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"

    @classmethod
    def parse(cls, text: str) -> TensorType:
        """Return the type that prints so; `ValueError` if none does."""
        name, bracket, rest = text.partition("[")
        extents = rest.removesuffix("]").split(",")
        if not bracket or not rest.endswith("]"):
            raise ValueError(f"type must be like f32[2,3], not {text!r}")
        return cls(DType(name), tuple(int(extent) for extent in extents if extent))

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the elements in memory."""
        return self.size * self.dtype.numpy.itemsize


class Array:
    """An array that does not change, as the value of a constant; equal when bit for bit equal."""

    __slots__ = ("_bytes", "numpy", "type")

    def __init__(self, values: Any):
        array = np.asarray(values)
        self.type = TensorType(DType.of(array.dtype), array.shape)
        if array.flags.writeable or not array.flags.c_contiguous:
            array = np.array(array, order="C")
            array.flags.writeable = False
        self.numpy: NDArray[Any] = array
        self._bytes: bytes | None = None

    @property
    def bytes(self) -> bytes:
        """The elements, row-major, little-endian."""
        if self._bytes is None:
            self._bytes = self.numpy.tobytes()
        return self._bytes

    @property
    def is_splat(self) -> bool:
        """Whether all elements, of which there are some, are bit for bit the same."""
        bits = self.numpy.reshape(-1).view(f"u{self.numpy.itemsize}")
        return bits.size > 0 and bool((bits == bits[0]).all())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Array) and self.type == other.type and self.bytes == other.bytes

    def __hash__(self) -> int:
        return hash((self.type, self.bytes))

    def __repr__(self) -> str:
        return f"Array({self.type})"
