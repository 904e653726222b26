"""Random numbers: threefry-2x32 and what is made of its words.

Element i of an array, in row-major order, gets the words of counter i under a key of two words; so
the numbers do not depend on the tiles. Of kernels from here the scalars are ``key0`` and ``key1``.
With the default, partitionable threefry of JAX, `bits` equals ``jax.random.bits`` and `uniform`
equals ``jax.random.uniform`` bit for bit, `dropout` keeps what ``jax.random.bernoulli`` is true
for, and `normal` is ``jax.random.normal`` but for a few ULP.
"""

from __future__ import annotations

import math

import numpy as np

from celosia.arch.vector import Post, VectorOp
from celosia.kernels.functions import choose, polynomial
from celosia.kernels.terms import Argument, Term, lane_index, row_index, scalar, step
from celosia.kernels.trace import Kernel, kernel

__all__ = ["bits", "counters", "dropout", "keeps", "normal", "normal_of", "threefry", "uniform",
           "uniform_of"]

Op = VectorOp

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA
_LN2 = math.log(2)
#: The inverse error function over x, times sqrt(2): Giles, "Approximating the erfinv function"
#: (2010), in w - 2.5 and in sqrt(w) - 3, w = -log(1 - x**2), below and above w = 5.
_CENTRE = (1.50140941, 0.246640727, -0.00417768164, -0.00125372503, 0.00021858087, -4.39150654e-06,
           -3.5233877e-06, 3.43273939e-07, 2.81022636e-08)
_TAIL = (2.83297682, 1.00167406, 0.00943887047, -0.0076224613, 0.00573950773, -0.00367342844,
         0.00134934322, 0.000100950558, -0.000200214257)


def threefry(key: tuple[Argument, Argument], x0: Argument, x1: Argument) -> tuple[Term, Term]:
    """Return the two words of threefry-2x32 with 20 rounds for counters (x0, x1).

    Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011).
    """
    keys = (*key, step(Op.XOR, step(Op.XOR, key[0], key[1]), _PARITY))
    a, b = step(Op.IADD, x0, keys[0]), step(Op.IADD, x1, keys[1])
    for group in range(5):
        for rotation in _ROTATIONS[group % 2]:
            a = step(Op.IADD, a, b)
            b = step(Op.OR, step(Op.SHL, b, rotation), step(Op.SHR, b, 32 - rotation))
            b = step(Op.XOR, b, a)
        a = step(Op.IADD, a, keys[(group + 1) % 3])
        b = step(Op.IADD, b, step(Op.IADD, keys[(group + 2) % 3], group + 1))
    return a, b


def counters(columns: int, first: int = 0) -> Term:
    """Return the number of each element of a tile: that of its row times columns, plus its lane.

    ``first`` is the column of lane 0.
    """
    return step(Op.IADD, step(Op.IMUL, row_index(), columns), lane_index(first))


def _words(counter: Term) -> Term:
    a, b = threefry((scalar("key0"), scalar("key1")), 0, counter)
    return step(Op.XOR, a, b)


def uniform_of(words: Term) -> Term:
    """Return numbers from 0 to below 1, multiples of 2**-23, of random words."""
    return step(Op.OR, step(Op.SHR, words, 9), 0x3F800000) - 1.0


def normal_of(words: Term) -> Term:
    """Return normally distributed numbers of random words."""
    low = float(np.nextafter(np.float32(-1), np.float32(0)))
    u = step(Op.FFMA, uniform_of(words), 2.0, low)
    log = step(Op.FSUB, 1.0, step(Op.MOV, u, post=Post.SQUARE), post=Post.LOG2)
    root2 = math.sqrt(2)
    centre = polynomial(step(Op.FFMA, log, -_LN2, -2.5), [root2 * c for c in _CENTRE])
    w = log * -_LN2
    root = step(Op.FFMA, w, step(Op.MOV, w, post=Post.RSQRT), -3.0)
    tail = polynomial(root, [root2 * c for c in _TAIL])
    return u * choose(step(Op.FLT, w, 5.0), centre, tail)


def keeps(words: Term, probability: float) -> Term:
    """Return the mask that is all ones with a probability (rounded to fp32), for random words."""
    if not 0 < probability <= 1:
        raise ValueError(f"probability must be above 0 and at most 1, not {probability!r}")
    limit = math.ceil(float(np.float32(probability)) * (1 << 23))
    return step(Op.ILT, step(Op.SHR, words, 9), limit)


def bits(dim: int) -> Kernel:
    """Return the kernel of random words on a chip with ``dim`` lanes."""
    return kernel("bits", lambda: _words(counters(dim)), (), dim=dim, integers=("y",))


def uniform(dim: int) -> Kernel:
    """Return the kernel of `uniform_of` random words."""
    return kernel("uniform", lambda: uniform_of(_words(counters(dim))), (), dim=dim)


def normal(dim: int) -> Kernel:
    """Return the kernel of `normal_of` random words."""
    return kernel("normal", lambda: normal_of(_words(counters(dim))), (), dim=dim)


def dropout(dim: int, rate: float) -> Kernel:
    """Return y = x / (1 - rate) with probability 1 - rate, else 0 (also where x is NaN)."""
    keep = 1 - rate

    def drop(x: Term) -> Term:
        return step(Op.SELECT, keeps(_words(counters(dim)), keep), x * (1 / keep), 0)
    return kernel("dropout", drop, dim=dim)
