"""What JAX makes of the programs for four devices, once for all tests here."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


class Lowered:
    """A program: its module, arguments and results."""

    def __init__(self, folder: Path, name: str):
        self.module = (folder / f"{name}.mlirbc").read_bytes()
        with np.load(folder / f"{name}.npz") as arrays:
            found = dict(arrays)
        self.arguments = [found[f"x{i}"] for i in range(sum(key[0] == "x" for key in found))]
        self.results = [found[f"y{i}"] for i in range(sum(key[0] == "y" for key in found))]


@pytest.fixture(scope="session")
def lowered(tmp_path_factory):
    """Return a function from the name of a program to its `Lowered`."""
    folder = tmp_path_factory.mktemp("four_devices")
    environment = {key: value for key, value in os.environ.items() if key != "XLA_FLAGS"}
    done = subprocess.run([sys.executable, HERE / "four_devices.py", folder], env=environment,
                          capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    return lambda name: Lowered(folder, name)
