"""Python's collector of cycles is as it was where it is left alone for a while."""

import gc

import pytest

from celosia.storage.uncollected import uncollected


@pytest.fixture(autouse=True)
def on_again():
    yield
    gc.enable()


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_off_inside_and_as_before_behind(enabled):
    (gc.enable if enabled else gc.disable)()
    with uncollected():
        assert not gc.isenabled()
        with uncollected():
            assert not gc.isenabled()
        assert not gc.isenabled()
    assert gc.isenabled() == enabled


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_before_behind_an_error(enabled):
    (gc.enable if enabled else gc.disable)()
    with pytest.raises(KeyError), uncollected():
        raise KeyError
    assert gc.isenabled() == enabled
