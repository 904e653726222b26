"""Verilog is written without the collector of garbage, which is afterwards as it was before."""

import gc

import pytest

from celosia_hw.verilog.emit import _without_collector


@pytest.fixture
def collector():
    """Leave it as it was found."""
    was = gc.isenabled()
    yield {True: gc.enable, False: gc.disable}
    (gc.enable if was else gc.disable)()


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_it_was(collector, enabled):
    collector[enabled]()
    with _without_collector():
        assert not gc.isenabled()
    assert gc.isenabled() == enabled
