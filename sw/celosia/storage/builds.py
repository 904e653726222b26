"""A folder of finished builds that several processes may share."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

from celosia.storage.cachefolder import MANIFEST, cache_folder, digest, grew, locked, use

__all__ = ["digest", "entry"]


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _intact(folder: Path) -> bool:
    """Whether every file of a finished entry is what it was when it was written."""
    try:
        files = json.loads((folder / MANIFEST).read_text())
        return all(_hash(folder / name) == value for name, value in files.items())
    except (OSError, ValueError, AttributeError):
        return False


def entry(kind: str, key: str, make: Callable[[Path], object]) -> Path:
    """Return the folder of an entry, making it where it is missing or damaged.

    It stays as long as this process does; see `celosia.storage.cachefolder`.

    Parameters
    ----------
    kind, key
        Name of the entry.
    make
        Fills an empty folder. It is called by one process at a time for one entry; others wait and
        then use what it made. If it raises (an interrupt included), nothing of it stays.
    """
    folder = cache_folder() / kind / key
    made = 0
    while not (use(folder) and _intact(folder)):  # another process may have removed it
        made = _make(folder, make)
    if made:
        grew(made)
    return folder


def _make(folder: Path, make: Callable[[Path], object]) -> int:
    """Make an entry, unless another process has done it by now; return its bytes."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = folder.with_name(f"{folder.name}.tmp")
    with locked(folder.with_name(f"{folder.name}.lock")):
        if _intact(folder):
            return 0
        for leftover in (folder, work):
            shutil.rmtree(leftover, ignore_errors=True)
        work.mkdir()
        try:
            make(work)
            paths = [path for path in sorted(work.rglob("*")) if path.is_file()]
            files = {str(path.relative_to(work)): _hash(path) for path in paths}
            size = (work / MANIFEST).write_text(json.dumps(files))
            size += sum(path.stat().st_size for path in paths)
            work.rename(folder)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return size
