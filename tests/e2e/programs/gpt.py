"""A GPT: layers of causal attention and a dense part, on the letters of a text."""

import jax
import jax.numpy as jnp

from e2e.programs.layers import Random, cross_entropy, layer_norm
from e2e.programs.transformer import attention

#: Layers, rows of a batch, their length, width, heads, vocabulary.
SIZES = {"small": (2, 2, 6, 12, 2, 11), "bench": (4, 8, 128, 256, 4, 65)}


def make(size, seed=5):
    """Return parameters and a batch: what a step reads, and what comes next."""
    (layers, rows, length, width, heads, words), random = SIZES[size], Random(seed)

    def norm():
        return 1 + random.normal(width, scale=0.1), random.normal(width, scale=0.1)

    def layer():
        return {"norm1": norm(), "norm2": norm(),
                **{name: random.normal(width, heads, width // heads, scale=width**-0.5)
                   for name in "qkv"},
                "o": random.normal(heads, width // heads, width, scale=width**-0.5),
                "up": random.normal(width, 4 * width),
                "up_bias": random.normal(4 * width, scale=0.1),
                "down": random.normal(4 * width, width)}

    params = {"embedding": random.normal(words, width, scale=1),
              "position": random.normal(length, width, scale=0.3), "norm": norm(),
              "out": random.normal(width, words), "layers": [layer() for _ in range(layers)]}
    return params, (random.labels(rows, length, classes=words),
                    random.labels(rows, length, classes=words))


def loss(params, tokens, following):
    """Return nats a letter."""
    x = jnp.take(params["embedding"], tokens, axis=0) + params["position"]
    for layer in params["layers"]:
        x = x + attention(layer, layer_norm(x, *layer["norm1"]))
        hidden = layer_norm(x, *layer["norm2"]) @ layer["up"] + layer["up_bias"]
        x = x + jax.nn.gelu(hidden) @ layer["down"]
    return cross_entropy(layer_norm(x, *params["norm"]) @ params["out"], following)
