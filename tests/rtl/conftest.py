import pytest
from stub import stub_config, stub_verilog

from celosia_sim.rtl import RtlTransport, SimOptions


@pytest.fixture
def open_stub():
    """Make stub chips that are closed when the test ends."""
    chips = []

    def make(bus_bytes: int = 8, **options) -> RtlTransport:
        chip = RtlTransport(stub_config(bus_bytes), SimOptions(**options),
                            verilog=stub_verilog(bus_bytes))
        chips.append(chip)
        return chip

    yield make
    for chip in chips:
        chip.close()
