"""A transformer of one block: embedding, causal attention, layer norms, gelu."""

import jax
import jax.numpy as jnp

from e2e.programs.layers import Random, cross_entropy, dropout, layer_norm

#: Rows of a batch, their length, width, heads, vocabulary.
SIZES = {"small": (2, 6, 12, 2, 11), "bench": (8, 64, 256, 4, 256)}


def make(size, seed=4):
    """Return parameters and a batch."""
    (rows, length, width, heads, words), random = SIZES[size], Random(seed)
    params = {
        "embedding": random.normal(words, width, scale=1),
        "position": random.normal(length, width, scale=0.3),
        "norm1": (1 + random.normal(width, scale=0.1), random.normal(width, scale=0.1)),
        "norm2": (1 + random.normal(width, scale=0.1), random.normal(width, scale=0.1)),
        "q": random.normal(width, heads, width // heads, scale=width**-0.5),
        "k": random.normal(width, heads, width // heads, scale=width**-0.5),
        "v": random.normal(width, heads, width // heads, scale=width**-0.5),
        "o": random.normal(heads, width // heads, width, scale=width**-0.5),
        "up": random.normal(width, 4 * width), "up_bias": random.normal(4 * width, scale=0.1),
        "down": random.normal(4 * width, width)}
    batch = (random.labels(rows, length, classes=words),)
    return params, batch, random.key()


def attention(params, x):
    q, k, v = (jnp.einsum("bsd,dhe->bhse", x, params[name]) for name in "qkv")
    scores = jnp.einsum("bhse,bhte->bhst", q, k) / q.shape[-1] ** 0.5
    length = x.shape[1]
    mask = jnp.tril(jnp.ones((length, length), bool))
    weights = jax.nn.softmax(jnp.where(mask, scores.astype(jnp.float32), -1e9))
    mixed = jnp.einsum("bhst,bhte->bhse", weights.astype(x.dtype), v)
    return jnp.einsum("bhse,hed->bsd", mixed, params["o"])


def forward(params, tokens, key=None, approximate=True):
    x = jnp.take(params["embedding"], tokens, axis=0) + params["position"]
    mixed = attention(params, layer_norm(x, *params["norm1"]))
    x = x + (mixed if key is None else dropout(mixed, key, 0.1))
    hidden = layer_norm(x, *params["norm2"]) @ params["up"] + params["up_bias"]
    x = x + jax.nn.gelu(hidden, approximate=approximate) @ params["down"]
    return x @ params["embedding"].T


def loss(params, tokens, key=None, approximate=True, form="take"):
    logits = forward(params, tokens, key, approximate)
    return cross_entropy(logits[:, :-1], tokens[:, 1:], form)
