"""Timing of placed designs: against sums by hand, and against a search of all paths."""

import random

import numpy as np
import pytest

from celosia.cli.fpga import slack
from celosia.cli.fpga.errors import FpgaError
from celosia.cli.fpga.families import REGISTERED_PRODUCT, Arc, Delays
from sw.cli.fpga.placed import Placed, through

DELAYS = Delays(
    wire=1.0, tile=0.1, clocked={"TRELLIS_FF": 0.5, REGISTERED_PRODUCT: 0.7},
    setup={"TRELLIS_FF": {"DI|M": 0.2, "CE": 0.4}, REGISTERED_PRODUCT: {"A.": 3.0}},
    logic={"TRELLIS_COMB": (Arc("[A-D]", "F", 0.3),),
           "TRELLIS_COMB CCU2": (Arc("FCI", "FCO", 0.05, chained=True),
                                 Arc("FCI", "F", 0.1, chained=True), Arc("[A-D]", "F.*", 0.6)),
           "MULT18X18D": (Arc("A.", "P.", 4.0),)})


def timed(made):
    """The design's timing, and its cells by name."""
    return (slack.PlacedTiming(made.cells, DELAYS),
            {name: index for index, name in enumerate(made.cells)})


def worst(made, start, end):
    """Of the wires from one cell to another, the longest path through one."""
    timing, index = timed(made)
    wires = (timing.driver == index[start]) & (timing.sink == index[end])
    assert wires.any()
    return through(made, DELAYS)[wires].max()


def test_path_is_the_sum_of_its_cells_and_wires():
    made = Placed()
    made.flip_flop("a", (0, 0))
    made.lut("b", (3, 4))
    made.flip_flop("c", (3, 5), number=1)
    made.wire("a", "Q", "b", "A")
    made.wire("b", "F", "c", "M")
    path = 0.5 + (1 + 0.7) + 0.3 + (1 + 0.1) + 0.2
    assert worst(made, "a", "b") == pytest.approx(path)
    assert worst(made, "b", "c") == pytest.approx(path)


def test_only_the_longest_path_through_a_wire_counts():
    made = Placed()
    made.flip_flop("far", (20, 0))
    made.flip_flop("near", (1, 0))
    made.lut("b", (0, 0))
    made.flip_flop("c", (0, 0), number=2)
    made.flip_flop("d", (0, 9))
    made.wire("far", "Q", "b", "A")
    made.wire("near", "Q", "b", "B")
    made.wire("b", "F", "c", "M")
    made.wire("b", "F", "d", "CE")
    far, near = 0.5 + 3, 0.5 + 1.1
    assert worst(made, "near", "b") == pytest.approx(near + 0.3 + 1.9 + 0.4)
    assert worst(made, "b", "c") == pytest.approx(far + 0.3 + 1 + 0.2)


def test_carries_take_no_wire():
    made = Placed()
    made.flip_flop("a", (0, 0))
    for place, name in enumerate("xyz"):
        made.lut(name, (0, 1), number=place, mode="CCU2")
    made.flip_flop("end", (0, 1), number=3)
    made.wire("a", "Q", "x", "A")
    made.wire("x", "FCO", "y", "FCI")
    made.wire("y", "FCO", "z", "FCI")
    made.wire("a", "Q", "z", "B")
    made.wire("z", "F", "end", "M")
    assert worst(made, "a", "x") == pytest.approx(0.5 + 1.1 + 0.6 + 0.05 + 0.1 + 1 + 0.2)
    assert worst(made, "a", "z") == pytest.approx(0.5 + 1.1 + 0.6 + 1 + 0.2)
    timing, index = timed(made)
    assert [index["y"], index["z"]] == timing.sink[timing.near].tolist()
    assert (timing.wires(made.at)[timing.near] == 0).all()


@pytest.mark.parametrize(("register", "kind"), [
    ("NONE", "MULT18X18D"), ("CLK0", REGISTERED_PRODUCT), ("NONE ", "MULT18X18D")])
def test_product_with_a_register_ends_paths(register, kind):
    made = Placed()
    made.flip_flop("a", (0, 0))
    made.add("m", "MULT18X18D", "X0/Y0/MULT18_0", parameters={"REG_OUTPUT_CLK": register})
    made.flip_flop("b", (0, 0), number=1)
    made.wire("a", "Q", "m", "A0")
    made.wire("m", "P0", "b", "M")
    assert slack.kind_of(made.cells["m"]) == kind
    before, behind = ((0.5 + 1 + 3, 0.7 + 1 + 0.2) if register == "CLK0" else
                      (0.5 + 1 + 4 + 1 + 0.2,) * 2)
    assert worst(made, "a", "m") == pytest.approx(before)
    assert worst(made, "m", "b") == pytest.approx(behind)


def longest(made, timing):
    """The same as `through`, by a search from each wire both ways."""
    names, cells = list(made.cells), list(made.cells.values())
    wires = [(*map(names.index, (start, end)), port)
             for start, _, end, port in made.wires]
    length = [1 + 0.1 * np.abs(made.at[start] - made.at[end]).sum() for start, end, _ in wires]

    def before(cell):
        if cells[cell]["type"] == "TRELLIS_FF":
            return 0.5
        return max((before(start) + length[wire] + 0.3
                    for wire, (start, end, _) in enumerate(wires) if end == cell), default=-1e9)

    def behind(wire):
        _, cell, port = wires[wire]
        if cells[cell]["type"] == "TRELLIS_FF":
            return {"M": 0.2, "CE": 0.4}[port]
        return max((0.3 + length[each] + behind(each)
                    for each, (start, _, _) in enumerate(wires) if start == cell), default=-1e9)

    found = {}
    for wire, (start, end, _) in enumerate(wires):
        key, value = (start, end), before(start) + length[wire] + behind(wire)
        found[key] = max(found.get(key, -1e9), value)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_any_logic(seed):
    rng = random.Random(seed)
    made = Placed()
    for number in range(4):
        made.flip_flop(f"f{number}", (rng.randrange(30), rng.randrange(30)))
    for number in range(9):
        made.lut(f"l{number}", (rng.randrange(30), rng.randrange(30)), number=1)
        for port in rng.sample("ABCD", rng.randint(1, 3)):
            start = rng.randrange(number + 4)
            made.wire(*((f"f{start}", "Q") if start < 4 else (f"l{start - 4}", "F")),
                      f"l{number}", port)
    for number in range(4):
        for port in rng.sample(["M", "CE"], rng.randint(1, 2)):
            made.wire(f"l{rng.randrange(9)}", "F", f"f{number}", port)
    timing, _ = timed(made)
    seen = {}
    for start, end, value in zip(timing.driver, timing.sink, through(made, DELAYS), strict=True):
        seen[start, end] = max(seen.get((start, end), -1e9), value)
    assert {key: value for key, value in seen.items() if value > 0} == pytest.approx(
        {key: value for key, value in longest(made, timing).items() if value > 0})


def test_loop_of_logic_is_an_error():
    made = Placed()
    made.flip_flop("a", (0, 0))
    made.lut("b", (0, 0))
    made.lut("c", (0, 0), number=1)
    made.wire("b", "F", "c", "A")
    made.wire("c", "F", "b", "B")
    made.wire("c", "F", "a", "M")
    with pytest.raises(FpgaError, match="no loop of logic, but 2 of its nets are in one or behind"):
        timed(made)


def test_design_without_registers_is_an_error():
    made = Placed()
    made.lut("b", (0, 0))
    made.lut("c", (0, 0), number=1)
    made.wire("b", "F", "c", "A")
    with pytest.raises(FpgaError, match="must have registers that paths end at"):
        timed(made)
