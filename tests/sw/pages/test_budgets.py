from pages import budgets

from celosia.arch.config import PRESETS
from celosia.cli.fpga.netlist import UNITS
from celosia_hw.boards import BOARDS
from celosia_hw.boards.budgets import BUDGETS


def test_a_row_for_each_unit_and_its_budgets():
    _, _, *rows = budgets.budgets()
    assert [row.split(" | ")[0] for row in rows] == [f"| {said}" for said in UNITS.values()]
    for preset in ("edge", "core4"):
        assert set(BUDGETS[budgets.BOARD, preset]) == set(UNITS)
        for budget, row in zip((BUDGETS[budgets.BOARD, preset][unit] for unit in UNITS), rows,
                               strict=True):
            assert f" of {budget.luts:,} |" in row


def test_latencies_grow_with_the_fold():
    whole = budgets.latencies(PRESETS["core4"])
    folded = budgets.latencies(BOARDS["ulx3s"].folded(PRESETS["core4"]))
    assert whole.keys() == folded.keys() == {"mxu", "vpu", "load", "store"}
    assert all(folded[unit] > cycles for unit, cycles in whole.items() if unit in ("mxu", "vpu"))
