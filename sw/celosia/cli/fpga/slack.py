"""Times a design that is placed: how long the longest path through each of its wires is."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from celosia.cli.fpga.errors import FpgaError
from celosia.cli.fpga.families import REGISTERED_PRODUCT, Arc, Delays
from celosia.cli.fpga.paths import arc, matches

__all__ = ["PlacedTiming", "kind_of"]

#: Wires to more cells are clocks, which take no time here.
_MOST_CELLS = 2000
#: Of what no path goes through.
_NEVER = -1e9


def kind_of(cell: Mapping[str, Any]) -> str:
    """Return the kind of a packed cell, as `Delays` call it: with its mode."""
    kind, has = cell["type"], cell["parameters"]
    if kind == "MULT18X18D" and has.get("REG_OUTPUT_CLK", "NONE").strip() not in ("NONE", ""):
        return REGISTERED_PRODUCT
    mode = has.get("MODE", "LOGIC").strip() if kind == "TRELLIS_COMB" else "LOGIC"
    return kind if mode == "LOGIC" else f"{kind} {mode}"


class PlacedTiming:
    """Paths of a design, of which only the lengths of wires depend on where cells are.

    Parameters
    ----------
    cells
        As nextpnr writes them.
    delays
        Of packed cells.

    Attributes
    ----------
    driver, sink
        Cells that each wire comes from and goes to, by their index, shape (wires,).
    near
        Wires that take no time: both ends are always beside each other.
    nets
        Cells of each net, shape (cells of it,).

    Raises
    ------
    FpgaError
        If logic goes round in a loop, or no path ends anywhere.
    """

    def __init__(self, cells: Mapping[str, Mapping[str, Any]], delays: Delays):
        self._delays = delays
        given: dict[int, tuple[int, str]] = {}
        taken: dict[int, list[tuple[int, str]]] = defaultdict(list)
        listed = list(cells.values())
        for index, cell in enumerate(listed):
            for port, bits in cell["connections"].items():
                for bit in bits:
                    if not isinstance(bit, int):
                        continue
                    if cell["port_directions"][port] == "output":
                        given[bit] = index, port
                    else:
                        taken[bit].append((index, port))
        bits = [bit for bit in given if 0 < len(taken[bit]) <= _MOST_CELLS]
        number = {bit: net for net, bit in enumerate(bits)}
        kinds = [kind_of(cell) for cell in listed]
        driver = np.array([given[bit][0] for bit in bits])
        self._starts = np.array([
            _NEVER if kinds[index] in delays.logic else delays.clocked.get(kinds[index], 0.0)
            for index in driver])
        outputs: dict[int, dict[str, int]] = defaultdict(dict)
        for bit in bits:
            outputs[given[bit][0]][given[bit][1]] = number[bit]
        source, sink, near, ends, ways = [], [], [], [], []
        setup_of, arc_of = functools.cache(self._setup), functools.cache(self._arc)
        for bit in bits:
            for index, port in taken[bit]:
                setup = setup_of(kinds[index], port)
                through = [(net, found) for output, net in outputs[index].items()
                           if (found := arc_of(kinds[index], port, output))]
                if setup is not None:
                    ends.append((len(source), setup))
                ways += [(len(source), net, found.ns) for net, found in through]
                near.append(any(found.chained for _, found in through))
                source.append(number[bit])
                sink.append(index)
        if not ends:
            raise FpgaError("a placed design must have registers that paths end at")
        self._source, self.sink, self.near = np.array(source), np.array(sink), np.array(near)
        self.driver = driver[self._source]
        self._ends = np.array([wire for wire, _ in ends]), np.array([ns for _, ns in ends])
        self.nets = [np.unique([given[bit][0], *(index for index, _ in taken[bit])])
                     for bit in bits]
        self._order(ways)

    def _setup(self, kind: str, port: str) -> float | None:
        return next((ns for pattern, ns in self._delays.setup.get(kind, {}).items()
                     if matches(pattern, port)), None)

    def _arc(self, kind: str, start: str, end: str) -> Arc | None:
        return arc(self._delays.logic.get(kind, ()), start, end)

    def _order(self, ways: list[tuple[int, int, float]]) -> None:
        """Sort the ways through logic, those first that come first on any path."""
        wire, net = (np.array([way[each] for way in ways], int) for each in (0, 1))
        ns, nets = np.array([way[2] for way in ways]), len(self._starts)
        before = self._source[wire]
        level, missing = np.zeros(nets, int), np.bincount(net, minlength=nets)
        behind: dict[int, list[int]] = defaultdict(list)
        for start, end in zip(before.tolist(), net.tolist(), strict=True):
            behind[start].append(end)
        known = np.flatnonzero(missing == 0).tolist()
        for start in known:  # grows on the way
            for end in behind[start]:
                level[end] = max(level[end], level[start] + 1)
                missing[end] -= 1
                if missing[end] == 0:
                    known.append(end)
        if len(known) < nets:
            raise FpgaError("a placed design must have no loop of logic, but "
                            f"{nets - len(known)} of its nets are in one or behind it")
        levels = range(int(level.max(initial=0)) + 1)
        self._forward = [(wire[each], net[each], ns[each]) for each in (
            np.flatnonzero(level[net] == this) for this in levels[1:])]
        self._backward = [(wire[each], net[each], ns[each], np.flatnonzero(
            level[self._source] == this)) for this in reversed(levels) for each in (
                np.flatnonzero(level[before] == this),)]

    def wires(self, at: np.ndarray) -> np.ndarray:
        """Return how long the wires take, in ns, shape (wires,).

        Parameters
        ----------
        at
            Columns and rows of the cells, shape (cells, 2).
        """
        tiles = np.abs(at[self.driver] - at[self.sink]).sum(1)
        return np.where(self.near, 0.0, self._delays.wire + self._delays.tile * tiles)

    def paths(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the longest ways to and from each wire, without it, in ns, each of shape (wires,);
        of a wire that no path goes through, one of them is far below 0.
        """
        wires, arrival = self.wires(at), self._starts.copy()
        for wire, net, ns in self._forward:
            np.maximum.at(arrival, net, arrival[self._source[wire]] + wires[wire] + ns)
        to_end = np.full(len(wires), _NEVER)
        np.maximum.at(to_end, *self._ends)
        from_net = np.full(len(arrival), _NEVER)
        for wire, net, ns, fed in self._backward:
            np.maximum.at(to_end, wire, ns + from_net[net])
            np.maximum.at(from_net, self._source[fed], wires[fed] + to_end[fed])
        return arrival[self._source], to_end
