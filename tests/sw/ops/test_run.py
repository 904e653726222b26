import re

import ml_dtypes
import numpy as np
import pytest

import celosia
from celosia import driver, ops
from celosia.compiler import cache
from celosia.compiler.build import build
from celosia.driver.agree import same_state
from celosia.graph import DType, Graph, TensorType, op, parameter

BF16 = ml_dtypes.bfloat16


@pytest.fixture
def device():
    with driver.open("model", "core") as device:
        yield device


def test_run_matmul_takes_sizes_and_formats_from_the_arrays(device):
    rng = np.random.default_rng(0)
    a = rng.integers(-128, 128, (40, 9), dtype=np.int8)
    b = rng.integers(-128, 128, (21, 40), dtype=np.int8)
    c, result = ops.run_matmul(device, a, b, transpose_a=True, transpose_b=True, relu=True)
    np.testing.assert_array_equal(c, np.maximum(a.T.astype(np.int32) @ b.T.astype(np.int32), 0))
    assert result.cycles > 0


def test_run_matmul_requantises_where_there_is_a_scale(device):
    a, b = np.full((2, 8), 100, np.int8), np.ones((8, 3), np.int8)
    c, _ = ops.run_matmul(device, a, b, scale=[0.1, 0.01, 1.0], zero_point=2,
                          bias=np.array([4, 0, 0], np.int32))
    assert c.dtype == np.int8
    assert c.tolist() == [[82, 10, 127]] * 2


def test_run_matmul_of_bfloat16_rounds_once_to_the_output(device):
    a, b = np.full((1, 3), 1.5, BF16), np.full((3, 1), 1.25, BF16)
    c, _ = ops.run_matmul(device, a, b, bias=np.array([0.005], np.float32), output="bfloat16")
    assert c.dtype == BF16
    assert c[0, 0] == BF16(5.63)


def test_run_matmul_scales_bfloat16_by_columns(device):
    a, b = np.full((1, 3), 1.5, BF16), np.full((3, 2), 1.25, BF16)
    c, _ = ops.run_matmul(device, a, b, scale=[2, -1], bias=np.array([0.5, 0], np.float32))
    assert c.tolist() == [[11.75, -5.625]]


@pytest.mark.parametrize(("a", "b", "options", "kind", "message"), [
    (np.ones((2, 2), np.float32), np.ones((2, 2), np.int8), {}, TypeError,
     "a must be a NumPy array of int8 or bfloat16, not float32"),
    ([[1]], np.ones((1, 1), np.int8), {}, TypeError,
     "a must be a NumPy array of int8 or bfloat16, not list"),
    (np.ones((2, 2), np.int8), np.ones((2, 2), BF16), {}, TypeError,
     "b must be int8 as a is, not bfloat16"),
    (np.ones(2, np.int8), np.ones((2, 2), np.int8), {}, ValueError,
     "a must have two axes, not shape [2]"),
    (np.ones((2, 3), np.int8), np.ones((4, 2), np.int8), {"transpose_b": True}, ValueError,
     "b must have depth 3 as a has, not 2 (a is [2, 3], b is [4, 2] transposed)"),
    (np.ones((2, 3), np.int8), np.ones((3, 2), np.int8), {"output": "int8"}, ValueError,
     "scale must be given if and only if the output is int8, not None with int8"),
    (np.ones((2, 3), BF16), np.ones((3, 2), BF16), {"scale": [1, 2, 3]}, ValueError,
     "scale must be a number or 2 of them, not of shape [3]"),
    (np.ones((0, 3), np.int8), np.ones((3, 2), np.int8), {}, ValueError,
     "M must be a positive integer, not 0"),
])
def test_arrays_that_do_not_fit_are_refused(device, a, b, options, kind, message):
    with pytest.raises(kind, match=f"^{re.escape(message)}$"):
        ops.run_matmul(device, a, b, **options)


def test_a_second_call_compiles_nothing(device, monkeypatch, tmp_path):
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path))
    cache.clear()
    made = []

    def counted(*args, **named):
        made.append(build(*args, **named))
        return made[-1]

    monkeypatch.setattr("celosia.compiler.build.build", counted)
    a, b = np.ones((4, 8), np.int8), np.ones((8, 4), np.int8)
    for _ in range(2):
        ops.run_matmul(device, a, b)
        assert len(made) == 1
    cache.clear()
    ops.run_matmul(device, a, b)  # from the folder
    assert len(made) == 1


def test_buffers_have_their_names_whoever_compiled_it_first(device, monkeypatch, tmp_path):
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path))
    cache.clear()
    x, w = (parameter(TensorType(DType.I8, (4, 4)), name) for name in ("b", "a"))
    sums = op("dot", x, w, dtype=DType.I32, contract=[(1, 0)])
    assert [each.name for each in celosia.compile(Graph("g", [x, w], [sums])).inputs] == ["b", "a"]
    a, b = np.arange(16, dtype=np.int8).reshape(4, 4), np.eye(4, dtype=np.int8)[::-1].copy()
    c, _ = ops.run_matmul(device, a, b)
    assert [each.name for each in ops.matmul(device.config, 4, 4, 4).buffers] == ["a", "b", "c"]
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b)


def test_same_state_tells_chips_apart(device):
    with driver.open("model", "core") as other:
        assert same_state(device, other)
        other.transport.machine.acc[7, 3] = 1
        assert same_state(device, other) is False
