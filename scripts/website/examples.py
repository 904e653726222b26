"""The programs of the live page, with inputs and NumPy's answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.program.asm import assemble
from website.contents import ROOT

__all__ = ["EXAMPLES", "Example", "examples"]

_SEED = 1


def _sums(x: NDArray) -> NDArray:
    """Return the sum of so many rows of ``x`` as it takes to have more than 200 in column 0."""
    total = np.cumsum(x, axis=0, dtype=np.int32)
    enough = np.flatnonzero(total[:, 0] > 200)
    return total[enough[0] if len(enough) else -1][None]


@dataclass(frozen=True)
class Example:
    """A program: its file in examples/, what to call it, NumPy's words for it, and those run."""

    file: str
    title: str
    numpy: str
    golden: Callable[..., Mapping[str, NDArray]]


EXAMPLES = (
    Example("product.s", "a product of 8 x 4 and 4 x 4", "c = a.astype(int32) @ b",
            lambda a, b: {"c": a.astype(np.int32) @ b}),
    Example("live/tiles.s", "a product in tiles", "c = a.astype(int32) @ b",
            lambda a, b: {"c": a.astype(np.int32) @ b}),
    Example("live/layer.s", "a dense layer", "y = maximum(x.astype(int32) @ w + bias, 0)",
            lambda x, w: {"y": np.maximum(
                x.astype(np.int32) @ w + np.array([1000, -2000, 3000, -4000], np.int32), 0)}),
    Example("live/sums.s", "a loop that depends on data",
            "y = cumsum(x, axis=0), the first row above 200", lambda x: {"y": _sums(x)}),
    Example("live/fault.s", "a program with a mistake", "", lambda a: {}),
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
        given = inputs(each)
        made.append({
            "file": each.file.rpartition("/")[2], "title": each.title, "numpy": each.numpy,
            "text": (ROOT / "examples" / each.file).read_text(encoding="utf-8"),
            "inputs": {name: list(array.tobytes()) for name, array in given.items()},
            "golden": {name: list(np.ascontiguousarray(array).tobytes())
                       for name, array in each.golden(**given).items()}})
    return json.dumps(made)
