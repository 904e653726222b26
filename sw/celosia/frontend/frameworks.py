"""Which files are a framework's, and which are the user's."""

from __future__ import annotations

import os
import sysconfig
from functools import cache
from pathlib import Path

__all__ = ["is_framework"]

#: Folders that installed packages are in, wherever the environment is that traced a program.
_SITES = frozenset(("site-packages", "dist-packages"))
_CELOSIA = str(Path(__file__).resolve().parent.parent) + os.sep
#: Of ours, what users run by name: its programs are no framework's.
_PROGRAMS = (str(Path(_CELOSIA) / "bench") + os.sep, str(Path(_CELOSIA) / "cli" / "demo") + os.sep)


@cache
def is_framework(file: str) -> bool:
    """Whether a file is of an installed package, of Python's library or of Celosia.

    What a program was traced in need not be here: a folder of packages is known by its name.
    """
    if file.startswith("<frozen") or not _SITES.isdisjoint(Path(file).parts):
        return True
    if file.startswith(f"{sysconfig.get_path('stdlib')}{os.sep}"):
        return True
    return file.startswith(_CELOSIA) and not file.startswith(_PROGRAMS)
