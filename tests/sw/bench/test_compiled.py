import argparse
import json
import re
import shlex

import numpy as np
import pytest

from celosia import bench
from celosia.arch.config import preset
from celosia.bench import compiled
from celosia.bench.compiled import PROGRAMS, measure_compiled
from celosia.compiler.errors import CompileError
from celosia.frontend import import_stablehlo
from celosia.graph import DType, Graph, TensorType, fingerprint, parameter
from e2e.programs import bench as sources


def parse(text):
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    return parser.parse_args(shlex.split(text))


def run(text):
    args = parse(text)
    return args.run(args)


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Two programs in the place of the large ones; returns their folder."""
    monkeypatch.setattr(compiled, "_FOLDER", tmp_path)
    for name, size in (("one", 20), ("two", 33)):
        (tmp_path / f"{name}.mlir").write_text(f"""
func.func @main(%x: tensor<12x{size}xf32>, %w: tensor<{size}x7xf32>) -> tensor<12x7xf32> {{
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<12x{size}xf32>, tensor<{size}x7xf32>) -> tensor<12x7xf32>
  return %y : tensor<12x7xf32>
}}
""")
        monkeypatch.setitem(PROGRAMS, name, compiled.BenchSource(name, f"{name} product"))
    for name in list(PROGRAMS):
        if name not in ("one", "two"):
            monkeypatch.delitem(PROGRAMS, name)
    return tmp_path


@pytest.mark.parametrize("name", PROGRAMS)
def test_files_are_what_jax_writes(name):
    assert sources.ROWS.keys() == PROGRAMS.keys()
    text = PROGRAMS[name].path.read_text(encoding="utf-8")
    assert len(text) < 240_000
    wanted = import_stablehlo(sources.text_of(name))
    assert fingerprint(import_stablehlo(text)) == fingerprint(wanted), "run scripts/bench-programs"


def test_json_has_a_row_for_each_program(small, capsys):
    assert run("compiled --backend model --json") == 0
    one, two = json.loads(capsys.readouterr().out)
    assert (one["name"], two["name"]) == ("one", "two")
    assert two["ideal_cycles"] == -(-12 * 33 * 7 // 256)
    assert two["utilisation"] == two["ideal_cycles"] / two["cycles"]
    assert two["bit_exact"] is True
    assert two["predicted_cycles"] == two["cycles"] == two["counters"]["cycles"]
    assert two["bytes"] >= 4 * (12 * 33 + 33 * 7 + 12 * 7)
    assert two["bound_cycles"] == two["roofline"][two["bound"]] == max(two["roofline"].values())
    assert two["compile_seconds"] > 0


def test_text_is_a_table(small, capsys):
    assert run("compiled --backend model --name two") == 0
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert len(rows) == 1
    assert rows[0].startswith("| two: two product | ")
    assert "| yes |" in rows[0]
    assert len(head.split("|")) == len(rows[0].split("|"))


def test_products_in_loops_count_as_often_as_they_turn(small):
    (small / "one.mlir").write_text("""
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<100> : tensor<i32>
  %r:2 = stablehlo.while(%i = %c, %v = %x) : tensor<i32>, tensor<4x8xf32>
  cond {
    %0 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  } do {
    %0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %0 : tensor<i32>
    %2 = stablehlo.dot_general %v, %w, contracting_dims = [1] x [0]
      : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<4x8xf32>
  }
  return %r#1 : tensor<4x8xf32>
}
""")
    assert measure_compiled(preset("core"), "model",
                            PROGRAMS["one"]).ideal_cycles == 100 * 4 * 8 * 8 // 256


def test_result_that_differs_is_reported_and_fails(small, capsys, monkeypatch):
    monkeypatch.setattr(compiled, "_equal", lambda *args: False)
    assert run("compiled --backend model --name one") == 1
    assert "| **NO** |" in capsys.readouterr().out


def test_not_checked_is_said(small, capsys):
    assert run("compiled --backend model --name one --no-check") == 0
    assert "| not checked |" in capsys.readouterr().out


def test_fast_programs_are_shorter(small, capsys):
    (small / "one.mlir").write_text("""
func.func @main(%x: tensor<12x20xf32>) -> tensor<12x20xf32> {
  %y = stablehlo.tanh %x : tensor<12x20xf32>
  return %y : tensor<12x20xf32>
}
""")
    cycles = []
    for more in ("", " --fast"):
        assert run(f"compiled --backend model --name one --json{more}") == 0
        [one] = json.loads(capsys.readouterr().out)
        cycles.append(one["cycles"])
    assert cycles[1] < cycles[0]


def test_chip_without_bf16_is_refused(small):
    with pytest.raises(CompileError, match="needs formats that edge does not have"):
        run("compiled --backend model --preset edge")


def test_arguments_fit_the_program():
    source = PROGRAMS["mlp-adam"]
    graph = import_stablehlo(source.path)
    arguments = compiled._arguments(source, graph, 0)
    # Count, images, labels, squares: what the step takes for them.
    integers = [array for array in arguments if array.dtype == np.int32]
    assert [array.shape for array in integers] == [(), (128,)]
    assert 0 <= integers[1].min() < integers[1].max() < 10
    weights = [(784, 512), (512,), (512, 10), (10,)]
    assert [arguments[i].shape for i in source.positive] == weights
    assert all(arguments[i].min() >= 0 for i in source.positive)


@pytest.mark.parametrize("name", ["none", "mlp"])
def test_unknown_name_is_refused(name, capsys):
    with pytest.raises(SystemExit):
        parse(f"compiled --name {name}")
    assert re.search(r"invalid choice: '\w+'", capsys.readouterr().err)


def test_arguments_are_like_what_programs_are_given():
    types = [TensorType(dtype, shape) for dtype, shape in (
        (DType.I32, (900,)), (DType.I8, (90, 90)), (DType.F32, (400, 50)), (DType.F32, (400, 50)),
        (DType.F32, ()), (DType.BF16, (16, 3000)))]
    params = [parameter(each) for each in types]
    source = compiled.BenchSource("any", "any", 7, range(3, 4))
    labels, words, plain, squares, one, narrow = compiled._arguments(
        source, Graph("any", params, params), 3)
    assert [(each.dtype, each.shape) for each in (labels, words, plain, squares, one, narrow)] == [
        (each.dtype.numpy, each.shape) for each in types]
    assert sorted(set(labels.tolist())) == [*range(7)]
    assert (words.min(), words.max()) == (-128, 127)
    assert abs(plain.std() - 1 / 20) < 0.001
    assert abs(plain.mean()) < 0.001
    assert squares.min() >= 0
    assert abs(squares.mean() - 1 / 400) < 0.0001
    assert abs(narrow.astype(np.float32).std() - 1 / 4) < 0.005
    again = compiled._arguments(source, Graph("any", params, params), 3)
    assert all(a.tobytes() == b.tobytes() for a, b in zip(
        (labels, words, plain, squares, one, narrow), again, strict=True))
