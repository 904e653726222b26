"""Images of digits: those of scikit-learn, or MNIST from files."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from celosia.cli.idx import FILES, array_of, unpacked
from celosia.driver.errors import needs

__all__ = ["MNIST_FILES", "Digits", "digits", "mnist"]

#: MNIST's files by what they hold, and the MD5 of their contents (unpacked).
MNIST_FILES = {
    "train images": (FILES[0], "6bbc9ace898e44ae57da46a324031adb"),
    "train labels": (FILES[1], "a25bea736e30d166cdddb491f175f624"),
    "test images": (FILES[2], "2646ac647ad5339dbf082846283269ea"),
    "test labels": (FILES[3], "27ae3e4e09519cfbb04c329615203637"),
}
#: Share of scikit-learn's digits that is kept for testing.
_TEST_SHARE = 4


@dataclass(frozen=True, eq=False)
class Digits:
    """A data set. Images are rows of side * side values from 0 (paper) to 1 (ink)."""

    name: str
    side: int
    train_x: NDArray[np.float32]
    train_y: NDArray[np.int64]
    test_x: NDArray[np.float32]
    test_y: NDArray[np.int64]


def digits() -> Digits:
    """Return scikit-learn's 1,797 digits of 8 x 8 pixels: one quarter is kept for testing.

    Raises
    ------
    DeviceError
        If scikit-learn is not installed; the message says how to get it.
    """
    try:
        from sklearn.datasets import load_digits
    except ModuleNotFoundError as error:
        raise needs("the demo", error, "demo") from error
    pixels, target = load_digits(return_X_y=True)
    x = (np.asarray(pixels) / 16).astype(np.float32)
    y = np.asarray(target, np.int64)
    order = np.random.default_rng(0).permutation(len(x))
    test, train = np.split(order, [len(x) // _TEST_SHARE])
    return Digits("scikit-learn's digits", 8, x[train], y[train], x[test], y[test])


def _array(folder: Path, name: str, wanted: str, axes: int) -> NDArray[np.uint8]:
    """Return what a file of MNIST holds; ValueError where that is another."""
    path, raw = unpacked(folder, name, "--mnist")
    found = hashlib.md5(raw, usedforsecurity=False).hexdigest()
    if found != wanted:
        raise ValueError(f"{path} must hold MNIST (MD5 {wanted} unpacked), not data with MD5 "
                         f"{found}: fetch it again")
    return array_of(path, raw, axes)


def mnist(folder: Path) -> Digits:
    """Return MNIST from a folder with its four files, packed or not.

    Raises
    ------
    ValueError
        If a file is missing or does not hold what it must.
    """
    train_x, train_y, test_x, test_y = (
        _array(folder, name, wanted, 3 if "images" in what else 1)
        for what, (name, wanted) in MNIST_FILES.items())

    def pixels(images: NDArray[np.uint8]) -> NDArray[np.float32]:
        return images.reshape(len(images), -1).astype(np.float32) / np.float32(255)

    return Digits("MNIST", train_x.shape[1], pixels(train_x), train_y.astype(np.int64),
                  pixels(test_x), test_y.astype(np.int64))
