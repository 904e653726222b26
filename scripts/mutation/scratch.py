"""Copies of the tree in which tests run, and how they are run there."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import bootstrap

from mutation.mutant import Mutant

__all__ = ["PACKAGES", "Run", "Scratch"]

#: Roots of packages, for PYTHONPATH, and the packages.
_ROOTS = ("hw", "sw", "sim")
PACKAGES = ("celosia", "celosia_hw", "celosia_sim")
#: What a copy does without.
_LEFT = shutil.ignore_patterns(".git", ".venv", "build", "dist", "__pycache__", ".ruff_cache",
                               ".pytest_cache", ".hypothesis")
#: Seconds between two looks at a run.
_STEP = 1.0
#: pytest's exit codes for: all passed, nothing to run.
_FINE = (0, 5)


class Run(NamedTuple):
    """What a run of tests came to; ``output`` is all that was printed."""

    verdict: str  # passed, failed, time-out
    seconds: float
    output: str

    @property
    def failed(self) -> list[str]:
        """The tests that failed, or their file where it could not be read."""
        words = [line.split() for line in self.output.splitlines()
                 if line.startswith(("FAILED ", "ERROR "))]
        return [word[1] for word in words if len(word) > 1]


class Scratch:
    """A copy of a tree.

    Parameters
    ----------
    root
        The tree.
    folder
        Where the copy is made.
    cache
        Where builds are kept, of this copy alone: what another one compiles would hide who does.
        It is bounded as any user's is: what was not used for longest goes.
    """

    def __init__(self, root: Path, folder: Path, cache: Path):
        self.tree = folder / "tree"
        self._folder = folder
        self._cache = cache.absolute()
        self._counter = 0
        self._stopped = threading.Event()
        shutil.copytree(root, self.tree, ignore=_LEFT, symlinks=True)

    def stop(self) -> None:
        """End what runs here, and let nothing run any more."""
        self._stopped.set()

    def forget_programs(self) -> None:
        """Have the next test compile again what is kept from earlier ones."""
        shutil.rmtree(self._cache / "compiled", ignore_errors=True)

    @contextlib.contextmanager
    def mutated(self, mutant: Mutant) -> Iterator[None]:
        """Have the change in the tree, and then not."""
        path = self.tree / mutant.path
        source, times = path.read_bytes(), path.stat()
        path.write_bytes(mutant.apply(source))
        # Python tells compiled files by size and whole seconds: each mutant has a time of its own.
        self._counter += 1
        stamp = times.st_mtime_ns + self._counter * 1_000_000_000
        os.utime(path, ns=(stamp, stamp))
        try:
            yield
        finally:
            path.write_bytes(source)
            os.utime(path, ns=(times.st_mtime_ns, times.st_mtime_ns))

    def environment(self, **more: str) -> dict[str, str]:
        """Return the environment of the tests: the copy's packages, caches of its own."""
        found = dict(os.environ)
        found["PYTHONPATH"] = os.pathsep.join(str(self.tree / root) for root in _ROOTS)
        found["PYTHONPYCACHEPREFIX"] = str(self._folder / "pycache")
        found.pop("PYTHONDONTWRITEBYTECODE", None)
        found["CELOSIA_CACHE"] = str(self._cache)
        found["PYRIGHT_PYTHON_IGNORE_WARNINGS"] = "1"
        found.update(more)
        return found

    def run(self, tests: Sequence[str], limit: float, environment: dict[str, str] | None = None,
            options: Sequence[str] = ("-x",)) -> Run:
        """Run tests of the default tier in one process of pytest, ``limit`` seconds at most."""
        shutil.rmtree(self.tree / ".hypothesis", ignore_errors=True)  # examples of another mutant
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                   "--tb=line", "-m", f"not slow and ({bootstrap.DEFAULT_MARKS})", *options, *tests]
        log = self._folder / "pytest.log"
        with log.open("w") as out:
            process = subprocess.Popen(command, cwd=self.tree, stdin=subprocess.DEVNULL,
                                       stdout=out, stderr=subprocess.STDOUT,
                                       env=environment or self.environment(),
                                       start_new_session=True)
            try:
                code, seconds = self._wait(process, limit)
            finally:  # the tests' own processes, too
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        verdict = "time-out" if code is None else "passed" if code in _FINE else "failed"
        return Run(verdict, seconds, log.read_text(errors="replace"))

    def _wait(self, process: subprocess.Popen, limit: float) -> tuple[int | None, float]:
        """Return the exit code, None if ``limit`` seconds were over before, and the seconds.

        Time in which this process did not run either (a machine that sleeps, a stopped job) is not
        counted. InterruptedError after `stop`.
        """
        spent, last = 0.0, time.monotonic()
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_STEP)
            now = time.monotonic()
            spent, last = spent + min(now - last, 2 * _STEP), now
            if self._stopped.is_set():
                raise InterruptedError("the run was stopped")
            if process.returncode is not None or spent >= limit:
                return process.returncode, spent
