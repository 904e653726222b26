"""Moves of logic: what comes nearer, what must not move, and what a tile must have in common."""

import itertools
import json
import random
from collections import Counter, defaultdict

import pytest

from celosia.cli.fpga.errors import FpgaError
from celosia.cli.fpga.families import TOP, Arc, Delays
from celosia.cli.fpga.refine import refine
from sw.cli.fpga.placed import Placed, through

DELAYS = Delays(
    wire=0.5, tile=0.1, clocked={"TRELLIS_FF": 0.5, "DP16KD": 5.0},
    setup={"TRELLIS_FF": {"DI": -0.5, "M": 0.1}, "DP16KD": {"AD.*": 0.3}},
    logic={"TRELLIS_COMB": (Arc("[A-D]", "F", 0.2),),
           "TRELLIS_COMB CCU2": (Arc("[A-D]", "F", 0.4),)})


def refined(made, tmp_path, limit=1.0):
    """Places after moves, by name."""
    source, path = made.write(tmp_path / "placed.json"), tmp_path / "refined.json"
    refine(source, path, DELAYS, limit)
    before, after = (json.loads(each.read_text())["modules"][TOP]["cells"]
                     for each in (source, path))
    places = {name: cell["attributes"].pop("NEXTPNR_BEL") for name, cell in after.items()}
    for cell in before.values():
        del cell["attributes"]["NEXTPNR_BEL"]
    assert list(after.items()) == list(before.items())
    assert len(set(places.values())) == len(places)
    for name, place in places.items():
        made.cells[name]["attributes"]["NEXTPNR_BEL"] = place
    return places


def tile(place):
    column, row, _ = place.split("/")
    return int(column[1:]), int(row[1:])


def room(made, tiles, reset="rst", enable=None):
    """Make tiles known: what is in none is not known to be of logic."""
    for number, each in enumerate(tiles):
        made.flip_flop(f"room{number}", each, number=7, reset=reset, enable=enable)


def detour(**of):
    """A path from column 10 to 12 by a look-up table in column 40, both ends held by memories."""
    made = Placed()
    made.add("from", "DP16KD", "X10/Y1/EBR0")
    made.add("to", "DP16KD", "X12/Y1/EBR1")
    made.lut("lut", (40, 2), **of)
    made.wire("from", "DOA0", "lut", "A")
    made.wire("lut", "F", "to", "ADA0")
    return made


def test_detour_is_taken_back(tmp_path):
    made = detour()
    room(made, [(column, 2) for column in range(8, 42)])
    before = through(made, DELAYS).max()
    places = refined(made, tmp_path)
    assert tile(places["lut"]) in [(10, 2), (11, 2), (12, 2)]
    after = through(made, DELAYS).max()
    assert after == pytest.approx(before - 0.1 * 2 * 28)


def test_path_that_is_short_enough_stays(tmp_path):
    made = detour()
    room(made, [(column, 2) for column in range(8, 42)])
    assert refined(made, tmp_path, limit=100)["lut"] == "X40/Y2/SLICEA.K0"


def test_a_cell_goes_only_where_logic_is_known_to_be(tmp_path):
    made = detour()
    room(made, [(40, 2), (11, 3)])
    assert tile(refined(made, tmp_path)["lut"]) == (11, 3)


@pytest.mark.parametrize("mode", ["CCU2", "DPRAM"])
def test_carries_and_memories_stay(tmp_path, mode):
    made = detour(mode=mode)
    room(made, [(column, 2) for column in range(8, 42)])
    assert refined(made, tmp_path)["lut"] == "X40/Y2/SLICEA.K0"


def test_nothing_goes_into_a_tile_with_a_memory(tmp_path):
    made = detour()
    room(made, [(11, 2), (14, 2), (40, 2)])
    made.lut("ram", (11, 2), number=2, mode="DPRAM")
    assert tile(refined(made, tmp_path)["lut"]) == (14, 2)


def test_logic_leaves_a_tile_with_a_memory(tmp_path):
    made = detour()
    made.lut("ram", (40, 2), number=2, mode="DPRAM")
    room(made, [(11, 2)])
    places = refined(made, tmp_path)
    assert tile(places["lut"]) == (11, 2)
    assert places["ram"] == "X40/Y2/SLICEB.K0"


def test_and_nothing_takes_its_place_there(tmp_path):
    made = detour()
    made.lut("ram", (40, 2), number=2, mode="DPRAM")
    for number in range(8):
        made.lut(f"idle{number}", (11, 2), number=number)
    places = refined(made, tmp_path)
    assert all(tile(places[f"idle{number}"]) == (11, 2) for number in range(8))
    assert tile(places["lut"]) == (40, 2)


def test_full_tile_gives_a_place_to_what_needs_it(tmp_path):
    made = detour()
    for column, number in itertools.product(range(9, 14), range(8)):
        made.lut(f"idle{column}.{number}", (column, 2), number=number)
    room(made, [(40, 2)])
    places = refined(made, tmp_path)
    moved = [name for name, place in places.items()
             if name.startswith("idle") and tile(place)[0] == 40]
    assert tile(places["lut"]) in [(10, 2), (11, 2), (12, 2)]
    assert [places[name] for name in moved] == ["X40/Y2/SLICEA.K0"]


def pair(made, name, place, number, **of):
    """A look-up table and the flip-flop beside it."""
    made.lut(f"{name}.lut", place, number=number)
    made.flip_flop(f"{name}.ff", place, number=number, **of)
    made.wire(f"{name}.lut", "F", f"{name}.ff", "DI")


def test_flip_flop_goes_with_its_look_up_table(tmp_path):
    made = Placed()
    made.add("from", "DP16KD", "X10/Y1/EBR0")
    made.add("to", "DP16KD", "X12/Y1/EBR1")
    pair(made, "p", (40, 2), 3)
    made.wire("from", "DOA0", "p.lut", "A")
    made.wire("p.ff", "Q", "to", "ADA0")
    room(made, [(column, 2) for column in range(8, 42)])
    places = refined(made, tmp_path)
    assert places["p.lut"] == places["p.ff"].replace("FF", "K")
    assert tile(places["p.lut"])[0] <= 12


def lonely(**of):
    """A flip-flop in column 40 between two memories."""
    made = Placed()
    made.add("from", "DP16KD", "X10/Y1/EBR0")
    made.add("to", "DP16KD", "X12/Y1/EBR1")
    made.flip_flop("ff", (40, 2), **of)
    made.wire("from", "DOA0", "ff", "M")
    made.wire("ff", "Q", "to", "ADA0")
    return made


@pytest.mark.parametrize(("of", "goes"), [
    ({}, True), ({"reset": "other"}, False), ({"clock": "other"}, False)])
def test_tile_has_two_clocks_and_two_resets(tmp_path, of, goes):
    made = lonely(**of)
    for number, (reset, clock) in enumerate([("rst", "clk"), ("second", "fast")]):
        made.flip_flop(f"there{number}", (11, 2), number=2 * number, reset=reset, clock=clock)
    room(made, [(40, 2)])
    assert (tile(refined(made, tmp_path)["ff"]) == (11, 2)) == goes


def test_slice_has_one_enable(tmp_path):
    made = lonely(enable="mine")
    for number in range(4):
        made.flip_flop(f"there{number}", (11, 2), number=2 * number,
                       enable="mine" if number == 2 else "other")
    room(made, [(40, 2)])
    assert refined(made, tmp_path)["ff"].startswith("X11/Y2/SLICEC.")


def legal(made):
    """Assert what a tile of an ECP5 wants of its flip-flops."""
    slices, tiles = defaultdict(set), defaultdict(lambda: (set(), set()))
    for cell in made.cells.values():
        if cell["type"] != "TRELLIS_FF":
            continue
        place = cell["attributes"]["NEXTPNR_BEL"]
        clock, reset, enable = (tuple(cell["connections"].get(port, ()))
                                for port in ("CLK", "LSR", "CE"))
        slices[place.split(".")[0]].add((clock, reset, enable))
        tiles[tile(place)][0].add(clock)
        tiles[tile(place)][1].add(reset)
    assert max(map(len, slices.values())) == 1
    assert all(len(clocks) <= 2 and len(resets) <= 2 for clocks, resets in tiles.values())


@pytest.mark.parametrize("seed", range(4))
def test_any_design_stays_legal_and_gets_faster(tmp_path, seed):
    rng = random.Random(seed)
    made, free = Placed(), [(column, row) for column in range(2, 14) for row in range(2, 5)]
    for number, place in enumerate(rng.sample(free, 15)):
        # Each tile with resets and enables of its own; some slices are empty.
        resets = rng.choice([("rst",), ("rst", "other")])
        for part in rng.sample(range(4), rng.randint(1, 3)):
            of = {"reset": rng.choice(resets), "enable": rng.choice([None, "ce0", "ce1"])}
            for half in range(2):
                name, at = f"c{number}.{part}.{half}", 2 * part + half
                if rng.random() < 0.5:
                    pair(made, name, place, at, **of)
                else:
                    made.lut(f"{name}.lut", place, number=at)
                    made.flip_flop(f"{name}.ff", place, number=at, **of)
    luts, flip_flops = ([name for name in made.cells if name.endswith(kind)]
                        for kind in (".lut", ".ff"))
    driven = {end for _, _, end, port in made.wires if port == "DI"}
    for number, name in enumerate(luts):
        for port in rng.sample("ABCD", 2):
            before = rng.choice(flip_flops if number < 15 or rng.random() < 0.5 else luts[:number])
            made.wire(before, "Q" if before.endswith("ff") else "F", name, port)
    for name in flip_flops:
        if name not in driven:
            made.wire(rng.choice(luts), "F", name, "M")
    legal(made)
    kinds = Counter(cell["type"] for cell in made.cells.values())
    limit = 2.0
    late = [through(made, DELAYS) - limit]
    refined(made, tmp_path, limit)
    late.append(through(made, DELAYS) - limit)
    legal(made)
    before, after = (each[each > 0].sum() for each in late)
    assert after < 0.9 * before
    assert kinds == Counter(cell["type"] for cell in made.cells.values())


def test_design_of_another_family_is_an_error(tmp_path):
    made = Placed()
    made.add("from", "DP16KD", "X10/Y1/EBR0")
    made.add("to", "DP16KD", "X12/Y1/EBR1")
    made.wire("from", "DOA0", "to", "ADA0")
    with pytest.raises(FpgaError, match="must have look-up tables or flip-flops with places"):
        refined(made, tmp_path)
