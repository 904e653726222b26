"""Batch normalisation and maps of StableHLO, which JAX does not make."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from pages.specification import OPERATIONS

import celosia
from celosia.frontend import import_stablehlo
from celosia.graph import interpret

RNG = np.random.default_rng(17)
EPSILON = 1e-3
X, SCALE = RNG.standard_normal((2, 3)).astype(np.float32), np.float32([0.5, 2, -1])


def run(text, *inputs):
    """Return what the chip makes of arguments; the graph means the same."""
    found = celosia.compile(text, "core", strict=True)(*inputs)
    meant = interpret(import_stablehlo(text), list(inputs))
    for a, b in zip(found, meant, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    return found


def whole(name):
    """Return the program of the specification's page, with all results of the operation."""
    text = OPERATIONS[name]("f32").replace("return %r : tensor<2x3xf32>", "return %r, %m, %v : "
                                           "tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>")
    return text.replace(") -> tensor<2x3xf32> {", ") -> (tensor<2x3xf32>, tensor<3xf32>, "
                                                  "tensor<3xf32>) {")


def normal(x, scale, offset, mean, variance):
    return (x - mean) / jnp.sqrt(variance + EPSILON) * scale + offset


def test_inference_and_training():
    # The program has one argument for scale, offset, mean and variance.
    a = np.abs(SCALE)
    [found] = run(OPERATIONS["batch_norm_inference"]("f32"), X, a)
    np.testing.assert_allclose(found, normal(X, a, a, a, a), rtol=1e-5)
    found = run(whole("batch_norm_training"), X, SCALE)
    mean, variance = X.mean(0), X.var(0)
    for one, wanted in zip(found, (normal(X, SCALE, SCALE, mean, variance), mean, variance),
                           strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-4, atol=1e-6)


def test_gradients():
    gradient = RNG.standard_normal((2, 3)).astype(np.float32)
    mean, variance = X.mean(0), X.var(0)
    text = """func.func @main(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %m: tensor<3xf32>,
            %v: tensor<3xf32>, %g: tensor<2x3xf32>)
            -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) {
        %a, %b, %c = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g)
            <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>,
            tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>)
            -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
        return %a, %b, %c : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32> }"""

    def trained(x, scale, offset):
        return normal(x, scale, offset, x.mean(0), x.var(0))

    _, pull = jax.vjp(trained, X, SCALE, np.zeros(3, np.float32))
    for one, wanted in zip(run(text, X, SCALE, mean, variance, gradient), pull(gradient),
                           strict=True):
        np.testing.assert_allclose(one, wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("element", ["i32", "f32", "complex<f32>"])
def test_maps(element):
    x, y = (RNG.integers(-9, 9, (2, 3)).astype(np.float32) for _ in "xy")
    dtype = {"i32": np.int32, "complex<f32>": np.complex64}.get(element, np.float32)
    x, y = x.astype(dtype), y.astype(dtype)
    [found] = run(OPERATIONS["map"](element), x, y)
    np.testing.assert_array_equal(found, x + y)


def test_powers_of_integers():
    x, y = (np.ascontiguousarray(each.ravel()).astype(np.int32) for each in
            np.meshgrid([-3, -2, -1, 0, 1, 2, 3], [-3, -2, -1, 0, 1, 2, 5]))
    [found] = run("""func.func @main(%x: tensor<49xi32>, %y: tensor<49xi32>) -> tensor<49xi32> {
        %0 = stablehlo.power %x, %y : tensor<49xi32>
        return %0 : tensor<49xi32> }""", x, y)
    wanted = [a**b if b >= 0 else a**(b % 2) if abs(a) == 1 else 0
              for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    assert found.tolist() == wanted


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.uint16, np.int32, np.uint32])
def test_products_of_integers_are_exact(dtype):
    info = np.iinfo(dtype)
    a, b = (RNG.integers(info.min, info.max, shape, dtype, endpoint=True)
            for shape in ((5, 40), (40, 7)))
    a[0, :4], b[:4, 0] = info.max, info.min
    element = np.dtype(dtype).name.replace("uint", "ui").replace("int", "i")
    wide = "i32" if info.min else "ui32"
    [found] = run(f"""func.func @main(%x: tensor<5x40x{element}>, %y: tensor<40x7x{element}>)
            -> tensor<5x7x{wide}> {{
        %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] :
            (tensor<5x40x{element}>, tensor<40x7x{element}>) -> tensor<5x7x{wide}>
        return %0 : tensor<5x7x{wide}> }}""", a, b)
    exact = (a.astype(object) @ b.astype(object)) % 2**32
    np.testing.assert_array_equal(found.astype(np.uint32).astype(object), exact)
