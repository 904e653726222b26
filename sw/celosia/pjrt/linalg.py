"""Factorisations that JAX leaves to a platform, written in operations that the chip has."""

from __future__ import annotations

from functools import partial
from typing import Any

__all__ = ["cholesky", "eigh", "geqrf", "hessenberg", "householder_product", "register",
           "triangular_solve", "tridiagonal"]


def _squares(x: Any) -> Any:
    """Return the squares of magnitudes."""
    import jax.numpy as jnp

    return x.real * x.real + x.imag * x.imag if jnp.iscomplexobj(x) else x * x


def _reflection(x: Any, at: Any, below: Any) -> tuple[Any, Any, Any, Any]:
    """Return what reflects a column onto an axis: vector, factor, what is left, if anything is.

    Parameters
    ----------
    x
        The column.
    at, below
        Where the axis is, and where zeros will be.
    """
    import jax.numpy as jnp

    first = jnp.sum(jnp.where(at, x, 0))
    rest = jnp.sum(jnp.where(below, _squares(x), 0))
    length = jnp.sqrt(_squares(first) + rest)
    beta = jnp.where(first.real > 0, -length, length)
    # A complex number is turned until it is real.
    some = (rest > 0) | (first.imag != 0) if jnp.iscomplexobj(first) else rest > 0
    v = jnp.where(below, x / jnp.where(some, first - beta, 1), jnp.where(at, 1, 0))
    tau = jnp.where(some, (beta - first) / jnp.where(some, beta, 1), 0)
    return v, tau, beta, some


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
        v, tau, beta, some = _reflection(x, at, below)
        onto = tau.conj() * jnp.sum(t * v.conj()[None], axis=1, keepdims=True)
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
        return q - tau * jnp.sum(q * v.conj()[None], axis=1, keepdims=True) * v[None]

    return lax.fori_loop(0, steps, reflect, jnp.eye(width, height, dtype=a.dtype)).T


def hessenberg(a: Any, **_: Any) -> tuple[Any, Any]:
    """Make square matrices zero below what is next to the diagonal, as LAPACK's ``gehrd`` does.

    Golub and Van Loan, 7.4.3: columns are reflected as in `geqrf`, rows with them.

    Returns
    -------
    tuple
        The matrix, with the reflections' vectors where zeros are; their factors [..., n - 1].
    """
    import jax
    import jax.numpy as jnp
    from jax import lax

    if a.ndim > 2:
        return jax.vmap(hessenberg)(a)
    count = max(a.shape[0] - 1, 0)
    if not count:
        return a, jnp.zeros(0, a.dtype)
    rows, columns = jnp.arange(count + 1), jnp.arange(count + 1)[:, None]

    def reflect(j: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
        t, taus = state
        x = lax.dynamic_index_in_dim(t, j, keepdims=False)
        at, below = rows == j + 1, rows > j + 1
        v, tau, beta, some = _reflection(x, at, below)
        onto = tau.conj() * jnp.sum(t * v.conj()[None], axis=1, keepdims=True)
        t = jnp.where(columns > j, t - onto * v[None], t)
        onto = tau * jnp.sum(t * v[:, None], axis=0, keepdims=True)
        t = jnp.where(columns > j, t - v.conj()[:, None] * onto, t)
        x = jnp.where(below, v, jnp.where(at & some, beta, x))
        t = lax.dynamic_update_index_in_dim(t, x, j, 0)
        return t, jnp.where(jnp.arange(count) == j, tau, taus)

    t, taus = lax.fori_loop(0, count, reflect, (a.T, jnp.zeros(count, a.dtype)))
    return t.T, taus


def tridiagonal(a: Any, *, lower: bool, **_: Any) -> tuple[Any, Any, Any, Any]:
    """Make Hermitian matrices zero but for three diagonals, as LAPACK's ``sytrd`` does.

    Parameters
    ----------
    a
        Matrices [..., n, n].
    lower
        Which triangle counts, and is changed.

    Returns
    -------
    tuple
        The matrix with the reflections' vectors in that triangle; its diagonal and the one beside
        it; factors.
    """
    import jax
    import jax.numpy as jnp

    if a.ndim > 2:
        return jax.vmap(partial(tridiagonal, lower=lower))(a)
    if not lower:
        # The last columns come first.
        found, *rest = tridiagonal(a[::-1, ::-1], lower=True)
        return found[::-1, ::-1], *(each[::-1] for each in rest)
    part = jnp.tril(a, -1)
    whole = jnp.where(jnp.eye(a.shape[0], dtype=bool), a.real, part + part.T.conj())
    made, taus = hessenberg(whole)
    return (jnp.tril(made) + jnp.triu(a, 1), jnp.diagonal(made).real,
            jnp.diagonal(made, -1).real, taus)


#: Sweeps of rotations at most. Off the diagonal, numbers are squared in each of the last ones.
_MOST_SWEEPS = 16


def eigh(a: Any, *, lower: bool, subset_by_index: tuple[int, int] | None = None, **_: Any
         ) -> tuple[Any, Any]:
    """Return eigenvectors, as columns, and eigenvalues, ascending, of Hermitian matrices.

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
        return jnp.ones_like(a)[:, first:last], a.real.reshape(n)[first:last]
    part = jnp.tril(a) if lower else jnp.triu(a)
    a = jnp.where(jnp.eye(n, dtype=bool), a.real, part + part.T.conj())
    # Of an odd number the last has nobody to meet: a row of zeros, which no rotation changes.
    a = jnp.pad(a, ((0, n % 2), (0, n % 2)))
    vectors, values = _jacobi(a)
    vectors = vectors[:, :n]
    if n % 2:
        padding = jnp.sum(_squares(vectors), axis=1) == 0
        values = jnp.where(padding, jnp.inf, values)
    order = jnp.argsort(values)[:n]
    return vectors[order].T.conj()[:, first:last], values[order][first:last]


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
        if jnp.iscomplexobj(a):
            app, aqq, size = app.real, aqq.real, jnp.abs(apq)
            turn = jnp.where(size != 0, apq / jnp.where(size != 0, size, 1), 1)
            apq = size
        else:
            turn = None
        some = apq != 0
        tau = (aqq - app) / jnp.where(some, 2 * apq, 1)
        tangent = jnp.where(tau < 0, -1, 1) / (jnp.abs(tau) + jnp.sqrt(1 + tau * tau))
        tangent = jnp.where(some, tangent, 0)
        cosine = 1 / jnp.sqrt(1 + tangent * tangent)
        sine = tangent * cosine

        def rotated(x: Any) -> Any:
            top, bottom = x[:half], x[half:]
            if turn is None:
                return seated(cosine * top - sine * bottom, sine * top + cosine * bottom)
            return seated(cosine * top - sine * turn * bottom,
                          sine * turn.conj() * top + cosine * bottom)

        return rotated(rotated(a).T.conj()), rotated(vectors)

    def sweep(state: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        number, a, vectors = state
        return (number + 1, *lax.fori_loop(0, count - 1, round, (a, vectors)))

    def unfinished(state: tuple[Any, Any, Any]) -> Any:
        number, a, _ = state
        squares = _squares(a)
        rest = jnp.sum(jnp.where(diagonal, 0, squares))
        return (number < _MOST_SWEEPS) & (rest > 1e-14 * jnp.sum(squares))

    _, a, vectors = lax.while_loop(unfinished, sweep, (0, a, jnp.eye(count, dtype=a.dtype)))
    return vectors, jnp.sum(jnp.where(diagonal, a.real, 0), axis=1)


def triangular_solve(a: Any, b: Any, *, left_side: bool, lower: bool, transpose_a: bool,
                     conjugate_a: bool, unit_diagonal: bool) -> Any:
    """Solve triangular systems of complex numbers; those of real ones are the graph's.

    Parameters
    ----------
    a, b
        Matrices [..., n, n], and [..., n, columns] or, with a on the right, [..., rows, n].
    left_side, lower, transpose_a, conjugate_a, unit_diagonal
        As of `jax.lax.linalg.triangular_solve`.
    """
    import jax.numpy as jnp
    from jax import lax

    # x a = b is a' x' = b'. What is transposed twice is not.
    a = a.conj() if conjugate_a else a
    if transpose_a == left_side:
        a, lower = jnp.swapaxes(a, -1, -2), not lower
    b = b if left_side else jnp.swapaxes(b, -1, -2)
    if not lower:
        a, b = jnp.flip(a, (-1, -2)), jnp.flip(b, -2)
    count, rows = a.shape[-1], jnp.arange(a.shape[-1])[:, None]
    rows = rows.reshape((1,) * (a.ndim - 2) + rows.shape)

    def step(at: Any, x: Any) -> Any:
        row = lax.dynamic_slice_in_dim(x, at, 1, axis=-2)
        factors = lax.dynamic_slice_in_dim(a, at, 1, axis=-1)
        if not unit_diagonal:
            row = row / lax.dynamic_slice_in_dim(factors, at, 1, axis=-2)
        x = jnp.where(rows > at, x - factors * row, x)
        return lax.dynamic_update_slice_in_dim(x, row, at, axis=-2)

    x = lax.fori_loop(0, count, step, b)
    x = x if lower else jnp.flip(x, -2)
    return x if left_side else jnp.swapaxes(x, -1, -2)


def cholesky(a: Any) -> Any:
    """Return the lower factors of complex matrices [..., n, n]; those of real ones are the graph's.

    Golub and Van Loan, 4.2.5. Of a matrix that is not positive definite no element is a number.
    """
    import jax.numpy as jnp
    from jax import lax

    count = a.shape[-1]
    if not count:
        return a
    part = jnp.tril(a, -1)
    a = jnp.where(jnp.eye(count, dtype=bool).reshape((1,) * (a.ndim - 2) + (count, count)),
                  a.real, part + jnp.swapaxes(part, -1, -2).conj())
    rows = jnp.arange(count)[:, None].reshape((1,) * (a.ndim - 2) + (count, 1))

    def step(at: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
        a, factor = state
        column = lax.dynamic_slice_in_dim(a, at, 1, axis=-1)
        root = jnp.sqrt(lax.dynamic_slice_in_dim(column, at, 1, axis=-2).real)
        column = jnp.where(rows >= at, column / root, 0)
        change = column * jnp.swapaxes(column, -1, -2).conj()
        return a - change, lax.dynamic_update_slice_in_dim(factor, column, at, axis=-1)

    _, factor = lax.fori_loop(0, count, step, (a, jnp.zeros_like(a)))
    bad = jnp.sum(_squares(factor), axis=(-1, -2), keepdims=True) * 0
    return factor + bad


def _of_complex(function: Any, otherwise: Any) -> Any:
    """Return a rule that lowers to a function for complex numbers, as another rule else."""
    import jax.numpy as jnp
    from jax._src.interpreters import mlir

    ours = mlir.lower_fun(function, multiple_results=False)

    def rule(ctx: Any, *operands: Any, **params: Any) -> Any:
        numbers = jnp.issubdtype(ctx.avals_in[0].dtype, jnp.complexfloating)
        return (ours if numbers else otherwise)(ctx, *operands, **params)

    return rule


def _refuse(name: str, platform: str, *_: Any, **__: Any) -> Any:
    raise NotImplementedError(
        f"eigenvalues on {platform} must be of Hermitian matrices (jax.numpy.linalg.eigh), not of "
        f"any ({name}): the CPU has those, with JAX_PLATFORMS={platform},cpu and within "
        "jax.default_device(jax.devices('cpu')[0])")


def register(platform: str) -> None:
    """Have JAX lower factorisations, and what it makes of them, to operations of the graph.

    Cholesky and triangular systems of real numbers are such operations themselves.
    """
    from jax._src.interpreters import mlir
    from jax._src.lax import linalg

    for name, function, several in (("geqrf_p", geqrf, True),
                                    ("householder_product_p", householder_product, False),
                                    ("eigh_p", eigh, True), ("hessenberg_p", hessenberg, True),
                                    ("tridiagonal_p", tridiagonal, True)):
        primitive = getattr(linalg, name, None)
        if primitive is not None:
            mlir.register_lowering(primitive, mlir.lower_fun(function, multiple_results=several),
                                   platform=platform)
    for name in ("eig_p", "schur_p"):
        primitive = getattr(linalg, name, None)
        if primitive is not None:
            mlir.register_lowering(primitive, partial(_refuse, name.removesuffix("_p"), platform),
                                   platform=platform)
    for name, function in (("triangular_solve_p", triangular_solve), ("cholesky_p", cholesky)):
        primitive = getattr(linalg, name, None)
        if primitive is not None and primitive in mlir._lowerings:
            rule = mlir._lowerings[primitive].rule
            mlir.register_lowering(primitive, _of_complex(function, rule), platform=platform)
