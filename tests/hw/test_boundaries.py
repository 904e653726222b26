"""Units meet at registers: no combinational path goes through a unit of the chip.

The netlist is Amaranth's own, bit by bit: of each bit that leaves a unit, what it depends on within
the cycle is followed back through the unit's logic. Where that comes out at another unit, a path
begins in one unit, goes through this one and ends in a third, and no unit alone has its length.
"""

from __future__ import annotations

from collections import defaultdict

import pytest
from amaranth.hdl._ir import Fragment, build_netlist

from celosia.arch.config import PRESETS
from celosia_hw.top import Celosia
from celosia_hw.verilog.emit import VerilogWriter

UNITS = ("host", "scalar", "load", "store", "mxu", "vpu", "ub", "acc", "guard", "arbiter")
#: Units that paths still go through. It only ever gets shorter: a unit that is done is taken out,
#: and the test fails as long as it is here.
NOT_YET = {"vpu", "ub", "acc", "guard", "arbiter"}


def through(preset: str) -> dict[str, set[tuple[str, str]]]:
    """Return the paths through each unit: where they come from, and the output they leave by."""
    chip = Celosia(PRESETS[preset])
    pins = [(name, getattr(chip, name), None) for name in chip.signature.members]
    netlist = build_netlist(Fragment.get(chip, VerilogWriter()), ports=pins, name="chip")
    unit_of = [module.name[1] if len(module.name) > 1 else "" for module in netlist.modules]
    owner = [unit_of[cell.module_idx] for cell in netlist.cells]
    names = {net: signal.name for signal, value in netlist.signals.items() for net in value}
    assert {*UNITS} <= {*owner}
    clock = set(netlist.signals[chip.clk])  # that of a flip-flop begins no path
    leaves: dict[str, set] = defaultdict(set)
    for number, cell in enumerate(netlist.cells):
        for net in cell.input_nets():
            if not net.is_const and owner[net.cell] != owner[number]:
                leaves[owner[net.cell]].add(net)
    found: dict[str, set[tuple[str, str]]] = {unit: set() for unit in UNITS}
    for unit in UNITS:
        for output in leaves[unit]:
            seen, left = {output}, [output]
            while left:
                net = left.pop()
                for source, _ in netlist.cells[net.cell].comb_edges_to(net.bit):
                    if source.is_const or source in seen or source in clock:
                        continue
                    seen.add(source)
                    if owner[source.cell] == unit:
                        left.append(source)
                    else:
                        whence = owner[source.cell] or "pins"
                        found[unit].add((f"{whence}: {names.get(source, '?')}",
                                         names.get(output, "?")))
    return found


@pytest.mark.parametrize("preset", ["nano", pytest.param("edge", marks=pytest.mark.slow)])
def test_no_path_goes_through_a_unit(preset):
    found = through(preset)
    assert {unit: paths for unit, paths in found.items() if paths and unit not in NOT_YET} == {}
    assert {unit for unit, paths in found.items() if paths} == NOT_YET
    # Paths from the pins are seen, too.
    assert ("pins: o_read__r__valid", "i_read__r__valid") in found["guard"]
