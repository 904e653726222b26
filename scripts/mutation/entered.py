"""Which test files enter which functions, and how long each takes: measured once, then kept.

Each test file runs by itself, in a fresh process with no compiled programs kept from before, so
that nothing is entered less because another test did the work. What is kept of it holds as long as
the sources, the helpers of the tests and the file itself stay as they are.

Why a mutant needs no other tests than those that enter its function: a run without the mutated code
executes exactly what a run of the original does, up to there. Code outside functions runs at
import, so it has the scope of its file, entered by all that import it. What is not seen: processes
that are started without the environment, which import the installed package and so no mutant
either; and builds of simulators that are kept between runs, which hide who would enter the code
that makes them. Therefore a function that no test enters is taken to be entered by the tests of its
file, its folder, its room.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from mutation.project import Project
from mutation.scratch import PACKAGES, Scratch

__all__ = ["Entered", "Measured"]

_HERE = Path(__file__).resolve().parent
#: Seconds that one file of tests may take here.
_LIMIT = 3600


class Measured:
    """What is known of one file of tests."""

    def __init__(self, content: dict):
        self.seconds: float = content["seconds"]
        self.entered = set(content["entered"])
        self.failed: list[str] = content["failed"]


class Entered:
    """The map of a project, kept in a folder with a file for each file of tests."""

    def __init__(self, project: Project, folder: Path):
        self._project = project
        self._folder = folder
        self._base = f"{project.sources_digest()}-{project.helpers_digest()}"
        self._known: dict[str, Measured] = {}

    def _place(self, test: str) -> Path:
        return self._folder / f"{test.replace(os.sep, '.')}.json"

    def __getitem__(self, test: str) -> Measured | None:
        """Return what is known of a file of tests, None if it is to be measured."""
        if test not in self._known:
            place = self._place(test)
            if not place.exists():
                return None
            content = json.loads(place.read_text())
            if content["key"] != self._key(test):
                return None
            self._known[test] = Measured(content)
        return self._known[test]

    def _key(self, test: str) -> str:
        return f"{self._base}-{self._project.test_digest(test)}"

    def missing(self) -> list[str]:
        """Return the files of tests that are to be measured."""
        return [test for test in self._project.tests() if self[test] is None]

    def measure(self, test: str, scratch: Scratch) -> Measured:
        """Run a file of tests and note what it enters."""
        self._folder.mkdir(parents=True, exist_ok=True)
        notes = self._place(test).with_suffix(".txt")
        notes.unlink(missing_ok=True)
        scratch.forget_programs()
        environment = scratch.environment()
        environment.update({
            "PYTHONPATH": os.pathsep.join([str(_HERE / "hook"), str(_HERE.parent),
                                           environment["PYTHONPATH"]]),
            "PYTHONPYCACHEPREFIX": f"{environment['PYTHONPYCACHEPREFIX']}-entered",
            "MUTATION_ROOT": str(scratch.tree), "MUTATION_PACKAGES": ",".join(PACKAGES),
            "MUTATION_ENTERED": str(notes)})
        run = scratch.run([test], _LIMIT, environment, options=())
        entered = sorted(set(notes.read_text().split("\n")) - {""}) if notes.exists() else []
        notes.unlink(missing_ok=True)
        content = {"key": self._key(test), "seconds": round(run.seconds, 2), "entered": entered,
                   "failed": run.failed if run.verdict == "failed" else
                   [test] if run.verdict == "time-out" else []}
        if run.verdict == "failed" and not run.failed:
            content["failed"] = [test]
        self._place(test).write_text(json.dumps(content, indent=0))
        self._known[test] = Measured(content)
        return self._known[test]

    def tests_of(self, path: str, scope: str) -> list[str]:
        """Return the files of tests that may see a change in a function, the best first.

        Those that mirror the file's path come first, then the quick ones; what was never measured
        comes last, nearest first, but before the rest where it is in the same folder.
        """
        name = f"{path}::{scope}"
        near = {test: self.nearness(test, path) for test in self._project.tests()}
        entering = [test for test in near if (known := self[test]) and name in known.entered]
        taken = [test for test in near
                 if self[test] is None or (not entering and near[test])]

        def order(test: str) -> tuple:
            known = self[test]
            shared = len(os.path.commonprefix([Path(test).stem[5:], Path(path).stem]))
            if near[test] == 3 or (known is None and near[test] == 2):
                return 0, -near[test], -shared, test
            return (1, 0, known.seconds, test) if known else (2, -near[test], -shared, test)

        return sorted({*entering, *taken}, key=order)

    def nearness(self, test: str, path: str) -> int:
        """Return how near a file of tests is to a source: 3 its mirror, 2 its folder, 1 its room.

        A folder of components, ``hw/celosia_hw/dma/load.py``, has its tests in
        ``tests/hw/dma/test_load.py``, or in a file of its name, ``tests/hw/test_dma.py``; those of
        a part of sw are in ``tests/sw/PART``. The simulator's are in ``tests/rtl`` and in a folder
        ``sim``.
        """
        source, test_path = Path(path), Path(test)
        folder, place = source.parent.parts[2:], test_path.parent.parts[2:]
        room = self._project.room(path).rpartition(".")[2]
        if room == "simulator":
            inside = test_path.parts[1] == "rtl" or "sim" in test_path.parts
            place = tuple(part for part in place if part != "sim")
        else:
            inside = room in test_path.parts
        same = place == folder and (
            bool(folder) or inside or test_path.parts[1] == source.parts[0])
        if same and test_path.stem == f"test_{source.stem}":
            return 3
        if same or (folder and place == folder[:-1] and test_path.stem == f"test_{folder[-1]}"):
            return 2
        return int(inside)
