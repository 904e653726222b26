"""What tools are told of pins and clocks, each in its own words and units."""

import pytest

from celosia_hw.boards.constraints import CONSTRAINTS_FILES, constraints
from celosia_hw.boards.platform_pins import PinGroup

PINS = (PinGroup("clk", "i", ("P6",), False, (("PULLUP", "1"),), 12_500_000),
        PinGroup("led", "o", ("A1", "A2"), False, (("IOSTANDARD", "LVCMOS33"),)),
        PinGroup("rx", "i", ("B3",), False, ()))
WANTED = {
    "ecp5": """\
LOCATE COMP "clk" SITE "P6";
IOBUF PORT "clk" PULLUP=1;
FREQUENCY PORT "clk" 12.5 MHZ;
LOCATE COMP "led[0]" SITE "A1";
IOBUF PORT "led[0]" IOSTANDARD=LVCMOS33;
LOCATE COMP "led[1]" SITE "A2";
IOBUF PORT "led[1]" IOSTANDARD=LVCMOS33;
LOCATE COMP "rx" SITE "B3";
""",
    "gowin": """\
IO_LOC "clk" P6;
IO_PORT "clk" PULLUP=1;
IO_LOC "led[0]" A1;
IO_PORT "led[0]" IOSTANDARD=LVCMOS33;
IO_LOC "led[1]" A2;
IO_PORT "led[1]" IOSTANDARD=LVCMOS33;
IO_LOC "rx" B3;
""",
    "xilinx7": """\
set_property PACKAGE_PIN P6 [get_ports {clk}]
set_property PULLUP 1 [get_ports {clk}]
create_clock -name clk -period 80.000 [get_ports {clk}]
set_property PACKAGE_PIN A1 [get_ports {led[0]}]
set_property IOSTANDARD LVCMOS33 [get_ports {led[0]}]
set_property PACKAGE_PIN A2 [get_ports {led[1]}]
set_property IOSTANDARD LVCMOS33 [get_ports {led[1]}]
set_property PACKAGE_PIN B3 [get_ports {rx}]
set_property CFGBVS VCCO [current_design]
set_property CONFIG_VOLTAGE 3.3 [current_design]
""",
}


@pytest.mark.parametrize("family", CONSTRAINTS_FILES)
def test_pins_and_how_fast_a_clock_is(family):
    assert constraints(family, PINS) == WANTED[family]
