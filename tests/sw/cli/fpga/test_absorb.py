"""Registers that go into blocks of a Gowin: which, and what is left as it is."""

import copy
import itertools
import json
from dataclasses import replace

import pytest

from celosia.cli.fpga.absorb import absorb
from celosia.cli.fpga.families import FAMILIES
from celosia.cli.fpga.netlist import read
from celosia_hw.boards import board

CLOCK, ENABLE, RESET, ZERO, ONE = 1, 2, 3, 4, 5


def with_blocks(count):
    """A board with so many DSP blocks, each of which is for two products or a sum."""
    made = board("tangprimer20k")
    return replace(made, capacity=replace(made.capacity, multipliers=2 * count))


class Module:
    """A netlist as Yosys writes it."""

    def __init__(self):
        self.cells, self.outputs, self._next = {}, [], 100
        self.add("gnd", "GND", G=("output", [ZERO]))
        self.add("vcc", "VCC", V=("output", [ONE]))

    def bits(self, count):
        self._next += count
        return list(range(self._next - count, self._next))

    def add(self, name, kind, parameters=None, **ports):
        self.cells[name] = {
            "hide_name": 0, "type": kind, "parameters": dict(parameters or {}), "attributes": {},
            "port_directions": {port: direction for port, (direction, _) in ports.items()},
            "connections": {port: bits for port, (_, bits) in ports.items()}}

    def registers(self, name, given, *, enable=None, reset=None):
        """A flip-flop for each bit; return what comes out of them."""
        out = self.bits(len(given))
        kind = "DFF" + "R" * (reset is not None) + "E" * (enable is not None)
        more = {port: ("input", [bit]) for port, bit in (("CE", enable), ("RESET", reset))
                if bit is not None}
        for i, (d, q) in enumerate(zip(given, out, strict=True)):
            self.add(f"{name}{i}", kind, D=("input", [d]), CLK=("input", [CLOCK]),
                     Q=("output", [q]), **more)
        return out

    def absorbed(self, blocks=8):
        design = {"modules": {"top": {"cells": copy.deepcopy(self.cells), "ports": {
            "y": {"direction": "output", "bits": self.outputs}}}}}
        absorb(design, "top", with_blocks(blocks))
        return design["modules"]["top"]["cells"]


def kinds(cells, kind):
    return [name for name, cell in cells.items() if cell["type"].startswith(kind)]


def product(module, name="product", **parameters):
    out = module.bits(4)
    module.add(name, "MULT18X18", parameters, A=("input", module.bits(2)),
               B=("input", module.bits(2)), DOUT=("output", out), CLK=("input", [ZERO]),
               CE=("input", [ZERO]), RESET=("input", [ZERO]))
    return out


def test_a_product_takes_the_registers_behind_it():
    module = Module()
    module.outputs = module.registers("q", product(module), enable=ENABLE, reset=RESET)
    cells = module.absorbed()
    assert not kinds(cells, "DFF")
    wires = cells["product"]["connections"]
    assert cells["product"]["parameters"] == {
        "OUT_REG": "1", "MULT_RESET_MODE": "SYNC"}
    assert (wires["CLK"], wires["CE"], wires["RESET"], wires["DOUT"]) == (
        [CLOCK], [ENABLE], [RESET], module.outputs)


def test_a_product_that_is_used_before_its_registers_keeps_none():
    module = Module()
    out = product(module)
    module.outputs = module.registers("q", out, enable=ENABLE) + out[:1]
    assert module.absorbed(0)["product"]["parameters"] == {}


def test_two_registers_behind_a_product_are_of_one_control():
    for enable, more in ((ONE, {"PIPE_REG": "1", "MULT_RESET_MODE": "SYNC"}), (ENABLE, {})):
        module = Module()
        out = product(module, OUT_REG="1")
        wires = module.cells["product"]["connections"]
        wires["CLK"], wires["CE"] = [CLOCK], [ONE]
        module.outputs = module.registers("q", out, enable=enable)
        assert module.absorbed(0)["product"]["parameters"] == {"OUT_REG": "1", **more}


def test_a_memory_takes_the_registers_behind_it_that_are_not_reset():
    for reset in (None, RESET):
        module = Module()
        out = module.bits(4)
        module.add("ram", "SDPX9B", {"READ_MODE": "0"}, DO=("output", out),
                   OCE=("input", [ONE]))
        module.outputs = module.registers("q", out, enable=ENABLE, reset=reset)
        ram = module.absorbed(0)["ram"]
        if reset is None:
            assert ram["parameters"]["READ_MODE"] == "1"
            assert (ram["connections"]["OCE"], ram["connections"]["DO"]) == (
                [ENABLE], module.outputs)
        else:
            assert (ram["parameters"]["READ_MODE"], ram["connections"]["DO"]) == ("0", out)


def test_sums_take_registers_without_logic_in_front_of_them():
    """Those first that are one behind another, then those of most; none of logic, none that has an
    enable.
    """
    module = Module()
    plain = module.registers("plain", module.bits(60), reset=RESET)
    first = module.registers("first", module.bits(40))
    second = module.registers("second", first)
    waits = module.registers("waits", module.bits(54), enable=ENABLE)
    made = module.bits(1)
    module.add("lut", "LUT4", I0=("input", plain[:1]), F=("output", made))
    module.outputs = [*plain, *second, *waits, *module.registers("logic", made)]
    cells = module.absorbed(4)
    two, one = (cells[name] for name in kinds(cells, "ALU54D"))
    assert (two["parameters"]["AREG"], one["parameters"]["AREG"]) == ("1", "0")
    assert (two["connections"]["CE"], one["connections"]["CE"]) == ([ONE], [ONE])
    assert (two["connections"]["RESET"], one["connections"]["RESET"]) == ([ZERO], [RESET])
    assert sorted(two["connections"]["DOUT"]) == second
    assert len(one["connections"]["DOUT"]) == 54
    for cell in (two, one):
        wires = cell["connections"]
        assert (len(wires["A"]), wires["B"], wires["CASI"]) == (54, [ZERO] * 54, [ZERO] * 55)
        assert {port for port, bits in wires.items() if cell["port_directions"][port] == "output"
                } == {"DOUT"}
    left = kinds(cells, "DFF")
    assert len(left) == 6 + 54 + 1
    assert "logic0" in left


def test_a_quarter_of_the_blocks_stays_free():
    """Products leave fewer blocks to sums."""
    for products, blocks, wanted in (
            (0, 4, 3), (1, 4, 2), (4, 4, 1), (6, 4, 0), (8, 4, 0), (1, 8, 5)):
        module = Module()
        module.outputs = [bit for i in range(products)
                          for bit in product(module, name=f"product{i}")]
        module.outputs += module.registers("q", module.bits(8 * 54))
        assert len(kinds(module.absorbed(blocks), "ALU54D")) == wanted


def test_a_block_is_taken_for_registers_that_fill_half_of_it():
    for count in (1, 26, 27):
        module = Module()
        module.outputs = module.registers("q", module.bits(count))
        cells = module.absorbed(2)
        assert len(kinds(cells, "ALU54D")) == (count == 27)
        assert len(kinds(cells, "DFF")) == count * (count < 27)


@pytest.mark.parametrize("reset", [None, RESET])
@pytest.mark.parametrize("enable", [None, ENABLE])
def test_a_register_without_logic_in_front_of_it_gets_a_table_that_does_what_it_did(enable, reset):
    module = Module()
    before, = module.bits(1)
    module.outputs = module.registers("q", [before], enable=enable, reset=reset)
    cells = module.absorbed(0)
    assert cells["q0"]["type"] == "DFF"
    wires = cells["q0"]["connections"]
    assert {*wires} == {*cells["q0"]["port_directions"]} == {"D", "CLK", "Q"}
    table, = (cell for cell in cells.values() if wires["D"] == cell["connections"].get("F"))
    inputs = [table["connections"][f"I{k}"] for k in range(int(table["type"].removeprefix("LUT")))]
    for values in itertools.product((0, 1), repeat=4):
        now = dict(zip((before, module.outputs[0], ENABLE, RESET), values, strict=True))
        wanted = now[before] if enable is None or now[ENABLE] else now[module.outputs[0]]
        if reset is not None and now[RESET]:
            wanted = 0
        index = sum(now[bit] << k for k, (bit,) in enumerate(inputs))
        assert int(table["parameters"]["INIT"][::-1][index]) == wanted, now


def test_one_register_of_a_table_or_an_adder_goes_with_it():
    """Enable and reset stay: they would not fit in."""
    for kind, port in (("LUT3", "F"), ("ALU", "SUM")):
        module = Module()
        made = module.bits(1)
        module.add("logic", kind, I0=("input", module.bits(1)), **{port: ("output", made)})
        module.outputs = (module.registers("first", made, enable=ENABLE)
                          + module.registers("second", made, enable=ENABLE))
        cells = module.absorbed(0)
        assert cells["first0"] == module.cells["first0"]
        assert (cells["second0"]["type"] == "DFF") == (kind == "LUT3")


def test_a_register_that_is_set_keeps_its_set():
    module = Module()
    bits = module.bits(2)
    module.add("set", "DFFS", D=("input", bits[:1]), CLK=("input", [CLOCK]),
               SET=("input", [RESET]), Q=("output", bits[1:]))
    module.outputs = bits[1:]
    cells = module.absorbed(0)
    assert (cells["set"]["type"], cells["set"]["connections"]["SET"]) == ("DFFS", [RESET])
    table, = kinds(cells, "LUT")
    assert (cells[table]["parameters"]["INIT"], cells[table]["connections"]["I0"]) == (
        "10", bits[:1])


def test_tables_for_places_are_not_counted(tmp_path):
    module = Module()
    module.outputs = module.registers("q", module.bits(3), enable=ENABLE)
    made = module.bits(1)
    module.add("logic", "LUT1", I0=("input", module.bits(1)), F=("output", made))
    module.outputs += made
    cells = module.absorbed(0)
    assert len(kinds(cells, "LUT")) == 4
    path = tmp_path / "netlist.json"
    path.write_text(json.dumps({"modules": {"top": {"cells": cells, "netnames": {}}}}))
    found = read(path, FAMILIES["gowin"])
    assert (found.total()["luts"], found.total()["flip_flops"]) == (1, 3)
