"""The programs of the live page, with inputs and what NumPy makes of these."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.program.asm import assemble
from website.contents import ROOT

__all__ = ["EXAMPLES", "Example", "examples"]

_SEED = 1


@dataclass(frozen=True)
class Example:
    """A program: its file in examples/, what to call it, and what NumPy makes of its inputs, as
    lines for web/numpy.
    """

    file: str
    title: str
    numpy: str


_PRODUCT = "c = a.astype(int32) @ b"
EXAMPLES = (
    Example("product.s", "a product of 8 x 4 and 4 x 4", _PRODUCT),
    Example("live/tiles.s", "a product in tiles", _PRODUCT),
    Example("live/layer.s", "a dense layer", "y = maximum(x.astype(int32) @ w + bias, 0)"),
    Example("live/sums.s", "a loop that depends on data",
            "total = cumsum(x, axis=0, dtype=int32)\n"
            "n = minimum(argmax(append(total[:, 0] > 200, True)), 15)  # the first above 200\n"
            "y = total[n:n + 1]"),
    Example("live/fault.s", "a program with a mistake", "c = a"),
)


def inputs(example: Example) -> dict[str, NDArray]:
    """Return the inputs of an example, by name."""
    rng = np.random.default_rng(_SEED)
    program = assemble((ROOT / "examples" / example.file).read_text(encoding="utf-8"))
    return {buffer.name: rng.integers(-128, 128, buffer.shape, np.int8)
            for buffer in program.inputs}


def examples() -> str:
    """Return all of them as JSON: arrays are the bytes that the chip has of them."""
    made = []
    for each in EXAMPLES:
        made.append({
            "file": each.file.rpartition("/")[2], "title": each.title, "numpy": each.numpy,
            "text": (ROOT / "examples" / each.file).read_text(encoding="utf-8"),
            "inputs": {name: list(array.tobytes()) for name, array in inputs(each).items()}})
    return json.dumps(made)
