"""Random numbers against published vectors and against JAX."""

import zlib

import numpy as np
import pytest

import celosia
from celosia import kernels, ops
from celosia.kernels import random
from celosia.kernels.terms import VectorOp, scalar, step
from celosia.kernels.trace import kernel

#: kat_vectors of Random123: counters, key, words.
KNOWN = [((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
         ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
         ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0))]
# Made with JAX 0.10.2, key = jax.random.wrap_key_data(jnp.array(words, jnp.uint32)), which is
# jax.random.key(42) for the words (0, 42):
#   zlib.crc32(np.asarray(jax.random.bits(key, (37, 100))).tobytes()), likewise uniform, and
#   zlib.crc32(np.packbits(np.asarray(jax.random.bernoulli(key, 0.75, (37, 100)))).tobytes()).
SHAPE = (37, 100)
BITS = {(0, 0): 0xDD6FB456, (0, 42): 0x54B3E413, (0xDEADBEEF, 0x12345678): 0x4D65596B}
UNIFORM = {(0, 0): 0xA3B84074, (0, 42): 0xD1A95984}
BERNOULLI = {(0, 0): 0x8DE2076B, (0, 42): 0xF2EE838C}
#: jax.random.bits(jax.random.key(42), (37, 100)).ravel()[:4], and of jax.random.normal
WORDS = [0x7D1C13A2, 0xAE0730D9, 0x9DC3F9F9, 0x8F9EC1D7]
NORMAL = [-0.02830461598932743, 0.4671318531036377, 0.2957029640674591, 0.15354591608047485,
          -0.12403281778097153, 0.21692314743995667, -1.440878987312317, 0.755859911441803]


@pytest.fixture(scope="module")
def device():
    with celosia.open("model", "core") as device:
        yield device


def crc(array):
    return zlib.crc32(array.tobytes())


def key_of(words):
    return dict(zip(("key0", "key1"), words, strict=True))


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN)
def test_threefry_equals_its_known_answers(counter, key, words):
    keys = scalar("key0"), scalar("key1")
    made = kernel("threefry",
                  lambda x0, x1: dict(zip("ab", random.threefry(keys, x0, x1), strict=True)),
                  ("x0", "x1"))
    arrays = [np.array([[word]], np.uint32) for word in counter]
    found = kernels.evaluate(made, *arrays, **key_of(key))
    assert tuple(int(word[0, 0]) for word in found) == words


@pytest.mark.parametrize("words", list(BITS))
def test_bits_on_the_model_equal_those_of_jax(device, words):
    found = ops.apply(device, random.bits(16), shape=SHAPE, **key_of(words))
    assert found.shape == SHAPE
    assert crc(found) == BITS[words]
    if words == (0, 42):
        assert found.view(np.uint32)[0, :4].tolist() == WORDS


@pytest.mark.parametrize("dim", [4, 128])
def test_bits_do_not_depend_on_the_lanes(dim):
    (found,) = kernels.evaluate(random.bits(dim), rows=-(-3700 // dim), dim=dim, key0=0, key1=42)
    assert crc(found.reshape(-1)[:3700]) == BITS[0, 42]


@pytest.mark.parametrize("words", list(UNIFORM))
def test_uniform_and_dropout_equal_those_of_jax(device, words):
    assert crc(ops.apply(device, random.uniform(16), shape=SHAPE,
                             **key_of(words))) == UNIFORM[words]
    x = np.full(SHAPE, 3, np.float32)
    dropped = ops.apply(device, random.dropout(16, 0.25), x, **key_of(words))
    assert crc(np.packbits(dropped != 0)) == BERNOULLI[words]
    assert set(np.unique(dropped)) == {0, 4}


def test_normal_is_that_of_jax_but_for_a_few_ulp(device):
    found = ops.apply(device, random.normal(16), shape=SHAPE, **key_of((0, 42)))
    np.testing.assert_allclose(found[0, :8], NORMAL, rtol=1e-6)
    assert abs(found.sum(dtype=np.float64) + 81.13213902850861) < 1e-3


def test_normal_numbers_have_the_moments_and_tails_that_they_should():
    (found,) = kernels.evaluate(random.normal(128), rows=1 << 12, dim=128, key0=1, key1=2)
    x = found.view(np.float32).astype(np.float64).reshape(-1)
    deviation = 1 / np.sqrt(x.size)
    assert abs(x.mean()) < 4 * deviation
    assert abs(x.var() - 1) < 6 * deviation
    for bound, share in ((1, 0.3173), (2, 0.0455), (3, 0.0027)):
        assert abs((np.abs(x) > bound).mean() / share - 1) < 0.05 * bound


def test_dropout_drops_nan_too():
    x = np.full((8, 16), np.nan, np.float32)
    (found,) = kernels.evaluate(random.dropout(16, 0.5), x, key0=0, key1=0)
    assert 0 < (found == 0).sum() < found.size


@pytest.mark.parametrize("probability", [0, 1.5])
def test_probability_is_checked(probability):
    with pytest.raises(ValueError, match=rf"^probability must be above 0 and at most 1, "
                                         rf"not {probability}$"):
        kernel("k", lambda x: random.keeps(x, probability))


def test_keeping_everything_keeps_everything():
    words = np.array([[0, 0xFFFFFFFF]], np.uint32)
    made = kernel("k", lambda x: random.keeps(x, 1.0))
    assert (kernels.evaluate(made, words)[0] == 0xFFFFFFFF).all()
    half = kernel("k", lambda x: random.keeps(x, 0.5))
    edge = np.array([[0x7FFFFFFF, 0x80000000]], np.uint32)
    assert kernels.evaluate(half, edge)[0].tolist() == [[0xFFFFFFFF, 0]]


def test_counters_number_the_elements_of_the_whole_matrix():
    made = kernel("n", lambda x: step(VectorOp.IADD, x, random.counters(40, 16)))
    zeros = np.zeros((3, 16), np.int32)
    (found,) = kernels.evaluate(made, zeros, first_row=5)
    assert found.tolist() == [[40 * i + 16 + j for j in range(16)] for i in range(5, 8)]
