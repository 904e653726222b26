"""Units meet at registers: no combinational path goes through a unit of the chip.

The netlist is Amaranth's own, bit by bit: of each bit that leaves a unit, what it depends on within
the cycle is followed back through the unit's logic. Where that comes out at another unit, a path
begins in one unit, goes through this one and ends in a third, and no unit alone has its length.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import pytest
from amaranth.hdl._ir import Fragment, build_netlist

from celosia.arch.config import PRESETS, TpuConfig
from celosia_hw.bus import port
from celosia_hw.stream import SkidBuffer
from celosia_hw.top import Celosia
from celosia_hw.verilog.emit import VerilogWriter

UNITS = ("host", "scalar", "load", "store", "mxu", "vpu", "ub", "acc", "bus")
#: Chips: presets, as boards have them folded, and with links. One that is small leaves registers
#: out: with them it is not placed on its board.
CHIPS = [PRESETS["nano"], replace(PRESETS["nano"], lanes=1, banks=2),
         replace(PRESETS["nano"], ports=2)]
LARGER = [PRESETS["edge"], replace(PRESETS["edge"], lanes=2, banks=2),
          replace(PRESETS["core4"], lanes=1)]
#: Outputs that paths may leave by, for they lead to the pins: whose beat of R it is decides whether
#: it is taken.
AT_THE_PINS = {"bus": {"read__r__ready"}}


def through(config: TpuConfig) -> dict[str, set[tuple[str, str]]]:
    """Return the paths through each unit, but for those of AT_THE_PINS: where they come from, and
    the output they leave by.
    """
    chip = Celosia(config)
    pins = [(name, getattr(chip, name), None) for name in chip.signature.members]
    netlist = build_netlist(Fragment.get(chip, VerilogWriter()), ports=pins, name="chip")
    unit_of = [module.name[1] if len(module.name) > 1 else "" for module in netlist.modules]
    owner = [unit_of[cell.module_idx] for cell in netlist.cells]
    names = {net: signal.name for signal, value in netlist.signals.items() for net in value}
    units = (*UNITS, *(f"link{port}" for port in range(config.ports)))
    assert {*units} <= {*owner}
    clock = set(netlist.signals[chip.clk])  # that of a flip-flop begins no path
    leaves: dict[str, set] = defaultdict(set)
    for number, cell in enumerate(netlist.cells):
        for net in cell.input_nets():
            if not net.is_const and owner[net.cell] != owner[number]:
                leaves[owner[net.cell]].add(net)
    found: dict[str, set[tuple[str, str]]] = {unit: set() for unit in units}
    for unit in units:
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
        found[unit] = {path for path in found[unit] if path[1] not in AT_THE_PINS.get(unit, ())}
    return found


@pytest.mark.parametrize("config", [
    *CHIPS, *(pytest.param(config, marks=pytest.mark.slow) for config in LARGER)],
    ids=lambda config: f"{config.name}-{config.lanes}-{config.banks}-{config.ports}")
def test_no_path_goes_through_a_unit(config):
    assert {unit: paths for unit, paths in through(config).items() if paths} == {}


def test_a_path_through_a_unit_is_seen(monkeypatch):
    monkeypatch.setattr(port, "SkidBuffer", lambda shape, **_: SkidBuffer(shape, holds=False))
    assert through(CHIPS[0])["bus"]
