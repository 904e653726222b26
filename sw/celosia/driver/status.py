"""What the devices of processes do: each writes a file, which ``celosia smi`` reads.

Nobody who looks opens a device or waits for one: a file is written by the thread that runs the
chip, five times a second at most, under another name first. A process removes its files when it
ends; those of one that was killed are nobody's, which its number tells.
"""

from __future__ import annotations

import atexit
import contextlib
import itertools
import json
import math
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from weakref import WeakSet, finalize

from celosia.arch.config import TpuConfig
from celosia.arch.registers import UNIT_NAMES
from celosia.driver.errors import DeviceError
from celosia.graph import Source
from celosia.program import Program

__all__ = ["DeviceStatus", "status_folder", "statuses"]

#: Seconds between two writes, and between two looks at the links of a chip: of one of RTL it
#: takes a millisecond.
_PACE, _LINKS_PACE = 0.2, 10.0
#: What earlier releases, which may run beside this one, do not say.
_LATER: dict[str, Any] = {"requests": 0, "links": []}
_numbers = itertools.count()


def status_folder() -> Path:
    """The folder of the files: $CELOSIA_STATUS, else in the user's folder for what runs."""
    if chosen := os.environ.get("CELOSIA_STATUS"):
        return Path(chosen)
    if run := os.environ.get("XDG_RUNTIME_DIR"):
        return Path(run) / "celosia"
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "user")
    return Path(tempfile.gettempdir()) / f"celosia-{user}"


def statuses(folder: Path | None = None) -> Iterator[dict[str, Any]]:
    """Yield what each device of each process that lives says of itself.

    Files of others that have ended are removed; what cannot be read is left out.
    """
    for path in sorted((folder or status_folder()).glob("*-*.json")):
        try:
            found = json.loads(path.read_text())
            alive = _lives(int(found["pid"]))
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if alive:
            yield _LATER | found
        else:
            with contextlib.suppress(OSError):
                path.unlink()


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is somebody else's
        return True
    return True


class DeviceStatus:
    """What one device says of itself.

    Parameters
    ----------
    config
        The chip.
    backend
        How it is reached: "model", "rtl" and so on.
    memory_bytes
        That arrays and programs may have.
    """

    def __init__(self, config: TpuConfig, backend: str, memory_bytes: int):
        self._number = next(_numbers)
        self._path: Path | None = None
        self._written = -math.inf
        #: Of programs that are there still, by their numbers: to hash one takes as long as it is.
        self._places: dict[int, str] = {}
        self._said: dict[str, Any] = {
            "device": self._number, "preset": config.name, "backend": backend,
            "memory": {"used": 0, "peak": 0, "limit": memory_bytes}, "state": "idle",
            "program": "", "place": "", "runs": 0, "cycles": 0, "total_cycles": 0,
            "busy": dict.fromkeys(UNIT_NAMES, 0.0), "faults": 0, "fault": "",
            "requests": 0, "links": [],
        }
        self._looked = -math.inf
        _open.add(self)

    def begin(self, program: Program, used: int) -> None:
        """Say that a program runs; ``used`` bytes of memory are in use."""
        memory = self._said["memory"]
        memory["used"], memory["peak"] = used, max(used, memory["peak"])
        self._said |= {"state": "running", "program": program.name, "place": self._place(program),
                       "cycles": 0, "began": time.time()}
        self._write()

    def progress(self, cycles: int) -> None:
        """Say how far it is, if that is news."""
        if cycles != self._said["cycles"]:
            self._said["cycles"] = cycles
            self._write()

    def end(self, counters: Mapping[str, int],
            links: Callable[[], Sequence[Mapping[str, int]]] | None = None) -> None:
        """Say that it has ended, and what it had.

        Parameters
        ----------
        counters
            Of the run.
        links
            Returns what each port of the chip has counted, as of
            `celosia.driver.transport.PodChip`.
        """
        cycles = counters.get("cycles", 0)
        if links is not None and time.monotonic() - self._looked >= _LINKS_PACE:
            self._said["links"] = [dict(each) for each in links()]
            self._looked = time.monotonic()
        self._said |= {
            "state": "idle", "runs": self._said["runs"] + 1, "cycles": cycles,
            "total_cycles": self._said["total_cycles"] + cycles,
            "busy": {unit: counters.get(f"{unit}_busy", 0) / cycles if cycles else 0.0
                     for unit in UNIT_NAMES}}
        self._write()

    def answered(self, requests: int) -> None:
        """Say that so many requests of others were answered by the last run."""
        self._said["requests"] += requests
        self._write()

    def failed(self, error: BaseException) -> None:
        """Say that it has not; what the user or a caller has ended is no fault."""
        self._said["state"] = "idle"
        if isinstance(error, DeviceError):
            self._said |= {"faults": self._said["faults"] + 1,
                           "fault": f"{type(error).__name__}: {error}".splitlines()[0]}
        self._write(always=True)

    def close(self) -> None:
        """Take the file away."""
        _open.discard(self)
        if self._path is not None:
            with contextlib.suppress(OSError):
                self._path.unlink()
            self._path = None

    def _place(self, program: Program) -> str:
        """Return the line that most instructions of a program come from."""
        place = self._places.get(id(program))
        if place is None:
            lines: Counter[str] = Counter()
            for text, count in Counter(program.sources).items():
                source = Source.parse(text)[1]
                if source.line:
                    lines[f"{source.file}:{source.line}"] += count
            place = self._places[id(program)] = lines.most_common(1)[0][0] if lines else ""
            finalize(program, self._places.pop, id(program), None).atexit = False
        return place

    def _write(self, *, always: bool = False) -> None:
        now = time.monotonic()
        if now - self._written < _PACE and not always:
            return
        self._written = now
        pid = os.getpid()  # another one after a fork
        with contextlib.suppress(OSError):
            folder = status_folder()
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = folder / f"{pid}-{self._number}.json"
            part = path.with_suffix(".tmp")
            part.write_text(json.dumps({
                "pid": pid, "process": " ".join(sys.argv)[:200], "time": time.time(),
                **self._said}))
            os.replace(part, path)
            self._path = path


_open: WeakSet[DeviceStatus] = WeakSet()


@atexit.register
def _leave() -> None:
    for status in tuple(_open):
        status.close()
