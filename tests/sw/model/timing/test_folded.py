"""Cycles of networks on chips with fewer lanes or banks, beside what the RTL takes for them."""

import pytest

from celosia.model.timing.predict import predict
from folded import MEASURED, folded

#: Where rows of two units wait for each other's banks in turn, it is not yet 1 %.
WIDER = {("edge-40-24-10", 2, 4): 0.015, ("edge-48-96", 2, 4): 0.015,
         ("nano-16-16", 1, 2): 0.03, ("nano-16-16", 1, 1): 0.04}


@pytest.mark.parametrize(("network", "lanes", "banks"), [
    (network, *form) for network, forms in MEASURED.items() for form in forms])
def test_cycles(network, lanes, banks):
    config, program = folded(network, lanes, banks)
    assert predict(program, config).cycles == pytest.approx(
        MEASURED[network][lanes, banks], rel=WIDER.get((network, lanes, banks), 0.01))
