"""Cycles of networks on chips with fewer lanes or banks, beside what the RTL takes for them."""

import pytest

from celosia.model.timing.predict import predict
from folded import MEASURED, folded

#: A matmul that begins later than it was said to holds up rows where it no longer is.
WIDER = {("edge-40-24-10", 2, 2), ("edge-48-96", 2, 2)}


@pytest.mark.parametrize(("network", "lanes", "banks"), [
    (network, *form) for network, forms in MEASURED.items() for form in forms])
def test_cycles(network, lanes, banks):
    config, program = folded(network, lanes, banks)
    assert predict(program, config).cycles == pytest.approx(
        MEASURED[network][lanes, banks],
        rel=0.015 if (network, lanes, banks) in WIDER else 0.01)
