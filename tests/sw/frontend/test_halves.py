"""float16 of a program: computed as float32, rounded where the program converts to it."""

import numpy as np
import pytest

from celosia.frontend import FrontendError, import_stablehlo
from celosia.graph import interpret

HALVES = np.arange(1 << 16, dtype=np.uint16)


def run(text, *arguments):
    [found] = interpret(import_stablehlo(text, narrows=True), list(arguments))
    return found


def test_bits_of_every_number():
    found = run("""func.func @main(%x: tensor<65536xui16>) -> tensor<65536xf16> {
        %0 = stablehlo.bitcast_convert %x : (tensor<65536xui16>) -> tensor<65536xf16>
        return %0 : tensor<65536xf16> }""", HALVES)
    wanted = HALVES.view(np.float16).astype(np.float32)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(np.signbit(found)[~np.isnan(found)],
                                  np.signbit(wanted)[~np.isnan(wanted)])


def test_conversions_round_and_what_is_between_them_does_not():
    x = np.array([1 / 3, 70000.0, -1e-3, 2049.0, 65519.0], np.float32)
    found = run("""func.func @main(%x: tensor<5xf32>) -> tensor<5xf16> {
        %0 = stablehlo.convert %x : (tensor<5xf32>) -> tensor<5xf16>
        return %0 : tensor<5xf16> }""", x)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, x.astype(np.float16).astype(np.float32))
    found = run("""func.func @main(%x: tensor<1xf16>) -> tensor<1xf32> {
        %0 = stablehlo.multiply %x, %x : tensor<1xf16>
        %1 = stablehlo.convert %0 : (tensor<1xf16>) -> tensor<1xf32>
        return %1 : tensor<1xf32> }""", np.array([1000.0], np.float32))
    np.testing.assert_array_equal(found, [1e6])  # no float16


def test_constants_and_reductions():
    found = run("""func.func @main(%x: tensor<3xf16>) -> tensor<f16> {
        %0 = stablehlo.constant dense<[1.5, 0x7C00, -2.0]> : tensor<3xf16>
        %1 = stablehlo.minimum %x, %0 : tensor<3xf16>
        %2 = stablehlo.constant dense<0.0> : tensor<f16>
        %3 = stablehlo.reduce(%1 init: %2) applies stablehlo.add across dimensions = [0]
            : (tensor<3xf16>, tensor<f16>) -> tensor<f16>
        return %3 : tensor<f16> }""", np.array([4.0, 5.0, 6.0], np.float32))
    assert found == 1.5 + 5.0 - 2.0


def test_bits_of_a_result_are_refused():
    with pytest.raises(FrontendError, match="bits of f16 must come of 16-bit integers, not f32"):
        import_stablehlo("""func.func @main(%x: tensor<2xf16>) -> tensor<2xui16> {
            %0 = stablehlo.bitcast_convert %x : (tensor<2xf16>) -> tensor<2xui16>
            return %0 : tensor<2xui16> }""", narrows=True)
