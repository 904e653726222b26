"""Compilers of C and C++: the one of the package index, or one of the machine."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from celosia.storage.cachefolder import cache_folder

__all__ = ["Compiler", "ToolchainError", "compiler", "cpu_identity", "package_folder", "run_tool"]


class ToolchainError(RuntimeError):
    """A program is missing, or failed; the message holds its first errors and where the log is."""


@dataclass(frozen=True)
class Compiler:
    """A compiler of C or C++.

    Attributes
    ----------
    command
        Its argument vector, without flags.
    version
        Text that differs between two compilers that may write different code.
    flags
        What this compiler wants beside the common flags: for code tuned for this processor.
    portable
        In place of these, for code that runs on every processor of the kind and needs no library.
    headers
        Whether it takes compiled headers, as clang does.
    """

    command: tuple[str, ...]
    version: str
    flags: tuple[str, ...]
    portable: tuple[str, ...]
    headers: bool


@dataclass(frozen=True)
class _Language:
    """What is asked for its compiler: a variable, then a command of zig, then programs."""

    variable: str
    zig: str
    programs: tuple[str, ...]


_LANGUAGES = {
    "C": _Language("CELOSIA_CC", "cc", ("clang", "gcc", "cc")),
    "C++": _Language("CELOSIA_CXX", "c++", ("clang++", "g++", "c++")),
}
#: zig turns the undefined-behaviour sanitiser on where it is not turned off.
_ZIG = ("-fno-sanitize=undefined",)
#: It tunes where it is not told not to, and builds a C library first, for seconds, where it may.
_ZIG_PORTABLE = (*_ZIG, "-mcpu=baseline", "-nostdlib")


def package_folder(name: str) -> Path | None:
    """Return the folder of an installed package; None if it is not installed."""
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


@functools.cache
def compiler(language: str = "C++") -> Compiler:
    """Find a compiler: $CELOSIA_CXX (of C $CELOSIA_CC), else the packaged zig, else the system's.

    zig comes before a system compiler because it is the one that was tried, and because Verilated
    code from it runs up to twice as fast as from g++ 12.

    Parameters
    ----------
    language
        "C" or "C++".

    Raises
    ------
    ToolchainError
        If there is none, or it does not run.
    """
    asked = _LANGUAGES[language]
    if chosen := os.environ.get(asked.variable):
        return _system(tuple(shlex.split(chosen)), language)
    ziglang = package_folder("ziglang")
    if ziglang is not None and (ziglang / "zig").exists():
        version = f"zig {importlib.metadata.version('ziglang')}"
        return Compiler((str(ziglang / "zig"), asked.zig), version, _ZIG, _ZIG_PORTABLE, True)
    for name in asked.programs:
        if path := shutil.which(name):
            return _system((path,), language)
    raise ToolchainError(f"there is no {language} compiler: pip install ziglang, or set "
                         f"{asked.variable}")


def _system(command: tuple[str, ...], language: str) -> Compiler:
    wanted = f"{_LANGUAGES[language].variable} must name a {language} compiler, not"
    try:
        result = subprocess.run([*command, "--version"], capture_output=True, text=True)
    except OSError as error:
        raise ToolchainError(f"{wanted} {command[0]!r}: {error.strerror}") from None
    if result.returncode:
        raise ToolchainError(f"{wanted} {' '.join(command)!r}: {result.stderr.strip()[:200]}")
    zig = "zig" in Path(command[0]).name
    return Compiler(command, " ".join(command) + " " + result.stdout.strip(),
                    _ZIG if zig else ("-march=native",), _ZIG_PORTABLE if zig else (),
                    zig or "clang" in result.stdout)


@functools.cache
def cpu_identity() -> str:
    """Text that is equal on two processors only if code tuned for one runs on the other."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    lines = [line for line in text.split("\n\n")[0].splitlines()
             if line.startswith(("model name", "flags", "Features", "CPU part"))]
    return platform.machine() + hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def run_tool(name: str, command: Sequence[str | Path], log: Path, *,
             cwd: Path | None = None, env: Mapping[str, str] | None = None,
             running: set[subprocess.Popen[bytes]] | None = None) -> None:
    """Run a program with its output in ``log``.

    Raises
    ------
    ToolchainError
        If it fails; the message holds the first lines with an error.
    """
    with log.open("wb") as file:
        process = subprocess.Popen([str(part) for part in command], cwd=cwd, env=env, stdout=file,
                                   stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        if running is not None:
            running.add(process)
        try:
            status = process.wait()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
            if running is not None:
                running.discard(process)
    if status == 0:
        return
    lines = log.read_text(errors="replace").splitlines()
    errors = [line for line in lines if re.search(r"error", line, re.IGNORECASE)] or lines
    first = "\n  ".join(errors[:5]) or "(no output)"
    raise ToolchainError(f"{name} failed with status {status}; {_saved(name, log)}\n  {first}")


def _saved(name: str, log: Path) -> str:
    """Keep a log, and say where."""
    kept = cache_folder() / "failed"
    saved = kept / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.log"
    try:
        kept.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(log, saved)
    except OSError as error:
        return f"no log could be kept: {error}"
    return f"the log is {saved}"
