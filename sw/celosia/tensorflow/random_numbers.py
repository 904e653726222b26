"""Random numbers of programs: those that TensorFlow draws on a CPU from the same seed."""

# pyright: reportMissingImports=false, reportMissingModuleSource=false

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf
from tensorflow.python.ops import gen_stateless_random_ops_v2 as drawn

__all__ = ["put_random_numbers"]

#: Bits of a fraction, which the lowest of a word are.
_FRACTIONS = {tf.float32: 23, tf.float16: 10, tf.bfloat16: 7}
#: The least number of which Box and Muller's method takes the logarithm.
_LEAST = 1e-7


def put_random_numbers(in_program: Callable[[], bool]) -> None:
    """Have programs make floating point numbers of random bits as TensorFlow's kernels do; once.

    Its bridge to XLA draws the same bits and makes other numbers of them: of the highest of a word
    uniform ones, normal ones by the inverse of the error function. So dropout would have other
    masks than on the host.

    Parameters
    ----------
    in_program
        Says whether a program of the chips is being traced.
    """
    for name, ours in (("stateless_random_uniform_v2", _uniform),
                       ("stateless_random_normal_v2", _normal)):
        if getattr(getattr(drawn, name), "__module__", "") != __name__:
            setattr(drawn, name, _chosen(getattr(drawn, name), ours, in_program))


def _chosen(stock: Callable[..., Any], ours: Callable[..., Any], in_program: Callable[[], bool]
            ) -> Callable[..., Any]:
    """Return a function that draws in programs as ours does."""
    def draw(shape: Any, key: Any, counter: Any, alg: Any, dtype: Any = tf.float32, name: Any = None
             ) -> Any:
        """As of `tf.raw_ops.StatelessRandomUniformV2`, and NormalV2."""
        if not in_program() or tf.as_dtype(dtype) not in _FRACTIONS:
            return stock(shape, key, counter, alg, dtype, name)
        with tf.name_scope(name or "random"):
            return ours(shape, key, counter, alg, tf.as_dtype(dtype))

    return draw


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
