import json
import re

import pytest

from celosia.cli.fpga.errors import FpgaError
from celosia.cli.fpga.families import FAMILIES, RESOURCES, available, family
from celosia.cli.fpga.netlist import UNITS, read, unit_of
from celosia.cli.fpga.timing import Clock
from celosia.cli.fpga.timing import read as read_timing
from celosia_hw.boards import BOARDS
from fake_fpga import ecp5, netlist, timing

FAMILY = FAMILIES["ecp5"]


@pytest.fixture
def design(tmp_path):
    path = tmp_path / "netlist.json"
    path.write_text(json.dumps(netlist()))
    return read(path, FAMILY)


def test_total_counts_what_cells_take(design):
    # Three LUTs, two for the carry cell, four for the RAM.
    assert design.total() == {"luts": 9, "flip_flops": 3, "multipliers": 1, "block_rams": 1}
    assert design.kinds() == {"CCU2C": 1, "DP16KD": 1, "EHXPLLL": 1, "LUT4": 3, "MULT18X18D": 1,
                              "TRELLIS_DPR16X4": 1, "TRELLIS_FF": 3}


def test_units_sum_to_the_total_and_cells_are_where_they_or_their_users_are(design):
    units = design.by_unit()
    assert list(units) == ["mxu", "ub", "vpu", "link"]
    assert units["mxu"] == {"luts": 0, "flip_flops": 1, "multipliers": 1, "block_rams": 0}
    assert units["ub"]["block_rams"] == 1
    # Two LUTs and the carry cell on the way to its register.
    assert units["vpu"] == {"luts": 4, "flip_flops": 1, "multipliers": 0, "block_rams": 0}
    assert units["link"] == {"luts": 5, "flip_flops": 1, "multipliers": 0, "block_rams": 0}
    assert {name: sum(row[name] for row in units.values())
            for name in RESOURCES} == design.total()


@pytest.mark.parametrize(("place", "unit"), [
    ((), "board"), (("system",), "board"), (("system", "chip"), "chip"),
    (("system", "chip", "mxu", "array"), "mxu"), (("system", "chip", "bus", "reads"), "bus"),
    (("system", "chip", "arbiter"), "chip"), (("system", "arbiter"), "memory"),
    (("system", "memory", "bursts"), "memory"), (("system", "link", "framer"), "link"),
    (("system", "chip", "something"), "chip"),
])
def test_unit_of_an_instance(place, unit):
    assert unit_of(place) == unit
    assert unit in UNITS


def test_labels_are_in_the_terms_of_the_chip(design):
    labels = {name: cell.label for name, cell in design.cells.items()}
    assert labels["system.chip.mxu.row.a_TRELLIS_FF_Q"] == "mxu.row.a[0]"
    assert labels["$mul$1"] == "mxu.row.product[0]"
    assert labels["system.chip.ub.bank0.mem.0.0"] == "ub.bank0.mem"
    assert labels["$ff$1"] == "vpu.r[1]"
    assert labels["$lut$1"] == "logic of vpu"
    assert labels["system.link.fifo.0.0"] == "system.link.fifo"


def test_netlist_without_the_top_is_an_error(tmp_path):
    path = tmp_path / "netlist.json"
    path.write_text('{"modules": {"other": {}}}')
    with pytest.raises(FpgaError, match=f"^{re.escape(str(path))} must have the module top, not "
                                        "other$"):
        read(path, FAMILY)


@pytest.mark.parametrize(("name", "cell", "takes"), [
    ("ecp5", "CCU2C", {"luts": 2}), ("ecp5", "PFUMX", {}),
    ("gowin", "MULT9X9", {"multipliers": 0.5}),
    ("gowin", "RAM16SDP4", {"luts": 8, "flip_flops": 6}),
    ("gowin", "DFFRE", {"flip_flops": 1}), ("gowin", "MUX2_LUT5", {}),
    ("xilinx7", "RAMB18E1", {"block_rams": 0.5}),
])
def test_what_a_cell_takes(name, cell, takes):
    assert dict(FAMILIES[name].takes(cell)) == takes


def test_every_board_has_a_family_and_its_device_a_capacity():
    for board in BOARDS.values():
        assert family(board).name == board.family
        assert board.family in family(board).synth(board) or board.family == "xilinx7"
        assert all(amount > 0 for amount in available(board.capacity).values())


def report(tmp_path, design, found, kind=FAMILY):
    path = tmp_path / "timing.json"
    path.write_text(json.dumps(found))
    return read_timing(path, design, kind)


@pytest.mark.parametrize("name", ["clk_sys", "$glbnet$clk_sys", "clk_sys$TRELLIS_IO_IN",
                                  "clk_sys_IBUF_I_O", "$glbnet$clk_sys$TRELLIS_IO_IN"])
def test_clock_and_critical_path(tmp_path, design, name):
    made = report(tmp_path, design, timing(name))
    assert made.clocks == {"clk_sys": Clock(54.5, 50)}
    assert made.met
    path = made.path
    assert (path.clock, path.start, path.end) == ("clk_sys", "mxu.row.a[0]", "vpu.r[1]")
    assert (path.start_unit, path.end_unit, path.through) == ("mxu", "vpu", ("mxu", "vpu"))
    assert (path.logic_ns, path.routing_ns, path.levels) == (4.75, 2.75, 2)
    assert made.placed == {"luts": 12, "flip_flops": 3, "multipliers": 1, "block_rams": 1}


def test_slow_clock_is_not_met(tmp_path, design):
    made = report(tmp_path, design, timing(mhz=49.99))
    assert not made.met
    assert made.slowest == "clk_sys"


def test_report_without_a_clock_is_an_error(tmp_path, design):
    with pytest.raises(FpgaError, match="timing.json must have a clock: no register of the design "
                                        "reaches another$"):
        report(tmp_path, design, {"fmax": {}, "critical_paths": [], "utilization": {}})


def test_unknown_family_is_an_error():
    board = ecp5()
    object.__setattr__(board, "family", "ecp6")
    with pytest.raises(FpgaError, match="^family of board small must be one of ecp5, gowin, "
                                        "xilinx7, not 'ecp6'$"):
        family(board)
