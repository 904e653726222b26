import shutil
from pathlib import Path

import pytest

from celosia.pjrt.native import Native, build


@pytest.fixture
def library(tmp_path):
    """One of a test's own, with lists and functions that no other has."""
    return Native(Path(shutil.copy(build(), tmp_path / "own.so")))
