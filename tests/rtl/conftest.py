from dataclasses import replace

import pytest
from stub import stub_config, stub_verilog

from celosia_sim import build
from celosia_sim.rtl import RtlTransport, SimOptions


@pytest.fixture(scope="session")
def unoptimised():
    """The flags of chips that run few cycles, which take a fifth of the time to compile."""
    slow = build.FLAGS.slow
    return replace(build.FLAGS, fast=slow, trace=slow)


@pytest.fixture
def few_cycles(monkeypatch, unoptimised):
    """Compile the chips of a test with these flags."""
    monkeypatch.setattr(build, "FLAGS", unoptimised)


@pytest.fixture
def open_stub(few_cycles):
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
