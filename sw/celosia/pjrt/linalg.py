"""Factorisations that JAX leaves to a platform, written in operations that the chip has."""

from __future__ import annotations

from typing import Any

__all__ = ["eigh", "geqrf", "householder_product", "register"]


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


#: Sweeps of rotations at most. Off the diagonal, numbers are squared in each of the last ones.
_MOST_SWEEPS = 16


def eigh(a: Any, *, lower: bool, subset_by_index: tuple[int, int] | None = None, **_: Any
         ) -> tuple[Any, Any]:
    """Return eigenvectors, as columns, and eigenvalues, ascending, of symmetric matrices.

    Jacobi's method in the order of a tournament (Brent and Luk 1985): in each round all rows meet
    in pairs, whose rotations are independent of one another.

    Parameters
    ----------
    a
        Matrices [..., n, n].
    lower
        Which triangle counts.
    subset_by_index
        The first eigenvalue that is wanted, and what follows the last; None: all.
    """
    import jax
    import jax.numpy as jnp

    if a.ndim > 2:
        def one(a: Any) -> tuple[Any, Any]:
            return eigh(a, lower=lower, subset_by_index=subset_by_index)
        return jax.vmap(one)(a)
    n = a.shape[0]
    first, last = subset_by_index or (0, n)
    if n < 2:
        return jnp.ones_like(a)[:, first:last], a.reshape(n)[first:last]
    part = jnp.tril(a) if lower else jnp.triu(a)
    a = jnp.where(jnp.eye(n, dtype=bool), a, part + part.T)
    # Of an odd number the last has nobody to meet: a row of zeros, which no rotation changes.
    a = jnp.pad(a, ((0, n % 2), (0, n % 2)))
    vectors, values = _jacobi(a)
    vectors = vectors[:, :n]
    if n % 2:
        real = jnp.sum(vectors * vectors, axis=1) > 0
        values = jnp.where(real, values, jnp.inf)
    order = jnp.argsort(values)[:n]
    return vectors[order].T[:, first:last], values[order][first:last]


def _jacobi(a: Any) -> tuple[Any, Any]:
    """Return eigenvectors, as rows, and eigenvalues of a matrix with an even number of rows."""
    import jax.numpy as jnp
    from jax import lax

    count = a.shape[0]
    half, diagonal = count // 2, jnp.eye(count, dtype=bool)
    mine = diagonal[:half, :half]

    def pairs(x: Any) -> Any:
        return jnp.sum(jnp.where(mine, x, 0), axis=1, keepdims=True)

    def seated(top: Any, bottom: Any) -> Any:
        """Return rows where they meet others next: the first stays, the others move on by one."""
        if half == 1:
            return jnp.concatenate([top, bottom])
        return jnp.concatenate([top[:1], bottom[:1], top[1:-1], bottom[1:], top[-1:]])

    def round(_: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
        a, vectors = state
        app, aqq, apq = pairs(a[:half, :half]), pairs(a[half:, half:]), pairs(a[:half, half:])
        some = apq != 0
        tau = (aqq - app) / jnp.where(some, 2 * apq, 1)
        tangent = jnp.where(tau < 0, -1, 1) / (jnp.abs(tau) + jnp.sqrt(1 + tau * tau))
        tangent = jnp.where(some, tangent, 0)
        cosine = 1 / jnp.sqrt(1 + tangent * tangent)
        sine = tangent * cosine

        def rotated(x: Any) -> Any:
            top, bottom = x[:half], x[half:]
            return seated(cosine * top - sine * bottom, sine * top + cosine * bottom)

        return rotated(rotated(a).T), rotated(vectors)

    def sweep(state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        number, a, vectors = state
        return (number + 1, *lax.fori_loop(0, count - 1, round, (a, vectors)))

    def unfinished(state: tuple[Any, Any, Any]) -> Any:
        number, a, _ = state
        squares = a * a
        rest = jnp.sum(jnp.where(diagonal, 0, squares))
        return (number < _MOST_SWEEPS) & (rest > 1e-14 * jnp.sum(squares))

    _, a, vectors = lax.while_loop(unfinished, sweep, (0, a, jnp.eye(count, dtype=a.dtype)))
    return vectors, jnp.sum(jnp.where(diagonal, a, 0), axis=1)


def register(platform: str) -> None:
    """Have JAX lower QR and eigenvalues, and what JAX makes of them, to operations of the graph."""
    from jax._src.interpreters import mlir
    from jax._src.lax import linalg

    for name, function, several in (("geqrf_p", geqrf, True),
                                    ("householder_product_p", householder_product, False),
                                    ("eigh_p", eigh, True)):
        primitive = getattr(linalg, name, None)
        if primitive is not None:
            mlir.register_lowering(primitive, mlir.lower_fun(function, multiple_results=several),
                                   platform=platform)
