"""Columns of integers, and texts, as short words for a page; page.js reads them."""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["packed", "packed_text"]


def packed(values: ArrayLike) -> str:
    """Return 32-bit integers, one after another: differences, byte planes, zlib, base64.

    Raises
    ------
    ValueError
        If a value has no room in 32 bits.
    """
    array = np.asarray(values, np.int64)
    if array.size and not -1 << 31 <= array.min() <= array.max() < 1 << 31:
        raise ValueError(f"values of a column must have 32 bits, not be {array.min()} to "
                         f"{array.max()}")
    # A difference may have 33 bits: what is above 32 is lost on both sides.
    steps = np.diff(array, prepend=0).astype(np.uint32)
    planes = steps.astype("<u4").view(np.uint8).reshape(-1, 4).T
    return b64encode(zlib.compress(np.ascontiguousarray(planes).tobytes(), 6)).decode()


def packed_text(lines: Iterable[str]) -> str:
    """Return lines of text likewise."""
    return b64encode(zlib.compress("\n".join(lines).encode(), 6)).decode()
