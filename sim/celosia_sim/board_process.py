"""A simulated board in a process of its own, as a host has a board: nothing but a port."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from types import TracebackType

__all__ = ["BoardEnd", "BoardProcess"]

#: What it may take to end, in seconds.
_PATIENCE = 60


@dataclass(frozen=True)
class BoardEnd:
    """What a simulation said when it was over.

    Attributes
    ----------
    code
        Its exit code.
    said
        Lines: cycles and faults of the line, then counts of the SDRAM, if there is one.
    broken
        Rules of the SDRAM's data sheet that were broken, a line each.
    """

    code: int
    said: tuple[str, ...]
    broken: tuple[str, ...]


class BoardProcess:
    """``python -m celosia_sim.board``; leaving a context ends it at once.

    Parameters
    ----------
    arguments
        Of the command. What it compiles it should find compiled
        (`celosia_sim.board_library.build_board`), where somebody waits for the port.

    Attributes
    ----------
    port
        Name of the pseudo-terminal, for `celosia.open("serial", port=...)`.
    """

    def __init__(self, *arguments: str):
        # No pipe: one that is full while nobody reads it stops the simulation.
        self._errors = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "celosia_sim.board", *arguments], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self._errors, text=True)
        assert self._process.stdout is not None
        self.port = self._process.stdout.readline().strip()

    def stop(self) -> BoardEnd:
        """End the simulation; return what it says."""
        out, _ = self._process.communicate(timeout=_PATIENCE)
        with self._errors:
            self._errors.seek(0)
            broken = tuple(self._errors.read().splitlines())
        return BoardEnd(self._process.returncode, tuple(out.splitlines()), broken)

    def kill(self) -> None:
        """End it at once; killing twice does nothing."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate(timeout=_PATIENCE)
        self._errors.close()

    def __enter__(self) -> BoardProcess:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.kill()
