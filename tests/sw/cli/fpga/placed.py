"""Placed designs of an ECP5, a cell at a time."""

import json

import numpy as np

from celosia.cli.fpga.families import TOP
from celosia.cli.fpga.slack import PlacedTiming


class Placed:
    """A design as nextpnr writes it.

    Attributes
    ----------
    cells
        By name.
    wires
        Cell and port that each comes from, and cell and port that it goes to.
    """

    def __init__(self):
        self.cells, self.wires = {}, []
        self._bits = {"clk": 1, "rst": 2}

    def add(self, name, kind, bel, *, parameters=None):
        """Add a cell of any kind."""
        self.cells[name] = {"type": kind, "parameters": parameters or {},
                            "attributes": {"NEXTPNR_BEL": bel, "src": name},
                            "port_directions": {}, "connections": {}}

    def lut(self, name, tile, *, number=0, mode=None):
        """Add a look-up table."""
        self.add(name, "TRELLIS_COMB", self._bel(tile, "K", number),
                 parameters={"MODE": mode} if mode else {})

    def flip_flop(self, name, tile, *, number=0, reset="rst", enable=None, clock="clk"):
        """Add a flip-flop."""
        self.add(name, "TRELLIS_FF", self._bel(tile, "FF", number), parameters={
            "CLKMUX": "CLK", "LSRMUX": "LSR", "SRMODE": "LSR_OVER_CE", "GSR": "DISABLED",
            "CEMUX": "CE" if enable else "1 "})
        for port, net in (("CLK", clock), ("LSR", reset), ("CE", enable)):
            if net:
                self._connect(name, port, self._bit(net), "input")

    def wire(self, start, output, end, port):
        """Connect two cells."""
        bit = self._bit((start, output))
        self._connect(start, output, bit, "output")
        self._connect(end, port, bit, "input")
        self.wires.append((start, output, end, port))

    @property
    def at(self):
        """Columns and rows of the cells."""
        bels = (cell["attributes"]["NEXTPNR_BEL"].split("/") for cell in self.cells.values())
        return np.array([[int(column[1:]), int(row[1:])] for column, row, _ in bels])

    def write(self, path):
        """Write it as a file; return ``path``."""
        path.write_text(json.dumps({"modules": {TOP: {"cells": self.cells}}}))
        return path

    @staticmethod
    def _bel(tile, kind, number):
        return f"X{tile[0]}/Y{tile[1]}/SLICE{'ABCD'[number // 2]}.{kind}{number % 2}"

    def _bit(self, key):
        return self._bits.setdefault(key, len(self._bits) + 1)

    def _connect(self, name, port, bit, direction):
        self.cells[name]["connections"][port] = [bit]
        self.cells[name]["port_directions"][port] = direction


def through(made, delays):
    """How long the longest path through each wire of a design is; less than 0: there is none."""
    timing = PlacedTiming(made.cells, delays)
    return sum(timing.paths(made.at), timing.wires(made.at))
