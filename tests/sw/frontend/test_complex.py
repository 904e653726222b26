"""Complex numbers: pairs of f32 on the chip, against NumPy's in double precision."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import celosia
from celosia.frontend import FrontendError, import_stablehlo
from celosia.graph import interpret

RNG = np.random.default_rng(7)


def numbers(*shape):
    return (RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)).astype(np.complex64)


def agree(function, *args, tolerance=1e-5):
    """Compare what the chip makes of arguments with what JAX makes of them on the host."""
    with jax.default_matmul_precision("highest"), celosia.jit(function, strict=True) as on_chip:
        found = jax.tree.leaves(on_chip(*args))
        wanted = jax.tree.leaves(function(*args))
    for a, b in zip(found, map(np.asarray, wanted), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        if a.dtype.kind in "fc":
            np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_array_equal(a, b)


def test_arithmetic():
    def f(x, y):
        return (x + y, x - y, -x, x * y, x / y, x.conj(), x.real, x.imag, x == y, x != x,
                jnp.sign(x), jnp.abs(x), jnp.angle(x), x * (1 + 2j), jnp.square(x), x / 2)
    agree(f, numbers(3, 5), numbers(3, 5))


def test_functions():
    def f(x):
        return [getattr(jnp, name)(x) for name in (
            "exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "log1p", "expm1",
            "arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh")] + [
                lax.rsqrt(x), jax.nn.sigmoid(x), x ** (0.5 + 1j)]
    agree(f, numbers(40), tolerance=2e-5)


def test_magnitudes_and_roots_do_not_overflow():
    x = np.array([0, 3e38 + 1e38j, 1e-20j, -1, 1j, -1j, 3 - 4j, -np.inf + 2j], np.complex64)
    agree(lambda x: (jnp.abs(x), jnp.sqrt(x[:-1]), 1 / x[2:-1]), x)


def test_movement():
    def f(x, y, i):
        return (x.T.reshape(-1)[::-1], jnp.concatenate([x, y]), jnp.pad(x, 1), x[1, 2:],
                x.at[1].set(2j), x.at[jnp.array([0, 0])].add(1 + 2j), x[i],
                jnp.where(x.real > 0, x, y),
                jnp.broadcast_to(x[0], (2, 4)), lax.dynamic_slice(x, (i[0], 0), (1, 2)),
                x.real.astype(jnp.complex64))
    agree(f, jnp.array(numbers(3, 4)), jnp.array(numbers(3, 4)), np.array([2, 0], np.int32))


def test_sums_and_products():
    def f(x, y):
        return (jnp.sum(x), jnp.mean(x, axis=0), jnp.cumsum(x, 1), x @ y.T, x @ y.real.T,
                x.real @ y.T, jnp.einsum("ij,ij->i", x, y.conj()))
    agree(f, numbers(3, 4), numbers(3, 4))


def test_control_flow_and_gradients():
    def f(x):
        turned = lax.fori_loop(0, 3, lambda i, x: x * (0.5 + 0.5j), x)
        chosen = lax.cond(x.real.sum() > 0, lambda x: x * 1j, lambda x: x, x)
        scanned = lax.scan(lambda c, x: (c + x, c * x), jnp.zeros(4, jnp.complex64), x)
        return turned, chosen, scanned, jax.grad(lambda x: jnp.sum(jnp.abs(x * x) ** 2))(x)
    agree(f, numbers(3, 4))


@pytest.mark.parametrize("n", [1, 2, 7, 16, 60])
def test_fourier_transforms(n):
    x = numbers(2, n)
    agree(lambda x: (jnp.fft.fft(x), jnp.fft.ifft(x), jnp.fft.rfft(x.real),
                     jnp.fft.irfft(x, n=n), jnp.fft.fft(x, axis=0)), x)


def test_fourier_transforms_of_several_dimensions():
    agree(lambda x: (jnp.fft.fft2(x), jnp.fft.ifft2(x), jnp.fft.rfftn(x.real), jnp.fft.irfftn(x)),
          numbers(3, 4, 6), tolerance=3e-5)
    agree(lambda x: jax.grad(lambda x: jnp.sum(jnp.abs(jnp.fft.rfft(x)) ** 2))(x),
          RNG.standard_normal(8).astype(np.float32))


def test_scalars_nothing_and_constants():
    agree(lambda x: (x * 2, jnp.array([1, 2j])), np.complex64(1 + 2j))
    agree(lambda x: x * 2, np.zeros((0, 3), np.complex64))
    with celosia.jit(lambda x: x + 1) as f:
        assert f(2j) == 1 + 2j


def test_the_graph_has_them_where_a_program_takes_and_gives_them():
    graph = import_stablehlo("""func.func @main(%x: tensor<3xcomplex<f32>>)
        -> tensor<3xcomplex<f32>> {
        %0 = stablehlo.multiply %x, %x : tensor<3xcomplex<f32>>
        return %0 : tensor<3xcomplex<f32>> }""")
    complex_ops = {node.op for node in graph.nodes
                   if any(type.dtype.is_complex for type in node.types)}
    assert complex_ops == {"parameter", "bitcast"}
    x = np.array([1 + 2j, -1j, 3], np.complex64)
    np.testing.assert_array_equal(interpret(graph, [x])[0], x * x)


@pytest.mark.parametrize(("operation", "message"), [
    ("stablehlo.compare LT, %x, %x", "comparison of complex numbers must be EQ or NE, not LT"),
    ("stablehlo.cbrt %x", "operation must be one that complex numbers have here"),
])
def test_what_complex_numbers_have_not(operation, message):
    result = "tensor<3xi1>" if "compare" in operation else "tensor<3xcomplex<f32>>"
    types = (f"(tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> {result}"
             if "compare" in operation else "tensor<3xcomplex<f32>>")
    with pytest.raises(FrontendError, match=message):
        import_stablehlo(f"""func.func @main(%x: tensor<3xcomplex<f32>>) -> {result} {{
            %0 = {operation} : {types}
            return %0 : {result} }}""")


def test_products_and_maxima_of_many():
    agree(lambda x: (jnp.prod(x), jnp.prod(x, 1), jnp.max(x, 0), jnp.min(x), jnp.cumprod(x, 0),
                     lax.reduce(x, jnp.complex64(0), lambda a, b: a + b + (1 - 1j), (0,))),
          numbers(5, 4))


def test_order():
    # By the real part, where that is the same by the other one.
    x = np.round(numbers(4, 9))
    agree(lambda x: (jnp.sort(x), jnp.argsort(x, 0), jnp.sort(x.ravel(), descending=True),
                     lax.sort((x.real, x), num_keys=1)), x)


def test_products_where_indices_repeat():
    agree(lambda x, i: x.at[i].multiply(2j), jnp.array(numbers(3)), np.array([1, 1, 0, 5]))


def test_counts_and_products_of_real_numbers():
    x = RNG.standard_normal((3, 4)).astype(np.float32)
    agree(lambda x: (jnp.arange(5, dtype=jnp.complex64),
                     lax.broadcasted_iota(jnp.complex64, (2, 3), 1),
                     lax.dot(x, x.T, preferred_element_type=jnp.complex64),
                     lax.bitcast_convert_type(x + 1j, jnp.complex64)), x)


def test_cumulative_logarithms_of_sums():
    # The body has a remainder, which is a loop.
    agree(lambda x: (lax.cumlogsumexp(x), lax.cumlogsumexp(x, reverse=True)), numbers(7),
          tolerance=1e-4)
