"""Products of integers on a chip that has bf16 alone: the same numbers, exactly."""

from dataclasses import replace

import numpy as np
import pytest

import celosia
from celosia.arch.config import preset
from celosia.compiler.errors import CompileError
from celosia.graph import Graph, op, parameter
from celosia.graph.types import DType, TensorType

FLOATS = replace(preset("core"), name="floats", int8=False)


def run(graph, *arrays):
    with celosia.open("model", config=FLOATS) as device:
        return celosia.compile(graph, FLOATS, cache=False, strict=True).load(device)(*arrays)[0]


@pytest.mark.parametrize(("dtype", "k"), [(DType.I8, 5), (DType.I8, 1024), (DType.I8, 2500),
                                          (DType.I32, 40)])
def test_dots(dtype, k):
    info = np.iinfo(dtype.numpy)
    rng = np.random.default_rng(k)
    a, b = (rng.integers(info.min, info.max, shape, dtype.numpy, endpoint=True)
            for shape in ((6, k), (k, 9)))
    a[0], b[:, 0] = info.min, info.min  # the largest sum
    x, y = (parameter(TensorType(dtype, each.shape), name) for each, name in ((a, "a"), (b, "b")))
    graph = Graph("dot", [x, y], [op("dot", x, y, dtype=DType.I32, contract=((1, 0),))])
    wanted = (a.astype(np.int64) @ b.astype(np.int64)).astype(np.int32)
    assert np.array_equal(run(graph, a, b), wanted)


def convolution(shape, kernel):
    x, w = (parameter(TensorType(DType.I8, each), name)
            for each, name in ((shape, "x"), (kernel, "w")))
    return Graph("convolution", [x, w], [op(
        "convolution", x, w, dtype=DType.I32, stride=(1, 1), layout="b01f_01io->b01f",
        padding=((0, 0), (0, 0)), x_dilation=(1, 1), w_dilation=(1, 1))])


def test_convolutions():
    rng = np.random.default_rng(2)
    x, w = (rng.integers(-128, 128, shape, np.int8) for shape in ((1, 5, 5, 130), (3, 3, 130, 4)))
    wanted = np.zeros((1, 3, 3, 4), np.int64)
    for i in range(3):
        for j in range(3):
            wanted += x[:, i:i + 3, j:j + 3].astype(np.int64) @ w[i, j].astype(np.int64)
    assert np.array_equal(run(convolution(x.shape, w.shape), x, w), wanted)


def test_a_kernel_that_is_too_large():
    with pytest.raises(CompileError, match="a kernel must have at most 1024 places on floats, "
                                           "which is without int8, not 1089"):
        celosia.compile(convolution((1, 42, 42, 1), (33, 33, 1, 2)), FLOATS, cache=False)
