"""Profiles that several tests look at."""

import pytest


@pytest.fixture(scope="session")
def clean():
    """The profile of a network in which nothing is wrong."""
    from profiled import dense, profiled
    return profiled(*dense())
