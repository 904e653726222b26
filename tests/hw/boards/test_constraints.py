"""What tools are told of a clock pin, each in its own words and units."""

import pytest

from celosia_hw.boards.constraints import CONSTRAINTS_FILES, constraints
from celosia_hw.boards.platform_pins import PinGroup

CLOCK = PinGroup("clk", "i", ("P6",), False, (), 12_500_000)


@pytest.mark.parametrize(("family", "line"), [
    ("ecp5", 'FREQUENCY PORT "clk" 12.5 MHZ;'), ("ice40", "set_frequency clk 12.5"),
    ("gowin", None), ("xilinx7", "create_clock -name clk -period 80.000 [get_ports {clk}]")])
def test_how_fast_a_clock_is(family, line):
    assert family in CONSTRAINTS_FILES
    lines = constraints(family, (CLOCK,)).splitlines()
    said = [each for each in lines if "clock" in each.lower() or "frequency" in each.lower()]
    assert said == [line] * (line is not None)
