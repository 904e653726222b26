"""float16: stored as such, computed in float32 and rounded after each operation."""

import ml_dtypes
import numpy as np
import pytest

import celosia
from celosia.frontend import import_stablehlo
from celosia.graph import interpret

HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)


def run(text, *arguments):
    """Return what the chip makes of arguments; the graph means the same."""
    [meant] = interpret(import_stablehlo(text), list(arguments))
    compiled = celosia.compile(text, "core", strict=True)
    [found] = compiled(*arguments)
    np.testing.assert_array_equal(found, meant)
    assert found.dtype == meant.dtype
    return found


def function(of, to, *lines):
    return f"func.func @main(%x: tensor<{of}>) -> tensor<{to}> {{\n" + "\n".join(lines) + "\n}"


def test_bits_of_every_number():
    found = run(function("65536xui16", "65536xf16",
                         "%0 = stablehlo.bitcast_convert %x : (tensor<65536xui16>) -> "
                         "tensor<65536xf16>", "return %0 : tensor<65536xf16>"),
                HALVES.view(np.uint16))
    number = ~np.isnan(HALVES)
    np.testing.assert_array_equal(found.view(np.uint16)[number], HALVES.view(np.uint16)[number])
    assert np.isnan(found[~number]).all()
    found = run(function("65536xf16", "65536xui16",
                         "%0 = stablehlo.bitcast_convert %x : (tensor<65536xf16>) -> "
                         "tensor<65536xui16>", "return %0 : tensor<65536xui16>"),
                np.where(number, HALVES, np.float16(np.nan)))
    np.testing.assert_array_equal(found[number], HALVES.view(np.uint16)[number])
    assert (found[~number] == 0x7E00).all()


@pytest.mark.parametrize("op", ["add", "subtract", "multiply", "maximum"])
def test_arithmetic_is_that_of_numpy(op):
    rng = np.random.default_rng(3)
    a, b = (rng.integers(0, 1 << 16, 20_000).astype(np.uint16).view(np.float16) for _ in "ab")
    good = np.isfinite(a) & np.isfinite(b)
    a, b = a[good][:8192], b[good][:8192]
    found = run(f"""func.func @main(%a: tensor<8192xf16>, %b: tensor<8192xf16>)
            -> tensor<8192xf16> {{
        %0 = stablehlo.{op} %a, %b : tensor<8192xf16>
        return %0 : tensor<8192xf16> }}""", a, b)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, getattr(np, op)(a, b))


def test_rounding_of_every_place():
    """Ties go to the even number, at each exponent, the small ones and the largest too."""
    near = np.sort(HALVES[np.isfinite(HALVES)].astype(np.float32))
    near = near[near >= 0]
    middle = (near[:-1] + near[1:]) / 2
    x = np.concatenate([near, middle, np.nextafter(middle, np.float32(0)),
                        np.nextafter(middle, np.float32(np.inf)),
                        np.array([65519.996, 65520, 65536, 1e9, 3e38, np.inf, np.nan, 2.0**-25,
                                  2.0**-26, 1e-30, 0], np.float32)])
    x = np.concatenate([x, -x]).astype(np.float32)
    found = run(function(f"{x.size}xf32", f"{x.size}xf16",
                         f"%0 = stablehlo.convert %x : (tensor<{x.size}xf32>) -> "
                         f"tensor<{x.size}xf16>", f"return %0 : tensor<{x.size}xf16>"), x)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, x.astype(np.float16))
    np.testing.assert_array_equal(np.signbit(found)[~np.isnan(x)], np.signbit(x)[~np.isnan(x)])


def test_an_operation_rounds_before_the_next():
    found = run(function("2xf16", "2xf32", "%0 = stablehlo.multiply %x, %x : tensor<2xf16>",
                         "%1 = stablehlo.convert %0 : (tensor<2xf16>) -> tensor<2xf32>",
                         "return %1 : tensor<2xf32>"), np.array([1000, 1.001], np.float16))
    with np.errstate(over="ignore"):
        wanted = np.square(np.array([1000, 1.001], np.float16)).astype(np.float32)
    np.testing.assert_array_equal(found, wanted)


def test_constants_and_reductions():
    found = run("""func.func @main(%x: tensor<3xf16>) -> tensor<f16> {
        %0 = stablehlo.constant dense<[1.5, 0x7C00, -2.0]> : tensor<3xf16>
        %1 = stablehlo.minimum %x, %0 : tensor<3xf16>
        %2 = stablehlo.constant dense<0.0> : tensor<f16>
        %3 = stablehlo.reduce(%1 init: %2) applies stablehlo.add across dimensions = [0]
            : (tensor<3xf16>, tensor<f16>) -> tensor<f16>
        return %3 : tensor<f16> }""", np.array([4.0, 5.0, 6.0], np.float16))
    assert found == 1.5 + 5.0 - 2.0


@pytest.mark.parametrize("to", ["f16", "f32"])
def test_products_keep_all_digits(to):
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((24, 40)), rng.standard_normal((40, 24))
    a, b = a.astype(np.float16), b.astype(np.float16)
    text = f"""func.func @main(%a: tensor<24x40xf16>, %b: tensor<40x24xf16>)
            -> tensor<24x24x{to}> {{
        %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
            : (tensor<24x40xf16>, tensor<40x24xf16>) -> tensor<24x24x{to}>
        return %0 : tensor<24x24x{to}> }}"""
    [found] = celosia.compile(text, "core", strict=True)(a, b)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    bound = np.abs(a.astype(np.float64)) @ np.abs(b.astype(np.float64)) * 2.0**-15
    if to == "f16":
        bound += np.abs(exact) * 2.0**-11
    assert found.dtype == (np.float16 if to == "f16" else np.float32)
    assert (np.abs(found - exact) <= bound).all()


def test_between_the_floats_of_16_bits():
    x = np.array([1.001, 300.5, 1e-6, 65504], np.float16)
    found = run(function("4xf16", "4xbf16",
                         "%0 = stablehlo.convert %x : (tensor<4xf16>) -> tensor<4xbf16>",
                         "return %0 : tensor<4xbf16>"), x)
    np.testing.assert_array_equal(found, x.astype(np.float32).astype(ml_dtypes.bfloat16))
