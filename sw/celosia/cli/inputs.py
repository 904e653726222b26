"""Arguments of programs on the command line: from files, or random."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["pairs", "random_array", "read_array"]

#: Random numbers that are made at a time: NumPy makes them of 8 bytes each.
_PIECE = 1 << 16


def pairs(option: str, texts: list[str]) -> dict[str, str]:
    """Return what an option that is NAME=FILE.npy, and may be repeated, says: files by names."""
    found = {}
    for text in texts:
        name, equals, path = text.partition("=")
        if not (name and equals and path):
            raise ValueError(f"{option} must be NAME=FILE.npy, not {text!r}")
        found[name] = path
    return found


def read_array(name: str, path: str, dtype: np.dtype) -> NDArray[Any]:
    """Return the array in a file, for an input of some type.

    Raises
    ------
    OSError, ValueError
        If it cannot be read, or is none.
    """
    try:
        with Path(path).open("rb") as file:
            array = np.lib.format.read_array(file, allow_pickle=False)
    except OSError:
        raise
    except Exception as error:  # a damaged header can make NumPy raise nearly anything
        raise ValueError(f"--input {name}: {path} must be a .npy file that holds one "
                         f"array, but {type(error).__name__}: {error}") from error
    if array.dtype.kind == "V" and array.dtype.itemsize == dtype.itemsize:
        array = array.view(dtype)  # .npy has no name for bfloat16
    return array


def random_array(shape: tuple[int, ...], dtype: np.dtype,
                 rng: np.random.Generator) -> NDArray[Any]:
    """Return random numbers: of floats normal ones, of integers those of 16 bits, or of all 8."""
    made = np.empty(shape, dtype)
    flat = made.reshape(-1)
    for first in range(0, flat.size, _PIECE):
        piece = flat[first:first + _PIECE]
        if dtype.kind in "iu":
            low, high = _bounds(dtype)
            piece[:] = rng.integers(low, high, piece.size)
        elif dtype.kind == "b":
            piece[:] = rng.integers(0, 2, piece.size)
        else:
            piece[:] = rng.standard_normal(piece.size)
    return made


def _bounds(dtype: np.dtype) -> tuple[int, int]:
    info = np.iinfo(dtype)
    return max(info.min, -(1 << 15)), min(info.max + 1, 1 << 15)
