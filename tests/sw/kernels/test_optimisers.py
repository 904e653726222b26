"""Optimisers against float64, over many steps."""

import numpy as np
import pytest

from celosia import kernels
from celosia.kernels import optimisers

SHAPE = (3, 40)


class Run:
    """State of an optimiser: bit patterns between steps."""

    def __init__(self, made, **state):
        self.made = made
        self.state = {name: array.astype(np.float32) for name, array in state.items()}

    def step(self, gradient, **scalars):
        arrays = [self.state[taken.name] if taken.name != "g" else gradient
                  for taken in self.made.inputs]
        found = kernels.evaluate(self.made, *arrays, **scalars)
        for output, words in zip(self.made.outputs, found, strict=True):
            self.state[output.name] = words.view(np.float32)


def gradients(count):
    rng = np.random.default_rng(0)
    scale = 10.0**rng.uniform(-6, 2, SHAPE)
    return [(scale * rng.normal(0.3, 1, SHAPE)).astype(np.float32) for _ in range(count)]


def start():
    return np.random.default_rng(1).normal(0, 1, SHAPE).astype(np.float32)


def test_sgd():
    run = Run(optimisers.sgd(), w=start())
    (gradient,) = gradients(1)
    run.step(gradient, scale=-0.125)
    np.testing.assert_array_equal(
        run.state["w"], (start() - 0.125 * gradient.astype(np.float64)).astype(np.float32))


@pytest.mark.parametrize("nesterov", [False, True])
def test_momentum(nesterov):
    run = Run(optimisers.momentum(0.9, nesterov), w=start(), v=np.zeros(SHAPE))
    w, v = start().astype(np.float64), np.zeros(SHAPE)
    for gradient in gradients(50):
        run.step(gradient, scale=-0.01)
        v = 0.9 * v + gradient
        w -= 0.01 * (0.9 * v + gradient if nesterov else v)
    np.testing.assert_allclose(run.state["w"], w, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("decay", [None, 0.01])
@pytest.mark.parametrize("betas", [(0.9, 0.999), (0.8, 0.95)])
def test_adam(betas, decay):
    rate, eps = 1e-3, 1e-8
    make = optimisers.adam if decay is None else optimisers.adamw
    run = Run(make(*betas), w=start(), m=np.zeros(SHAPE), v=np.zeros(SHAPE))
    w, m, v = start().astype(np.float64), np.zeros(SHAPE), np.zeros(SHAPE)
    for t, gradient in enumerate(gradients(100), 1):
        scalars = optimisers.adam_scalars(t, rate, *betas, eps)
        if decay is not None:
            scalars["keep"] = 1 - rate * decay
            w *= 1 - rate * decay
        run.step(gradient, **scalars)
        m = betas[0] * m + (1 - betas[0]) * gradient
        v = betas[1] * v + (1 - betas[1]) * gradient.astype(np.float64)**2
        w -= rate * (m / (1 - betas[0]**t)) / (np.sqrt(v / (1 - betas[1]**t)) + eps)
    np.testing.assert_allclose(run.state["w"], w, rtol=2e-6, atol=2e-6)
    np.testing.assert_allclose(run.state["m"] * (1 - betas[0]), m, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(run.state["v"] * (1 - betas[1]), v, rtol=1e-5, atol=1e-28)


def test_adam_of_no_gradient_does_not_move():
    run = Run(optimisers.adam(), w=start(), m=np.zeros(SHAPE), v=np.zeros(SHAPE))
    for t in range(1, 4):
        run.step(np.zeros(SHAPE, np.float32), **optimisers.adam_scalars(t, 1e-3))
    np.testing.assert_array_equal(run.state["w"], start())
    assert np.isfinite(run.state["v"]).all()


def test_instructions_per_row():
    assert [make().cost for make in (optimisers.sgd, optimisers.momentum, optimisers.adam,
                                     optimisers.adamw)] == [1, 2, 7, 8]


def test_steps_are_numbered_from_one():
    with pytest.raises(ValueError, match=r"^number must be at least 1, not 0$"):
        optimisers.adam_scalars(0, 1e-3)
