"""Where results go: looked at before the work that they are of."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryFile

__all__ = ["check_file", "check_folder"]


def check_file(option: str, path: str | Path) -> None:
    """Raise ValueError, which names the option, if a file cannot be written.

    What is there stays as it is.
    """
    path = Path(path)
    if path.is_dir() or not path.parent.is_dir():
        raise ValueError(f"{option} must be a file in a folder that exists, not '{path}'")
    if not path.exists():
        _try(option, "file", path, path.parent)
    elif not os.access(path, os.W_OK):
        raise ValueError(f"{option} must be a file that can be written, not '{path}'")


def check_folder(option: str, folder: Path) -> None:
    """Raise ValueError, which names the option, if a folder cannot be made or written to.

    Nothing is made.
    """
    there = folder
    while not there.exists():
        there = there.parent
    if there.is_dir():
        _try(option, "folder", folder, there)
        return
    where = f"the file {folder}" if there == folder else f"{folder} inside the file {there}"
    raise ValueError(f"{option} must be a folder, not {where}")


def _try(option: str, what: str, path: Path, folder: Path) -> None:
    try:
        with TemporaryFile(dir=folder):  # without a name, where the system can do that
            pass
    except OSError as error:
        raise ValueError(f"{option} must be a {what} that can be written, not '{path}': "
                         f"{error.strerror}") from None
