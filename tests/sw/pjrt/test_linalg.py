"""Factorisations that JAX leaves to the platform, on the golden model."""

import jax
import numpy as np
import pytest

import celosia
from celosia.pjrt.linalg import geqrf, householder_product


def matrix(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def factors(a):
    packed, taus = celosia.jit(geqrf, strict=True)(a)
    columns = packed[..., :min(a.shape[-2:])]
    return celosia.jit(householder_product, strict=True)(columns, taus), packed


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4), (1, 1), (40, 20), (2, 5, 3)])
def test_the_factors_are_those_of_lapack(shape):
    a = matrix(*shape)
    q, packed = factors(a)
    r = np.triu(packed)[..., :min(shape[-2:]), :]
    wanted_q, wanted_r = np.linalg.qr(a)
    np.testing.assert_allclose(q, wanted_q, atol=3e-6)
    np.testing.assert_allclose(r, wanted_r, atol=1e-5)
    np.testing.assert_allclose(q @ r, a, atol=1e-5)


@pytest.mark.parametrize("a", [
    np.zeros((4, 3), np.float32), np.eye(4, 3, dtype=np.float32),
    np.array([[3, 1], [0, 2], [0, 0]], np.float32), np.ones((4, 2), np.float32)],
    ids=["zero", "identity", "triangular", "of rank one"])
def test_columns_that_need_no_reflection(a):
    q, packed = factors(a)
    np.testing.assert_allclose(q.T @ q, np.eye(a.shape[1]), atol=1e-6)
    np.testing.assert_allclose(q @ np.triu(packed)[:a.shape[1]], a, atol=1e-6)


def test_no_rank_is_promoted():
    a = matrix(5, 3)
    with jax.numpy_rank_promotion("raise"):
        q, packed = factors(a)
    np.testing.assert_allclose(q @ np.triu(packed)[:3], a, atol=1e-5)


def test_reflections_keep_lengths():
    a = matrix(6, 4)
    packed, _ = celosia.jit(geqrf, strict=True)(a)
    np.testing.assert_allclose(np.linalg.norm(np.triu(packed), axis=0),
                               np.linalg.norm(a, axis=0), rtol=1e-6)
