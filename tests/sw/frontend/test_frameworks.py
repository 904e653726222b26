"""Which files are the user's."""

import json
import sysconfig
from pathlib import Path

import pytest

import celosia
from celosia.frontend.frameworks import is_framework

SITE = "/venv/lib/python3.12/site-packages"


@pytest.mark.parametrize("file", [
    f"{SITE}/keras/src/layers/layer.py", "/usr/lib/python3/dist-packages/flax/nnx.py",
    json.__file__, "<frozen runpy>", str(Path(celosia.__file__).parent / "api.py"),
])
def test_of_a_framework(file):
    assert is_framework(file)


@pytest.mark.parametrize("file", [
    "train.py", "/home/me/my-packages/train.py", "<stdin>", "<ipython-input-1>", "-",
    f"{sysconfig.get_path('stdlib')}x/train.py",
    str(Path(celosia.__file__).parent / "bench" / "programs" / "lstm-sgd.mlir"),
])
def test_of_the_user(file):
    assert not is_framework(file)
