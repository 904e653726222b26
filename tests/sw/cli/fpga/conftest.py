import sys

import pytest

from celosia.cli.fpga.tools import find
from fake_fpga import Tools


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """Programs of every kind, and no others."""
    made = Tools(tmp_path / "bin")
    monkeypatch.setenv("PATH", str(made.folder))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "nowhere" / "python"))
    monkeypatch.setitem(sys.modules, "pyosys", None)
    return made


@pytest.fixture
def packaged(tmp_path, monkeypatch):
    """Yosys of the package index, beside a native one that is too old."""
    monkeypatch.setenv("PATH", str(Tools(tmp_path / "bin").make("yosys", "Yosys 0.23").parent))
    return find("yosys")
