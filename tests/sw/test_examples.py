"""What the README and docs/chip.md show is what there is."""

from pathlib import Path

import numpy as np

import celosia
from celosia.arch.config import preset
from celosia.program.asm import assemble

ROOT = Path(__file__).parents[2]
SOURCE = (ROOT / "examples" / "product.s").read_text()


def test_the_product_is_a_product():
    program = assemble(SOURCE, preset("nano"))
    rng = np.random.default_rng(3)
    a = rng.integers(-128, 128, (8, 4)).astype(np.int8)
    b = rng.integers(-128, 128, (4, 4)).astype(np.int8)
    with celosia.open("model", "nano") as chip:
        result = chip.run(program, {"a": a, "b": b})
    np.testing.assert_array_equal(result["c"], a.astype(np.int32) @ b)


def test_the_pages_show_it():
    for page in ("README.md", "docs/chip.md"):
        assert SOURCE in (ROOT / page).read_text()
