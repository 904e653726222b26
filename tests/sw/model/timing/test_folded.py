"""Cycles of networks on chips with fewer lanes or banks, beside what the RTL takes for them."""

import pytest

from celosia.model.timing.predict import predict
from folded import MEASURED, folded

#: Of two banks, four beats of a row have one all the time: whether rows of others meet them there,
#: or go by, is a matter of single cycles.
WIDER = {("edge-40-24-10", 2, 2): 0.015, ("edge-16-16", 2, 2): 0.025, ("edge-48-96", 2, 2): 0.015}


@pytest.mark.parametrize(("network", "lanes", "banks"), [
    (network, *form) for network, forms in MEASURED.items() for form in forms])
def test_cycles(network, lanes, banks):
    config, program = folded(network, lanes, banks)
    assert predict(program, config).cycles == pytest.approx(
        MEASURED[network][lanes, banks],
        rel=WIDER.get((network, lanes, banks), 0.01))
