import re

import numpy as np
import pytest

from celosia import ops
from celosia.ops import FloatLayer


def network(rng, sizes=(20, 30, 10)):
    return [FloatLayer(rng.standard_normal((k, n)) / np.sqrt(k), rng.standard_normal(n), i == 0)
            for i, (k, n) in enumerate(zip(sizes, sizes[1:], strict=False))]


def test_quantised_network_is_close_to_the_float_one():
    rng = np.random.default_rng(0)
    layers = network(rng)
    x = rng.uniform(-1, 3, (500, 20))
    quantised = ops.quantise_network(layers, x)
    sums = ops.reference_network(quantised.quantise(x), quantised.layers, 16)
    wanted = layers[1](layers[0](x))
    error = quantised.dequantise(sums) - wanted
    assert np.sqrt((error**2).mean()) < 0.02 * wanted.std()


def test_zero_is_represented_exactly():
    rng = np.random.default_rng(1)
    quantised = ops.quantise_network(network(rng), rng.uniform(0.5, 7, (10, 20)))
    assert (quantised.quantise(np.zeros(3)) == quantised.zero_point).all()
    assert quantised.zero_point == -128


def test_dead_channels_and_constant_inputs_quantise():
    layers = [FloatLayer(np.zeros((2, 3)), np.zeros(3), relu=True),
              FloatLayer(np.ones((3, 2)), np.zeros(2))]
    quantised = ops.quantise_network(layers, np.zeros((4, 2)))
    x = quantised.quantise(np.zeros((1, 2)))
    assert ops.reference_network(x, quantised.layers, 4).tolist() == [[0, 0]]


@pytest.mark.parametrize(("change", "message"), [
    (lambda layers, x: x.__setitem__((1, 2), np.nan),
     "calibration must be finite, not nan at [1, 2]"),
    (lambda layers, x: layers[1].weights.__setitem__((0, 3), np.inf),
     "weights of layer 1 must be finite, not inf at [0, 3]"),
    (lambda layers, x: layers[0].bias.__setitem__(5, -np.inf),
     "bias of layer 0 must be finite, not -inf at [5]"),
    (lambda layers, x: layers.clear(), "layers must hold at least one FloatLayer, not none"),
])
def test_values_that_are_not_numbers_are_refused(change, message):
    rng = np.random.default_rng(0)
    layers, x = network(rng), rng.standard_normal((4, 20))
    change(layers, x)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        ops.quantise_network(layers, x)


def test_calibration_of_another_width_is_refused():
    with pytest.raises(ValueError, match=r"^calibration must have rows of 20 values, "
                                         r"not shape \[0, 20\]$"):
        ops.quantise_network(network(np.random.default_rng(0)), np.zeros((0, 20)))
