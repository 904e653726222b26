"""A folder of finished builds that several processes may share."""

import contextlib
import fcntl
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from celosia.cachefolder import cache_folder, digest

__all__ = ["cache_folder", "digest", "entry"]

_MANIFEST = "manifest.json"


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _intact(folder: Path) -> bool:
    """Whether every file of a finished entry is what it was when it was written."""
    try:
        files = json.loads((folder / _MANIFEST).read_text())
        return all(_hash(folder / name) == value for name, value in files.items())
    except (OSError, ValueError, AttributeError):
        return False


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a lock that ends with the process, however that ends."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def entry(kind: str, key: str, make: Callable[[Path], None]) -> Path:
    """Return the folder of an entry, making it where it is missing or damaged.

    Parameters
    ----------
    kind, key
        Name of the entry.
    make
        Fills an empty folder. It is called by one process at a time for one entry; others wait and
        then use what it made. If it raises (an interrupt included), nothing of it stays.
    """
    root = cache_folder()
    folder = root / kind / key
    if _intact(folder):
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = folder.with_name(f"{key}.tmp")
    with _locked(folder.with_name(f"{key}.lock")):
        if _intact(folder):
            return folder
        for leftover in (folder, work):
            shutil.rmtree(leftover, ignore_errors=True)
        work.mkdir()
        try:
            make(work)
            files = {str(path.relative_to(work)): _hash(path)
                     for path in sorted(work.rglob("*")) if path.is_file()}
            (work / _MANIFEST).write_text(json.dumps(files))
            work.rename(folder)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return folder
