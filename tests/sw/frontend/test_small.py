"""Integers of 2 and 4 bits and floats of 4 and 8: the numbers of ml_dtypes, exactly."""

import ml_dtypes
import numpy as np
import pytest

import celosia
from celosia.frontend import FrontendError, import_stablehlo
from celosia.graph import interpret

FLOATS = {
    "f4E2M1FN": "float4_e2m1fn", "f8E3M4": "float8_e3m4", "f8E4M3": "float8_e4m3",
    "f8E4M3FN": "float8_e4m3fn", "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E4M3B11FNUZ": "float8_e4m3b11fnuz", "f8E5M2": "float8_e5m2",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
}
INTEGERS = {"i2": "int2", "ui2": "uint2", "i4": "int4", "ui4": "uint4"}


def run(text, *arguments):
    """Return what the chip makes of arguments; the graph means the same."""
    meant = interpret(import_stablehlo(text), list(arguments))
    found = celosia.compile(text, "core", strict=True)(*arguments)
    for a, b in zip(found, meant, strict=True):
        np.testing.assert_array_equal(a, b)
    return found[0]


def converted(x, of, to):
    n = x.size
    return run(f"""func.func @main(%x: tensor<{n}x{of}>) -> tensor<{n}x{to}> {{
        %0 = stablehlo.convert %x : (tensor<{n}x{of}>) -> tensor<{n}x{to}>
        return %0 : tensor<{n}x{to}> }}""", x)


@pytest.mark.parametrize("name", FLOATS)
def test_every_float_is_the_number_that_it_stands_for(name):
    dtype = getattr(ml_dtypes, FLOATS[name])
    codes = np.arange(16 if name.startswith("f4") else 256, dtype=np.uint8)
    found, wanted = converted(codes, name, "f32"), codes.view(dtype).astype(np.float32)
    np.testing.assert_array_equal(found, wanted)
    number = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(found)[number], np.signbit(wanted)[number])


@pytest.mark.parametrize("name", FLOATS)
def test_floats_are_rounded_to_the_nearest_ties_to_even(name):
    dtype = getattr(ml_dtypes, FLOATS[name])
    near = np.arange(16 if name.startswith("f4") else 256, dtype=np.uint8).view(dtype)
    near = near.astype(np.float32)
    near = np.unique(np.abs(near[np.isfinite(near)]))
    most, step = near[-1], near[-1] - near[-2]
    middle = np.append((near[:-1] + near[1:]) / 2, most + step / 2)
    x = np.concatenate([near, middle, np.nextafter(middle, np.float32(0)),
                        np.nextafter(middle, np.float32(np.inf)),
                        np.array([2 * most, 1e9, 3e38, np.inf, 1e-30], np.float32)])
    x = np.concatenate([x, -x, [np.nan]]).astype(np.float32)
    found, wanted = converted(x, "f32", name).view(dtype), x.astype(dtype)
    np.testing.assert_array_equal(found.astype(np.float32), wanted.astype(np.float32))
    number = ~np.isnan(wanted.astype(np.float32))
    np.testing.assert_array_equal(found.view(np.uint8)[number], wanted.view(np.uint8)[number])


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_wrap_in_their_bits(name):
    dtype = getattr(ml_dtypes, INTEGERS[name])
    x = np.arange(-128, 128, dtype=np.int8)
    kept = converted(x, "i8", name)
    np.testing.assert_array_equal(kept, x.astype(dtype).astype(kept.dtype))
    few = np.unique(kept)
    a, b = (np.ascontiguousarray(each.ravel()) for each in np.meshgrid(few, few))
    for op, of in (("add", np.add), ("multiply", np.multiply), ("subtract", np.subtract)):
        found = run(f"""func.func @main(%a: tensor<{a.size}x{name}>, %b: tensor<{a.size}x{name}>)
                -> tensor<{a.size}x{name}> {{
            %0 = stablehlo.{op} %a, %b : tensor<{a.size}x{name}>
            return %0 : tensor<{a.size}x{name}> }}""", a, b)
        wanted = of(a.astype(np.int32), b.astype(np.int32)).astype(np.int8).astype(dtype)
        np.testing.assert_array_equal(found, wanted.astype(found.dtype))
    found = run(f"""func.func @main(%a: tensor<{few.size}x{name}>) -> tensor<{few.size}x{name}> {{
        %c = stablehlo.constant dense<1> : tensor<{few.size}x{name}>
        %0 = stablehlo.shift_right_logical %a, %c : tensor<{few.size}x{name}>
        return %0 : tensor<{few.size}x{name}> }}""", few)
    bits = int(name[-1])
    wanted = ((few.astype(np.int32) & ((1 << bits) - 1)) >> 1).astype(np.int8).astype(dtype)
    np.testing.assert_array_equal(found, wanted.astype(found.dtype))


@pytest.mark.parametrize("name", INTEGERS)
def test_floats_become_the_nearest_integers(name):
    x = np.array([-300, -9.5, -8, -2.7, -1, -0.0, 0.9, 1.5, 3.9, 7, 8, 15.5, 16, 300, np.nan],
                 np.float32)
    bits, signed = int(name[-1]), name[0] == "i"
    least = -(1 << bits - 1) if signed else 0
    wanted = np.clip(np.trunc(np.nan_to_num(x)), least, least + (1 << bits) - 1)
    np.testing.assert_array_equal(converted(x, "f32", name), wanted)


@pytest.mark.parametrize("direction", ["GT", "LT"])
def test_the_greatest_float_is_found_as_a_float(direction):
    """Not by its bits, of which the sign is the first."""
    x = np.array([-3, 0.5, -0.25, 2, -8, 1], ml_dtypes.float8_e4m3fn)
    least = "-448.0" if direction == "GT" else "448.0"
    found = run(f"""func.func @main(%x: tensor<6xf8E4M3FN>) -> tensor<i32> {{
      %i = stablehlo.iota dim = 0 : tensor<6xi32>
      %v = stablehlo.constant dense<{least}> : tensor<f8E4M3FN>
      %z = stablehlo.constant dense<0> : tensor<i32>
      %r:2 = stablehlo.reduce(%x init: %v), (%i init: %z) across dimensions = [0]
        : (tensor<6xf8E4M3FN>, tensor<6xi32>, tensor<f8E4M3FN>, tensor<i32>)
        -> (tensor<f8E4M3FN>, tensor<i32>)
        reducer(%a: tensor<f8E4M3FN>, %b: tensor<f8E4M3FN>) (%c: tensor<i32>, %d: tensor<i32>) {{
          %more = stablehlo.compare {direction}, %a, %b, FLOAT
            : (tensor<f8E4M3FN>, tensor<f8E4M3FN>) -> tensor<i1>
          %same = stablehlo.compare EQ, %a, %b, FLOAT
            : (tensor<f8E4M3FN>, tensor<f8E4M3FN>) -> tensor<i1>
          %before = stablehlo.compare LT, %c, %d, SIGNED
            : (tensor<i32>, tensor<i32>) -> tensor<i1>
          %tie = stablehlo.and %same, %before : tensor<i1>
          %first = stablehlo.or %more, %tie : tensor<i1>
          %w = stablehlo.select %more, %a, %b : tensor<i1>, tensor<f8E4M3FN>
          %j = stablehlo.select %first, %c, %d : tensor<i1>, tensor<i32>
          stablehlo.return %w, %j : tensor<f8E4M3FN>, tensor<i32>
        }}
      return %r#1 : tensor<i32> }}""", x.view(np.uint8))
    assert found == (3 if direction == "GT" else 4)


def test_bytes_are_cut_and_joined():
    x = np.array([0x21, 0xF8, 0x7F], np.uint8)
    parts = run("""func.func @main(%x: tensor<3xui8>) -> tensor<3x2xi4> {
        %0 = stablehlo.bitcast_convert %x : (tensor<3xui8>) -> tensor<3x2xi4>
        return %0 : tensor<3x2xi4> }""", x)
    np.testing.assert_array_equal(parts, [[1, 2], [-8, -1], [-1, 7]])
    np.testing.assert_array_equal(run("""func.func @main(%x: tensor<3x2xi4>) -> tensor<3xui8> {
        %0 = stablehlo.bitcast_convert %x : (tensor<3x2xi4>) -> tensor<3xui8>
        return %0 : tensor<3xui8> }""", parts), x)


def test_arithmetic_of_floats_rounds_once():
    a = np.array([1.0, 448, 0.3, -2.5], ml_dtypes.float8_e4m3fn)
    b = np.array([1.125, 448, 0.7, 2.5], ml_dtypes.float8_e4m3fn)
    found = run("""func.func @main(%a: tensor<4xf8E4M3FN>, %b: tensor<4xf8E4M3FN>)
            -> tensor<4xf8E4M3FN> {
        %c = stablehlo.constant dense<[1.0, -0.5, 0x7F, 3.0]> : tensor<4xf8E4M3FN>
        %0 = stablehlo.add %a, %b : tensor<4xf8E4M3FN>
        %1 = stablehlo.multiply %0, %c : tensor<4xf8E4M3FN>
        return %1 : tensor<4xf8E4M3FN> }""", a.view(np.uint8), b.view(np.uint8))
    c = np.array([1.0, -0.5, np.nan, 3.0], ml_dtypes.float8_e4m3fn)
    np.testing.assert_array_equal(found.view(a.dtype).astype(np.float32),
                                  ((a + b) * c).astype(np.float32))


def test_sums_and_products():
    x = np.arange(12, dtype=np.int8).reshape(3, 4) - 8
    found = run("""func.func @main(%x: tensor<3x4xi4>) -> tensor<4xi4> {
        %z = stablehlo.constant dense<0> : tensor<i4>
        %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] :
            (tensor<3x4xi4>, tensor<i4>) -> tensor<4xi4>
        return %0 : tensor<4xi4> }""", x)
    np.testing.assert_array_equal(found, (x.sum(0) + 8) % 16 - 8)
    found = run("""func.func @main(%x: tensor<3x4xi4>) -> tensor<3x3xi32> {
        %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] :
            (tensor<3x4xi4>, tensor<3x4xi4>) -> tensor<3x3xi32>
        return %0 : tensor<3x3xi32> }""", x)
    np.testing.assert_array_equal(found, x.astype(np.int32) @ x.T.astype(np.int32))


@pytest.mark.parametrize(("line", "why"), [
    ("stablehlo.popcnt %x : tensor<2xi4>",
     "stablehlo.popcnt: operand must have 8 bits or more, not tensor<2xi4>"),
])
def test_what_they_do_not_have(line, why):
    with pytest.raises(FrontendError) as caught:
        import_stablehlo(f"""func.func @main(%x: tensor<2xi4>) -> tensor<2xi4> {{
            %0 = {line}
            return %0 : tensor<2xi4> }}""")
    assert [each.partition(": ")[2] for each in caught.value.problems] == [why]
