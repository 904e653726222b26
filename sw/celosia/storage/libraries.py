"""Libraries of C, compiled where they are used, once."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from celosia.storage import builds
from celosia.storage.compilers import compiler, cpu_identity, run_tool

__all__ = ["c_flags", "compile_library", "key", "library"]

#: What is not defined is in the process, which Linux takes for granted.
_LINK = ("-shared", *(("-Wl,-undefined,dynamic_lookup",) if sys.platform == "darwin" else ()))


def c_flags(tuned: bool) -> tuple[str, ...]:
    """Return what the compiler wants; it builds no C library, which would take zig seconds."""
    chosen = compiler("C")
    if not tuned:
        return chosen.portable
    return (*chosen.flags, *(("-nostdlib",) if "-nostdlib" in chosen.portable else ()))


def compile_library(source: Path, flags: Sequence[str], folder: Path, *,
                    tuned: bool = False) -> Path:
    """Compile a library into a folder; return where it is.

    Parameters
    ----------
    source, flags
        The file of C, and what every compiler is told.
    folder
        Where the library goes: it has the name of the file.
    tuned
        Whether it is for this processor only.

    Raises
    ------
    celosia.storage.ToolchainError
        If there is no compiler, or it fails.
    """
    work, path = folder / "work", folder / f"{source.stem}.so"
    work.mkdir()
    # Not in the user's folder, which need not be there; nothing in it is of use again.
    zig = {f"ZIG_{which}_CACHE_DIR": str(work) for which in ("GLOBAL", "LOCAL")}
    run_tool("cc", [*compiler("C").command, *c_flags(tuned), *flags, *_LINK, source, "-o", path],
             work / "cc.log", cwd=work, env={**os.environ, **zig})
    shutil.rmtree(work)
    return path


def key(source: Path, flags: Sequence[str], *, tuned: bool = False) -> str:
    """Return a text that differs between two libraries that may differ, or not be of use here.

    What a file includes is beside it.
    """
    chosen = compiler("C")
    machine = cpu_identity() if tuned else platform.machine()
    return builds.digest({
        "source": [path.read_text() for path in (source, *sorted(source.parent.glob("*.h")))],
        "compiler": chosen.version, "command": chosen.command[1:],
        "flags": (*c_flags(tuned), *flags, *_LINK), "machine": f"{sys.platform} {machine}"})


def library(kind: str, source: Path, flags: Sequence[str], *, tuned: bool = False) -> Path:
    """Compile a library, or find it in the cache folder, under ``kind``; return where it is.

    Raises
    ------
    celosia.storage.ToolchainError
        If there is no compiler, or it fails.
    OSError
        If the folder cannot be used.
    """
    folder = builds.entry(kind, key(source, flags, tuned=tuned), lambda into: compile_library(
        source, flags, into, tuned=tuned))
    return folder / f"{source.stem}.so"
