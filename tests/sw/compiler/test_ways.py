"""Programs that memory is too small for: what is said of them, and that the ways out are ones."""

import random
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import celosia
from celosia.arch.registers import MOST_MEMORY
from celosia.compiler.errors import MemoryTooSmall
from celosia.graph import Graph, constant, op, parameter
from celosia.graph.types import DType, TensorType


def mlp(rng):
    sizes = [rng.choice((16, 48, 80)) for _ in range(rng.randint(3, 4))]

    def loss(params, x, y):
        for w, b in params[:-1]:
            x = jnp.tanh(x @ w + b)
        return jnp.mean((x @ params[-1][0] + params[-1][1] - y) ** 2)

    def step(params, x, y):
        grads = jax.grad(loss)(params, x, y)
        return jax.tree.map(lambda a, b: a - 0.01 * b, params, grads)

    params = [(jnp.zeros(size), jnp.zeros(size[1])) for size in zip(sizes, sizes[1:], strict=False)]
    return step, lambda count: (params, jnp.zeros((count, sizes[0])), jnp.zeros((count, sizes[-1])))


def attention(rng):
    width, tokens = rng.choice((16, 32)), rng.choice((12, 24))

    def layer(q, k, v, x):
        scores = jnp.einsum("btd,bsd->bts", x @ q, x @ k) / np.sqrt(width)
        return jax.nn.softmax(scores) @ (x @ v)

    weights = [jnp.zeros((width, width))] * 3
    return layer, lambda count: (*weights, jnp.zeros((count, tokens, width)))


def convolution(rng):
    side, channels = rng.choice((8, 12)), rng.choice((3, 5))

    def net(w, v, x):
        x = jax.nn.relu(jax.lax.conv_general_dilated(
            x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return x.reshape(x.shape[0], -1) @ v

    weights = jnp.zeros((3, 3, channels, 7)), jnp.zeros((side * side // 4 * 7, 9))
    return net, lambda count: (*weights, jnp.zeros((count, side, side, channels)))


def needed(function, arguments, memory=MOST_MEMORY, **options):
    lowered = jax.jit(function, **options).lower(*arguments)
    return celosia.compile(lowered.as_text(debug_info=True), "core", cache=False,
                           options={"memory": memory}).program.arena_bytes


@pytest.mark.parametrize("seed", [0, 2, 6, *(pytest.param(
    seed, marks=pytest.mark.slow) for seed in (1, 3, 4, 5, 7, 8, 9))])
def test_ways_out_fit_when_they_are_written(seed):
    rng = random.Random(seed)
    function, arguments = rng.choice((mlp, attention, convolution))(rng)
    count = rng.choice((40, 136, 200))
    limit = int(needed(function, arguments(count)) * rng.uniform(0.45, 0.95))
    with pytest.raises(MemoryTooSmall) as caught:
        needed(function, arguments(count), limit)
    error = caught.value
    assert error.demand.limit == limit < error.demand.needed
    assert error.ways
    assert str(error).count("test_ways.py:") >= 1
    for way in error.ways:
        what, nbytes = way.what, way.nbytes
        assert nbytes <= limit
        assert f"\nit fits with {what}: {nbytes} bytes" in str(error)
        if found := re.fullmatch(rf"a batch of (\d+) in place of {count}", what):
            assert needed(function, arguments(int(found[1])), limit) == nbytes
        elif found := re.fullmatch(r".* donated \(arguments (.*)\)", what):
            numbers = tuple(map(int, found[1].split(", ")))
            if function.__name__ == "step":  # whose first argument has all leaves but two
                assert len(numbers) == len(jax.tree.leaves(arguments(count))) - 2
                numbers = 0
            assert needed(function, arguments(count), limit, donate_argnums=numbers) == nbytes
        else:
            assert re.search("in bf16|cut over [248] devices along the batch", what), what
            assert celosia.compile(way.graph, "core", cache=False,
                                   options={"memory": limit}).arena_bytes == nbytes


def test_what_is_narrowed_is_smaller():
    def product(x, w):
        return x @ w

    arguments = jnp.zeros((96, 512)), jnp.zeros((512, 64))
    whole = needed(product, arguments)
    with pytest.raises(MemoryTooSmall) as caught:
        needed(product, arguments, whole - 1)
    way = caught.value.ways[0]
    assert way.what == "w and x in bf16"
    assert needed(product, [each.astype(jnp.bfloat16) for each in arguments]) < whole
    assert way.nbytes == whole - 2 * (96 * 512 + 512 * 64)


def test_weights_alone_are_cut_over_devices():
    w = parameter(TensorType(DType.F32, (1000, 1000)), "w")
    graph = Graph("f", [w], [op("add", w, op("broadcast", constant(np.float32(1)),
                                             shape=(1000, 1000)))])
    with pytest.raises(MemoryTooSmall) as caught:
        celosia.compile(graph, "core", cache=False, options={"memory": 3_000_000})
    assert ("it fits with w cut over 4 devices each along its largest dimension "
            "(jax.sharding.NamedSharding): 2000000 bytes") in str(caught.value)


def test_nothing_is_promised_that_does_not_fit():
    graph = Graph("f", [], [op("broadcast", constant(np.float32(1)), shape=(1001, 1001))])
    with pytest.raises(MemoryTooSmall) as caught:
        celosia.compile(graph, "core", cache=False, options={"memory": 1 << 20})
    assert caught.value.ways == ()
    assert "it fits" not in str(caught.value)
