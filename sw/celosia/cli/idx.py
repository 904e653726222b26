"""IDX files, in which MNIST and its like are kept: packed by gzip, or not."""

from __future__ import annotations

import gzip
import math
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["FILES", "array_of", "unpacked"]

#: Names of a data set's four files: images and labels for training, then for testing.
FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
         "t10k-labels-idx1-ubyte")
_UBYTE = 0x08


def unpacked(folder: Path, name: str, what: str) -> tuple[Path, bytes]:
    """Return the file ``name``.gz or ``name`` of a folder, and its contents, unpacked.

    Raises
    ------
    ValueError
        If there is none, which says ``what`` named the folder, or it cannot be unpacked.
    """
    paths = [folder / f"{name}.gz", folder / name]
    path = next((path for path in paths if path.is_file()), None)
    if path is None:
        raise ValueError(f"{what} must name a folder with {name}.gz (or {name}), there is none "
                         f"in {folder}")
    raw = path.read_bytes()
    if path.suffix == ".gz":
        try:
            raw = gzip.decompress(raw)
        except (EOFError, OSError) as error:
            raise ValueError(f"{path} must be a gzip file, but: {error}") from None
    return path, raw


def array_of(path: Path, raw: bytes, axes: int) -> NDArray[np.uint8]:
    """Return the array of an IDX file of unsigned bytes.

    Raises
    ------
    ValueError
        If it is no such file, or has not so many axes, or not so many bytes as it says.
    """
    head = 4 + 4 * axes
    wanted = bytes((0, 0, _UBYTE, axes))
    if raw[:4] != wanted or len(raw) < head:
        raise ValueError(f"{path} must be an IDX file of unsigned bytes with {axes} axes, which "
                         f"begins with {wanted.hex(' ')}, not {raw[:4].hex(' ') or 'nothing'}")
    shape = struct.unpack_from(f">{axes}I", raw, 4)
    if math.prod(shape) != len(raw) - head:
        raise ValueError(f"{path} must have {math.prod(shape)} bytes after its head, which says "
                         f"{' x '.join(map(str, shape))}, not {len(raw) - head}")
    return np.frombuffer(raw, np.uint8, offset=head).reshape(shape)
