import re
from pathlib import Path

import numpy as np
import pytest

import celosia
from celosia.arch.config import preset
from celosia.arch.vector import Reduce, VectorOp
from celosia.kernels import (
    evaluate,
    kernel,
    normal,
    optimisers,
    random,
    row_index,
    step,
)
from celosia.ops.kernels import apply, program

DOUBLE = kernel("double", lambda x: x + x)
INDEX = kernel("index", lambda x: step(VectorOp.IADD, x, row_index()), integers=("x", "y"))


@pytest.fixture(scope="module")
def device():
    with celosia.open("model", "core") as device:
        yield device


@pytest.mark.parametrize("shape", [(), (1,), (16,), (3, 5, 7), (2, 2048), (128 * 16 * 5 + 3,)])
def test_arrays_have_any_shape(device, shape):
    x = np.random.default_rng(0).normal(0, 1, shape).astype(np.float32)
    found = apply(device, DOUBLE, x)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, 2 * x)


@pytest.mark.parametrize("shape", [(0,), (3, 0)])
def test_nothing_of_nothing(device, shape):
    assert apply(device, DOUBLE, np.zeros(shape, np.float32)).shape == shape


def test_rows_are_numbered_across_tiles(device):
    found = apply(device, INDEX, np.zeros((700, 16), np.int32))
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, np.repeat(np.arange(700)[:, np.newaxis], 16, 1))


def test_several_outputs_come_by_name(device):
    w, g, v = np.random.default_rng(0).normal(0, 1, (3, 9, 9)).astype(np.float32)
    found = apply(device, optimisers.momentum(0.5), w, g, v, scale=-1.0)
    assert set(found) == {"w", "v"}
    np.testing.assert_allclose(found["v"], 0.5 * v + g, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found["w"], w - found["v"], rtol=1e-6, atol=1e-6)


def test_many_tiles_are_a_loop():
    config = preset("core")
    short, long = (program(config, DOUBLE, rows) for rows in (128 * 4, 128 * 400))
    assert len(short.insns) == len(long.insns)
    assert [buffer.name for buffer in long.buffers] == ["in.x", "out.y"]


def test_loads_of_a_tile_overlap_the_work_on_another(device):
    x = np.ones(128 * 16 * 32, np.float32)
    apply(device, kernel("long", lambda x: ((x * x + x) * x + x) * x), x)
    assert device.counters()["cycles"] < 1.4 * 6 * 128 * 32


def test_tiles_are_as_high_as_fits():
    small = celosia.TpuConfig("small", dim=4, int8=False, bf16=True, ub_rows=64, acc_rows=64,
                              bus_bytes=8)
    with celosia.open("model", config=small) as device:
        x = np.random.default_rng(0).normal(0, 1, (50, 21)).astype(np.float32)
        found = apply(device, normal.softmax(21, 4), x)
        wide = np.exp(x.astype(np.float64))
        np.testing.assert_allclose(found, wide / wide.sum(1, keepdims=True), rtol=1e-5)
    with pytest.raises(ValueError, match=r"^kernel softmax must fit 64 accumulator rows, "
                                         r"not take \d+$"):
        program(small, normal.softmax(200, 4), 10)


def test_chips_without_floating_point_run_integer_kernels():
    with celosia.open("model", "nano") as device:
        x = np.arange(10, dtype=np.int32)
        assert apply(device, INDEX, x).tolist() == [i + i // 4 for i in range(10)]
        bits = apply(device, random.bits(4), shape=(3,), key0=0, key1=42)
        assert bits.view(np.uint32).tolist() == [0x7D1C13A2, 0xAE0730D9, 0x9DC3F9F9]
        with pytest.raises(ValueError, match=r"^kernel double must have a chip with bf16, "
                                             r"not nano$"):
            apply(device, DOUBLE, np.ones(3, np.float32))


def test_arguments_are_checked(device):
    x = np.ones((4, 16), np.float32)
    sgd, rows = optimisers.sgd(), normal.softmax(16, 16)

    def refused(error, text, made, *arrays, **options):
        with pytest.raises(error, match=f"^{re.escape(text)}$"):
            apply(device, made, *arrays, **options)

    refused(ValueError, "sgd must have 2 arrays, not 1", sgd, x)
    refused(ValueError, "scalars of sgd must be scale, not (none)", sgd, x, x)
    refused(ValueError, "scalars of double must be (none), not s", DOUBLE, x, s=1.0)
    refused(ValueError, "arrays of sgd must have one shape, not [[2, 16], [4, 16]]", sgd, x, x[:2],
            scale=1.0)
    refused(TypeError, "x must be float32, not float64", DOUBLE, x.astype(np.float64))
    refused(TypeError, "x must be int32, not float32", INDEX, x)
    refused(ValueError, "arrays of softmax must have two axes, the second of 16, not shape [4, 8]",
            rows, x[:, :8])
    refused(ValueError, "an array for one row must have 16 elements, not 17",
            normal.layer_norm(16, 16), x, np.ones(17, np.float32), x[0])
    whole = kernel("whole", lambda x: step(VectorOp.MOV, x, reduce=Reduce.ROWS))
    refused(ValueError, "outputs of whole must have as many rows as its inputs, not one (y)",
            whole, x)
    refused(ValueError, "kernel softmax must have a chip of 8 lanes, not core of 16",
            normal.softmax(16, 8), x)
    refused(ValueError, "kernel bits must have a chip of 8 lanes, not core of 16", random.bits(8),
            shape=(3,), key0=0, key1=42)
    refused(ValueError, "shape must hold sizes of at least 0, not [-3, -4]", random.bits(16),
            shape=(-3, -4), key0=0, key1=42)
    with pytest.raises(ValueError, match=r"^rows must be at least 1, not 0$"):
        program(device.config, DOUBLE, 0)


def test_example_of_the_documentation():
    page = (Path(__file__).parents[3] / "docs" / "kernels.md").read_text()
    names: dict = {}
    exec(page.split("```python\n")[1].split("```")[0], names)
    x = names["x"].astype(np.float64)
    np.testing.assert_allclose(names["y"], x / (1 + np.exp(-1.5 * x)), rtol=1e-6, atol=1e-9)
    found = evaluate(names["made"], names["x"][np.newaxis], beta=1.5)[0]
    np.testing.assert_array_equal(found[0], names["y"].view(np.uint32))
