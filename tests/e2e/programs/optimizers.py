"""Training steps: a loss and its gradients, then new parameters."""

import jax
import jax.numpy as jnp
import numpy as np

RATE = 1e-2


def sgd(loss):
    """Return a step with momentum."""
    def step(params, state, *batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        state = jax.tree.map(lambda m, g: 0.9 * m + g, state, grads)
        return value, jax.tree.map(lambda p, m: p - RATE * m, params, state), state

    return step


def adam(loss):
    """Return a step of Adam (Kingma and Ba, 2015)."""
    def step(params, state, *batch):
        count, first, second = state
        value, grads = jax.value_and_grad(loss)(params, *batch)
        count = count + 1
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, grads)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * (g * g), second, grads)
        rate = RATE * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
        params = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-8),
                              params, first, second)
        return value, params, (count, first, second)

    return step


def past(optimizer, params, seed=9):
    """Return a state as of some steps before: nothing is zero in it."""
    rng = np.random.default_rng(seed)

    def like(x):
        return (rng.standard_normal(x.shape) * 0.01).astype(np.float32)

    if optimizer is sgd:
        return jax.tree.map(like, params)
    first = jax.tree.map(like, params)
    return np.int32(3), first, jax.tree.map(lambda x: like(x) ** 2 + np.float32(1e-4), first)
