"""Modules that the tests here share; JAX, if it is there, on the CPU."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "graph"), str(HERE.parent / "frontend")]


@pytest.fixture(autouse=True)
def _checks(monkeypatch):
    """Run the verifiers of every level between passes."""
    monkeypatch.setenv("CELOSIA_CHECK", "1")
