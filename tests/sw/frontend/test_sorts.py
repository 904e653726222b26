"""Sorts by any comparator, against StableHLO's own interpreter, and on the chip."""

import ml_dtypes
import numpy as np
import pytest
from stablehlo_reference import evaluate

import celosia
from celosia.compiler import canonical
from celosia.frontend import FrontendError, import_stablehlo
from celosia.graph import interpret

RNG = np.random.default_rng(7)


def program(types, shape, body, dim=0, around=""):
    """Return a sort of operands of some types: %a0, %b0 are the two of the first, and so on."""
    extents = "".join(f"{extent}x" for extent in shape)
    arrays = [f"tensor<{extents}{each}>" for each in types]
    params = ", ".join(f"%x{i}: {each}" for i, each in enumerate(arrays))
    given = ", ".join(f"%x{i}" for i in range(len(types)))
    scalars = ", ".join(f"%{side}{i}: tensor<{each}>" for i, each in enumerate(types)
                        for side in "ab")
    results = ", ".join(f"%r#{i}" for i in range(len(types)))
    all_types = ", ".join(arrays)
    return f"""func.func @main({params}) -> ({all_types}) {{
  {around}
  %r:{len(types)} = "stablehlo.sort"({given}) <{{dimension = {dim} : i64, is_stable = true}}> ({{
  ^bb0({scalars}):
    {body}
    stablehlo.return %r : tensor<i1>
  }}) : ({all_types}) -> ({all_types})
  return {results} : {all_types}
}}"""


def compare(name, direction, a, b, type="f32", kind="FLOAT"):
    return (f"%{name} = stablehlo.compare {direction}, {a}, {b}, {kind} : "
            f"(tensor<{type}>, tensor<{type}>) -> tensor<i1>\n")


SIZES = "".join(f"%{side}s = stablehlo.abs %{side}0 : tensor<f32>\n" for side in "ab")
#: First ascending, then descending.
MIXED = (compare("p", "LT", "%a0", "%b0") + compare("e", "EQ", "%a0", "%b0")
         + compare("q", "GT", "%a1", "%b1", "i32", "SIGNED")
         + "%f = stablehlo.and %e, %q : tensor<i1>\n%r = stablehlo.or %p, %f : tensor<i1>")
#: By the bits that are set, from a loop.
LOOP = """
%zero = stablehlo.constant dense<0> : tensor<ui32>
%one = stablehlo.constant dense<1> : tensor<ui32>
""" + "".join(f"""
%{side}n:2 = stablehlo.while(%x = %{side}0, %n = %zero) : tensor<ui32>, tensor<ui32>
 cond {{
  %c = stablehlo.compare NE, %x, %zero, UNSIGNED : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
  stablehlo.return %c : tensor<i1>
}} do {{
  %l = stablehlo.and %x, %one : tensor<ui32>
  %m = stablehlo.add %n, %l : tensor<ui32>
  %s = stablehlo.shift_right_logical %x, %one : tensor<ui32>
  stablehlo.return %s, %m : tensor<ui32>, tensor<ui32>
}}""" for side in "ab") + "\n" + compare("r", "LT", "%an#1", "%bn#1", "ui32", "UNSIGNED")
#: By what is left of a division by a number from around it.
AROUND = "".join(f"%{side}m = stablehlo.remainder %{side}0, %n : tensor<i32>\n" for side in "ab") \
    + compare("r", "GT", "%am", "%bm", "i32", "SIGNED")
TO_SCALAR = ("%s = stablehlo.slice %x0 [0:1, 0:1] : (tensor<6x5xi32>) -> tensor<1x1xi32>\n"
             "%n = stablehlo.reshape %s : (tensor<1x1xi32>) -> tensor<i32>")


def integers(shape, low=-4, high=5, dtype=np.int32):
    return RNG.integers(low, high, shape).astype(dtype)


def numbers(shape):
    return (integers(shape) / 2).astype(np.float32)


CASES = {
    "magnitudes": (program(["f32", "i32"], (21,), SIZES + compare("r", "GT", "%as", "%bs")),
                   [numbers(21), np.arange(21, dtype=np.int32)]),
    "directions": (program(["f32", "i32"], (3, 10, 2), MIXED, 1),
                   [numbers((3, 10, 2)), integers((3, 10, 2))]),
    "the last operand": (program(["i8", "bf16"], (5, 8),
                                 compare("r", "LT", "%a1", "%b1", "bf16"), 1),
                         [integers((5, 8), dtype=np.int8),
                          numbers((5, 8)).astype(ml_dtypes.bfloat16)]),
    "a loop": (program(["ui32"], (7,), LOOP), [integers(7, 0, 2**31, np.uint32)]),
    "a number from around": (program(["i32"], (6, 5), AROUND, 0, TO_SCALAR),
                             [integers((6, 5), 3, 90)]),
    "one element": (program(["f32"], (1,), SIZES + compare("r", "GT", "%as", "%bs")),
                    [numbers(1)]),
    "none": (program(["f32"], (0, 4), SIZES + compare("r", "GT", "%as", "%bs")),
             [numbers((0, 4))]),
}


@pytest.mark.parametrize("name", CASES)
def test_comparators(name):
    text, inputs = CASES[name]
    graph = import_stablehlo(text)
    assert "sort_by" in {node.op for node in graph.nodes}
    wanted = evaluate(text, inputs)
    on_chip = celosia.compile(graph, "core", strict=True, cache=False)(*inputs)
    for found in (interpret(graph, inputs), on_chip):
        for a, b in zip(found, wanted, strict=True):
            assert np.asarray(a).tobytes() == b.tobytes()


def test_complex_numbers_by_their_size():
    body = "".join(f"%{side}s = stablehlo.abs %{side}0 : (tensor<complex<f32>>) -> tensor<f32>\n"
                   for side in "ab") + compare("r", "LT", "%as", "%bs")
    x = np.exp(1j * RNG.random(21)).astype(np.complex64) * RNG.permutation(21)
    x = x.astype(np.complex64)
    [found] = interpret(canonical(import_stablehlo(program(["complex<f32>"], (21,), body))), [x])
    np.testing.assert_array_equal(found, x[np.argsort(np.abs(x), kind="stable")])


def test_small_floats_by_their_size():
    name = "f8E4M3FN"
    body = "".join(f"%{side}s = stablehlo.abs %{side}0 : tensor<{name}>\n" for side in "ab") \
        + compare("r", "LT", "%as", "%bs", name)
    x = RNG.standard_normal(25).astype(ml_dtypes.float8_e4m3fn)
    graph = import_stablehlo(program([name], (25,), body))
    [found] = interpret(canonical(graph), [x.view(np.uint8)])
    wide = np.abs(x.astype(np.float32))
    np.testing.assert_array_equal(found, x.view(np.uint8)[np.argsort(wide, kind="stable")])


def test_what_a_comparator_cannot_have():
    body = ("%w = stablehlo.broadcast_in_dim %a0, dims = [] : (tensor<f32>) -> tensor<2xf32>\n"
            "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
            "%s = stablehlo.reduce(%w init: %z) applies stablehlo.add across dimensions = [0] : "
            "(tensor<2xf32>, tensor<f32>) -> tensor<f32>\n" + compare("r", "LT", "%s", "%b0"))
    with pytest.raises(FrontendError, match="stablehlo.sort: body must be of elementwise "
                                            "operations, not broadcast$"):
        import_stablehlo(program(["f32"], (9,), body))
