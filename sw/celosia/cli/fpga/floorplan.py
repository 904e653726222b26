"""Gives DSP blocks and block RAMs their places before the rest of a design is placed.

nextpnr's placer `static` puts them where it likes, as if every tile could be one, then moves each
to the nearest that is, and leaves the logic around where it was: of `edge` on an ULX3S, wires are
half as long again after that step. So a design is placed twice. Of the first placement, blocks
exchange places until wires are short *when the logic follows*; in the second they are fixed, and
logic is placed around them from the beginning.

How logic follows is guessed as in analytical placement: nets are springs between a cell and the
two that are furthest out (Spindler, Schlichtmann and Johannes, Kraftwerk2, 2008), and cells that
lie too close are pulled to where a cut of the device by halves leaves each half its room (Kim, Lee
and Markov, SimPL, 2012). Only blocks keep their places, so the guess need not be legal.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import coo_matrix, diags
from scipy.sparse.linalg import cg

from celosia.cli.fpga.errors import FpgaError
from celosia.cli.fpga.families import TOP, Floor

__all__ = ["plan"]

#: Nets of more cells are clocks, resets and the like: they say nothing of where a cell should be.
_MOST_CELLS = 100
#: Share of a tile that logic takes where it is spread.
_FILL = 0.6
#: How hard a cell is held where it was while blocks look for places, and while logic is spread, in
#: springs of length one; the latter for each step more.
_HELD, _SPREAD = 0.08, 0.01
#: Steps of either, and how often both are done.
_EXCHANGES, _SPREADINGS, _ROUNDS = 10, 30, 3


@dataclass
class _Design:
    """A design that was placed once.

    Attributes
    ----------
    names
        Of its cells; all that follows counts cells as these do.
    at
        Columns and rows of its cells, shape (cells, 2).
    area
        Share of a tile that each takes, shape (cells,); of blocks and of what does not move, 0.
    blocks, logic
        Indices of the blocks, by kind, and of what else may move.
    bels
        Places as nextpnr calls them, by name of the cell.
    pins, starts
        Cells of the nets, one net after the other, and where each begins.
    """

    names: list[str]
    at: np.ndarray
    area: np.ndarray
    blocks: dict[str, np.ndarray]
    logic: np.ndarray
    bels: dict[str, str]
    pins: np.ndarray
    starts: np.ndarray

    @property
    def all_blocks(self) -> np.ndarray:
        return np.concatenate(list(self.blocks.values()))

    def wires(self, at: np.ndarray) -> float:
        """Sum over the nets of half the circumference of a box around their cells."""
        return sum(float((np.maximum.reduceat(along, self.starts)
                          - np.minimum.reduceat(along, self.starts)).sum())
                   for along in at[self.pins].T)


def _read(placed: Path, floor: Floor) -> _Design:
    cells = json.loads(placed.read_text(encoding="utf-8"))["modules"][TOP]["cells"]
    names, kinds, at, bels = [], [], [], {}
    nets: dict[int, set[int]] = defaultdict(set)
    for name, cell in cells.items():
        bel = cell["attributes"].get("NEXTPNR_BEL", "")
        if found := re.match(r"X(\d+)/Y(\d+)/", bel):
            for bits in cell["connections"].values():
                for bit in bits:
                    if isinstance(bit, int):
                        nets[bit].add(len(names))
            names.append(name)
            kinds.append(cell["type"])
            at.append((int(found[1]), int(found[2])))
            bels[name] = bel
    kind = np.array(kinds)
    chosen = [sorted(net) for net in nets.values() if 1 < len(net) <= _MOST_CELLS]
    if not chosen:
        raise FpgaError(f"{placed} must have cells with places and nets between them")
    sizes = [len(net) for net in chosen]
    area = np.array([floor.logic.get(each, 0.0) for each in kinds])
    return _Design(names, np.array(at, float), area,
                   {each: np.flatnonzero(kind == each) for each in floor.blocks},
                   np.flatnonzero(np.isin(kind, list(floor.logic))), bels,
                   np.concatenate([np.array(net) for net in chosen]),
                   np.concatenate([[0], np.cumsum(sizes)[:-1]]))


def _springs(design: _Design, along: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the springs of all nets: from which cell to which, and how strong."""
    pins, starts = design.pins, design.starts
    sizes = np.diff(np.append(starts, len(pins)))
    net = np.repeat(np.arange(len(starts)), sizes)
    order = np.lexsort((along[pins], net))
    first, last = pins[order[starts]][net], pins[order[starts + sizes - 1]][net]
    start, end = np.concatenate([pins, pins]), np.concatenate([first, last])
    strength = np.tile(1 / (sizes - 1.0), 2)[np.tile(net, 2) + np.repeat([0, len(sizes)], len(net))]
    # The two at the ends have one spring between them, not two.
    kept = (start != end) & ~np.concatenate([pins == last, np.zeros(len(pins), bool)])
    start, end = start[kept], end[kept]
    return start, end, strength[kept] / np.maximum(np.abs(along[start] - along[end]), 1)


def _pull(design: _Design, at: np.ndarray, moving: np.ndarray, held: np.ndarray,
          strength: np.ndarray) -> np.ndarray:
    """Let the nets pull the cells ``moving``, held at ``held``; return where all are then."""
    at = at.copy()
    count = len(moving)
    place = np.full(len(at), -1)
    place[moving] = np.arange(count)
    for axis in (0, 1):
        along = at[:, axis]
        start, end, springs = _springs(design, along)
        hold = strength / np.maximum(np.abs(along - held[:, axis])[moving], 1) + 1e-6
        diagonal, right = hold.copy(), hold * held[moving, axis]
        for one, other in ((start, end), (end, start)):
            free = place[one] >= 0
            diagonal += np.bincount(place[one[free]], springs[free], count)
            fixed = free & (place[other] < 0)
            right += np.bincount(place[one[fixed]], springs[fixed] * along[other[fixed]], count)
        both = (place[start] >= 0) & (place[end] >= 0)
        i, j = place[start[both]], place[end[both]]
        between = coo_matrix((np.tile(-springs[both], 2),
                              (np.concatenate([i, j]), np.concatenate([j, i]))), (count, count))
        found, _ = cg(between.tocsr() + diags(diagonal), right, x0=along[moving], rtol=1e-4,
                      maxiter=150, M=diags(1 / diagonal))
        at[moving, axis] = found
    return at


def _room(design: _Design) -> np.ndarray:
    """Return what logic fits in before each column and row, shape (columns + 1, rows + 1)."""
    columns, rows = design.at[design.logic].max(0).astype(int) + 1
    fill = max(_FILL, 1.2 * design.area.sum() / (columns * rows))
    room = np.full((columns, rows), fill)
    lines = design.at[design.all_blocks, 1].astype(int)
    room[:, lines[lines < rows]] = 0
    return np.pad(room.cumsum(0).cumsum(1), ((1, 0), (1, 0)))


def _spread(design: _Design, at: np.ndarray, room: np.ndarray) -> np.ndarray:
    """Return where logic is if a half of the device, and a half of that, has no more than fits."""
    spread = at.copy()
    regions = [(design.logic, (0, 0), (room.shape[0] - 1, room.shape[1] - 1))]
    while regions:
        cells, low, high = regions.pop()
        size = high[0] - low[0], high[1] - low[1]
        if len(cells) < 4 or max(size) <= 2:
            spread[cells] = np.clip(at[cells], np.add(low, 0.1), np.subtract(high, 0.1))
            continue
        axis = 0 if size[0] >= size[1] else 1
        middle = (low[axis] + high[axis]) // 2
        cut_high, cut_low = list(high), list(low)
        cut_high[axis] = cut_low[axis] = middle
        halves = [(low, tuple(cut_high)), (tuple(cut_low), high)]
        fits = [room[b[0], b[1]] - room[a[0], b[1]] - room[b[0], a[1]] + room[a[0], a[1]]
                for a, b in halves]
        cells = cells[np.argsort(at[cells, axis], kind="stable")]
        taken = np.concatenate([[0], design.area[cells].cumsum()])
        wanted = int(np.searchsorted(at[cells, axis], middle))
        if taken[-1] >= sum(fits):
            first = taken[-1] * fits[0] / max(sum(fits), 1e-9)
        else:
            first = min(max(taken[wanted], taken[-1] - fits[1]), fits[0])
        if first != taken[wanted]:
            wanted = int(np.searchsorted(taken[1:], first, side="right"))
        regions += [(cells[:wanted], *halves[0]), (cells[wanted:], *halves[1])]
    return spread


def _exchange(design: _Design, held: np.ndarray) -> tuple[np.ndarray, dict[str, str]]:
    """Let blocks exchange places where logic is held at ``held``; return where all is, logic having
    followed, and the blocks' places by name.
    """
    at, moving = held.copy(), np.concatenate([design.logic, design.all_blocks])
    strength = np.repeat([_HELD, 1e-4], [len(design.logic), len(design.all_blocks)])
    bels = dict(design.bels)
    for _ in range(_EXCHANGES):
        free = at
        for _ in range(3):
            free = _pull(design, free, moving, held, strength)
        at = free.copy()
        for blocks in design.blocks.values():
            places = design.at[blocks]
            apart = np.abs(free[blocks][:, None] - places[None]).sum(2)
            # Two that go a little are better than one that goes far.
            _, to = linear_sum_assignment(apart ** 1.5)
            at[blocks] = places[to]
            bels |= {design.names[block]: design.bels[design.names[blocks[other]]]
                     for block, other in zip(blocks, to, strict=True)}
        for _ in range(2):
            at = _pull(design, at, design.logic, held, np.full(len(design.logic), _HELD))
        held = 0.7 * held + 0.3 * at
    return at, bels


def _arrange(design: _Design) -> dict[str, str]:
    """Return the places of the blocks, by name, that make wires the shortest."""
    room, at, best, bels = _room(design), design.at, np.inf, design.bels
    for _ in range(_ROUNDS):
        at, found = _exchange(design, at)
        for step in range(_SPREADINGS):
            spread = _spread(design, at, room)
            # Not from nothing: logic is where it has followed to, and need not collapse first.
            hold = np.full(len(design.logic), _SPREAD * (step + 11))
            at = _pull(design, at, design.logic, spread, hold)
        wires = design.wires(spread)
        if wires < best:
            best, bels = wires, found
        at = spread
    return bels


def plan(placed: Path, netlist: Path, planned: Path, floor: Floor) -> None:
    """Write a netlist whose blocks have places.

    Parameters
    ----------
    placed
        The design as nextpnr has placed and written it.
    netlist
        The same as it was synthesised.
    planned
        Is written: ``netlist`` with an attribute ``BEL`` for each block.

    Raises
    ------
    FpgaError
        If ``placed`` has no places.
    """
    design = _read(placed, floor)
    bels = _arrange(design)
    made: dict[str, Any] = json.loads(netlist.read_text(encoding="utf-8"))
    cells: Mapping[str, Any] = made["modules"][TOP]["cells"]
    for block in design.all_blocks:
        name = design.names[block]
        cells[name]["attributes"]["BEL"] = bels[name]
    planned.write_text(json.dumps(made), encoding="utf-8")
