"""Cholesky factors and triangular systems, against float64."""

from itertools import product

import numpy as np
import pytest

import celosia
from celosia.frontend import FrontendError, import_stablehlo
from celosia.graph import interpret


def run(text, *arguments):
    """Return what the graph means; the chip's is checked to be close."""
    [meant] = interpret(import_stablehlo(text), list(arguments))
    [found] = celosia.compile(text, "core", strict=True)(*arguments)
    np.testing.assert_allclose(found, meant, rtol=1e-4, atol=1e-5)
    return meant


def normal(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def positive(seed, *shape):
    x = normal(seed, *shape)
    return x @ np.swapaxes(x, -1, -2) / shape[-1] + np.eye(shape[-1], dtype=np.float32)


def type_of(array, element="f32"):
    return "x".join([*map(str, array.shape), element])


@pytest.mark.parametrize("shape", [(1, 1), (7, 7), (20, 20), (2, 3, 5, 5)])
@pytest.mark.parametrize("lower", [True, False])
def test_cholesky(shape, lower):
    a = positive(1, *shape)
    text = f"""func.func @main(%a: tensor<{type_of(a)}>) -> tensor<{type_of(a)}> {{
        %0 = stablehlo.cholesky %a, lower = {str(lower).lower()} : tensor<{type_of(a)}>
        return %0 : tensor<{type_of(a)}> }}"""
    wanted = np.linalg.cholesky(a.astype(np.float64))
    # What is in the other triangle does not count.
    other = np.triu(np.full(shape, 9, np.float32), 1)
    a = np.where(other == 9, other, a) if lower else np.where(np.swapaxes(other, -1, -2) == 9, 9, a)
    found = run(text, a.astype(np.float32))
    np.testing.assert_allclose(found, wanted if lower else np.swapaxes(wanted, -1, -2), rtol=1e-5,
                               atol=1e-5)


def test_of_a_matrix_that_is_not_positive_definite_no_element_is_a_number():
    text = """func.func @main(%a: tensor<2x2x2xf32>) -> tensor<2x2x2xf32> {
        %0 = stablehlo.cholesky %a, lower = true : tensor<2x2x2xf32>
        return %0 : tensor<2x2x2xf32> }"""
    a = np.array([[[1, 2], [2, 1]], [[4, 0], [0, 9]]], np.float32)
    [found] = celosia.compile(text, "core", strict=True)(a)
    assert np.isnan(found[0]).all()
    np.testing.assert_array_equal(found[1], [[2, 0], [0, 3]])


@pytest.mark.parametrize(("left", "lower", "transposed", "unit"), [*product([True, False],
                                                                           repeat=4)])
def test_triangular_solve(left, lower, transposed, unit):
    a = positive(2, 3, 6, 6)
    b = normal(3, 3, 6, 4) if left else normal(3, 3, 4, 6)
    turn = "TRANSPOSE" if transposed else "NO_TRANSPOSE"
    flags = {name: str(value).lower() for name, value in
             {"left_side": left, "lower": lower, "unit_diagonal": unit}.items()}
    text = f"""func.func @main(%a: tensor<3x6x6xf32>, %b: tensor<{type_of(b)}>)
            -> tensor<{type_of(b)}> {{
        %0 = "stablehlo.triangular_solve"(%a, %b) <{{
            left_side = {flags["left_side"]}, lower = {flags["lower"]},
            transpose_a = #stablehlo<transpose {turn}>, unit_diagonal = {flags["unit_diagonal"]}
            }}> : (tensor<3x6x6xf32>, tensor<{type_of(b)}>) -> tensor<{type_of(b)}>
        return %0 : tensor<{type_of(b)}> }}"""
    matrix = (np.tril if lower else np.triu)(a.astype(np.float64))
    if unit:
        matrix = np.where(np.eye(6, dtype=bool), 1, matrix)
    matrix = np.swapaxes(matrix, -1, -2) if transposed else matrix
    x = run(text, a, b)
    np.testing.assert_allclose(matrix @ x if left else x @ matrix, b, rtol=1e-4, atol=1e-5)


def test_systems_of_nothing():
    text = """func.func @main(%a: tensor<0x0xf32>, %b: tensor<0x3xf32>) -> tensor<0x3xf32> {
        %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true,
            transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}>
            : (tensor<0x0xf32>, tensor<0x3xf32>) -> tensor<0x3xf32>
        return %0 : tensor<0x3xf32> }"""
    [found] = interpret(import_stablehlo(text), [np.zeros((0, 0), np.float32),
                                                 np.zeros((0, 3), np.float32)])
    assert found.shape == (0, 3)


def test_other_elements_are_refused():
    with pytest.raises(FrontendError, match="operation must be one that complex numbers have"):
        import_stablehlo("""func.func @main(%a: tensor<2x2xcomplex<f32>>)
            -> tensor<2x2xcomplex<f32>> {
            %0 = stablehlo.cholesky %a, lower = true : tensor<2x2xcomplex<f32>>
            return %0 : tensor<2x2xcomplex<f32>> }""")
