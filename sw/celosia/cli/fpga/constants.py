"""Keeps constants of an ECP5 out of nextpnr's way.

nextpnr has one LUT for each of zero and one, from which it leads a wire to everything on the chip
that takes it: a net of thousands of ends. Where little leads to such an end, as to the reset of a
DSP block, router1 tries again and again, each time further away. So a DSP block has LUTs of its own
for what it takes (four of them share lines for clocks, enables and resets, of which there are four
each); and an address of a 16x4 RAM that has fewer bits than four has one of its bits twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from celosia.arch.board import Board
from celosia.cli.fpga.cells import new_bits

__all__ = ["constants"]

_ADDRESS_BITS, _DATA_BITS = 4, 4
#: Inputs of a DSP block that are not tied where they are, but have to come through the fabric.
_ROUTED = ("CE", "RST", "SIGNED", "SOURCE")


def _addresses(cell: dict[str, Any]) -> None:
    """Lead a bit of both addresses to where both have a zero; move what the RAM begins with."""
    wires = cell["connections"]
    read, write = wires["RAD"], wires["WAD"]
    unused = [i for i in range(_ADDRESS_BITS) if (read[i], write[i]) == ("0", "0")]
    used = [i for i in range(_ADDRESS_BITS) if i not in unused]
    if not used:
        return
    for address in (read, write):
        for i in unused:
            address[i] = address[used[0]]
    keep = sum(1 << i for i in used)
    starts = cell["parameters"]["INITVAL"][::-1]
    words = [starts[at:at + _DATA_BITS] for at in range(0, len(starts), _DATA_BITS)]
    cell["parameters"]["INITVAL"] = "".join(
        words[at & keep] for at in range(1 << _ADDRESS_BITS))[::-1]


def _blocks(cells: dict[str, Any], free: Iterator[int]) -> None:
    """Give each DSP block its zero and its one; ``free`` counts bits that no cell has."""
    for name in [name for name, cell in cells.items() if cell["type"] == "MULT18X18D"]:
        wires = cells[name]["connections"]
        ports = [port for port in wires if port.startswith(_ROUTED)]
        for value in ("0", "1"):
            takers = [port for port in ports if wires[port] == [value]]
            if not takers:
                continue
            bit = next(free)
            for port in takers:
                wires[port] = [bit]
            cells[f"{name}_constant{value}"] = {
                "hide_name": 0, "type": "LUT4", "attributes": {},
                "parameters": {"INIT": value * 16},
                "port_directions": {**dict.fromkeys("ABCD", "input"), "Z": "output"},
                "connections": {**{port: ["x"] for port in "ABCD"}, "Z": [bit]}}


def constants(design: dict[str, Any], top: str, _board: Board) -> None:
    """Change a design that Yosys wrote.

    Parameters
    ----------
    top
        Its module.
    _board
        What it is for, which makes no difference here.
    """
    cells = design["modules"][top]["cells"]
    for cell in cells.values():
        if cell["type"] == "TRELLIS_DPR16X4":
            _addresses(cell)
    _blocks(cells, new_bits(cells))
