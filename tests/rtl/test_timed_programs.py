"""What the cycle model is measured with is what the RTL takes."""

import pytest

from celosia.driver import Device
from celosia.driver.backends import BACKENDS
from timed_programs import CORE, TIMED, timed


@pytest.fixture(scope="module")
def device():
    with Device(BACKENDS["rtl"](CORE, quiet=True), "rtl") as found:
        yield found


@pytest.mark.parametrize("insns", TIMED, ids=lambda insns: insns.__name__)
def test_cycles(device, insns):
    assert device.run(device.load(timed(insns))).counters["cycles"] == TIMED[insns]
