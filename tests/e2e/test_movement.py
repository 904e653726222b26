"""Transpose, rotate, gather, scatter and read on the RTL, against NumPy."""

import numpy as np
import pytest
from numpy.typing import NDArray

from celosia import driver
from celosia.arch.config import preset
from celosia.program.asm import assemble
from e2e.vector_words import any_bits

CORE = preset("core")
DIM = CORE.dim


@pytest.fixture(scope="module")
def device():
    with driver.open("rtl", CORE.name, quiet=True) as device:
        yield device


#: Of the elements of each format: how they are loaded, stored and drawn.
FORMATS = {"acc": ("w32", np.uint32), "ub_bf16": ("bf16", np.uint16), "ub_i8": ("i8", np.uint8)}


def moved(device: driver.Device, memory: str, rows: int, out: int, instructions: str,
          x: NDArray, indices: NDArray | None = None) -> NDArray:
    """Load x at row 1024 (indices: at accumulator row 960) and return the rows from row 0 on."""
    fmt, dtype = FORMATS[memory]
    size = np.dtype(dtype).itemsize
    place = memory.partition("_")[0]
    text = [f".buffer x, int8[{rows}, {DIM * size}], input",
            f".buffer y, int8[{out}, {DIM * size}], output"]
    inputs = {"x": x.astype(dtype).view(np.int8)}
    if indices is not None:
        inputs["i"] = indices.astype(np.int32)
        text += [f".buffer i, int32[{len(indices)}, {DIM}], input",
                 (f"load acc[960], @i, fmt=w32, rows={len(indices)}, cols={DIM}, "
                  f"pitch={4 * DIM}")]
    text += [(f"load {place}[1024], @x, fmt={fmt}, rows={rows}, cols={DIM}, "
              f"pitch={DIM * size}"), instructions,
             f"store {place}[0], @y, fmt={fmt}, rows={out}, cols={DIM}, pitch={DIM * size}",
             "halt"]
    return device.run(assemble("\n".join(text), CORE), inputs)["y"].view(dtype)


@pytest.mark.parametrize("memory", FORMATS)
def test_transpose(device, memory):
    rows = 32 * DIM
    x = any_bits(np.random.default_rng(1), rows * DIM).astype(FORMATS[memory][1]).reshape(-1, DIM)
    if memory == "ub_bf16":  # the way back rounds: no NaN with a payload, no subnormals
        x &= np.uint16(0xBFFF)
        x |= np.uint16(0x0080)
    got = moved(device, memory, rows, rows,
                f"vector transpose, {memory}[0], {memory}[1024], n0={DIM}, n1=32", x)
    np.testing.assert_array_equal(got, x.reshape(-1, DIM, DIM).transpose(0, 2, 1).reshape(-1, DIM))


@pytest.mark.parametrize("by", range(DIM))
def test_rotate(device, by):
    x = any_bits(np.random.default_rng(by), 64 * DIM).reshape(-1, DIM)
    got = moved(device, "acc", 64, 64,
                f"vector rotate, acc[0], acc[1024], scalar[{by - DIM}], n0=64", x)
    np.testing.assert_array_equal(got, np.roll(x, -by, axis=1))


@pytest.mark.parametrize("memory", ["acc", "ub_i8"])
def test_gather_and_scatter(device, memory):
    rng = np.random.default_rng(2)
    x = any_bits(rng, 700 * DIM).astype(FORMATS[memory][1]).reshape(-1, DIM)
    indices = rng.integers(0, 700, (40, DIM))
    got = moved(device, memory, 700, 40 * DIM,
                f"vector gather, {memory}[0], {memory}[1024], acc[960], n0={DIM}, n1=40, param=700",
                x, indices)
    np.testing.assert_array_equal(got, x[indices.reshape(-1)])
    places = rng.permutation(640).reshape(40, DIM)
    got = moved(device, memory, 640, 640,
                f"vector scatter, {memory}[0], {memory}[1024], acc[960], n0={DIM}, n1=40, "
                f"param=640", x[:640], places)
    wanted = np.zeros((640, DIM), x.dtype)
    wanted[places.reshape(-1)] = x[:640]
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("row", [0, 1000, CORE.acc_rows - 1])
def test_read_decides_how_often(device, row):
    """A count from the data: read, add, loop."""
    text = f""".buffer y, int32[1, 16], output
        vector iadd, acc[{row}], lane_index[5], scalar[2], n0=1
        vector mov, acc[900], scalar[0], n0=1
        read r1, acc[{row}], 9
        loop r1, done
        vector iadd, acc[900], acc[900], lane_index[1], n0=1
done:   store acc[900], @y, fmt=w32, rows=1, cols=16
        halt"""
    got = device.run(assemble(text, CORE))["y"]
    np.testing.assert_array_equal(got, 16 * np.arange(1, 17).reshape(1, DIM))
