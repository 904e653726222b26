"""Whole training steps: the graph gives the numbers of JAX on CPU."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from through_jax import both, rounded

RNG = np.random.default_rng(11)


def normal(*shape):
    return (RNG.standard_normal(shape) * 0.3).astype(np.float32)


def labels(*shape, classes):
    return RNG.integers(0, classes, shape, np.int32)


def cross_entropy(logits, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[..., None], -1).mean()


def mlp(params, x, y):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return cross_entropy(x @ w + b, y)


def mlp_case():
    params = [(normal(12, 16), normal(16)), (normal(16, 5), normal(5))]
    return mlp, params, (normal(8, 12), labels(8, classes=5))


def cnn(params, x, y):
    def conv(x, w, **options):
        return lax.conv_general_dilated(x, w, padding="SAME", **options,
                                        dimension_numbers=("NHWC", "HWIO", "NHWC"))

    x = jax.nn.relu(conv(x, params["strided"], window_strides=(2, 2)) + params["bias"])
    x = jax.nn.relu(conv(x, params["depthwise"], window_strides=(1, 1), feature_group_count=6))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return cross_entropy(x.reshape(x.shape[0], -1) @ params["dense"], y)


def cnn_case():
    params = {"strided": normal(3, 3, 2, 6), "bias": normal(6), "depthwise": normal(3, 3, 1, 6),
              "dense": normal(24, 4)}
    return cnn, params, (normal(3, 8, 8, 2), labels(3, classes=4))


def lstm(params, x, y):
    def step(carry, x):
        h, c = carry
        gates = x @ params["x"] + h @ params["h"] + params["b"]
        i, f, g, o = jnp.split(gates, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros((x.shape[1], params["h"].shape[0]))
    (h, _), _ = lax.scan(step, (zero, zero), x)
    return cross_entropy(h @ params["out"], y)


def lstm_case():
    params = {"x": normal(5, 24), "h": normal(6, 24), "b": normal(24), "out": normal(6, 3)}
    return lstm, params, (normal(7, 4, 5), labels(4, classes=3))


def transformer(params, tokens, key):
    width, heads = params["embedding"].shape[1], 2

    def norm(x, scale):
        x = x - x.mean(-1, keepdims=True)
        return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * scale

    x = params["embedding"][tokens] + params["position"]
    b, s, d = x.shape
    q, k, v = (norm(x, params["norm1"]) @ params[name] for name in "qkv")
    q, k, v = (each.reshape(b, s, heads, width // heads) for each in (q, k, v))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / (width // heads) ** 0.5
    scores = jnp.where(jnp.tril(jnp.ones((s, s), bool)), scores, -1e9)
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(b, s, d)
    mixed = mixed @ params["o"]
    x = x + jnp.where(jax.random.bernoulli(key, 0.9, mixed.shape), mixed / 0.9, 0)
    hidden = jax.nn.gelu(norm(x, params["norm2"]) @ params["up"], approximate=False)
    x = x + hidden @ params["down"]
    return cross_entropy((x @ params["embedding"].T)[:, :-1], tokens[:, 1:])


def transformer_case():
    params = {"embedding": normal(11, 8), "position": normal(6, 8), "norm1": 1 + normal(8),
              "norm2": 1 + normal(8), "up": normal(8, 16), "down": normal(16, 8),
              **{name: normal(8, 8) for name in "qkvo"}}
    return transformer, params, (labels(2, 6, classes=11), np.array([0, 42], np.uint32))


def sgd(loss):
    def step(params, state, *batch):
        value, grads = jax.value_and_grad(loss)(params, *batch)
        state = jax.tree.map(lambda m, g: 0.9 * m + g, state, grads)
        return value, jax.tree.map(lambda p, m: p - 0.1 * m, params, state), state

    return step, lambda params: jax.tree.map(np.zeros_like, params)


def adam(loss):
    def step(params, state, *batch):
        count, first, second = state
        value, grads = jax.value_and_grad(loss)(params, *batch)
        count = count + 1
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, grads)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, grads)
        rate = 1e-2 * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
        params = jax.tree.map(lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-6), params, first,
                              second)
        return value, params, (count, first, second)

    return step, lambda params: (np.float32(0), jax.tree.map(np.zeros_like, params),
                                 jax.tree.map(np.zeros_like, params))


CASES = {"mlp": mlp_case, "cnn": cnn_case, "lstm": lstm_case, "transformer": transformer_case}


@pytest.mark.parametrize(("name", "optimizer"), [*((name, sgd) for name in CASES), ("mlp", adam)])
def test_step(name, optimizer):
    loss, params, batch = CASES[name]()
    step, state = optimizer(loss)
    found, wanted = both(step, params, state(params), *batch)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, 1e-3, 2e-5)


@pytest.mark.parametrize("name", CASES)
def test_step_with_operands_rounded_to_bf16(name):
    loss, params, batch = CASES[name]()
    step, state = sgd(loss)
    args = (params, state(params), *batch)
    found, wanted = both(step, *args, precision=None, reference=rounded(step))
    exact = jax.tree.leaves(jax.jit(step)(*args))

    def distance(a, b):
        return np.sqrt(sum(((x - np.asarray(y)) ** 2).sum() for x, y in zip(a, b, strict=True)))

    assert distance(found, wanted) < 0.01 * distance(found, exact)
    assert distance(found, exact) > 1e-4


@pytest.mark.parametrize("name", CASES)
def test_step_in_mixed_precision(name):
    loss, params, batch = CASES[name]()

    def mixed(params, *batch):
        def narrow(x):
            return x.astype(jnp.bfloat16) if x.dtype == jnp.float32 else x

        return loss(jax.tree.map(narrow, params), *map(narrow, batch)).astype(jnp.float32)

    step, state = sgd(mixed)
    found, wanted = both(step, params, state(params), *batch, precision=None)
    for a, b in zip(found, wanted, strict=True):
        # XLA keeps more than bf16 between operations that it fuses.
        np.testing.assert_allclose(a, b, 5e-2, 2e-2)
