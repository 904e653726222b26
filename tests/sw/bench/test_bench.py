import argparse
import dataclasses
import json
import re
import shlex

import numpy as np
import pytest

from celosia import bench
from celosia.arch.config import preset
from celosia.bench import measure, table, training


def parse(text):
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    return parser.parse_args(shlex.split(text))


def run(text):
    args = parse(text)
    return args.run(args)


def run_json(capsys, text):
    code = run(f"{text} --backend model --json")
    return code, json.loads(capsys.readouterr().out)


def test_gemm_prints_one_json_object(capsys):
    code, result = run_json(capsys, "gemm --format bf16 --m 20 --k 17 --n 33")
    assert code == 0
    assert result["ideal_cycles"] == 20 * 2 * 3
    assert result["bit_exact"] is True
    assert result["utilisation"] == pytest.approx(120 / result["cycles"])
    assert result["mac_utilisation"] == pytest.approx(20 * 17 * 33 / 256 / result["cycles"])
    assert result["counters"]["cycles"] == result["cycles"]
    assert result["preset"] == "core"
    assert result["host_seconds"] > 0


def test_options_of_gemm_reach_the_program(capsys):
    for options in ("--transpose-a", "--transpose-b", "--output int8", "--seed 4"):
        code, result = run_json(capsys, f"gemm --preset nano --m 9 --k 10 --n 11 {options}")
        assert (code, result["bit_exact"]) == (0, True)


def test_a_product_is_plain_where_nothing_is_asked_for():
    made, same = (measure.gemm(preset("nano"), 9, 10, 11, "int8", **options) for options in (
        {}, {"seed": 0, "output": None}))
    assert made.name == "9x10 * 10x11"
    assert [made.inputs[name].shape for name in "ab"] == [(9, 10), (10, 11)]
    assert all(np.array_equal(made.inputs[name], same.inputs[name]) for name in "ab")


def test_mlp_counts_the_tiles_of_all_layers(capsys):
    code, result = run_json(capsys, "mlp --preset edge --layers 20-9-3 --batch 5")
    assert code == 0
    assert result["ideal_cycles"] == 5 * (3 * 2 + 2 * 1)
    assert result["workload"] == "20-9-3, batch 5"


def test_text_tells_an_estimate(capsys):
    assert run("gemm --backend model --m 4 --k 4 --n 4 --no-check") == 0
    text = capsys.readouterr().out
    assert "(an estimate)" in text
    assert "not checked" in text


def test_wrong_result_is_reported_and_fails(capsys, monkeypatch):
    monkeypatch.setattr(measure.ops, "reference_matmul",
                        lambda *args, **options: np.zeros((4, 4), np.int32))
    code, result = run_json(capsys, "gemm --m 4 --k 4 --n 4")
    assert (code, result["bit_exact"]) == (1, False)


def test_every_line_of_the_table_is_a_command_that_parses():
    assert len({row.command for row in table.ROWS}) == len(table.ROWS)
    for row in table.ROWS:
        args = parse(row.arguments)
        assert args.format in preset(args.preset).formats


def test_table_is_markdown_and_json(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(table, "ROWS", (
        table.Row("gemm --preset nano --format int8 --m 4 --k 4 --n 4"),
        table.Row("gemm --preset core --format int8 --m 4 --k 4 --n 4")))
    path = tmp_path / "table.json"
    assert run(f"table --preset nano --backend model --save {path}") == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[2].startswith("| nano | int8 | 4x4 * 4x4 |")
    assert "| yes |" in lines[2]
    (saved,) = json.loads(path.read_text())
    assert saved["command"] == "celosia bench gemm --preset nano --format int8 --m 4 --k 4 --n 4"


def test_a_line_of_the_table_has_every_figure():
    found = measure.Measurement("4x8 * 8x4", "core", "rtl", "bf16", 5, 12345, 6789, 0.54994, 0.5,
                                None, 1.5, 4567.8)
    row = table.Row("gemm --preset core --m 4")
    head, rule, *lines = table.markdown((row, dataclasses.replace(found, bit_exact=exact))
                                        for exact in (True, False, None))
    assert head.split(" | ")[3:6] == ["cycles", "ideal", "utilisation"]
    assert {head.count("|"), rule.count("|"), *(line.count("|") for line in lines)} == {10}
    assert lines == [
        f"| core | bf16 | 4x8 * 8x4 | 12,345 | 6,789 | 55.0% | {exact} | 4,568 "
        f"| `celosia bench gemm --preset core --m 4` |" for exact in ("yes", "**NO**",
                                                                       "not checked")]


def test_lines_are_of_the_presets_that_are_asked_for():
    assert table.rows() == list(table.ROWS)
    assert table.rows([]) == []
    assert [row.arguments for row in table.rows(["edge", "nano"])] == [
        "gemm --preset edge --format int8 --m 256 --k 256 --n 256",
        "mlp --preset edge --format int8 --batch 64",
        "gemm --preset nano --format int8 --m 64 --k 64 --n 64",
        "mlp --preset nano --format int8 --batch 16"]


@pytest.mark.parametrize("text", ["gemm --m 0", "mlp --layers 10", "mlp --layers 10-0", "conv"])
def test_wrong_usage_is_refused(text, capsys):
    with pytest.raises(SystemExit) as error:
        parse(text)
    assert error.value.code == 2
    assert "error: " in capsys.readouterr().err


def test_training_step_is_measured_and_compared(capsys):
    code, result = run_json(capsys, "train --layers 20-32-4 --batch 16")
    assert (code, result["bit_exact"]) == (0, True)
    assert result["workload"] == "training 20-32-4, batch 16"
    assert result["mxu_busy"] == result["counters"]["mxu_busy"] / result["cycles"]
    assert {"dot (forward)", "dot (backward)", "end"} <= set(result["parts"])
    assert result["counters"]["cycles"] == result["cycles"]


def test_text_of_training_says_where_the_cycles_go(capsys):
    assert run("train --layers 20-32-4 --batch 16 --backend model --no-check") == 0
    text = capsys.readouterr().out
    assert "not checked" in text
    (share,) = re.findall(r"MXU busy    ([\d.]+)% of all cycles", text)
    parts = re.findall(r"^  ([\w ()]+?) +([\d,]+) ", text, re.MULTILINE)
    assert int(dict(parts)["dot (forward)"].replace(",", "")) > 200
    assert dict(parts)["busy"]
    assert 0 < float(share) < 100
    assert "vpu  " in text


def test_training_that_differs_is_reported_and_fails(capsys, monkeypatch):
    monkeypatch.setattr(training.Trainer, "equals", lambda self, other: False)
    code, result = run_json(capsys, "train --layers 8-16-2 --batch 16")
    assert (code, result["bit_exact"]) == (1, False)


def test_training_wants_two_layers_of_bf16():
    with pytest.raises(ValueError, match=(
            "^--layers must be three sizes to train, such as 784-512-10, not 8-4$")):
        run("train --layers 8-4")
    with pytest.raises(ValueError, match="^--format must be bf16 to train, not int8$"):
        run("train --format int8")


@pytest.mark.parametrize("rows", [33, 1 << 20])
def test_rows_that_no_walk_has_are_refused(rows):
    with pytest.raises(ValueError, match="^--rows must be a multiple of 32 of at most 1048560 on "
                                         f"core, not {rows}$"):
        run(f"vector --backend model --rows {rows}")


@pytest.mark.parametrize(("option", "message"), [
    ("--rows 0", "must be a positive integer, not 0"),
    ("--m x", "must be a positive integer, not x"),
    ("--layers 4-x-2", "must be a positive integer, not x"),
    ("--seed -1", "must be an integer of at least 0, not -1")])
def test_numbers_are_checked(capsys, option, message):
    with pytest.raises(SystemExit):
        parse(f"vector {option}")
    assert message in capsys.readouterr().err
