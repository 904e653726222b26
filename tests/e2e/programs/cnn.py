"""Convolutions (strided, depthwise, plain), a pool, a dense layer."""

import jax
import jax.numpy as jnp
from jax import lax

from e2e.programs.layers import Random, cross_entropy

#: Rows of a batch, side of the images, their channels, channels inside, classes.
SIZES = {"small": (3, 10, 3, 6, 4), "bench": (16, 32, 3, 32, 10)}


def make(size, seed=2):
    """Return parameters and a batch."""
    (rows, side, channels, width, classes), random = SIZES[size], Random(seed)
    last = (side // 4) ** 2 * width if side % 4 == 0 else ((side // 2) // 2) ** 2 * width
    params = {
        "strided": random.normal(3, 3, channels, width, scale=0.3),
        "bias": random.normal(width, scale=0.1),
        "depthwise": random.normal(3, 3, 1, width, scale=0.3),
        "pointwise": random.normal(1, 1, width, width, scale=0.4),
        "dense": random.normal(last, classes)}
    batch = (random.normal(rows, side, side, channels, scale=1),
             random.labels(rows, classes=classes))
    return params, batch, random.key()


def conv(x, w, stride=1, groups=1):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", feature_group_count=groups,
                                    dimension_numbers=("NHWC", "HWIO", "NHWC"))


def forward(params, x):
    x = jax.nn.relu(conv(x, params["strided"], stride=2) + params["bias"])
    x = jax.nn.relu(conv(x, params["depthwise"], groups=x.shape[-1]))
    x = jax.nn.relu(conv(x, params["pointwise"]))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return x.reshape(x.shape[0], -1) @ params["dense"]


def loss(params, x, labels):
    return cross_entropy(forward(params, x), labels)
