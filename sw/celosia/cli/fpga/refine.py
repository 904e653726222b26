"""Moves logic of long paths of an ECP5 nearer together, once all has its place.

nextpnr's placers weigh wires by how long their paths are, but stop when the sum of all wires does
not become shorter, and the longest paths go back and forth, further than their ends are apart. So
once a design is placed, look-up tables and flip-flops of paths that take too long are moved one by
one to where the exponentials of the times of all paths through their wires have the least sum.
They take empty places, or change places with what has time.

As in Marquardt, Betz and Rose, "Timing-driven placement for FPGAs" (2000), what a move costs is of
times and of wires; here only moves that gain are made, and times are those that a move would give.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from celosia.cli.fpga.errors import FpgaError
from celosia.cli.fpga.families import TOP, Delays
from celosia.cli.fpga.slack import PlacedTiming, kind_of

__all__ = ["refine"]

#: Time, in ns, by which a path that is longer costs e times as much.
_STEP = 0.5
#: A tile more of a net costs as much as this share of a path that is as long as it may be.
_LENGTH = 0.01
#: Share by which paths cost more for each tile between a cell and where its latest wire comes from:
#: of cells one behind the other, it is the first that can move without a loss.
_BACK = 1e-4
#: Of what there is not.
_NEVER = -1e9
#: Cells of long paths that a sweep tries to move; sweeps without a gain, after which it ends.
_CELLS, _PATIENCE = 1500, 10
#: Tiles around the best place and around the cell where a place is looked for; places of the best
#: that are tried.
_AROUND, _NEAR, _TRIED = 4, 2, 12
#: Pins of a net whose length counts.
_MOST_PINS = 60
#: Share of what a move gains that what makes room for it may lose.
_LOSS = 0.9
#: Look-up tables, and flip-flops, of a tile; neighbours of a slice differ in the last bit.
_PLACES = 8
_SITE = re.compile(r"X(\d+)/Y(\d+)/SLICE([A-D])\.(K|FF)([01])")
_BEL = re.compile(r"X(\d+)/Y(\d+)/")
_LUT, _FLIP_FLOP = "TRELLIS_COMB", "TRELLIS_FF"

_Place = tuple[int, int, int]


@dataclass(frozen=True)
class _Pulls:
    """What draws cells that move together.

    Attributes
    ----------
    sources, before
        Where each of their wires comes from, shape (wires, 2), and when, in ns, if it is no tile
        long.
    into
        Wires of ``sources`` that end a path here, and what comes then.
    sinks, behind
        Where each of their wires goes to, shape (wires, 2), and how long it takes from here, in ns,
        if it is no tile long.
    follows
        Whether what goes out by each of ``sinks`` waits for what comes in.
    boxes
        Corners of what else is on each of their nets, shape (nets, 2, 2).
    """

    sources: np.ndarray
    before: np.ndarray
    into: tuple[np.ndarray, np.ndarray]
    sinks: np.ndarray
    behind: np.ndarray
    follows: np.ndarray
    boxes: np.ndarray


class _Design:
    """A design whose logic moves.

    Attributes
    ----------
    at
        Columns and rows of the cells, shape (cells, 2).
    places
        Of each cell: column, row and number in its tile; None of what is not in a slice.
    """

    def __init__(self, cells: Mapping[str, Mapping[str, Any]], delays: Delays):
        self.names, listed = list(cells), list(cells.values())
        self.tile, self.timing = delays.tile, PlacedTiming(cells, delays)
        self._wire, self._own = delays.wire, delays.logic[_LUT][0].ns
        self.kinds = [kind_of(cell) for cell in listed]
        bels = [cell["attributes"].get("NEXTPNR_BEL", "") for cell in listed]
        self.at = np.array([(int(found[1]), int(found[2])) if (found := _BEL.match(bel)) else (0, 0)
                            for bel in bels])
        self.places: list[_Place | None] = [
            (int(found[1]), int(found[2]), 2 * "ABCD".index(found[3]) + int(found[5]))
            if (found := _SITE.fullmatch(bel)) else None for bel in bels]
        #: Who is where, of look-up tables and of flip-flops.
        self.taken: dict[bool, dict[_Place, int]] = {
            flip_flop: {place: cell for cell, place in enumerate(self.places)
                        if place and (self.kinds[cell] == _FLIP_FLOP) == flip_flop}
            for flip_flop in (False, True)}
        memories = {tuple(self.at[cell]) for cell, kind in enumerate(self.kinds)
                    if kind.startswith((f"{_LUT} DPRAM", f"{_LUT} RAMW", "TRELLIS_RAMW"))}
        #: Tiles that logic may go to; it may leave those with memories.
        self.tiles = {place[:2] for place in self.places if place} - memories
        self._read_controls(listed)
        self._read_wires()

    def _read_controls(self, listed: Sequence[Mapping[str, Any]]) -> None:
        """Find what flip-flops of a slice and of a tile must have in common, and which are wired to
        the look-up table beside them.
        """
        self.controls: dict[int, tuple[Any, ...]] = {}
        self._partner: dict[int, int] = {}
        given = {bit: index for index, cell in enumerate(listed) if self.kinds[index] == _LUT
                 for bit in cell["connections"].get("F", ())}
        self._moves = [self.kinds[index] == _LUT and place is not None
                       for index, place in enumerate(self.places)]
        for index, cell in enumerate(listed):
            place = self.places[index]
            if self.kinds[index] != _FLIP_FLOP or place is None:
                continue
            ports, has = cell["connections"], cell["parameters"]
            self.controls[index] = tuple(
                (*ports.get(port, ()), *(has.get(name, "").strip() for name in names))
                for port, names in (("CLK", ("CLKMUX",)), ("LSR", ("LSRMUX", "SRMODE")),
                                    ("CE", ("CEMUX", "GSR"))))
            beside = self.taken[False].get(place)
            if not ports.get("DI"):
                self._moves[index] = True
            elif beside is not None and given.get(ports["DI"][0]) == beside:
                self._partner |= {index: beside, beside: index}
                self._moves[index] = self._moves[beside]

    def _read_wires(self) -> None:
        timing = self.timing
        #: Of each cell: its wires, and who is at their other ends.
        self._wires: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for wire in np.flatnonzero(~timing.near & (timing.driver != timing.sink)).tolist():
            driver, sink = int(timing.driver[wire]), int(timing.sink[wire])
            self._wires[driver].append((wire, sink))
            self._wires[sink].append((wire, driver))
        self._nets: dict[int, list[int]] = defaultdict(list)
        for number, net in enumerate(timing.nets):
            if len(net) <= _MOST_PINS:
                for cell in net.tolist():
                    self._nets[cell].append(number)

    def group(self, cell: int) -> tuple[int, ...]:
        """Return the cells that move with one, itself first; none if it does not."""
        if not self._moves[cell]:
            return ()
        return (cell, self._partner[cell]) if cell in self._partner else (cell,)

    def pulls(self, group: Sequence[int], paths: tuple[np.ndarray, np.ndarray]) -> _Pulls:
        """Return what draws a group, where ways to and from wires are ``paths``."""
        arrival, to_end = paths
        comes, goes, flip_flops = [], [], []
        for cell in group:
            for wire, other in self._wires[cell]:
                if other in group:
                    continue
                if self.timing.sink[wire] == cell:
                    comes.append((wire, other))
                    flip_flops.append(self.kinds[cell] == _FLIP_FLOP or len(group) > 1)
                else:
                    goes.append((wire, other, self.kinds[cell] != _FLIP_FLOP))
        came, sources = np.array(comes, int).reshape(-1, 2).T
        went, sinks, follows = np.array(goes, int).reshape(-1, 3).T
        ends = np.flatnonzero(flip_flops)
        boxes = []
        for net in {net for cell in group for net in self._nets[cell]}:
            others = self.at[[cell for cell in self.timing.nets[net] if cell not in group]]
            if len(others):
                boxes.append((others.min(0), others.max(0)))
        behind = self._wire + to_end[went]
        behind += np.where(follows, self._own, arrival[went])
        return _Pulls(self.at[sources], self._wire + arrival[came], (ends, to_end[came[ends]]),
                      self.at[sinks], behind, follows.astype(bool),
                      np.array(boxes, int).reshape(-1, 2, 2))

    def times(self, pulls: _Pulls, tiles: np.ndarray) -> np.ndarray:
        """Return how long the longest path that ends here, and that through each wire that goes
        out, is from each of the tiles, in ns, shape (paths, tiles).
        """
        comes, goes = (self.tile * np.abs(ends[:, None] - tiles).sum(2)
                       for ends in (pulls.sources, pulls.sinks))
        comes += pulls.before[:, None]
        goes += pulls.behind[:, None]
        goes[pulls.follows] += comes.max(0, initial=_NEVER)
        wires, then = pulls.into
        return np.concatenate([comes[wires] + then[:, None], goes])

    def weighed(self, pulls: _Pulls, here: np.ndarray) -> np.ndarray:
        """Return how long the longest path through each wire is, those that come first."""
        times = self.times(pulls, here[None])[:, 0]
        out = times[len(times) - len(pulls.sinks):]
        comes = pulls.before + self.tile * np.abs(pulls.sources - here).sum(1)
        wires, then = pulls.into
        ends = np.full(len(comes), _NEVER)
        ends[wires] = comes[wires] + then
        follows = out[pulls.follows].max(initial=_NEVER)
        return np.concatenate([np.maximum(
            ends, follows + comes - comes.max(initial=_NEVER)), out])

    def cost(self, pulls: _Pulls, tiles: np.ndarray, limit: float) -> np.ndarray:
        """Return what it costs to be in each of the tiles, shape (tiles,)."""
        late = (self.times(pulls, tiles) - limit) / _STEP
        low, high = pulls.boxes[:, 0, None], pulls.boxes[:, 1, None]
        length = (np.maximum(low - tiles, 0) + np.maximum(tiles - high, 0)).sum(2)
        cost = np.exp(np.minimum(late, 30)).sum(0)
        if len(pulls.before):
            first = pulls.sources[pulls.before.argmax()]
            cost *= 1 + _BACK * np.abs(tiles - first).sum(1)
        return cost + _LENGTH * length.sum(0)

    def fits(self, cell: int, place: _Place) -> bool:
        """Whether a flip-flop may be at a place: its neighbour in the slice has the same controls,
        and the tile at most two clocks and two resets.
        """
        clocks, resets = {self.controls[cell][0]}, {self.controls[cell][1]}
        for number in range(_PLACES):
            other = self.taken[True].get((*place[:2], number))
            if other is None or number == place[2]:
                continue
            if number == place[2] ^ 1 and self.controls[other] != self.controls[cell]:
                return False
            clocks.add(self.controls[other][0])
            resets.add(self.controls[other][1])
        return len(clocks) <= 2 and len(resets) <= 2

    def victims(self, group: Sequence[int], place: _Place) -> tuple[int, ...] | None:
        """Return what a group changes places with if it goes to a place; None if it must not."""
        kinds = {self.kinds[cell] == _FLIP_FLOP: cell for cell in group}
        there = {flip_flop: self.taken[flip_flop].get(place) for flip_flop in kinds}
        found = tuple(cell for cell in there.values() if cell is not None)
        if found and tuple(self.at[group[0]]) not in self.tiles:
            return None  # nothing may come to a tile with a memory
        for cell in found:
            # It moves, and takes nothing with it that does not.
            if not self._moves[cell] or not set(self.group(cell)) <= set(found):
                return None
        if True not in kinds:
            return found
        flip_flop, other = kinds[True], there[True]
        if other is None:
            return found if self.fits(flip_flop, place) else None
        return found if self.controls[other] == self.controls[flip_flop] else None

    def exchange(self, group: Sequence[int], others: Sequence[int], place: _Place) -> None:
        """Move a group to a place, and those that are there to where it was."""
        left = self.places[group[0]]
        assert left is not None
        moved = (*group, *others)
        for cell in moved:
            was = self.places[cell]
            assert was is not None
            del self.taken[self.kinds[cell] == _FLIP_FLOP][was]
        for cell, to in zip(moved, [place] * len(group) + [left] * len(others), strict=True):
            self.taken[self.kinds[cell] == _FLIP_FLOP][to] = cell
            self.places[cell], self.at[cell] = to, to[:2]


def _middle(values: np.ndarray, weights: np.ndarray) -> int:
    """Return the median of what has weights."""
    order = np.argsort(values, kind="stable")
    total = weights[order].cumsum()
    return int(values[order][np.searchsorted(total, total[-1] / 2)])


def _around(tile: Iterable[int], reach: int) -> set[tuple[int, int]]:
    column, row = map(int, tile)
    return {(column + x, row + y) for x, y in itertools.product(
        range(-reach, reach + 1), repeat=2)}


def _move(design: _Design, group: tuple[int, ...], paths: tuple[np.ndarray, np.ndarray],
          limit: float, done: set[int]) -> bool:
    """Move a group to where it costs less; return whether there is such a place."""
    pulls = design.pulls(group, paths)
    ends = np.concatenate([pulls.sources, pulls.sinks])
    if not len(ends):
        return False
    here = design.at[group[0]]
    through = design.weighed(pulls, here)
    weights = np.exp(np.clip((through - limit) / _STEP, -20, 10))
    best = np.array([_middle(ends[:, axis], weights) for axis in (0, 1)])
    found = _around(best, _AROUND) | _around(here, _NEAR)
    targets = [best] if not len(pulls.before) else [
        best, pulls.sources[through[:len(pulls.before)].argmax()]]
    for target, share in itertools.product(targets, (0.25, 0.5, 0.75, 1)):
        found |= _around(np.rint(here + (target - here) * share), 1)
    tiles = np.array(sorted((found & design.tiles) - {tuple(here.tolist())}), int).reshape(-1, 2)
    costs = design.cost(pulls, tiles, limit)
    stays = design.cost(pulls, here[None], limit)[0]
    for tile in np.argsort(costs, kind="stable")[:_TRIED]:
        gain = stays - costs[tile]
        if gain <= 1e-5:
            return False
        choices = []
        for number in range(_PLACES):
            place = (*tiles[tile].tolist(), number)
            others = design.victims(group, place)
            if others is None or done & set(others):
                continue
            loss = 0.0
            if others:
                both = np.array([here, tiles[tile]])
                at_mine, at_theirs = design.cost(design.pulls(others, paths), both, limit)
                loss = at_mine - at_theirs
            choices.append((loss, place, others))
            if not others:
                break
        loss, place, others = min(choices, default=(np.inf, (0, 0, 0), ()))
        if loss <= _LOSS * gain:
            design.exchange(group, others, place)
            return True
    return False


def _sweeps(design: _Design, limit: float) -> list[_Place | None]:
    """Move cells of long paths until no more is gained; return the best places."""
    best, places, patience = np.inf, design.places, _PATIENCE
    while patience:
        paths = design.timing.paths(design.at)
        through = sum(paths, design.timing.wires(design.at))
        late = np.maximum(through - limit, 0).sum()
        patience -= 1
        if late < best:
            best, places, patience = late, design.places.copy(), _PATIENCE
        heat = np.zeros(len(design.names))
        hot = np.flatnonzero(through > limit - 2 * _STEP)
        for cells in (design.timing.driver[hot], design.timing.sink[hot]):
            np.add.at(heat, cells, np.exp(np.minimum((through[hot] - limit) / _STEP, 4)))
        done: set[int] = set()
        for cell in np.argsort(-heat, kind="stable")[:_CELLS].tolist():
            group = design.group(cell)
            if heat[cell] and group and cell not in done and _move(
                    design, group, paths, limit, done):
                done.update(group)
    return places


def refine(placed: Path, refined: Path, delays: Delays, limit: float) -> None:
    """Write a design with logic of long paths nearer together.

    Parameters
    ----------
    placed
        The design as nextpnr has placed and written it.
    refined
        Is written.
    delays
        Of packed cells.
    limit
        How long paths should take, in ns.

    Raises
    ------
    FpgaError
        If ``placed`` is not a placed design of an ECP5.
    """
    made: dict[str, Any] = json.loads(placed.read_text(encoding="utf-8"))
    cells: Mapping[str, Any] = made["modules"][TOP]["cells"]
    design = _Design(cells, delays)
    if not any(design.places):
        raise FpgaError(f"{placed} must have look-up tables or flip-flops with places in slices")
    for name, kind, place in zip(design.names, design.kinds, _sweeps(design, limit), strict=True):
        if place:
            column, row, number = place
            cells[name]["attributes"]["NEXTPNR_BEL"] = (
                f"X{column}/Y{row}/SLICE{'ABCD'[number // 2]}."
                f"{'FF' if kind == _FLIP_FLOP else 'K'}{number % 2}")
    refined.write_text(json.dumps(made), encoding="utf-8")
