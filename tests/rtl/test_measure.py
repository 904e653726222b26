"""Profiles of runs on the RTL, and the model's word on the same instructions."""

import json

import numpy as np
import pytest

from celosia.arch.isa import Unit
from celosia.bench.compiled import PROGRAMS
from celosia.cli.inputs import random_array
from celosia.cli.main import main
from celosia.driver.backends import BACKENDS
from celosia.profile import against, measure, profile
from celosia_sim.rtl import SimOptions

SMALL = """\
module @net {
  func.func public @main(%x: tensor<16x16xi8>, %w: tensor<16x16xi8>) -> tensor<16x16xi32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<16x16xi8>, tensor<16x16xi8>) -> tensor<16x16xi32>
    return %0 : tensor<16x16xi32>
  }
}
"""


@pytest.fixture(scope="module")
def measured():
    found = profile(SMALL, "nano", name="net")
    rng = np.random.default_rng(0)
    values = [rng.integers(-128, 128, (16, 16), np.int8) for _ in range(2)]
    transport = BACKENDS["rtl"](found.config, options=SimOptions(probe=True), quiet=True)
    return measure(found, transport, values)


def test_cycles_are_the_chips(measured):
    [record] = measured.records
    assert record.made_by == "rtl"
    assert sum(record.prediction.by_instruction.values()) == measured.cycles
    assert sum(line.cycles for line in measured.lines) == measured.cycles
    assert (record.end > record.start).all()
    assert record.end.max() <= measured.cycles
    for unit in Unit:
        end = record.end[record.of_unit(unit)]
        assert (np.diff(end) > 0).all()
    assert measured.expected[0].made_by == "model"


def test_the_model_beside_it(measured):
    found = against(measured)
    assert found["rtl"] == measured.cycles
    assert abs(found["model"] - found["rtl"]) < 0.05 * found["rtl"]
    assert found["instructions_compared"] == len(measured.records[0])
    assert 0 < found["near"] <= 1
    assert sum(row["rtl"] for row in found["lines"]) == measured.cycles
    assert sum(row["model"] for row in found["lines"]) == found["model"]


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_instructions_take_what_the_model_says(name):
    """Of each program of the bench, 95 % within 5 %; all of it within .1 %."""
    source = PROGRAMS[name]
    found = profile(source.path.read_text(), "core", name=name, filename=source.path.name)
    rng = np.random.default_rng(0)
    values = [random_array(each.type.shape, each.type.dtype.numpy, rng)
              for each in found.compiled.inputs]
    transport = BACKENDS["rtl"](found.config, options=SimOptions(probe=True), quiet=True)
    known = against(measure(found, transport, values))
    assert known["near"] >= 0.95
    assert abs(known["model"] / known["rtl"] - 1) < 0.001


def test_another_number_of_instructions_is_refused(measured):
    [record] = measured.expected
    events = {f"{unit}_{kind}": np.arange(3) for unit in ("load", "store", "mxu", "vpu")
              for kind in ("take", "done")} | {"mxu_busy_from": np.zeros(0, np.int64),
                                               "mxu_busy_to": np.zeros(0, np.int64)}
    with pytest.raises(ValueError, match=r"execute \d+ instructions of the load unit, .*not 3"):
        record.measured(events, {})


def test_the_command(tmp_path, capsys):
    path = tmp_path / "net.mlir"
    path.write_text(SMALL)
    given = ["profile", str(path), "--preset", "nano", "--backend", "rtl", "--against", "model"]
    assert main([*given, "--json"]) == 0
    known = json.loads(capsys.readouterr().out)
    assert known["made_by"] == "rtl"
    assert known["cycles"] == known["against"]["rtl"]
    assert main(given) == 0
    out = capsys.readouterr().out
    assert "net on nano, cycles of the RTL\n" in out
    assert f"the model says {known['against']['model']:,} cycles (" in out
    assert main(["profile", str(path), "--against", "model"]) == 1
    assert "--against model must be used with --backend rtl" in capsys.readouterr().err
