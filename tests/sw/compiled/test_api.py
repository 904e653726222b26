"""`celosia.compile`: every form of a program, and every reason to refuse one."""

import io
import re

import jax
import numpy as np
import pytest

import celosia
from celosia import CompileError, FrontendError
from celosia.arch.config import TpuConfig
from celosia.graph import parse

TEXT = """module @net {
func.func public @main(%x: tensor<4x16xf32>, %n: tensor<3xi32>)
    -> (tensor<3xi32>, tensor<4x16xf32>) {
 return %n, %x : tensor<3xi32>, tensor<4x16xf32>
}
}"""
X = np.arange(64, dtype=np.float32).reshape(4, 16)
N = np.array([1, -2, 3], np.int32)


def exactly(text: str) -> str:
    return f"^{re.escape(text)}$"


def test_every_form_of_stablehlo(copying, tmp_path):
    lowered = jax.jit(lambda x, n: (n, x)).lower(X, N)
    code = io.BytesIO()
    lowered.compiler_ir("stablehlo").operation.write_bytecode(code)
    path = tmp_path / "net.mlir"
    path.write_text(TEXT)
    for source in (TEXT, TEXT.encode(), path, lowered.as_text(), code.getvalue()):
        n, x = celosia.compile(source)(X, N)
        np.testing.assert_array_equal(n, N, strict=True)
        np.testing.assert_array_equal(x, X, strict=True)
    assert len(copying.calls) == 1  # they are the same graph


def test_chips(copying):
    compiled = celosia.compile(TEXT, "edge")
    assert compiled.config is celosia.preset("edge")
    own = TpuConfig("own", dim=16, int8=True, bf16=True, ub_rows=4096, acc_rows=1024, bus_bytes=16)
    np.testing.assert_array_equal(celosia.compile(TEXT, own)(X, N)[1], X)
    renamed = TpuConfig("mine", **{name: getattr(own, name) for name in (
        "dim", "int8", "bf16", "ub_rows", "acc_rows", "bus_bytes")})
    assert celosia.compile(TEXT, renamed).config.name == "mine"
    assert len(copying.calls) == 2


@pytest.mark.parametrize(("source", "config", "message"), [
    (TEXT, "cor", "preset must be one of pico, nano, edge, core4, core, v2, v1, not 'cor'"),
    (TEXT, 16, "config must be a preset's name or a TpuConfig, not 16"),
    (17, "core", ("source must be StableHLO (text, bytes or a pathlib.Path) or a Graph, not 17")),
    ("net.mlir", "core", ("source must be the text of a program, not the name of a file: write "
                          "Path('net.mlir')")),
])
def test_wrong_usage(source, config, message):
    with pytest.raises(ValueError, match=exactly(message)):
        celosia.compile(source, config)


def function(body: str, result: str, *types: str) -> str:
    """Return a module; %0 .. are parameters of the types."""
    params = ", ".join(f"%arg{i}: tensor<{type}>" for i, type in enumerate(types))
    return (f"func.func public @main({params}) -> (tensor<{result}>) {{\n {body}\n"
            f" return %r : tensor<{result}>\n}}\n")


@pytest.mark.parametrize(("program", "problem"), [
    (function('%r = "stablehlo.unary_einsum"(%arg0) <{einsum_config = "ij->ij"}>'
              " : (tensor<2x2xf32>) -> tensor<2x2xf32>", "2x2xf32", "2x2xf32"),
     "bad.mlir:2:7: stablehlo.unary_einsum: operation has no counterpart"),
    (function("%r = stablehlo.negate %arg0 : tensor<?xf32>", "?xf32", "?xf32"),
     "bad.mlir:1:24: shape must be known before the program runs, not tensor<?xf32>"),
    (function("%r = stablehlo.negate %arg0 : tensor<4xf64>", "4xf64", "4xf64"),
     "bad.mlir:1:24: parameter: elements must have at most 32 bits, not f64[4]: cast them to f32"),
    (function("%r = stablehlo.negate %arg0 : tensor<4xf8E8M0FNU>", "4xf8E8M0FNU",
              "4xf8E8M0FNU"),
     ("bad.mlir:1:24: element type must be one of i1, i8, ui8, i16, ui16, i32, ui32, i64, ui64, "
      "f16, bf16, f32, complex<f32>, i2, i4, ui2, ui4, f4E2M1FN, f8E3M4, f8E4M3, f8E4M3FN, "
      "f8E4M3FNUZ, f8E4M3B11FNUZ, f8E5M2, f8E5M2FNUZ, not f8E8M0FNU")),
])
def test_what_no_graph_can_express(copying, program, problem):
    with pytest.raises(FrontendError) as caught:
        celosia.compile(program, filename="bad.mlir")
    assert caught.value.problems[0] == problem
    assert str(caught.value).startswith("bad.mlir has what the graph cannot express:\n  ")
    assert not copying.calls


FLOAT = """graph f(%0: f32[4,4] "x", %1: bf16[4,4] "w") {
  %2 = add(%0, %0) : f32[4,4] @ "a.py":3:1
  %3 = dot(%1, %1) dtype=f32 contract=[[1,0]] : f32[4,4] @ "a.py":4:1
  %4 = add(%2, %3) : f32[4,4] @ "a.py":5:1
  return %4
}
"""


def test_formats_that_a_chip_lacks(copying):
    with pytest.raises(CompileError) as caught:
        celosia.compile(parse(FLOAT), "nano", name="net")
    lines = str(caught.value).splitlines()
    assert lines[0] == "net needs formats that nano does not have (it has int8):"
    assert lines[1] == ("  unknown source: parameter w: elements must not be bf16 on an int8 chip, "
                        "as those of bf16[4,4]")
    assert [line.split(":")[0] for line in lines[2:]] == ["  a.py"] * (len(lines) - 2)
    assert any(line.startswith("  a.py:3:1: add: arithmetic must be of integers on an int8 chip, "
                               "not of f32[4,4]") for line in lines)
    assert not copying.calls


HOST = """graph f(%0: f32[4,4] "x") {
  %1 = remainder(%0, %0) : f32[4,4] @ "a.py":3:1
  %2 = remainder(%1, %0) : f32[4,4] @ "a.py":3:1
  %3 = remainder(%2, %0) : f32[4,4] @ "a.py":5:1
  return %3
}
"""


def test_operations_of_the_host_where_strict(copying):
    reason = "remainder: a remainder of fp32 needs a division of up to 277 bits"
    message = exactly(f"net: strict=True allows no operation on the host, there would be:\n"
                      f"  a.py:3:1: {reason}\n  a.py:5:1: {reason}")
    for _ in range(2):
        with pytest.raises(CompileError, match=message):
            celosia.compile(parse(HOST), strict=True, name="net")
        celosia.compile(parse(HOST))  # is kept, and yet not strict
    assert not copying.calls


def test_refused_programs_leave_everything_usable(copying):
    with celosia.open("model", "core") as device:
        executable = celosia.compile(TEXT).load(device)
        for source in (HOST, FLOAT.replace("bf16", "f33")):
            with pytest.raises(ValueError, match=r"host|f33"):
                celosia.compile(parse(source), strict=True).load(device)
        np.testing.assert_array_equal(executable(X, N)[1], X)
