"""Cycles of networks on chips with fewer lanes or banks, beside what the RTL takes for them."""

import pytest

from celosia.model.timing.predict import predict
from folded import MEASURED, folded


@pytest.mark.parametrize(("network", "lanes", "banks"), [
    (network, *form) for network, forms in MEASURED.items() for form in forms])
def test_cycles(network, lanes, banks):
    config, program = folded(network, lanes, banks)
    assert predict(program, config).cycles == pytest.approx(
        MEASURED[network][lanes, banks], rel=0.006)
