import dataclasses
import re

import ml_dtypes
import numpy as np
import pytest

from celosia import ops
from celosia.arch.config import TpuConfig, preset

TIGHT = TpuConfig("tight", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=32, bus_bytes=8,
                  window=4, ibuf=16)
BF16 = ml_dtypes.bfloat16


def bits(array):
    return np.ascontiguousarray(array).view(np.uint8)


def layers_of(rng, fmt, sizes, last_scale=False):
    made = []
    for i, (k, n) in enumerate(zip(sizes, sizes[1:], strict=False)):
        last = i == len(sizes) - 2
        transpose = bool(rng.integers(0, 2))
        shape = (n, k) if transpose else (k, n)
        if fmt == "int8":
            scaled = not last or last_scale
            made.append(ops.Dense(
                rng.integers(-128, 128, shape, dtype=np.int8),
                rng.integers(-3000, 3000, n).astype(np.int32), bool(rng.integers(0, 2)),
                rng.uniform(1e-3, 1e-2, n) if scaled else None,
                int(rng.integers(-128, 128)) if scaled else 0, transpose))
        else:
            made.append(ops.Dense(
                (rng.standard_normal(shape) / np.sqrt(k)).astype(BF16),
                rng.standard_normal(n).astype(np.float32) if rng.integers(0, 2) else None,
                bool(rng.integers(0, 2)), transpose=transpose))
    return made


def inputs_of(rng, fmt, batch, width):
    if fmt == "int8":
        return rng.integers(-128, 128, (batch, width), dtype=np.int8)
    return rng.standard_normal((batch, width)).astype(BF16)


@pytest.mark.parametrize(("chip", "fmt"), [
    (TIGHT, "int8"), (TIGHT, "bf16"), (preset("nano"), "int8"), (preset("edge"), "int8"),
    (preset("core"), "int8"), (preset("core"), "bf16")],
    ids=lambda value: getattr(value, "name", value))
@pytest.mark.parametrize(("batch", "sizes"), [
    (1, (5, 3)), (3, (7, 5, 3)), (50, (64, 33, 10)), (37, (30, 20, 15, 11)), (9, (4, 60, 3)),
])
def test_network_equals_numpy_bit_for_bit(run, chip, fmt, batch, sizes):
    rng = np.random.default_rng((batch, chip.dim))
    for last in (False, True):
        layers = layers_of(rng, fmt, sizes, last)
        output = "bfloat16" if last and fmt == "bf16" else None
        x = inputs_of(rng, fmt, batch, sizes[0])
        program = ops.dense_network(chip, batch, layers, output)
        wanted = ops.reference_network(x, layers, chip.dim, output)
        result = run(chip, program, {"x": x})["y"]
        assert result.dtype == wanted.dtype
        np.testing.assert_array_equal(bits(result), bits(wanted))


def test_activations_stay_on_chip_where_they_fit_and_go_to_memory_where_not(run):
    rng = np.random.default_rng(0)
    for config, batch, sizes, between in ((preset("core"), 16, (64, 64, 10), 0),
                                          (TIGHT, 20, (8, 600, 8), 20 * 600)):
        layers = layers_of(rng, "int8", sizes)
        x = inputs_of(rng, "int8", batch, sizes[0])
        result = run(config, ops.dense_network(config, batch, layers), {"x": x})
        np.testing.assert_array_equal(result["y"], ops.reference_network(x, layers, config.dim))
        assert result.counters["bytes_written"] == between + batch * sizes[-1] * 4


def test_infinity_and_nan_do_not_leak_through_the_lanes_beyond_the_last_column(run):
    rng = np.random.default_rng(0)
    layers = layers_of(rng, "bf16", (6, 5, 7, 3))
    x = inputs_of(rng, "bf16", 9, 6)
    x[2, 1], x[5, 0], x[7, 3] = np.inf, np.nan, -np.inf
    wanted = ops.reference_network(x, layers, 4)
    assert np.isfinite(wanted[[0, 1, 3]]).all()
    result = run(TIGHT, ops.dense_network(TIGHT, 9, layers), {"x": x})["y"]
    np.testing.assert_array_equal(bits(result), bits(wanted))


@pytest.mark.parametrize("layer", [
    ops.Dense(np.eye(4).astype(BF16)),
    ops.Dense(np.eye(4, dtype=np.int8), scale=0.5, zero_point=np.int8(-3), relu=True),
], ids=["bf16", "int8"])
def test_a_layer_that_appears_twice_equals_two_equal_layers(run, layer):
    rng = np.random.default_rng(0)
    config = preset("core")
    x = inputs_of(rng, "bf16" if layer.scale is None else "int8", 2, 4)
    twin = dataclasses.replace(layer, zero_point=int(layer.zero_point))
    result = run(config, ops.dense_network(config, 2, [layer, layer]), {"x": x})["y"]
    other = run(config, ops.dense_network(config, 2, [layer, twin]), {"x": x})["y"]
    wanted = ops.reference_network(x, [layer, layer], config.dim)
    np.testing.assert_array_equal(bits(result), bits(wanted))
    np.testing.assert_array_equal(bits(result), bits(other))


def test_reference_rounds_between_uses_of_one_layer():
    layer = ops.Dense(np.full((2, 2), 1.0078125, BF16))
    twin = dataclasses.replace(layer)
    x = np.array([[1.0078125, 3.0]], BF16)
    np.testing.assert_array_equal(ops.reference_network(x, [layer, layer], 4),
                                  ops.reference_network(x, [layer, twin], 4))


def int8(*shape):
    return np.ones(shape, np.int8)


@pytest.mark.parametrize(("layers", "kind", "message"), [
    ([], ValueError, "layers must hold at least one Dense, not none"),
    (["x"], TypeError, "layer 0 must be a Dense, not 'x'"),
    ([ops.Dense(np.ones((2, 2)))], TypeError,
     "weights of layer 0 must be a NumPy array of int8 or bfloat16, not float64"),
    ([ops.Dense(int8(2))], ValueError,
     "weights of layer 0 must have two sizes of at least 1, not shape [2]"),
    ([ops.Dense(int8(0, 2))], ValueError,
     "weights of layer 0 must have two sizes of at least 1, not shape [0, 2]"),
    ([ops.Dense(int8(2, 3), scale=1.0), ops.Dense(int8(2, 3))], ValueError,
     "layer 1 must have 3 inputs, as layer 0 has outputs, not 2"),
    ([ops.Dense(int8(2, 3)), ops.Dense(int8(3, 3))], ValueError,
     "layer 0 must have a scale that brings its sums to int8, as another layer follows, not None"),
    ([ops.Dense(int8(2, 2), scale=1.0), ops.Dense(np.ones((2, 2), BF16))], TypeError,
     "weights of layer 1 must be int8 as those of layer 0, not bfloat16"),
    ([ops.Dense(int8(2, 2), np.zeros(2))], TypeError,
     "bias of layer 0 must be a NumPy array of int32, not float64"),
    ([ops.Dense(int8(2, 2), np.zeros(3, np.int32))], ValueError,
     "bias of layer 0 must have shape [2], not [3]"),
    ([ops.Dense(int8(2, 2), zero_point=4)], ValueError,
     "zero_point of layer 0 must be 0 where there is no scale, not 4"),
    ([ops.Dense(int8(2, 2), scale=1.0, zero_point=-129)], ValueError,
     "zero_point of layer 0 must be from -128 to 127, not -129"),
    ([ops.Dense(int8(2, 2), scale=1.0, zero_point=1.5)], TypeError,
     "zero_point of layer 0 must be an integer from -128 to 127, not 1.5"),
    ([ops.Dense(int8(2, 2), scale=1.0, zero_point="1")], TypeError,
     "zero_point of layer 0 must be an integer from -128 to 127, not '1'"),
    ([ops.Dense(np.ones((2, 2), BF16), scale=1.0)], ValueError,
     "scale of layer 0 must be None for bfloat16 weights, not 1.0"),
    ([ops.Dense(int8(2, 2), scale=[1.0, float("nan")])], ValueError,
     "scale of layer 0 of column 1: requantise scale must be finite and positive, not nan"),
    ([ops.Dense(int8(2, 2), scale=[1.0, 2.0, 3.0])], ValueError,
     "scale of layer 0 must be one number or 2, one for each column, not an array of shape [3]"),
])
def test_layers_that_do_not_fit_are_refused(layers, kind, message):
    with pytest.raises(kind, match=f"^{re.escape(message)}$"):
        ops.dense_network(TIGHT, 2, layers)


@pytest.mark.parametrize(("chip", "batch", "output", "kind", "message"), [
    (TIGHT, 0, None, ValueError, "batch must be a positive integer, not 0"),
    (TIGHT, 1 << 70, None, ValueError, f"batch must be at most 2147483647, not {1 << 70}"),
    (TIGHT, 2, "int8", ValueError,
     "output must be int32 as the last layer has no scale, not 'int8'"),
    (preset("v2"), 2, None, ValueError,
     "format must be one that chip v2 has (bf16), not 'int8'"),
])
def test_other_wrong_arguments_are_refused(chip, batch, output, kind, message):
    with pytest.raises(kind, match=f"^{re.escape(message)}$"):
        ops.dense_network(chip, batch, [ops.Dense(int8(2, 2))], output)
