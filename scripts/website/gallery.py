"""The gallery: what the bench programs become, and pages of their profiles."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from website.contents import ROOT

__all__ = ["PROFILED", "PROGRAMS", "gallery", "place_profiles"]

_FOLDER = Path("sw/celosia/bench/programs")
PROGRAMS = tuple(sorted(path.stem for path in (ROOT / _FOLDER).glob("*.mlir")))
#: Those whose profile is made with the site; that of a transformer takes minutes.
PROFILED = ("mlp-adam", "int8-forward")
_INTRO = """\
# Gallery

The programs of `celosia bench compiled` on `core`, as `celosia report` tells of them: what runs
where, in how many cycles, and what bounds it. [Performance](performance.md) has the cycles that
the RTL takes. Of two there is the page that `celosia profile --html` writes, with timeline,
roofline, memory and the chip replayed, in one file:
"""


def _said(*words: str | Path) -> str:
    """Return what the command prints."""
    done = subprocess.run([sys.executable, "-m", "celosia", *map(str, words)], cwd=ROOT,
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"celosia {' '.join(map(str, words))} must end well:\n{done.stderr}")
    return done.stdout


def gallery() -> str:
    """Return the page."""
    lines = [_INTRO]
    lines += [f'- <a href="gallery/{name}.html">the profile of {name}</a>' for name in PROFILED]
    for name in PROGRAMS:
        said = _said("report", "--strict", _FOLDER / f"{name}.mlir")
        lines += ["", f"## {name}", "", "```text", said.rstrip(), "```"]
    return "\n".join(lines) + "\n"


def place_profiles(folder: Path) -> None:
    """Write the pages of profiles into a folder."""
    folder.mkdir()
    with tempfile.TemporaryDirectory() as work:
        for name in PROFILED:
            _said("profile", "--strict", "--html", "-o", Path(work) / name,
                  _FOLDER / f"{name}.mlir")
            shutil.copy(Path(work) / name / f"{name}.html", folder)
