"""Factorisations that JAX leaves to the platform, on the golden model."""

import jax
import numpy as np
import pytest

import celosia
from celosia.pjrt.linalg import cholesky, geqrf, hessenberg, householder_product, tridiagonal


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


def adjoint(a):
    return np.swapaxes(a.conj(), -1, -2)


def complex_matrix(*shape):
    rng = np.random.default_rng(1)
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)


@pytest.mark.parametrize("shape", [(4, 3), (1, 1), (2, 2, 3)])
def test_complex_factors(shape):
    a = complex_matrix(*shape)
    q, r = celosia.jit(jax.numpy.linalg.qr, strict=True)(a)
    np.testing.assert_allclose(q @ r, a, atol=1e-5)
    np.testing.assert_allclose(adjoint(q) @ q - np.eye(q.shape[-1]), 0, atol=3e-6)
    assert not np.tril(r, -1).any()


def test_complex_eigenvalues():
    a = complex_matrix(3, 3)
    a += adjoint(a)
    values, vectors = celosia.jit(jax.numpy.linalg.eigh, strict=True)(a)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(a), atol=2e-5)
    np.testing.assert_allclose((vectors * values) @ adjoint(vectors), a, atol=2e-5)


def test_complex_systems():
    a, b = complex_matrix(4, 4), complex_matrix(4, 3)
    a = a @ adjoint(a) + 4 * np.eye(4, dtype=np.complex64)
    lower = celosia.jit(jax.numpy.linalg.cholesky, strict=True)(a)
    np.testing.assert_allclose(lower @ adjoint(lower), a, atol=1e-4)
    assert not np.triu(lower, 1).any()
    x = celosia.jit(jax.numpy.linalg.solve, strict=True)(a, b)
    np.testing.assert_allclose(a @ x, b, atol=1e-4)


def test_lower_factors_of_complex_matrices():
    a = complex_matrix(2, 3, 3)
    a = a @ adjoint(a) + np.eye(3, dtype=np.complex64)
    a[1, 2, 2] = -1  # no square
    above = a + 1j * np.eye(3) + np.triu(complex_matrix(3, 3), 1)  # neither is looked at
    found = celosia.jit(cholesky, strict=True)(above.astype(np.complex64))
    np.testing.assert_allclose(found[0], np.linalg.cholesky(a[0]), atol=1e-5)
    assert not np.triu(found[0], 1).any()
    assert np.isnan(found[1]).all()
    assert celosia.jit(cholesky)(a[:, :0, :0]).shape == (2, 0, 0)


@pytest.mark.parametrize(("left_side", "transpose_a", "conjugate_a"), [
    (True, False, False), (True, True, True), (False, True, False), (False, False, True)])
def test_complex_triangles(left_side, transpose_a, conjugate_a):
    triangle = np.tril(complex_matrix(4, 4)) + 4 * np.eye(4, dtype=np.complex64)
    b = complex_matrix(4, 4)
    x = celosia.jit(lambda a, b: jax.lax.linalg.triangular_solve(
        a, b, left_side=left_side, lower=True, transpose_a=transpose_a,
        conjugate_a=conjugate_a), strict=True)(triangle, b)
    a = triangle.conj() if conjugate_a else triangle
    a = a.T if transpose_a else a
    np.testing.assert_allclose(a @ x if left_side else x @ a, b, atol=1e-5)


@pytest.mark.parametrize("shape", [(5, 5), (2, 4, 4), (1, 1)])
@pytest.mark.parametrize("imaginary", [0, 1])
def test_hessenberg_matrices_are_those_of_lapack(shape, imaginary):
    a = matrix(*shape)
    a = (a + 1j * a[..., ::-1]).astype(np.complex64) if imaginary else a
    found = celosia.jit(hessenberg, strict=True)(a)
    for one, wanted in zip(found, jax.lax.linalg.hessenberg(a), strict=True):
        np.testing.assert_allclose(one, wanted, atol=1e-5)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("imaginary", [0, 1])
def test_tridiagonal_matrices_are_those_of_lapack(lower, imaginary):
    a = matrix(2, 5, 5)
    a = (a + 1j * a[..., ::-1]).astype(np.complex64) if imaginary else a
    a = a + a.swapaxes(1, 2).conj()
    found = celosia.jit(lambda a: tridiagonal(a, lower=lower), strict=True)(a)
    for one, wanted in zip(found, jax.lax.linalg.tridiagonal(a, lower=lower), strict=True):
        np.testing.assert_allclose(one, wanted, atol=1e-5)
