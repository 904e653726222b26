"""Functions of whole rows against float64."""

import numpy as np
import pytest

from celosia import kernels
from celosia.kernels import normal

COLUMNS = [1, 2, 7, 16, 17, 32, 40, 100]
DIM = 16


def rows(columns, count=50):
    return np.random.default_rng(columns).normal(0, 5, (count, columns)).astype(np.float32)


def run(made, *arrays):
    return kernels.evaluate(made, *arrays, dim=DIM)[0].view(np.float32)


def softmax(x):
    x = x.astype(np.float64)
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


@pytest.mark.parametrize("columns", COLUMNS)
def test_softmax_and_its_logarithm(columns):
    x = rows(columns)
    wanted = softmax(x)
    np.testing.assert_allclose(run(normal.softmax(columns, DIM), x), wanted, rtol=4e-6, atol=5e-7)
    np.testing.assert_allclose(run(normal.log_softmax(columns, DIM), x), np.log(wanted),
                               rtol=2e-7, atol=1e-6)


@pytest.mark.parametrize("columns", [16, 20])
def test_softmax_of_numbers_that_are_large_or_infinite(columns):
    x = rows(columns, 3)
    x[0] *= 1e30
    x[1, 3] = -np.inf
    x[2, 5] = np.inf
    found = run(normal.softmax(columns, DIM), x)
    np.testing.assert_allclose(found[:2], softmax(x[:2]), rtol=4e-6, atol=5e-7)
    assert found[1, 3] == 0
    assert np.isnan(found[2, 5])


@pytest.mark.parametrize("columns", COLUMNS)
def test_layer_norm(columns):
    x = rows(columns) + np.float32(3)
    gamma, beta = np.random.default_rng(0).normal(1, 1, (2, columns)).astype(np.float32)
    found = run(normal.layer_norm(columns, DIM), x, gamma, beta)
    wide = x.astype(np.float64)
    wanted = ((wide - wide.mean(1, keepdims=True))
              / np.sqrt(wide.var(1, keepdims=True) + 1e-5) * gamma + beta)
    np.testing.assert_allclose(found, wanted, atol=1e-5 if columns > 1 else 1e-3)


@pytest.mark.parametrize("columns", COLUMNS)
def test_argmax_is_the_first_largest_or_the_first_nan(columns):
    x = np.random.default_rng(columns).integers(-3, 3, (60, columns)).astype(np.float32)
    x[:3] = -np.inf
    x[3:20:3, columns // 2] = np.nan
    x[4:20:3, -1] = np.nan
    found = kernels.evaluate(normal.argmax(columns, DIM), x, dim=DIM)[0]
    np.testing.assert_array_equal(found.view(np.int32), x.argmax(1)[:, np.newaxis])


def test_instructions_per_row():
    makers = (normal.softmax, normal.log_softmax, normal.layer_norm, normal.argmax)
    assert [make(16, 16).cost for make in makers] == [6, 5, 6, 6]
    made = normal.layer_norm(20, 16)
    assert sum(not taken.walks for taken in made.steps) == 1  # the mask is made once
    assert made.cost == len(made.steps) - 1
