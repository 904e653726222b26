"""The gallery: what the bench programs become, and pages of their profiles."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from website.contents import ROOT

__all__ = ["DEAR", "PROFILED", "PROGRAMS", "gallery", "place_profiles"]

_FOLDER = Path("sw/celosia/bench/programs")
PROGRAMS = tuple(sorted(path.stem for path in (ROOT / _FOLDER).glob("*.mlir")))
#: Those whose profiles take minutes: their pages are made by ``scripts/docs --site --all``.
DEAR = ("convolution", "gpt-adam", "lstm-sgd", "mlp-forward", "transformer-sgd")
#: Those of which a report takes half a minute: it is made with the profiles of all.
_LARGE = ("gpt-adam",)
PROFILED = tuple(name for name in PROGRAMS if name not in DEAR)
_INTRO = """\
# Gallery

The programs of `celosia bench compiled` on `core`, as `celosia report` tells of them: what runs
where, in how many cycles, and what bounds it. [Performance](performance.md) has the cycles that
the RTL takes. The pages that `celosia profile --html` writes of them have timeline, roofline,
memory and the chip replayed, each in one file:
"""


def _said(*words: str | Path) -> str:
    """Return what the command prints."""
    done = subprocess.run([sys.executable, "-m", "celosia", *map(str, words)], cwd=ROOT,
                          capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"celosia {' '.join(map(str, words))} must end well:\n{done.stderr}")
    return done.stdout


def _report(name: str) -> str:
    return _said("report", "--strict", _FOLDER / f"{name}.mlir").rstrip()


def gallery(profiled: Sequence[str] = PROFILED) -> str:
    """Return the page; ``profiled``: the programs that have a page of their profile beside it."""
    lines = [_INTRO]
    lines += [f'- <a href="gallery/{name}.html">the profile of {name}</a>' for name in profiled]
    lines += [f"- the profile of {name} is made by `scripts/docs --site --all`"
              for name in PROGRAMS if name not in profiled]
    shown = [name for name in PROGRAMS if name in profiled or name not in _LARGE]
    with ThreadPoolExecutor(2) as pool:
        for name, said in zip(shown, pool.map(_report, shown), strict=True):
            lines += ["", f"## {name}", "", "```text", said, "```"]
    return "\n".join(lines) + "\n"


def place_profiles(folder: Path, profiled: Sequence[str] = PROFILED) -> None:
    """Write the pages of profiles into a new folder."""
    folder.mkdir()
    with tempfile.TemporaryDirectory() as work:
        def make(name: str) -> None:
            _said("profile", "--strict", "--html", "-o", Path(work) / name,
                  _FOLDER / f"{name}.mlir")
            shutil.copy(Path(work) / name / f"{name}.html", folder)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(make, profiled))
