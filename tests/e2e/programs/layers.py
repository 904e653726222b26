"""What the models share, in plain JAX."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


class Random:
    """Numbers that are the same each time."""

    def __init__(self, seed):
        self._rng = np.random.default_rng(seed)

    def normal(self, *shape, scale=None):
        """Return weights; without a scale, rows of them keep the size of what they multiply."""
        scale = 1 / np.sqrt(np.prod(shape[:-1])) if scale is None else scale
        return (self._rng.standard_normal(shape) * scale).astype(np.float32)

    def labels(self, *shape, classes):
        return self._rng.integers(0, classes, shape, np.int32)

    def key(self):
        return self._rng.integers(0, 2**32, 2, np.uint32)


def narrow(tree):
    """Return a tree of arrays with bf16 in the place of float32."""
    return jax.tree.map(
        lambda x: x.astype(jnp.bfloat16) if x.dtype == jnp.float32 else x, tree)


def cross_entropy(logits, labels, form="take"):
    """Return the mean loss, in float32; ``form``: how the label's element is picked."""
    logs = jax.nn.log_softmax(logits.astype(jnp.float32))
    if form == "take":
        return -jnp.take_along_axis(logs, labels[..., None], -1).mean()
    return -(jax.nn.one_hot(labels, logits.shape[-1]) * logs).sum(-1).mean()


def dropout(x, key, rate):
    """Return x with elements dropped, the others larger."""
    keep = jax.random.bernoulli(key, 1 - rate, x.shape)
    return jnp.where(keep, x / (1 - rate), 0).astype(x.dtype)


def layer_norm(x, scale, shift):
    """Return rows of x without mean and of variance 1, then scaled and shifted."""
    wide = x.astype(jnp.float32)
    wide = wide - wide.mean(-1, keepdims=True)
    wide = wide * lax.rsqrt((wide * wide).mean(-1, keepdims=True) + 1e-5)
    return wide.astype(x.dtype) * scale + shift
