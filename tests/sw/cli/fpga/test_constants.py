"""Constants of an ECP5 that nextpnr is kept from: what a design does stays as it was."""

import copy
import random

import pytest

from celosia.cli.fpga.constants import constants
from celosia_hw.boards import board

WORDS, BITS = 16, 4


def mended(cells):
    design = {"modules": {"top": {"cells": copy.deepcopy(cells), "ports": {}}}}
    constants(design, "top", board("ulx3s"))
    return design["modules"]["top"]["cells"]


def ram(read, write, begins):
    return {"type": "TRELLIS_DPR16X4", "parameters": {"INITVAL": begins}, "attributes": {},
            "port_directions": {}, "connections": {
                "RAD": read, "WAD": write, "DI": [90, 91, 92, 93], "DO": [94, 95, 96, 97],
                "WRE": [98], "WCK": [99]}}


def played(cell, steps):
    """What a RAM reads at each step of (read address, write address, word); addresses by bit."""
    def at(bits, number):
        address = [number >> bit - bits[0] & 1 if isinstance(bit, int) else int(bit)
                   for bit in cell["connections"][bits[1]]]
        return sum(value << i for i, value in enumerate(address))

    begins = cell["parameters"]["INITVAL"]
    words = [begins[len(begins) - BITS * (i + 1):len(begins) - BITS * i] for i in range(WORDS)]
    for read, write, word in steps:
        yield words[at((10, "RAD"), read)]
        words[at((20, "WAD"), write)] = word


@pytest.mark.parametrize("used", [(0, 1, 2, 3), (0, 1, 2), (1, 2), (0,), (3,), ()])
def test_a_ram_of_fewer_words_reads_and_writes_as_before(used):
    numbers = random.Random(1)
    begins = "".join(numbers.choice("01x") for _ in range(WORDS * BITS))
    addresses = [[first + used.index(i) if i in used else "0" for i in range(4)]
                 for first in (10, 20)]
    before = {"ram": ram(*addresses, begins)}
    after = mended(before)
    steps = [(numbers.randrange(1 << len(used)), numbers.randrange(1 << len(used)),
              format(numbers.randrange(1 << BITS), "04b")) for _ in range(200)]
    assert list(played(after["ram"], steps)) == list(played(before["ram"], steps))
    if used:
        assert "0" not in after["ram"]["connections"]["RAD"] + after["ram"]["connections"]["WAD"]
    if used in ((0, 1, 2, 3), ()):
        assert after == before


@pytest.mark.parametrize(("read", "write"), [(["0"], [23]), ([13], ["0"]), (["1"], ["1"])])
def test_an_address_that_is_not_zero_on_both_sides_stays(read, write):
    cells = {"ram": ram([10, 11, 12, *read], [20, 21, 22, *write], "0" * 64)}
    assert mended(cells) == cells


def block(**ports):
    return {"type": "MULT18X18D", "parameters": {}, "attributes": {}, "port_directions": {},
            "connections": {"A0": [30], "A17": ["0"], "C0": ["0"], **ports}}


def test_a_dsp_block_has_its_own_constants():
    cells = {
        "plain": block(SOURCEA=["0"], SOURCEB=["0"], SIGNEDA=["0"], SIGNEDB=["1"]),
        "registered": block(CLK0=[40], CE0=["1"], RST0=["0"], SIGNEDA=["1"], SIGNEDB=[41]),
        "driven": block(CLK0=[40], CE0=[42], RST0=[43]),
        "other": {"type": "CCU2C", "parameters": {}, "attributes": {}, "port_directions": {},
                  "connections": {"A0": ["0"], "CIN": ["1"]}}}
    after = mended(cells)
    assert after["driven"] == cells["driven"]
    assert after["other"] == cells["other"]
    tables = {name: cell for name, cell in after.items() if cell["type"] == "LUT4"}
    assert sorted(tables) == [f"{name}_constant{value}" for name in ("plain", "registered")
                              for value in "01"]
    outputs = [cell["connections"]["Z"][0] for cell in tables.values()]
    assert len({*outputs}) == 4
    assert min(outputs) > 43
    for name in ("plain", "registered"):
        for port, (bit,) in cells[name]["connections"].items():
            now, = after[name]["connections"][port]
            if bit in ("0", "1") and port not in ("A17", "C0"):
                table = tables[f"{name}_constant{bit}"]
                assert table["connections"]["Z"] == [now]
                assert table["parameters"]["INIT"] == bit * 16
                assert all(table["connections"][each] == ["x"] for each in "ABCD")
            else:
                assert now == bit
