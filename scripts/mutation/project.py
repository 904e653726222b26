"""What is mutated: the files of a tree, the rooms that they are in, and what names a tree."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

__all__ = ["OF_EXTRAS", "Project"]

#: Folders of packages, each with the package of that name or names in it.
_ROOTS = ("hw", "sw", "sim")
#: Parts of sw that are rooms of the issue's own; every other folder of sw is a room, too.
_NAMED = ("model", "compiler", "driver", "frontend")
#: Packages and modules that need what only an extra of `scripts/test extras` installs, so that the
#: default tier has no test that could see a change of them, and the extra whose tests do.
OF_EXTRAS = {"sw/celosia/tensorflow": "tensorflow", "sw/celosia/serve/trained.py": "tensorflow",
             "sw/celosia/profile/page/views.py": "profile",
             "sim/celosia_sim/pod/ray_starter.py": "ray", "sim/celosia_sim/wasm": "docs"}


class Project:
    """A tree of sources and tests.

    Parameters
    ----------
    root
        Its folder: packages in hw/, sw/ and sim/, tests in tests/.
    """

    def __init__(self, root: Path):
        self.root = root

    def mutable(self) -> list[str]:
        """Return the files that are mutated: all sources but those `OF_EXTRAS`."""
        return [path for path in self.sources()
                if not any(Path(path).is_relative_to(place) for place in OF_EXTRAS)]

    def sources(self) -> list[str]:
        """Return the files of the packages, relative to the root, sorted."""
        return sorted(str(path.relative_to(self.root)) for folder in _ROOTS
                      for path in (self.root / folder).rglob("*.py"))

    def tests(self) -> list[str]:
        """Return the files of tests, relative to the root, sorted."""
        return sorted(str(path.relative_to(self.root))
                      for path in (self.root / "tests").rglob("test_*.py"))

    def room(self, path: str) -> str:
        """Return the room of a source: ``hw.vpu``, ``model``, ``simulator``, ``sw.serve``...

        Hardware has a room for each component, software one for each folder; files beside the
        folders share ``hw.top`` and ``sw.top``.
        """
        root, _, *inside = Path(path).parts
        if root == "sim":
            return "simulator"
        folder = inside[0] if len(inside) > 1 else "top"
        return folder if root == "sw" and folder in _NAMED else f"{root}.{folder}"

    def sources_digest(self) -> str:
        """Return what names the sources."""
        return self._digest(self.sources())

    def tree_digest(self) -> str:
        """Return what names sources and tests."""
        return self._digest([*self.sources(), *self._python_of_tests()])

    def helpers_digest(self) -> str:
        """Return what names the files of tests/ that are no tests."""
        tests = set(self.tests())
        return self._digest(path for path in self._python_of_tests() if path not in tests)

    def test_digest(self, path: str) -> str:
        """Return what names one file of tests."""
        return self._digest([path])

    def _python_of_tests(self) -> list[str]:
        return sorted(str(path.relative_to(self.root))
                      for path in (self.root / "tests").rglob("*.py"))

    def _digest(self, paths: Iterable[str]) -> str:
        total = hashlib.sha256()
        for path in paths:
            content = (self.root / path).read_bytes()
            total.update(f"{path}\0{len(content)}\0".encode() + content)
        return total.hexdigest()[:12]
