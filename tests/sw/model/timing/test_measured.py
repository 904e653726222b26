"""Cycles of small programs, beside what the RTL of core takes for them."""

import pytest

from celosia.model.timing.predict import predict
from timed_programs import CORE, TIMED, timed


@pytest.mark.parametrize("insns", TIMED, ids=lambda insns: insns.__name__)
def test_cycles(insns):
    """Within 2 %."""
    assert predict(timed(insns), CORE).cycles == pytest.approx(TIMED[insns], rel=0.02)
