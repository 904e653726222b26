"""Loops and branches in what joins or changes elements: XLA's CPU has none of them."""

import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from through_jax import graph_of

import celosia
from celosia.frontend import FrontendError
from celosia.graph import interpret

RNG = np.random.default_rng(5)


def run(function, *args):
    """Return what the chip makes of arguments; the graph means the same."""
    [meant] = interpret(graph_of(function, *args), list(args))
    with celosia.jit(function, strict=True) as on_chip:
        found = np.asarray(on_chip(*args))
    np.testing.assert_array_equal(found, meant)
    return found


def test_loops_turn_as_often_as_each_element_needs():
    def gcd(a, b):
        return lax.while_loop(lambda s: s[1] != 0, lambda s: (s[1], lax.rem(s[0], s[1])), (a, b))[0]

    x = RNG.integers(1, 200, (6, 5)).astype(np.int32) * np.array([2, 3, 6, 10, 1], np.int32)
    np.testing.assert_array_equal(
        run(lambda x: lax.reduce(x, np.int32(0), gcd, (0,)), x), np.gcd.reduce(x))
    assert run(lambda x: lax.reduce(x, np.int32(0), gcd, (0, 1)), x) == np.gcd.reduce(x, (0, 1))
    wanted = [np.gcd.reduce(x[max(0, i - 2):i + 1]) for i in range(6)]
    np.testing.assert_array_equal(
        run(lambda x: lax.reduce_window(x, np.int32(0), gcd, (3, 1), (1, 1), ((2, 0), (0, 0))), x),
        wanted)


def test_branches_are_chosen_by_each_element():
    def larger(a, b):
        return lax.switch(jnp.where(jnp.abs(a) > jnp.abs(b), 0, 7), [lambda: a, lambda: b])

    x = RNG.standard_normal((7, 3)).astype(np.float32)
    np.testing.assert_array_equal(
        run(lambda x: lax.reduce(x, np.float32(0), larger, (0,)), x),
        x[np.argmax(np.abs(x), 0), np.arange(3)])


def test_loops_that_change_elements():
    x = RNG.standard_normal((5, 3)).astype(np.float32)
    found = run(lambda x: x.at[np.array([3, 0])].apply(
        lambda v: lax.fori_loop(0, 3, lambda _, c: c * v, v)), x)
    wanted = x.copy()
    wanted[[3, 0]] **= 4
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_padding_is_joined_with_nothing():
    """A body for which what all begins with is not without effect among itself."""
    def first(a, b):
        return jnp.where(jnp.isinf(b), jnp.where(jnp.isinf(a), jnp.nan, a), b)

    x = np.array([3, 5, 7, 2], np.float32)
    found = run(lambda x: lax.reduce_window(x, np.float32(np.inf), first, (3,), (1,), ((2, 0),)), x)
    np.testing.assert_array_equal(found, x)


def test_bodies_have_no_arrays():
    with pytest.raises(FrontendError, match="body must be of elementwise operations, not "):
        graph_of(lambda x: lax.reduce(x, np.float32(0), lambda a, b: a + jnp.sum(
            lax.iota(jnp.float32, 3) * b), (0,)), np.ones(4, np.float32))
