"""Digits as text."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["picture", "side_by_side"]

_BLOCKS = " ░▒▓█"
_PLAIN = " .+#@"


def picture(image: NDArray, encoding: str | None) -> list[str]:
    """Return lines of text that look like an image (side, side) of values from 0 to 1.

    Small images take two characters a pixel, large ones a character for two pixels one above the
    other. Without block characters in the ``encoding``, plain ones are used.
    """
    shades = _BLOCKS
    try:
        _BLOCKS.encode(encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        shades = _PLAIN
    side = len(image)
    if side > 16:
        image = image[:side // 2 * 2].reshape(side // 2, 2, side).mean(axis=1)
    else:
        image = image.repeat(2, axis=1)
    levels = np.clip((image * len(shades)).astype(int), 0, len(shades) - 1)
    return ["".join(shades[level] for level in row) for row in levels]


def side_by_side(pictures: list[list[str]], captions: list[str], gap: int = 3) -> list[str]:
    """Return lines that show pictures of one size in a row, each above its caption.

    Lines that are blank in all of them, at the top and at the bottom, are left out.
    """
    space = " " * gap
    inked = [i for i, parts in enumerate(zip(*pictures, strict=True)) if any(map(str.strip, parts))]
    if inked:
        pictures = [lines[inked[0]:inked[-1] + 1] for lines in pictures]
    lines = [space.join(parts).rstrip() for parts in zip(*pictures, strict=True)]
    width = len(pictures[0][0])
    return [*lines, space.join(caption.center(width) for caption in captions).rstrip()]
