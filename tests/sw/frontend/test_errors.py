"""What cannot be imported is said at once, with every place."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from through_jax import bytecode

from celosia.frontend import FrontendError, import_stablehlo

MANY = """module {
func.func public @main(%a: tensor<2x2xf32>, %i: tensor<4xf64>) -> (tensor<2x2xf32>) {
 %0 = "stablehlo.unary_einsum"(%a) <{einsum_config = ""}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
 %1 = stablehlo.custom_call @foo(%0) : (tensor<2x2xf32>) -> tensor<2x2xf32>
 %z = stablehlo.constant dense<0> : tensor<i32>
 %w:2 = stablehlo.while(%q = %z, %r = %1) : tensor<i32>, tensor<2x2xf32>
  cond {
   %t = stablehlo.compare LT, %q, %z, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
   stablehlo.return %t : tensor<i1> }
  do {
   %m = "stablehlo.unary_einsum"(%r) <{einsum_config = ""}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
   %f = func.call @g(%m) : (tensor<2x2xf32>) -> tensor<2x2xf32>
   %h = func.call @g(%f) : (tensor<2x2xf32>) -> tensor<2x2xf32>
   stablehlo.return %q, %h : tensor<i32>, tensor<2x2xf32> }
 %y = stablehlo.add %i, %i : tensor<4xf64>
 %zz = stablehlo.constant dense<0.0> : tensor<f32>
 %re = "stablehlo.reduce"(%1, %zz) <{dimensions = array<i64: 0>}> ({
   ^bb0(%aa: tensor<f32>, %bb: tensor<f32>):
    %s = stablehlo.subtract %aa, %bb : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
 return %w#1 : tensor<2x2xf32>
}
func.func private @g(%a: tensor<2x2xf32>) -> tensor<2x2xf32> {
 %0 = "stablehlo.einsum"(%a, %a) <{einsum_config = "ij,ij->ij"}>
   : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
 return %0 : tensor<2x2xf32>
}
}"""


def refused(program, **options):
    with pytest.raises(FrontendError) as caught:
        import_stablehlo(program, **options)
    return caught.value


def test_everything_is_listed_once_with_its_line():
    error = refused(MANY, filename="many.mlir")
    assert str(error) == "\n  ".join(["many.mlir has what the graph cannot express:",
                                      *error.problems])
    assert error.problems == (
        ("many.mlir:2:45: parameter: elements must have at most 32 bits, not f64[4]: cast them to "
         "f32"),
        "many.mlir:3:7: stablehlo.unary_einsum: operation has no counterpart",
        ("many.mlir:4:7: stablehlo.custom_call: custom call must be one of Sharding, "
        "SPMDFullToShardShape, SPMDShardToFullShape, annotate_device_placement, "
        "LayoutConstraint, ApproxTopK, not foo"),
        "many.mlir:11:9: stablehlo.unary_einsum: operation has no counterpart",
        "many.mlir:25:7: stablehlo.einsum: operation has no counterpart",
        ("many.mlir:17:8: stablehlo.reduce: body must be associative, not subtract(arg0, arg1), "
         "which makes -3.5 and -1.5 of -0.5, 2.0, 1.0"))


def function(body, params="", result="f32", type="f32"):
    return f"func.func @main({params}) -> tensor<{result}> {{\n{body}\n}}"


ELEMENTS = ("element type must be one of i1, i8, ui8, i16, ui16, i32, ui32, i64, ui64, f16, bf16, "
            "f32, complex<f32>, i2, i4, ui2, ui4, f4E2M1FN, f8E3M4, f8E4M3, f8E4M3FN, "
            "f8E4M3FNUZ, f8E4M3B11FNUZ, f8E5M2, f8E5M2FNUZ")


@pytest.mark.parametrize(("type", "message"), [
    ("2xf8E8M0FNU", f"{ELEMENTS}, not f8E8M0FNU"),
    ("2xcomplex<f64>", f"{ELEMENTS}, not complex<f64>"),
    ("2xf6E2M3FN", f"{ELEMENTS}, not f6E2M3FN"),
    ("?x2xf32", "shape must be known before the program runs, not tensor<?x2xf32>"),
    ("2xf64", "parameter: elements must have at most 32 bits, not f64[2]: cast them to f32"),
])
def test_types(type, message):
    text = function(f"  return %x : tensor<{type}>", f"%x: tensor<{type}>", type)
    assert refused(text).problems == (f"<stablehlo>:1:17: {message}",)


def test_wide_floats_must_be_constant():
    text = function("""  %0 = stablehlo.convert %x : (tensor<2xi32>) -> tensor<2xf64>
  %1 = stablehlo.add %0, %0 : tensor<2xf64>
  return %1 : tensor<2xf64>""", "%x: tensor<2xi32>", "2xf64")
    assert refused(text).problems == (
        ("<stablehlo>:2:8: stablehlo.convert: elements must have at most 32 bits where they are "
        "not constant, not f64[2]: cast them to f32"),)


def test_what_follows_from_an_unknown_type_is_looked_at_too():
    text = """func.func @main(%x: tensor<f8E8M0FNU>) -> tensor<f8E8M0FNU> {
  %0 = func.call @outer(%x) : (tensor<f8E8M0FNU>) -> tensor<f8E8M0FNU>
  return %0 : tensor<f8E8M0FNU>
}
func.func private @outer(%x: tensor<f8E8M0FNU>) -> tensor<f8E8M0FNU> {
  %0 = func.call @inner(%x) : (tensor<f8E8M0FNU>) -> tensor<f8E8M0FNU>
  return %0 : tensor<f8E8M0FNU>
}
func.func private @inner(%x: tensor<f8E8M0FNU>) -> tensor<f8E8M0FNU> {
  %0 = "stablehlo.unary_einsum"(%x) <{einsum_config = "->"}>
    : (tensor<f8E8M0FNU>) -> tensor<f8E8M0FNU>
  return %0 : tensor<f8E8M0FNU>
}"""
    assert refused(text).problems == (
        f"<stablehlo>:1:17: {ELEMENTS}, not f8E8M0FNU",
        "<stablehlo>:10:8: stablehlo.unary_einsum: operation has no counterpart")


@pytest.mark.parametrize(("size", "message"), [
    (4, ""), (3, "size must be that of the dimension, 4, not 3"),
    (None, "size must be constant: shapes are fixed")])
def test_sizes_of_dimensions_are_their_own(size, message):
    constant = f"%n = stablehlo.constant dense<{size}> : tensor<i32>" if size else ""
    text = f"""func.func @main(%x: tensor<2x4xf32>, %{'m' if size else 'n'}: tensor<i32>)
        -> tensor<2x4xf32> {{
      {constant}
      %r = stablehlo.set_dimension_size %x, %n, dim = 1
          : (tensor<2x4xf32>, tensor<i32>) -> tensor<2x4xf32>
      return %r : tensor<2x4xf32>
    }}"""
    if not message:
        graph = import_stablehlo(text)
        assert graph.outputs[0] is graph.params[0]
        return
    with pytest.raises(FrontendError) as caught:
        import_stablehlo(text)
    assert message in str(caught.value)


def test_several_devices():
    text = """module attributes {mhlo.num_partitions = 4 : i32} {
func.func @main() -> tensor<ui32> {
  %0 = stablehlo.partition_id : tensor<ui32>
  return %0 : tensor<ui32>
}}"""
    assert refused(text).problems == (
        ("<stablehlo>:3:8: stablehlo.partition_id: must be in a manual computation "
         "(jax.shard_map), where the program is for 4 partitions"),)


def test_recursion():
    text = """func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = func.call @main(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}"""
    assert refused(text).problems == (
        "<stablehlo>:2:8: func.call: function must not call itself: main",)


@pytest.mark.parametrize(("depth", "shown"), [
    (11, "subtract(" * 12 + "arg0" + ", arg1)" * 12),  # 196 characters
    (12, "subtract(" * 13 + "arg0" + ", arg1)" * 11 + ", ..."),
])
def test_long_bodies_are_cut(depth, shown):
    steps = "".join(f"   %{i + 1} = stablehlo.subtract %{i}, %b : tensor<f32>\n"
                    for i in range(1, depth + 1))
    text = f"""  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.reduce"(%x, %z) <{{dimensions = array<i64: 0>}}> ({{
   ^bb0(%a: tensor<f32>, %b: tensor<f32>):
   %1 = stablehlo.subtract %a, %b : tensor<f32>
{steps}   stablehlo.return %{depth + 1} : tensor<f32>
  }}) : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>"""
    [problem] = refused(function(text, "%x: tensor<2xf32>", "f32")).problems
    assert f"body must be associative, not {shown}, which makes " in problem


@pytest.mark.parametrize(("program", "problems"), [
    ("hello", ["Unable to parse module assembly:",
               "error: x:1:1: custom op 'hello' is unknown (tried 'builtin.hello' as well)"]),
    (b"\xff\xfe", [("bytes must be MLIR text, bytecode or a portable artifact, not "
                   r"b'\xff\xfe'...")]),
    ("module {}", ["function must be main or the only public one, not one of none"]),
])
def test_no_program(program, problems):
    assert refused(program, filename="x").problems == tuple(problems)


def test_broken_bytecode():
    good = bytecode(jax.jit(lambda x: x + 1).lower(1.0))
    for broken in (good[:40], b"ML\xefR" + bytes(20)):
        assert str(refused(broken)).startswith("<stablehlo> must be StableHLO\n")


def test_import_works_after_an_error():
    refused("hello")
    refused(MANY)
    assert import_stablehlo(function("  return %x : tensor<f32>", "%x: tensor<f32>")).params


def test_sources_in_errors_are_lines_of_the_python_program():
    def f(x):
        return jnp.linalg.cholesky(x)

    [problem] = [each for each in refused(bytecode(jax.jit(f).lower(np.eye(3)))).problems
                 if "cholesky" in each]
    assert problem.startswith(f"{__file__}:{f.__code__.co_firstlineno + 1}:"), problem


def test_without_jaxlib_the_error_says_what_to_install():
    code = """
import sys
sys.modules["jaxlib"] = None
from celosia.frontend import FrontendError, import_stablehlo
try:
    import_stablehlo("")
except FrontendError as error:
    print(str(error).splitlines()[0])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "reading StableHLO needs jaxlib: pip install 'celosia[jax]'\n"


def test_frontend_needs_no_jax():
    code = """
import sys
sys.modules["jax"] = None
from celosia.frontend import import_stablehlo
print(import_stablehlo("func.func @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }"))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "<graph f, 1 nodes>\n"
