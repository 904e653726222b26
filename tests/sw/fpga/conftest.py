import sys

import pytest

from fake_fpga import Tools


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """Programs of every kind, and no others."""
    made = Tools(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(made.folder))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nowhere" / "python"))
    return made
