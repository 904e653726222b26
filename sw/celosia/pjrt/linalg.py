"""Factorisations that JAX leaves to a platform, written in operations that the chip has."""

from __future__ import annotations

from typing import Any

__all__ = ["geqrf", "householder_product", "register"]


def geqrf(a: Any, **_: Any) -> tuple[Any, Any]:
    """Factorise a matrix as LAPACK's ``geqrf`` does: A = Q R.

    Column after column is reflected onto an axis (Golub and Van Loan, Matrix Computations, 4th
    edition, 5.2). Products are sums of fp32 products: the array's, of bf16, are too coarse here.

    Parameters
    ----------
    a
        Matrices [..., rows, columns].

    Returns
    -------
    tuple
        R in the upper triangle, with the reflections' vectors below it, whose first element is 1;
        and their factors [..., min(rows, columns)].
    """
    import jax
    import jax.numpy as jnp
    from jax import lax

    if a.ndim > 2:
        return jax.vmap(geqrf)(a)
    height, width = a.shape
    steps = min(height, width)
    # Columns are rows here: the address of a row may be computed.
    # No operand's rank is promoted: `jax_numpy_rank_promotion` may forbid that.
    rows, columns = jnp.arange(height), jnp.arange(width)[:, None]

    def reflect(j: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
        t, taus = state
        x = lax.dynamic_index_in_dim(t, j, keepdims=False)
        at, below = rows == j, rows > j
        first = jnp.sum(jnp.where(at, x, 0))
        rest = jnp.sum(jnp.where(below, x * x, 0))
        length = jnp.sqrt(first * first + rest)
        beta = jnp.where(first > 0, -length, length)
        some = rest > 0
        v = jnp.where(below, x / jnp.where(some, first - beta, 1), jnp.where(at, 1, 0))
        tau = jnp.where(some, (beta - first) / jnp.where(some, beta, 1), 0)
        onto = tau * jnp.sum(t * v[None], axis=1, keepdims=True)
        t = jnp.where(columns > j, t - onto * v[None], t)
        x = jnp.where(below, v, jnp.where(at & some, beta, x))
        t = lax.dynamic_update_index_in_dim(t, x, j, 0)
        return t, jnp.where(jnp.arange(steps) == j, tau, taus)

    t, taus = lax.fori_loop(0, steps, reflect, (a.T, jnp.zeros(steps, a.dtype)))
    return t.T, taus


def householder_product(a: Any, taus: Any, **_: Any) -> Any:
    """Return the first columns of Q, of what `geqrf` returns: as many as ``a`` has.

    Parameters
    ----------
    a
        Vectors below the diagonals of [..., rows, columns].
    taus
        Factors [..., vectors].
    """
    import jax
    import jax.numpy as jnp
    from jax import lax

    if a.ndim > 2:
        return jax.vmap(householder_product)(a, taus)
    height, width = a.shape
    steps = taus.shape[0]
    rows, t = jnp.arange(height), a.T

    def reflect(i: Any, q: Any) -> Any:
        j = steps - 1 - i
        x = lax.dynamic_index_in_dim(t, j, keepdims=False)
        v = jnp.where(rows > j, x, jnp.where(rows == j, 1, 0))
        tau = jnp.sum(jnp.where(jnp.arange(steps) == j, taus, 0))
        return q - tau * jnp.sum(q * v[None], axis=1, keepdims=True) * v[None]

    return lax.fori_loop(0, steps, reflect, jnp.eye(width, height, dtype=a.dtype)).T


def register(platform: str) -> None:
    """Have JAX lower QR, which orthogonal initialisers use, to operations of the graph."""
    from jax._src.interpreters import mlir
    from jax._src.lax import linalg

    for name, function, several in (("geqrf_p", geqrf, True),
                                    ("householder_product_p", householder_product, False)):
        primitive = getattr(linalg, name, None)
        if primitive is not None:
            mlir.register_lowering(primitive, mlir.lower_fun(function, multiple_results=several),
                                   platform=platform)
