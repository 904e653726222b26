"""Units of the chips that are routed are within their budgets.

Synthesis takes minutes, so what it found is kept with a digest of what it was of, in
``budgets.json``: a chip whose Verilog is still the same is checked by that, any other is
synthesised. ``python tests/sw/cli/fpga/test_budgets.py`` writes the file anew, in the environment
of ``scripts/test extras fpga``.
"""

import json
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from celosia.arch.board import Budget
from celosia.arch.config import PRESETS
from celosia.cli.fpga import constants, families, maps
from celosia.cli.fpga.budget import unit_uses
from celosia.cli.fpga.build import build
from celosia.cli.fpga.stamps import content, digest
from celosia_hw.boards import board
from celosia_hw.boards.budgets import BUDGETS
from celosia_hw.boards.sources import sources

pytestmark = pytest.mark.extra(name="fpga")

FILE = Path(__file__).with_name("budgets.json")


def _made(name, preset):
    """What is to be synthesised, and a digest of it and of how that is done."""
    made = sources(board(name), PRESETS[preset])
    return made, digest(made.verilog, version("pyosys"), *(
        content(Path(str(module.__file__))) for module in (constants, families, maps)))


def _synthesised(made, folder):
    """Return what each unit takes; whatever is over its budget is to be said with its path."""
    netlist = build(made, folder, synth_only=True).netlist
    kinds, config = netlist.kinds(), made.config
    assert netlist.total()["multipliers"] >= config.pes
    assert kinds["DP16KD"] * (1 << 14) >= 8 * (config.ub_bytes + config.acc_bytes)
    assert not any(kind.startswith("$") and kind != "$scopeinfo" for kind in kinds)
    found = unit_uses(netlist, families.family(made.board), BUDGETS[made.board.name, config.name])
    over = [line for row in found for line in row.over]
    return over, {row.unit: asdict(Budget(row.takes["luts"], row.takes["flip_flops"], row.levels))
                  for row in found}


@pytest.mark.parametrize(("name", "preset"), BUDGETS)
def test_units_of_a_chip_are_within_their_budgets(tmp_path, name, preset):
    made, key = _made(name, preset)
    budgets, over = BUDGETS[name, preset], []
    kept = json.loads(FILE.read_text()).get(f"{name} {preset}", {})
    if kept.get("digest") == key:
        units = kept["units"]
        over = [f"{unit}: {count} {what}, budget {getattr(budgets[unit], what)}"
                for unit, takes in units.items() for what, count in takes.items()
                if count > getattr(budgets[unit], what)]
    else:
        over, units = _synthesised(made, tmp_path)
    assert over == []
    assert set(units) == set(budgets)


def main():
    found = {}
    for name, preset in BUDGETS:
        made, key = _made(name, preset)
        with TemporaryDirectory() as folder:
            found[f"{name} {preset}"] = {
                "digest": key, "units": _synthesised(made, Path(folder))[1]}
    FILE.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
