"""Tensors of a program in external memory."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

__all__ = ["ALIGNMENT", "DTYPES", "KINDS", "Buffer", "integer"]

#: Buffers that are laid out by themselves begin at multiples of so many bytes.
ALIGNMENT = 64
#: NumPy types of buffers, by name.
DTYPES: dict[str, np.dtype] = {
    "int8": np.dtype(np.int8), "int32": np.dtype(np.int32), "float32": np.dtype(np.float32),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
}
#: Kinds of buffers: filled by the caller, read by the caller, filled on load, or neither.
KINDS = ("input", "output", "constant", "scratch")
#: Sizes along an axis are below this, as the bytes of memory are.
_SIZES = 1 << 32


def integer(value: Any, what: str) -> int:
    """Return an integer as one of Python's; ValueError, which names ``what``, if it is none."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:
        pass
    raise ValueError(f"{what} must be an integer, not {value!r}")


@dataclass(frozen=True)
class Buffer:
    """A tensor in the program's arena in external memory, row-major.

    Parameters
    ----------
    name
        Unique in the program.
    offset
        First byte, from the beginning of the arena; a multiple of the element size.
    shape
        Elements along each axis; () is a scalar.
    dtype
        One of `DTYPES`.
    kind
        One of `KINDS`.
    """

    name: str
    offset: int
    shape: tuple[int, ...]
    dtype: str
    kind: str

    def __post_init__(self) -> None:
        """Check every field."""
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f"Buffer.name must be a string that is not empty, not {self.name!r}")
        if not isinstance(self.dtype, str) or self.dtype not in DTYPES:
            raise ValueError(f"Buffer.dtype of {self.name} must be one of {', '.join(DTYPES)}, "
                             f"not {self.dtype!r}")
        if self.kind not in KINDS:
            raise ValueError(f"Buffer.kind of {self.name} must be one of {', '.join(KINDS)}, "
                             f"not {self.kind!r}")
        if isinstance(self.shape, str) or not isinstance(self.shape, Iterable):
            raise ValueError(f"Buffer.shape of {self.name} must hold integers, not {self.shape!r}")
        shape = tuple(integer(size, f"a size in Buffer.shape of {self.name}")
                      for size in self.shape)
        if any(size < 0 for size in shape):
            raise ValueError(f"Buffer.shape of {self.name} must hold sizes of at least 0, "
                             f"not {self.shape!r}")
        if any(size >= _SIZES for size in shape):
            raise ValueError(f"Buffer.shape of {self.name} must hold sizes of at most "
                             f"{_SIZES - 1}, not {self.shape!r}")
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "offset",
                           integer(self.offset, f"Buffer.offset of {self.name}"))
        size = DTYPES[self.dtype].itemsize
        if self.offset < 0 or self.offset % size:
            raise ValueError(f"Buffer.offset of {self.name} must be a multiple of {size} from 0 "
                             f"on, not {self.offset!r}")

    @property
    def nbytes(self) -> int:
        """Bytes that the buffer occupies."""
        return math.prod(self.shape) * DTYPES[self.dtype].itemsize

    @property
    def end(self) -> int:
        """Offset of the first byte after the buffer."""
        return self.offset + self.nbytes
