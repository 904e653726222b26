"""A recurrent network: a scan over time."""

import jax
import jax.numpy as jnp
from jax import lax

from e2e.programs.layers import Random, cross_entropy

#: Steps in time, rows of a batch, inputs, width, classes.
SIZES = {"small": (5, 4, 6, 9, 3), "bench": (16, 32, 64, 128, 16)}


def make(size, seed=3):
    """Return parameters and a batch."""
    (steps, rows, inputs, width, classes), random = SIZES[size], Random(seed)
    params = {"x": random.normal(inputs, 4 * width), "h": random.normal(width, 4 * width),
              "b": random.normal(4 * width, scale=0.1), "out": random.normal(width, classes)}
    batch = (random.normal(steps, rows, inputs, scale=1), random.labels(rows, classes=classes))
    return params, batch, random.key()


def forward(params, x):
    def step(carry, x):
        h, c = carry
        gates = x @ params["x"] + h @ params["h"] + params["b"]
        i, f, g, o = jnp.split(gates, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), None

    zero = jnp.zeros((x.shape[1], params["h"].shape[0]), x.dtype)
    (h, _), _ = lax.scan(step, (zero, zero), x)
    return h @ params["out"]


def loss(params, x, labels):
    return cross_entropy(forward(params, x), labels)
