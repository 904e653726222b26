"""Custom calls that give tuples, as TensorFlow's bridge to XLA makes them, on the golden model."""

import numpy as np
import pytest

import celosia
from celosia.frontend.stablehlo.reader import read_module
from celosia.pjrt.factorisations import factorise

CALL = """
func.func @main(%a: tensor<2x4x4xf32>) -> (tensor<2x4x4xf32>, FACTORS) {
  %0 = stablehlo.custom_call @TARGET(%a) {backend_config = "CONFIG"} :
    (tensor<2x4x4xf32>) -> tuple<tensor<2x4x4xf32>, tensor<2x4xf32>>
  %1 = stablehlo.get_tuple_element %0[0] :
    (tuple<tensor<2x4x4xf32>, tensor<2x4xf32>>) -> tensor<2x4x4xf32>
  %2 = stablehlo.get_tuple_element %0[1] :
    (tuple<tensor<2x4x4xf32>, tensor<2x4xf32>>) -> tensor<2x4xf32>
  REST
}
"""
QR = CALL.replace("TARGET", "Qr").replace("CONFIG", "").replace("FACTORS", "tensor<2x4x4xf32>")
QR = QR.replace("REST", """
  %3 = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%1, %2)
    {backend_config = ""} : (tensor<2x4x4xf32>, tensor<2x4xf32>) -> tensor<2x4x4xf32>
  return %3, %1 : tensor<2x4x4xf32>, tensor<2x4x4xf32>
""")
EIGH = CALL.replace("TARGET", "Eigh").replace("FACTORS", "tensor<2x4xf32>").replace(
    "REST", "return %1, %2 : tensor<2x4x4xf32>, tensor<2x4xf32>")
A = np.random.default_rng(0).normal(size=(2, 4, 4)).astype(np.float32)


def run(text, a):
    module = read_module(text, "factors")
    factorise(module)
    return celosia.compile(str(module), strict=True)(a)


def test_qr_is_that_of_lapack():
    q, packed = run(QR, A)
    wanted, _ = np.linalg.qr(A)
    np.testing.assert_allclose(q, wanted, atol=3e-6)
    np.testing.assert_allclose(q @ np.triu(packed), A, atol=1e-5)


@pytest.mark.parametrize("lower", [True, False])
def test_eigenvectors_are_of_the_triangle_that_is_named(lower):
    vectors, values = run(EIGH.replace("CONFIG", f"{int(lower)},1,6,0.000001"), A)
    wanted, _ = np.linalg.eigh(A, "L" if lower else "U")
    np.testing.assert_allclose(values, wanted, atol=1e-5)
    part = np.tril(A) if lower else np.triu(A)
    whole = part + np.swapaxes(part, 1, 2) * (1 - np.eye(4, dtype=np.float32))
    np.testing.assert_allclose(whole @ vectors, vectors * values[:, None], atol=1e-5)


def test_other_elements_stay():
    text = QR.replace("f32", "bf16")
    module = read_module(text, "factors")
    factorise(module)
    assert str(module).count("stablehlo.custom_call") == 2
