"""Stores beside matmuls: those that follow one row by row, and those that meet rows of others."""

import pytest

from celosia.arch.config import PRESETS
from celosia.model.timing.cost import paced
from celosia.model.timing.predict import predict
from celosia.program import Program
from celosia.program.asm import assemble


def program(chip: str, *lines: str) -> Program:
    return assemble("\n".join((f".chip {chip}", '.name "stores"', ".arena 65536",
                               ".buffer y, int8[65536], output, 0x0", *lines, "halt", "")))


def cycles(chip: str, *lines: str) -> int:
    return predict(program(chip, *lines), PRESETS[chip]).cycles


def matmuls(chip: str, count: int, rows: int, spread: int = 0) -> list[str]:
    dim, fmt = PRESETS[chip].dim, "bf16" if PRESETS[chip].bf16 else "int8"
    return [f"matmul acc[{spread * (i % 2)}], ub[0], ub[{512 + dim * i}], fmt={fmt}, accumulate, "
            f"n0={rows}, wrows={dim}" for i in range(count)]


def store(chip: str, place: str, rows: int, fmt: str, groups: int = 1) -> str:
    cols = PRESETS[chip].dim * groups
    return (f"store {place}, @y, fmt={fmt}, rows={rows}, cols={cols}, pitch={4 * cols}"
            + f", group_step={rows}" * (groups > 1))


@pytest.mark.parametrize(("chip", "fmt", "row", "rows", "rtl"), [
    ("core", "bf16", 0, 64, 208), ("core", "bf16", 0, 16, 158), ("core", "bf16", 48, 16, 184),
    ("core", "bf16", 32, 64, 224), ("core", "w32", 0, 64, 242), ("core", "w32", 0, 16, 158),
    ("core", "w32", 48, 16, 194), ("core", "w32", 32, 64, 274), ("edge", "i8", 0, 64, 196),
    ("edge", "i8", 0, 16, 146), ("edge", "i8", 48, 16, 172), ("edge", "i8", 32, 64, 212),
    ("edge", "w32", 0, 64, 358), ("edge", "w32", 0, 16, 166), ("edge", "w32", 48, 16, 214),
    ("edge", "w32", 32, 64, 390), ("nano", "i8", 0, 64, 200), ("nano", "i8", 0, 16, 150),
    ("nano", "i8", 48, 16, 176), ("nano", "i8", 32, 64, 216), ("nano", "w32", 0, 64, 362),
    ("nano", "w32", 0, 16, 170), ("nano", "w32", 48, 16, 218), ("nano", "w32", 32, 64, 394),
])
def test_a_store_that_follows_reads_a_row_every_other_cycle(chip, fmt, row, rows, rtl):
    """Cycles of the RTL."""
    one = store(chip, f"acc[{row}]", rows, fmt)
    assert cycles(chip, *matmuls(chip, 1, 64), one) == rtl


@pytest.mark.parametrize(("chip", "place", "groups", "rows", "rtl"), [
    ("core", "acc[1024]", 2, 128, 383), ("core", "acc[1024]", 4, 64, 402),
    ("core", "acc[1024]", 1, 256, 382), ("core", "ub[1024]", 2, 128, 409),
    ("core", "ub[1024]", 4, 64, 427), ("core", "ub[1024]", 1, 256, 382),
    ("edge", "acc[128]", 2, 128, 397), ("edge", "acc[128]", 4, 64, 413),
    ("edge", "acc[128]", 1, 256, 370), ("edge", "ub[1024]", 2, 128, 407),
    ("edge", "ub[1024]", 4, 64, 424), ("edge", "ub[1024]", 1, 256, 370),
    ("nano", "acc[128]", 2, 128, 411), ("nano", "acc[128]", 4, 64, 427),
    ("nano", "acc[128]", 1, 256, 374), ("nano", "ub[1024]", 2, 128, 415),
    ("nano", "ub[1024]", 4, 64, 432), ("nano", "ub[1024]", 1, 256, 374),
])
def test_a_store_waits_for_activations_weights_and_sums(chip, place, groups, rows, rtl):
    """Cycles of the RTL: rows of one bank, one behind the other."""
    one = store(chip, place, rows, "bf16" if PRESETS[chip].bf16 else "i8", groups)
    code = matmuls(chip, 3, 32, spread=32)
    assert cycles(chip, *code, one, *matmuls(chip, 6, 32, spread=32)) == rtl


@pytest.mark.parametrize(("rows", "occupied", "beside", "more"), [
    (64, 64, 200, 63), (64, 64, 20, 9), (64, 64, 21, 9), (64, 96, 200, 31), (64, 128, 200, 0),
    (64, 256, 200, 0), (64, 64, 0, 0), (64, 64, -50, 0), (1, 1, 50, 0)])
def test_what_is_faster_than_every_other_cycle_is_slowed_down(rows, occupied, beside, more):
    assert paced(rows, occupied, beside) == more
