"""The tutorial that changes the chip: its changes fit the sources, and make what it says."""

import os
import re
import shutil
import subprocess
import sys

import pytest

from node import ROOT

pytestmark = pytest.mark.extra(name="docs")
_PAGE = (ROOT / "docs" / "tutorials" / "new-operation.md").read_text()
_CHANGE = re.compile(r"^```diff\n--- (\S+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"^```(python|py|py slow)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def _changed(text, change):
    """Return a file with a change: lines with a space are there, those with + are added."""
    lines = change.splitlines()
    before = "".join(f"{line[1:]}\n" for line in lines if line.startswith(" "))
    assert text.count(before) == 1, f"these lines must be there once:\n{before}"
    return text.replace(before, "".join(f"{line[1:]}\n" for line in lines))


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    made = tmp_path_factory.mktemp("copy")
    for name in ("hw", "sw", "sim", "scripts", "tests"):
        shutil.copytree(ROOT / name, made / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name, change in _CHANGE.findall(_PAGE):
        path = made / name
        path.write_text(_changed(path.read_text(), change))
    return made


def _run(copy, *command):
    roots = os.pathsep.join(str(copy / name) for name in ("hw", "sw", "sim", "scripts", "tests"))
    done = subprocess.run([sys.executable, *command], cwd=copy, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": roots}, timeout=3000)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def _code(*kinds):
    found = [code for kind, code in _CODE.findall(_PAGE) if kind in kinds]
    where = f"import celosia; assert not celosia.__file__.startswith({str(ROOT)!r})"
    return "\n".join([where, *found])


def test_the_changes_are_seven():
    assert len(_CHANGE.findall(_PAGE)) == 7


def test_the_model_of_the_changed_chip_computes_it(copy):
    _run(copy, "-c", _code("python", "py"))


def test_the_oracle_agrees(copy):
    _run(copy, "-c", "import exactlanes; from celosia.arch.vector import VectorOp; assert "
         "exactlanes.first(VectorOp.NAND, [0b1100, 0b1010, 0], 0) == 0xFFFFFFF7")


@pytest.mark.slow
def test_the_changed_chip_computes_it(copy):
    _run(copy, "-c", _code("python", "py", "py slow"))
    assert "equal" in _run(copy, "-m", "celosia_sim.lockstep", "--preset", "nano",
                           "--seeds", "0", "300")
