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


def layer(weight=1.0, bias=0.0, shape=(2, 2)):
    return FloatLayer(np.full(shape, weight), np.full(shape[1:], bias))


TINY = "must be finite and at least 2.2250738585072014e-308, not"


@pytest.mark.parametrize(("layers", "calibration", "kind", "message"), [
    ([layer(), layer(1e300)], [[1e300, 1]], ValueError,
     f"scale of the sums of layer 1 {TINY} inf"),
    ([layer(), layer(1e155)], [[1e155, 1]], ValueError,
     "results of layer 1 must be finite, not inf at [0, 0]"),
    ([layer(5e-324), layer()], [[1, 1]], ValueError,
     f"scale of the weights of layer 0 {TINY} 0.0"),
    ([layer(1e-200)], [[1e-200, 1e-200]], ValueError, f"scale of the sums of layer 0 {TINY} 0.0"),
    ([layer(1e-30, 1e30)], [[1, 1]], ValueError,
     "bias of layer 0 must fit int32 in units of its sums, not reach 3.2385e+64"),
    ([layer(1e-300, 1e300)], [[1, 1]], ValueError,
     "bias of layer 0 must fit int32 in units of its sums, not reach inf"),
    ([layer()], [[1e308, -1e308]], ValueError, f"scale of calibration {TINY} inf"),
    ([layer(1e-20, 1.0)], [[1, 1]], ValueError, "bias of layer 0 must fit int32 in units"),
    ([FloatLayer(np.diag([1.0, 1e-30]), np.zeros(2)), layer()], [[1, 1]], ValueError,
     "scale of layer 0 of column 1: requantise scale must be from 2**-47 to 2**15, not "),
    ([layer(shape=(2,))], [[1, 1]], ValueError,
     "weights of layer 0 must have two sizes of at least 1, not shape [2]"),
    ([layer(), layer(shape=(2, 0))], [[1, 1]], ValueError,
     "weights of layer 1 must have two sizes of at least 1, not shape [2, 0]"),
    ([layer(), layer(shape=(3, 2))], [[1, 1]], ValueError,
     "layer 1 must have weights (2, n) and bias (n), not [3, 2] and [2]"),
    ([FloatLayer([[1.0]], np.zeros(1))], [[1]], TypeError,
     "weights of layer 0 must be a NumPy array, not list"),
    ([FloatLayer(np.ones((1, 1)), [0.0])], [[1]], TypeError,
     "bias of layer 0 must be a NumPy array, not list"),
    ([layer(1j)], [[1, 1]], TypeError,
     "weights of layer 0 must hold real numbers, not complex128"),
    ([layer(), "x"], [[1, 1]], TypeError, "layer 1 must be a FloatLayer, not 'x'"),
    (layer(), [[1, 1]], TypeError, "layers must be a sequence of FloatLayer, not FloatLayer("),
    ([layer()], [["1", "2"]], TypeError, "calibration must hold real numbers, not <U1"),
    ([layer()], [[1, 2], [3]], ValueError,
     "calibration must be an array of real numbers, not a list of uneven rows"),
])
def test_what_cannot_be_quantised_is_refused_by_name(layers, calibration, kind, message):
    with pytest.raises(kind, match=f"^{re.escape(message)}"):
        ops.quantise_network(layers, calibration)


def test_inputs_far_out_of_range_saturate():
    quantised = ops.quantise_network([layer()], [[0.0, 1e-9]])
    assert quantised.quantise([1e308, -1e308]).tolist() == [127, -128]
