"""Reads a synthesised netlist: what it takes in all and by unit, and what its cells are in the
chip's own terms.

Synthesis flattens the design, and renames or invents cells; nets keep hierarchical names. A net
that passes through modules has a name in each, of which synthesis keeps any: `KEEP_NAMES` hides all
but that in the module that makes it.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from celosia.cli.fpga.absorb import PASSES
from celosia.cli.fpga.errors import FpgaError
from celosia.cli.fpga.families import REGISTERED_PRODUCT, RESOURCES, TOP, Family

__all__ = ["KEEP_NAMES", "UNITS", "Cell", "Netlist", "read", "unit_of"]

#: Commands of Yosys that flatten the design; nets that come into a module, or out of an instance in
#: it, have a name of their own elsewhere.
KEEP_NAMES = ("setattr -set celosia_alias 1 i:* t:* t:$* %d %co w:* %i %u; proc; flatten; "
              "rename -hide a:celosia_alias")

#: Instance of the chip in a board's design.
_CHIP = "chip"
#: Units by the instances of the chip, in the order of reports.
_CHIP_UNITS = {
    "mxu": "mxu", "ub": "ub", "acc": "acc", "vpu": "vpu", "scalar": "scalar", "load": "load",
    "store": "store", "host": "host", "bus": "bus",
}
#: The same for what is around it.
_OUTER_UNITS = {
    "link": "link", "memory": "memory", "arbiter": "memory",
}
#: What each unit of a report is.
UNITS = {
    "mxu": "matrix unit", "ub": "unified buffer", "acc": "accumulators", "vpu": "vector unit",
    "scalar": "scalar unit", "load": "load engine", "store": "store engine",
    "host": "host interface", "bus": "memory port",
    "chip": "the chip between its units", "link": "host link",
    "memory": "memory and its controller", "board": "clock, pins, lights",
}

#: What Yosys adds to a name for a net that it cuts out of the logic before or behind it.
_MADE_UP = re.compile(r"_(LUT4|CCU2C|PFUMX|TRELLIS_\w+?|DP16KD|D[IO]|AD[AB]\d+)_.*")

Path_ = tuple[str, ...]


def unit_of(place: Path_) -> str:
    """The unit that an instance, by the names of those it is in, belongs to."""
    if _CHIP in place:
        inside = place[place.index(_CHIP) + 1:]
        return _CHIP_UNITS.get(inside[0], "chip") if inside else "chip"
    names = (name.rstrip("0123456789") for name in place)
    return next((_OUTER_UNITS[name] for name in names if name in _OUTER_UNITS), "board")


@dataclass
class Cell:
    """A cell of the netlist.

    Attributes
    ----------
    place
        Instances that it is in, outermost first.
    signal
        The net that it drives, or its own name, in the innermost of them.
    ins, outs
        Bits by the port that takes or gives them.
    """

    name: str
    kind: str
    ins: Mapping[str, list[int]]
    outs: Mapping[str, list[int]]
    takes: Mapping[str, float]
    place: Path_ | None = None
    signal: str = ""

    @property
    def taken(self) -> list[int]:
        """All bits that come in."""
        return [bit for bits in self.ins.values() for bit in bits]

    @property
    def given(self) -> list[int]:
        """All bits that go out."""
        return [bit for bits in self.outs.values() for bit in bits]

    @property
    def unit(self) -> str:
        """Of `UNITS`."""
        return unit_of(self.place or ())

    @property
    def label(self) -> str:
        """What a person is told: unit and signal."""
        inside = self.place or ()
        if _CHIP in inside:
            inside = inside[inside.index(_CHIP) + 1:]
        name = _MADE_UP.sub("", self.signal)
        return ".".join((*inside, name)) if name else "logic of " + self.unit


@dataclass
class Netlist:
    """A netlist.

    Attributes
    ----------
    cells
        By name.
    """

    cells: dict[str, Cell] = field(default_factory=dict)

    def total(self) -> dict[str, int]:
        """What the design takes, by resource."""
        return _whole(_sums(self.cells.values()))

    def by_unit(self) -> dict[str, dict[str, int]]:
        """What each unit takes, by unit and resource; units in the order of `UNITS`."""
        groups: dict[str, list[Cell]] = defaultdict(list)
        for cell in self.cells.values():
            groups[cell.unit].append(cell)
        rows = {unit: _whole(_sums(groups[unit])) for unit in UNITS if unit in groups}
        return {unit: row for unit, row in rows.items() if any(row.values())}

    def kinds(self) -> dict[str, int]:
        """How many cells there are of each kind."""
        return dict(sorted(Counter(cell.kind for cell in self.cells.values()
                                   if not cell.kind.startswith("$")).items()))


def _sums(cells: Iterable[Cell]) -> dict[str, float]:
    sums = dict.fromkeys(RESOURCES, 0.0)
    for cell in cells:
        for resource, amount in cell.takes.items():
            sums[resource] += amount
    return sums


def _whole(sums: Mapping[str, float]) -> dict[str, int]:
    return {resource: -int(-amount // 1) for resource, amount in sums.items()}


def _bits(connections: Mapping[str, list[Any]], directions: Mapping[str, str],
          wanted: str) -> dict[str, list[int]]:
    return {port: [bit for bit in bits if isinstance(bit, int)]
            for port, bits in connections.items() if directions.get(port) == wanted}


def _split(name: str) -> tuple[Path_, str]:
    *place, signal = name.split(".")
    return tuple(place), signal


def _names(nets: Mapping[str, Any]) -> dict[int, tuple[Path_, str]]:
    """Where each bit was made: the instances, and the name of the net in there."""
    best: dict[int, tuple[Path_, str]] = {}
    for name, net in nets.items():
        if net.get("hide_name"):
            continue
        place, signal = _split(name)
        many = len(net["bits"]) > 1
        for index, bit in enumerate(net["bits"]):
            if isinstance(bit, int) and (bit not in best or len(place) > len(best[bit][0])):
                best[bit] = place, f"{signal}[{index}]" if many else signal
    return best


def _place_by_nets(cells: Iterable[Cell], named: Mapping[int, tuple[Path_, str]]) -> None:
    """Place the cells whose own name, or that of a net they drive, says where they are."""
    for cell in cells:
        found = Counter(named[bit][0] for bit in cell.given if bit in named)
        if not cell.name.startswith("$") and f"_{cell.kind}_" not in cell.name:
            # A memory's name ends with the numbers of its parts.
            parts = cell.name.split(".")
            while len(parts) > 1 and parts[-1].isdigit():
                parts.pop()
            cell.place, cell.signal = tuple(parts[:-1]), parts[-1]
        elif found:
            cell.place = found.most_common(1)[0][0]
            cell.signal = next(named[bit][1] for bit in cell.given
                               if bit in named and named[bit][0] == cell.place)


def _place_by_use(cells: list[Cell]) -> None:
    """Place every other cell with those that use what it makes."""
    users: dict[int, list[Cell]] = defaultdict(list)
    makers: dict[int, Cell] = {}
    for cell in cells:
        for bit in cell.taken:
            users[bit].append(cell)
        for bit in cell.given:
            makers[bit] = cell
    # A cell's place is known when those of its users are: count down from the registers.
    waits = {id(cell): sum(user.place is None for bit in cell.given for user in users[bit])
             for cell in cells if cell.place is None}
    ready = [cell for cell in cells if waits.get(id(cell)) == 0]
    while ready:
        cell = ready.pop()
        votes = Counter(user.place for bit in cell.given for user in users[bit]
                        if user.place is not None)
        cell.place = votes.most_common(1)[0][0] if votes else ()
        for bit in cell.taken:
            maker = makers.get(bit)
            if maker is not None and id(maker) in waits and maker.place is None:
                waits[id(maker)] -= 1
                if not waits[id(maker)]:
                    ready.append(maker)
    for cell in cells:
        cell.place = cell.place or ()


def _kind(cell: Mapping[str, Any]) -> str:
    """What a cell is: its type, and whether the register behind its product is in use."""
    used = cell.get("parameters", {}).get("REG_OUTPUT_CLK", "NONE") != "NONE"
    return REGISTERED_PRODUCT if used else cell["type"]


def read(path: Path, family: Family) -> Netlist:
    """Read a netlist that Yosys wrote as JSON.

    Raises
    ------
    FpgaError
        If it has no module `TOP`.
    """
    modules = json.loads(path.read_text(encoding="utf-8")).get("modules", {})
    if TOP not in modules:
        raise FpgaError(f"{path} must have the module {TOP}, not {', '.join(modules) or 'none'}")
    module = modules[TOP]
    cells = [Cell(name, _kind(cell),
                  _bits(cell["connections"], cell.get("port_directions", {}), "input"),
                  _bits(cell["connections"], cell.get("port_directions", {}), "output"),
                  {} if PASSES in cell.get("attributes", {}) else family.takes(_kind(cell)))
             for name, cell in module["cells"].items()]
    named = _names(module["netnames"])
    _place_by_nets(cells, named)
    _place_by_use(cells)
    return Netlist({cell.name: cell for cell in cells})
