import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.cli.fpga import floorplan
from celosia.cli.fpga.errors import FpgaError
from celosia.cli.fpga.families import Delays, Floor

FLOOR = Floor(("MULT", "RAM"), {"LUT": 1 / 8, "FF": 1 / 24}, Delays(1, {}, {}, {}))
#: Places of the blocks of a chain, and the order in which a placer has left them.
PLACES, LEFT = [4 * block for block in range(10)], [7, 2, 9, 0, 5, 1, 8, 3, 6, 4]


class Design:
    """A design of cells with places and nets."""

    def __init__(self):
        self.cells, self.bits = {}, 0

    def add(self, name, kind, bel):
        self.cells[name] = {"type": kind, "attributes": {"NEXTPNR_BEL": bel} if bel else {},
                            "connections": {}}

    def net(self, *names):
        self.bits += 1
        for name in names:
            self.cells[name]["connections"][f"P{self.bits}"] = [self.bits, "0"]

    def write(self, folder, *, places=True):
        path = folder / ("placed.json" if places else "netlist.json")
        cells = {name: cell if places else {**cell, "attributes": {}}
                 for name, cell in self.cells.items()}
        path.write_text(json.dumps({"modules": {"top": {"cells": cells}}}))
        return path


def chain():
    """Blocks in a row between two pins, each with logic before and behind it."""
    made = Design()
    made.add("left", "IO", "X0/Y10/IO")
    made.add("right", "IO", "X40/Y10/IO")
    made.add("clock", "PLL", "X0/Y0/PLL")
    for block, place in enumerate(LEFT):
        made.add(f"b{block}", "MULT", f"X{PLACES[place]}/Y8/M{place}")
        for part in range(3):
            made.add(f"l{block}.{part}", "LUT", f"X{PLACES[place]}/Y{10 + part}/L{part}")
            made.net(f"l{block}.{part}", f"b{block}")
            if block:
                made.net(f"b{block - 1}", f"l{block}.{part}")
    for number in range(3):
        made.net("left", f"l0.{number}")
        made.net("b9", "right")
    made.net("clock", *(name for name in made.cells if name != "clock"))
    return made


def planned(made, tmp_path):
    path = tmp_path / "planned.json"
    floorplan.plan(made.write(tmp_path), made.write(tmp_path, places=False), path, FLOOR)
    cells = json.loads(path.read_text())["modules"]["top"]["cells"]
    assert list(cells) == list(made.cells)
    return {name: cell["attributes"]["BEL"] for name, cell in cells.items() if cell["attributes"]}


def test_blocks_of_a_chain_come_in_its_order(tmp_path):
    assert planned(chain(), tmp_path) == {
        f"b{block}": f"X{place}/Y8/M{block}" for block, place in enumerate(PLACES)}


def test_blocks_take_places_of_their_own_kind(tmp_path):
    made = chain()
    for number in range(4):  # each beside the block that is the furthest from where it is
        made.add(f"r{number}", "RAM", f"X{12 * number}/Y4/R{number}")
        for _ in range(4):
            made.net(f"r{number}", f"b{9 - 3 * number}")
    bels = planned(made, tmp_path)
    assert [bels[f"r{number}"] for number in range(4)] == [
        f"X{12 * (3 - number)}/Y4/R{3 - number}" for number in range(4)]
    assert sorted(bel for name, bel in bels.items() if name[0] == "b") == sorted(
        f"X{place}/Y8/M{number}" for number, place in enumerate(PLACES))


def test_design_without_places_is_an_error(tmp_path):
    made = Design()
    made.add("a", "LUT", "")
    made.add("b", "LUT", "")
    made.net("a", "b")
    with pytest.raises(FpgaError, match="placed.json must have cells with places and nets between"):
        planned(made, tmp_path)


@pytest.fixture
def design(tmp_path):
    return floorplan._read(chain().write(tmp_path), FLOOR)


def test_wires_are_half_the_boxes_around_nets(design):
    at = np.arange(2 * len(design.names), dtype=float).reshape(-1, 2) ** 1.5 % 17
    boxes = 0.0
    for net in np.split(design.pins, design.starts[1:]):
        boxes += np.ptp(at[net, 0]) + np.ptp(at[net, 1])
    assert design.wires(at) == pytest.approx(boxes)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_springs_of_a_net_are_as_long_as_it(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 7, 5)
    pins = np.concatenate([rng.choice(12, size, replace=False) for size in sizes])
    made = floorplan._Design([], np.zeros((12, 2)), np.zeros(12), {}, np.arange(12), {}, pins,
                             np.concatenate([[0], np.cumsum(sizes)[:-1]]))
    along = rng.permutation(12) * 3.0  # no two nearer than one
    start, end, strength = floorplan._springs(made, along)
    # Of Kraftwerk2's model: the energy of a net's springs is its length.
    energy = (strength * (along[start] - along[end]) ** 2).sum()
    lengths = sum(np.ptp(along[net]) for net in np.split(pins, made.starts[1:]))
    assert energy == pytest.approx(lengths)


def test_cells_are_pulled_between_those_they_are_wired_to(design):
    index = {name: place for place, name in enumerate(design.names)}
    cell = np.array([index["l5.0"]])
    at = floorplan._pull(design, design.at, cell, design.at, np.array([1e-9]))
    ends = sorted(design.at[index[name], 0] for name in ("b4", "b5"))
    assert ends[0] <= at[cell[0], 0] <= ends[1]
    assert at[cell[0], 1] == pytest.approx(8, abs=0.1)  # where both blocks are
    assert (np.delete(at, cell, 0) == np.delete(design.at, cell, 0)).all()
    still = floorplan._pull(design, design.at, cell, design.at, np.array([1e9]))
    assert still == pytest.approx(design.at)


def test_logic_is_spread_to_where_there_is_room():
    count = 3200  # 400 tiles of 40 x 40
    rng = np.random.default_rng(1)
    at = np.clip(rng.normal(20, 2, (count, 2)), 0, 39.5)
    at[0], at[1] = (0, 0), (39.5, 39.5)
    blocks = np.array([count])
    made = floorplan._Design([], np.vstack([at, [[20, 20]]]), np.append(np.full(count, 1 / 8), 0),
                             {"MULT": blocks}, np.arange(count), {}, np.array([0, 1]),
                             np.array([0]))
    room = floorplan._room(made)
    assert room[-1, -1] == pytest.approx(40 * 39 * 0.6)  # but for the row of the block
    spread = floorplan._spread(made, made.at, room)
    tiles, _, _ = np.histogram2d(*spread[:count].T, bins=8, range=[[0, 40], [0, 40]])
    assert tiles.max() / 8 <= 25 * 0.6 + 1  # 5 x 5, as halves of halves are
    assert (spread[count] == made.at[count]).all()
    left = made.at[:count, 0] < 10
    assert spread[:count][left, 0].max() < 20  # nothing changes sides
