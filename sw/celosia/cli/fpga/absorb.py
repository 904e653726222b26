"""Makes of a Gowin's flip-flops what nextpnr finds places for.

It gives a flip-flop that has no look-up table of its own in front of it the place of one. DSP
blocks have a register behind their product, block RAM has one behind its output, which Yosys leaves
empty; and a DSP block that nothing else uses is a sum of 54 bits: of zero, it is registers, one or
two behind another. What is left gets a table.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from celosia.arch.board import Board
from celosia.cli.fpga.cells import new_bits

__all__ = ["PASSES", "absorb"]

#: The attribute of a look-up table that is there for the place of a flip-flop.
PASSES = "celosia_passes"
#: Flip-flops that a block may stand for, by whether they have an enable and a reset.
_KINDS = {"DFF": (False, False), "DFFE": (True, False), "DFFR": (False, True),
          "DFFRE": (True, True)}
#: What flip-flops and adders share a place with.
_LOGIC = ("LUT", "INV", "ALU")
#: Ports of block RAM that read: data, what their register is called, and its enable.
_READS = {"SDPB": (("DO", "READ_MODE", "OCE"),), "SDPX9B": (("DO", "READ_MODE", "OCE"),),
          "DPB": (("DOA", "READ_MODE0", "OCEA"), ("DOB", "READ_MODE1", "OCEB")),
          "DPX9B": (("DOA", "READ_MODE0", "OCEA"), ("DOB", "READ_MODE1", "OCEB"))}
#: Bits of the sum of a DSP block, and the share of one that products take.
_SUM_BITS = 54
#: A DSP block is taken for so many registers. (Of one alone nextpnr would not know the port, for
#: the netlist has no number in the name of a port of one bit.)
_LEAST = 27
#: The share of the DSP blocks that may be taken, products included: with all of them nextpnr's
#: placer was stopped after half an hour of looking for places.
_FULL = 3 / 4
_SHARES = {"MULT9X9": 1 / 4, "MULT18X18": 1 / 2}
_SUM_PORTS = {"A": "input", "B": "input", "CASI": "input", "ACCLOAD": "input", "ASIGN": "input",
              "BSIGN": "input", "CLK": "input", "CE": "input", "RESET": "input", "DOUT": "output"}

Bit = int | str


class _Control(NamedTuple):
    """Clock, enable and reset."""

    clock: Bit
    enable: Bit
    reset: Bit


class _Netlist:
    """A module as Yosys writes it, and what drives and takes each bit."""

    def __init__(self, module: dict[str, Any]):
        self.cells: dict[str, Any] = module["cells"]
        self.driver: dict[Bit, str] = {}
        self.users: dict[Bit, list[tuple[str, str]]] = defaultdict(list)
        self.zero, self.one = (self._constant(*each) for each in (("GND", "G"), ("VCC", "V")))
        for name, cell in self.cells.items():
            for port, bits in cell["connections"].items():
                for bit in bits:
                    if cell["port_directions"].get(port) == "output":
                        self.driver[bit] = name
                    else:
                        self.users[bit].append((name, port))
        for port in module["ports"].values():
            for bit in port["bits"]:
                self.users[bit].append(("", ""))

    def _constant(self, kind: str, port: str) -> Bit:
        for cell in self.cells.values():
            if cell["type"] == kind:
                return cell["connections"][port][0]
        return "1" if kind == "VCC" else "0"

    def kind(self, bit: Bit) -> str:
        """What drives a bit."""
        return self.cells[self.driver[bit]]["type"] if bit in self.driver else ""

    def control(self, name: str) -> _Control:
        """Of a flip-flop."""
        wires = self.cells[name]["connections"]
        enable, reset = _KINDS[self.cells[name]["type"]]
        return _Control(wires["CLK"][0], wires["CE"][0] if enable else self.one,
                        wires["RESET"][0] if reset else self.zero)

    def behind(self, bit: Bit) -> str | None:
        """Return the flip-flop that is all that takes a bit."""
        users = self.users[bit]
        if len(users) == 1 and users[0][1] == "D" and (
                self.cells[users[0][0]]["type"] in _KINDS):
            return users[0][0]
        return None

    def output(self, name: str) -> Bit:
        """Of a flip-flop."""
        return self.cells[name]["connections"]["Q"][0]

    def remove(self, names: Iterable[str]) -> None:
        """Take flip-flops out; their outputs are another cell's."""
        for name in names:
            del self.cells[name]


def _registers(netlist: _Netlist, bits: list[Bit]) -> tuple[dict[Bit, str], _Control] | None:
    """Return the flip-flops behind all bits of a port that anything takes, and their control."""
    used = [bit for bit in bits if netlist.users[bit]]
    found = {bit: netlist.behind(bit) for bit in used}
    registers = {bit: name for bit, name in found.items() if name is not None}
    controls = {netlist.control(name) for name in registers.values()}
    if not used or len(registers) < len(used) or len(controls) > 1:
        return None
    return registers, controls.pop()


def _take(netlist: _Netlist, cell: dict[str, Any], port: str, registers: dict[Bit, str]) -> None:
    wires = cell["connections"]
    wires[port] = [netlist.output(registers[bit]) if bit in registers else bit
                   for bit in wires[port]]
    netlist.remove(registers.values())


def _products(netlist: _Netlist) -> None:
    for cell in [cell for cell in netlist.cells.values() if cell["type"] in _SHARES]:
        found = _registers(netlist, cell["connections"]["DOUT"])
        if found is None:
            continue
        registers, control = found
        wires, parameters = cell["connections"], cell["parameters"]
        there = parameters.get("OUT_REG", "0") == "1"
        if there and control != _Control(wires["CLK"][0], wires["CE"][0], wires["RESET"][0]):
            continue
        # The first of two is between the partial products.
        parameters["PIPE_REG" if there else "OUT_REG"] = "1"
        parameters["MULT_RESET_MODE"] = "SYNC"
        wires["CLK"], wires["CE"], wires["RESET"] = ([bit] for bit in control)
        _take(netlist, cell, "DOUT", registers)


def _memories(netlist: _Netlist) -> None:
    """A reset would reset what is before the register, too: only without one."""
    for cell in [cell for cell in netlist.cells.values() if cell["type"] in _READS]:
        for port, mode, enable in _READS[cell["type"]]:
            found = _registers(netlist, cell["connections"][port])
            if found is None or found[1].reset != netlist.zero:
                continue
            cell["parameters"][mode] = "1"
            cell["connections"][enable] = [found[1].enable]
            _take(netlist, cell, port, found[0])


def _alone(netlist: _Netlist) -> dict[_Control, list[list[str]]]:
    """Return flip-flops that have no logic in front of them, by their control; two together where
    the first is all that the second one has.
    """
    alone = {name for name, cell in netlist.cells.items() if cell["type"] in _KINDS
             and not netlist.kind(cell["connections"]["D"][0]).startswith((*_LOGIC, "V", "G"))}
    groups: dict[_Control, list[list[str]]] = defaultdict(list)
    seen: set[str | None] = set()
    for name in sorted(alone):
        behind = netlist.behind(netlist.output(name))
        if behind in alone and not {name, behind} & seen and (
                netlist.control(name) == netlist.control(behind)):
            seen |= {name, behind}
            groups[netlist.control(name)].append([name, behind])
    for name in sorted(alone - seen):
        groups[netlist.control(name)].append([name])
    return groups


def _sums(netlist: _Netlist, count: int) -> None:
    """Make registers of as many DSP blocks, those first that most go into; of registers that are
    always enabled, for neighbouring blocks share four enables, of which products have theirs.
    """
    sums: list[tuple[_Control, list[list[str]]]] = []
    for control, lines in _alone(netlist).items():
        if control.enable != netlist.one:
            continue
        for length in (2, 1):
            each = [line for line in lines if len(line) == length]
            sums += [(control, each[k:k + _SUM_BITS]) for k in range(0, len(each), _SUM_BITS)]
    sums.sort(key=lambda each: -sum(map(len, each[1])))
    sums = [each for each in sums if len(each[1]) >= _LEAST]
    for number, (control, lines) in enumerate(sums[:count]):
        def ports(bits: list[Bit], fill: Bit) -> list[Bit]:
            return bits + [fill] * (_SUM_BITS - len(bits))

        first, last = [line[0] for line in lines], [line[-1] for line in lines]
        ahead = "1" if len(lines[0]) == 2 else "0"
        zeros = ports([], netlist.zero)
        wires = {
            "A": ports([netlist.cells[name]["connections"]["D"][0] for name in first],
                       netlist.zero),
            "B": zeros, "CASI": [netlist.zero] * (_SUM_BITS + 1),
            **{name: [netlist.zero] for name in ("ACCLOAD", "ASIGN", "BSIGN")},
            **{name: [bit] for name, bit in zip(("CLK", "CE", "RESET"), control, strict=True)},
            "DOUT": [netlist.output(name) for name in last],
        }
        cell = f"{first[0]}_registers{number}"
        netlist.remove([name for line in lines for name in line])
        netlist.cells[cell] = {
            "hide_name": 0, "type": "ALU54D", "attributes": {}, "connections": wires,
            "port_directions": _SUM_PORTS,
            # Zero, and B, and A; gowin_pack wants all of these.
            "parameters": {"AREG": ahead, "BREG": "0", "OUT_REG": "1", "ALUD_MODE": "0",
                           "B_ADD_SUB": "0", "C_ADD_SUB": "0", "ALU_RESET_MODE": "SYNC"}}


def _tables(netlist: _Netlist) -> None:
    """Give each flip-flop that would take the place of a look-up table one: nextpnr puts it there
    after placing, but while it places it knows of no more tables than it is given, and looks for
    places where there are none. Enable and reset go into the table: flip-flops that are side by
    side share theirs.
    """
    free = new_bits(netlist.cells)
    together: set[Bit] = set()
    for name in [name for name, cell in netlist.cells.items() if cell["type"].startswith("DFF")]:
        cell = netlist.cells[name]
        wires, directions = cell["connections"], cell["port_directions"]
        bit, = wires["D"]
        kind = netlist.kind(bit)
        # One of those that a table drives goes with it; an adder's bit has the place of one.
        if kind == "ALU" or (kind.startswith(_LOGIC) and bit not in together):
            together.add(bit)
            continue
        inputs, table = [bit], [0, 1]
        if cell["type"] in _KINDS:
            enable, reset = _KINDS[cell["type"]]
            if enable:
                inputs += [netlist.output(name), *wires.pop("CE")]
                table = [0, 0, 1, 1, 0, 1, 0, 1]
            if reset:
                inputs += wires.pop("RESET")
                table += [0] * len(table)
            cell["type"] = "DFF"
            cell["port_directions"] = {port: directions[port] for port in wires}
        bit = next(free)
        ports = {f"I{number}": [each] for number, each in enumerate(inputs)}
        kind = f"LUT{len(inputs)}"
        netlist.cells[f"{name}_{kind}_F"] = {
            "hide_name": 0, "type": kind, "attributes": {PASSES: "1"},
            "parameters": {"INIT": "".join(map(str, reversed(table)))},
            "port_directions": {"F": "output", **dict.fromkeys(ports, "input")},
            "connections": {"F": [bit], **ports}}
        wires["D"] = [bit]


def absorb(design: dict[str, Any], top: str, board: Board) -> None:
    """Change a design that Yosys wrote.

    Parameters
    ----------
    top
        Its module.
    board
        What it is for.
    """
    netlist = _Netlist(design["modules"][top])
    _products(netlist)
    _memories(netlist)
    netlist = _Netlist(design["modules"][top])
    kinds = Counter(cell["type"] for cell in netlist.cells.values())
    taken = sum(-int(-count * _SHARES.get(kind, 0) // 1) for kind, count in kinds.items())
    # Each is for two products of 18 bits, or a sum.
    blocks = board.capacity.multipliers // 2
    _sums(netlist, max(0, int(blocks * _FULL) - taken))
    _tables(_Netlist(design["modules"][top]))
