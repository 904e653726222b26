"""Random numbers of programs.

Those of a seed (``tf.random.stateless_uniform``, layers of Keras) are what TensorFlow draws from it
on a CPU. Those of ``tf.random.uniform`` and the like follow from the seeds of TensorFlow and of the
operation, the number of the replica, and a variable of the strategy that counts what was drawn.
"""

# pyright: reportMissingImports=false, reportMissingModuleSource=false

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.python.ops import gen_random_ops as counted
from tensorflow.python.ops import gen_stateless_random_ops_v2 as drawn

__all__ = ["put_random_numbers"]

#: Bits of a fraction, which the lowest of a word are.
_FRACTIONS = {tf.float32: 23, tf.float16: 10, tf.bfloat16: 7}
#: The least number of which Box and Muller's method takes the logarithm.
_LEAST = 1e-7
_PHILOX = 1


def put_random_numbers(in_program: Callable[[], bool]) -> None:
    """Have programs make floating point numbers of random bits as TensorFlow's kernels do; once.

    Its bridge to XLA draws the same bits and makes other numbers of them: of the highest of a word
    uniform ones, normal ones by the inverse of the error function. So dropout would have other
    masks than on the host.

    Those without a seed of their own it would draw by an operation that has none.

    Parameters
    ----------
    in_program
        Says whether a program of the chips is being traced.
    """
    for module, functions in ((drawn, _OF_SEEDS), (counted, _OF_COUNTS)):
        for name, ours in functions.items():
            stock = getattr(module, name)
            if stock.__module__ != __name__:
                setattr(module, name, _chosen(stock, ours, in_program))


def _chosen(stock: Callable[..., Any], ours: Callable[..., Any], in_program: Callable[[], bool]
            ) -> Callable[..., Any]:
    """Return a function that draws in programs as ours does, if that has numbers of the type."""
    def draw(*args: Any, **kwargs: Any) -> Any:
        """As of `tf.raw_ops`."""
        found = ours(*args, **kwargs) if in_program() else None
        return stock(*args, **kwargs) if found is None else found

    return draw


def _of_seed(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return what makes numbers of a key and a counter as TensorFlow's own function of them."""
    def draw(shape: Any, key: Any, counter: Any, alg: Any, dtype: Any = tf.float32, name: Any = None
             ) -> Any:
        dtype = tf.as_dtype(dtype)
        return make(shape, key, counter, alg, dtype) if dtype in _FRACTIONS else None

    return draw


def _of_count(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return what makes numbers of a key and a counter as a function that has two seeds."""
    def draw(shape: Any, dtype: Any, seed: int = 0, seed2: int = 0, name: Any = None) -> Any:
        dtype = tf.as_dtype(dtype)
        return make(shape, *_next(seed, seed2), dtype) if dtype in _FRACTIONS else None

    return draw


def _next(seed: int, seed2: int) -> tuple[Any, Any, int]:
    """Return key, counter and algorithm of the numbers that an operation draws now."""
    replica = tf.distribute.get_replica_context()
    count = replica.strategy.random_count
    number = tf.cast(count.read_value(), tf.uint64) * replica.num_replicas_in_sync + tf.cast(
        replica.replica_id_in_sync_group, tf.uint64)
    count.assign_add(1)
    key = (seed << 32 ^ seed2) % 2 ** 64
    return (tf.constant([key], tf.uint64), tf.stack([tf.zeros((), tf.uint64), number]), _PHILOX)


def _bits(shape: Any, key: Any, counter: Any, alg: Any) -> Any:
    return drawn.stateless_random_uniform_full_int_v2(shape, key, counter, alg, dtype=tf.uint32)


def _below_one(words: Any, dtype: Any) -> Any:
    """Return words as numbers from 0 to below 1."""
    bits = _FRACTIONS[dtype]
    words &= 2 ** bits - 1
    if dtype == tf.float32:
        return tf.bitcast(words | 0x3F800000, tf.float32) - 1.0
    return tf.cast(tf.cast(words, tf.int32), dtype) * 2.0 ** -bits


def _uniform(shape: Any, key: Any, counter: Any, alg: Any, dtype: Any) -> Any:
    return _below_one(_bits(shape, key, counter, alg), dtype)


def _normal(shape: Any, key: Any, counter: Any, alg: Any, dtype: Any) -> Any:
    """Return normal numbers, two of each two words."""
    size = tf.reduce_prod(shape)
    words = tf.reshape(_bits(((size + 1) // 2 * 2)[None], key, counter, alg), (-1, 2))
    first, second = tf.unstack(_below_one(words, tf.float32), axis=1)
    radius = tf.sqrt(-2.0 * tf.math.log(tf.maximum(first, _LEAST)))
    angle = 2.0 * math.pi * second
    both = tf.stack([tf.sin(angle) * radius, tf.cos(angle) * radius], 1)
    return tf.cast(tf.reshape(tf.reshape(both, [-1])[:size], shape), dtype)


def _truncated(shape: Any, key: Any, counter: Any, alg: Any, dtype: Any) -> Any:
    return drawn.stateless_truncated_normal_v2(shape, key, counter, alg, dtype)


def _integers(shape: Any, minval: Any, maxval: Any, seed: int = 0, seed2: int = 0, name: Any = None
              ) -> Any:
    return drawn.stateless_random_uniform_int_v2(shape, *_next(seed, seed2), minval, maxval)


def _shuffled(value: Any, seed: int = 0, seed2: int = 0, name: Any = None) -> Any:
    order = tf.argsort(_uniform(tf.shape(value)[:1], *_next(seed, seed2), tf.float32))
    return tf.gather(value, order)


def _classes(logits: Any, num_samples: Any, seed: int = 0, seed2: int = 0,
             output_dtype: Any = tf.int64, name: Any = None) -> Any:
    """Return classes by their logits: where these with Gumbel's noise are largest."""
    logits = tf.cast(logits, tf.float32)[:, None]
    shape = tf.concat([tf.shape(logits)[:1], [num_samples], tf.shape(logits)[2:]], 0)
    numbers = _uniform(shape, *_next(seed, seed2), tf.float32)
    noise = -tf.math.log(-tf.math.log(tf.maximum(numbers, _LEAST)))
    return tf.argmax(logits + noise, -1, output_dtype)


_OF_SEEDS = {"stateless_random_uniform_v2": _of_seed(_uniform),
             "stateless_random_normal_v2": _of_seed(_normal)}
_OF_COUNTS = {"random_uniform": _of_count(_uniform), "random_standard_normal": _of_count(_normal),
              "truncated_normal": _of_count(_truncated), "random_uniform_int": _integers,
              "random_shuffle": _shuffled, "multinomial": _classes}
