"""Kernels on the RTL, bit for bit what `evaluate` makes of them."""

import numpy as np
import pytest
from pages.accuracy import kernels as sweeps

import celosia
from celosia import kernels, ops
from celosia.kernels import normal, optimisers, random

ELEMENTWISE = [case.kernel for case in sweeps.LIBRARY] + [
    optimisers.momentum(nesterov=True), optimisers.adam(), optimisers.adamw()]
RANDOM = [random.bits(16), random.normal(16)]
SIZE = 16 * 300 + 5


@pytest.fixture(scope="module")
def device():
    with celosia.open("rtl", "core", quiet=True) as device:
        yield device


def equal(found, made, wanted):
    found = found if isinstance(found, dict) else {made.outputs[0].name: found}
    for output, words in zip(made.outputs, wanted, strict=True):
        np.testing.assert_array_equal(found[output.name].view(np.uint32).reshape(-1),
                                      words.reshape(-1)[:found[output.name].size])


@pytest.mark.parametrize("made", ELEMENTWISE, ids=lambda made: made.name)
def test_functions_and_optimisers(device, made):
    rng = np.random.default_rng(0)
    arrays = [rng.integers(0, 1 << 32, SIZE, dtype=np.uint64).astype(np.uint32).view(np.float32)
              for _ in made.inputs]
    for array in arrays:
        array[::2] = rng.normal(0, 2, (SIZE + 1) // 2)
    scalars = {name: float(rng.uniform(0.1, 1)) for name in made.scalars}
    found = ops.apply(device, made, *arrays, **scalars)
    equal(found, made, kernels.evaluate(made, *(array[np.newaxis] for array in arrays), **scalars))


@pytest.mark.parametrize("columns", [16, 37])
@pytest.mark.parametrize("make", [normal.softmax, normal.log_softmax, normal.layer_norm,
                                  normal.argmax])
def test_functions_of_rows(device, make, columns):
    rng = np.random.default_rng(columns)
    made = make(columns, 16)
    arrays = [rng.normal(0, 4, (200, columns)).astype(np.float32),
              *rng.normal(0, 1, (2, columns)).astype(np.float32)][:len(made.inputs)]
    equal(ops.apply(device, made, *arrays), made, kernels.evaluate(made, *arrays, dim=16))


@pytest.mark.parametrize("made", RANDOM, ids=lambda made: made.name)
def test_random_numbers(device, made):
    key = {"key0": 0xDEADBEEF, "key1": 42}
    found = ops.apply(device, made, shape=(SIZE,), **key)
    equal(found, made, kernels.evaluate(made, rows=-(-SIZE // 16), dim=16, **key))
