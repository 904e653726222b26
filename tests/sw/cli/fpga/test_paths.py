import json
from itertools import pairwise

import pytest

from celosia.arch.board import Budget
from celosia.cli.fpga.budget import as_data, as_text, unit_uses
from celosia.cli.fpga.errors import FpgaError
from celosia.cli.fpga.families import FAMILIES
from celosia.cli.fpga.netlist import read
from celosia.cli.fpga.paths import longest

FAMILY = FAMILIES["ecp5"]
WIRE = 0.9


def design(tmp_path, **cells):
    """A netlist: of each cell kind, inputs and outputs; the unit is what its name begins with."""
    made = {
        f"system.chip.{name.partition('_')[0]}.{name}": {
            "type": kind,
            "connections": {port: [bit] for port, bit in {**ins, **outs}.items()},
            "port_directions": {**dict.fromkeys(ins, "input"), **dict.fromkeys(outs, "output")}}
        for name, (kind, ins, outs) in cells.items()}
    path = tmp_path / "netlist.json"
    path.write_text(json.dumps({"modules": {"top": {"cells": made, "netnames": {}}}}))
    return read(path, FAMILY)


def chain(tmp_path, levels):
    """A register of the matrix unit, ``levels`` LUTs and a register of the vector unit."""
    bits = range(10, 11 + levels)
    return design(
        tmp_path, mxu_a=("TRELLIS_FF", {"DI": 2, "CLK": 3}, {"Q": 10}),
        **{f"vpu_x{k}": ("LUT4", {"A": before, "B": 10}, {"Z": after})
           for k, (before, after) in enumerate(pairwise(bits))},
        vpu_r=("TRELLIS_FF", {"DI": bits[-1], "CLK": 3, "CE": 10}, {"Q": 99}))


@pytest.mark.parametrize("levels", [0, 1, 5])
def test_a_hop_is_a_wire_and_a_cell(tmp_path, levels):
    path = longest(chain(tmp_path, levels), FAMILY)["mxu", "vpu"]
    # To the enable, straight from the register, it is 0.1 more than to the data.
    least = 0.52 + WIRE + (0.1 if levels else 0.2)
    assert path.ns == pytest.approx(least + levels * (0.24 + WIRE))
    assert (path.levels, path.carries) == (levels, 0)
    assert (path.start, path.end) == ("mxu.mxu_a", "vpu.vpu_r")
    assert (path.start_unit, path.end_unit, path.through) == ("mxu", "vpu", ("mxu", "vpu"))


def test_a_carry_has_no_wire_and_reaches_no_sum_below(tmp_path):
    found = longest(design(
        tmp_path, mxu_a=("TRELLIS_FF", {"CLK": 3}, {"Q": 10}),
        vpu_c=("CCU2C", {"A1": 10}, {"S0": 11, "COUT": 12}),
        vpu_d=("CCU2C", {"CIN": 12}, {"S1": 13}),
        ub_r=("TRELLIS_FF", {"DI": 11}, {}), vpu_r=("TRELLIS_FF", {"DI": 13}, {})), FAMILY)
    path = found["mxu", "vpu"]
    assert path.ns == pytest.approx(0.52 + WIRE + 0.45 + 0.44 + WIRE + 0.1, abs=0.01)
    assert (path.levels, path.carries) == (1, 1)
    assert ("mxu", "ub") not in found
    assert ("mxu", "board") not in found


def test_the_deepest_path_is_found_behind_a_slower_one(tmp_path):
    bits = range(10, 15)
    netlist = design(
        tmp_path, ub_m=("DP16KD", {"CLKA": 3}, {"DOA0": 30}),
        ub_a=("TRELLIS_FF", {"CLK": 3}, {"Q": 10}),
        **{f"vpu_x{k}": ("LUT4", {"A": before}, {"Z": after})
           for k, (before, after) in enumerate(pairwise(bits))},
        vpu_r=("TRELLIS_FF", {"DI": bits[-1], "CLK": 3}, {}),
        vpu_s=("TRELLIS_FF", {"DI": 30, "CLK": 3}, {}))
    slowest, deepest = (longest(netlist, FAMILY, deepest=deepest)["ub", "vpu"]
                        for deepest in (False, True))
    assert (slowest.start, slowest.levels) == ("ub.ub_m", 0)
    assert (deepest.start, deepest.levels) == ("ub.ub_a", 4)
    assert deepest.ns == pytest.approx(0.52 + WIRE + 4 * (0.24 + WIRE) + 0.1)
    row, = (row for row in unit_uses(netlist, FAMILY, {}) if row.unit == "vpu")
    assert (row.slowest, row.deepest, row.levels) == (slowest, deepest, 4)


def test_memories_begin_and_end_paths(tmp_path):
    found = longest(design(
        tmp_path, ub_m=("DP16KD", {"ADA0": 20, "CLKA": 3}, {"DOA0": 10}),
        acc_m=("DP16KD", {"ADA0": 10, "CLKA": 10}, {"DOA0": 20})), FAMILY)
    assert set(found) == {("ub", "acc"), ("acc", "ub")}
    assert all(path.ns == pytest.approx(5.73 + WIRE + 0.3) and path.levels == 0
               for path in found.values())


def test_a_loop_of_logic_is_an_error(tmp_path):
    netlist = design(tmp_path, vpu_x=("LUT4", {"A": 11}, {"Z": 10}),
                     vpu_y=("LUT4", {"A": 10}, {"Z": 11}))
    with pytest.raises(FpgaError, match="^the netlist must have no loop of logic, but one goes "
                                        "through vpu.vpu_[xy]$"):
        longest(netlist, FAMILY)


def test_a_family_without_delays_is_an_error(tmp_path):
    with pytest.raises(FpgaError, match=r"^family must be one whose delays were measured "
                                        r"\(ecp5\), not gowin$"):
        longest(chain(tmp_path, 1), FAMILIES["gowin"])


def test_what_is_over_its_budget_is_named(tmp_path):
    netlist = chain(tmp_path, 5)
    within = {"mxu": Budget(0, 1, 0), "vpu": Budget(5, 1, 5)}
    found = unit_uses(netlist, FAMILY, within)
    assert [row.unit for row in found] == ["mxu", "vpu"]
    assert [row.over for row in found] == [[], []]
    assert "OVER" not in as_text(found)
    over = unit_uses(netlist, FAMILY, {"vpu": Budget(4, 0, 4)})
    assert [row.over for row in over] == [[], [
        "vector unit: 5 LUTs, budget 4", "vector unit: 1 flip-flops, budget 0",
        "vector unit: 5 levels, budget 4 (from mxu.mxu_a to vpu.vpu_r, through mxu > vpu)"]]
    assert as_text(over).endswith("\n".join(["", "OVER BUDGET", *over[1].over]))
    assert json.loads(json.dumps(as_data(over)))["vpu"]["levels"] == 5
