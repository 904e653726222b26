"""Random numbers: the streams of JAX, bit for bit."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from through_jax import agree


def test_random():
    key = jax.random.PRNGKey(7)
    agree(lambda key: (jax.random.bits(key, (3, 5)), jax.random.split(key, 4),
                       jax.random.fold_in(key, 3), jax.random.uniform(key, (9,)),
                       jax.random.bernoulli(key, 0.3, (6, 4)), jax.random.randint(
                           key, (5,), 0, 10), jax.random.permutation(key, 11)), key)
    agree(lambda key: (jax.random.normal(key, (50,)), jax.random.gumbel(key, (9,)),
                       jax.random.truncated_normal(key, -1, 1, (9,)),
                       jax.random.categorical(key, jnp.arange(5.0))), key, rtol=2e-5, atol=1e-5)


def test_bits_of_the_random_generator():
    key = jax.random.key_data(jax.random.key(5, impl="rbg"))

    def f(key):
        key = jax.random.wrap_key_data(key, impl="rbg")
        return (jax.random.bits(key, (3, 7)), jax.random.uniform(key, (2,)),
                jax.random.key_data(jax.random.split(key)))

    agree(f, key)
    for state in ([1, 2, 3, 4], [1, 2, 2**32 - 1, 5], [2**32 - 1] * 4):
        for shape in ((9,), (8, 8), (5, 13), (1, 771), (300, 99)):
            agree(lambda state, shape=shape: lax.rng_bit_generator(state, shape, dtype=jnp.uint32),
                  np.array(state, np.uint32))


def test_bits_of_every_size():
    state = np.array([1, 2, 2**32 - 1, 5], np.uint32)
    with jax.enable_x64(True):
        for dtype in (jnp.uint8, jnp.uint16, jnp.uint64):
            agree(lambda state, dtype=dtype: lax.rng_bit_generator(state, (3, 7), dtype=dtype),
                  state)
            agree(lambda state, dtype=dtype: lax.rng_bit_generator(state, (), dtype=dtype), state)
