"""Where finished work is kept from run to run, what names it, and how much of it is kept.

The folder holds a folder for each kind of work, and that an entry for each key: a file, or a folder
with a manifest. Several processes may share it. Where it has grown too large, what was not used for
longest goes, but no folder that a process uses, and nothing that has another name than an entry.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = ["MANIFEST", "cache_folder", "digest", "grew", "limit_bytes", "locked", "trim", "use"]

#: The file in the folder of an entry that makes it one; its time is that of the last use.
MANIFEST = "manifest.json"
#: MiB where CELOSIA_CACHE_LIMIT is not set.
_LIMIT = 4096
#: The folder is looked at when a process has added this share of the limit, and at its first entry.
_SHARE = 16
#: Names of files that are entries, or were going to be, or say why there is none.
_FILE = re.compile(r"[0-9a-f]{24}(\.celosia|\w{8}\.tmp)|.+-\d{8}-\d{6}-\d+\.log")
#: Names of folders: entries, and what a process that was killed has left.
_FOLDER = re.compile(r"([0-9a-f]{24})(\.tmp|\.gone)?")


def cache_folder() -> Path:
    """The folder of builds: $CELOSIA_CACHE, else ``celosia`` in the user's cache folder."""
    if chosen := os.environ.get("CELOSIA_CACHE"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "celosia"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "celosia"


def limit_bytes() -> int:
    """Bytes that the folder may have: $CELOSIA_CACHE_LIMIT, in MiB; ValueError if it is wrong."""
    text = os.environ.get("CELOSIA_CACHE_LIMIT") or str(_LIMIT)
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"CELOSIA_CACHE_LIMIT must be a number of MiB, not {text!r}")
    return int(text) << 20


def digest(parts: Mapping[str, object]) -> str:
    """A key of 24 hexadecimal digits that stands for everything in ``parts``."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]


class _Growth:
    """What this process has added since it looked at the folder; it has not yet where None."""

    def __init__(self) -> None:
        self.nbytes: int | None = None
        self.lock = threading.Lock()


_growth = _Growth()


def grew(nbytes: int) -> None:
    """Say that this process has added an entry; `trim` where it is time to."""
    limit = limit_bytes()
    with _growth.lock:
        due = _growth.nbytes is None or _growth.nbytes + nbytes > limit // _SHARE
        _growth.nbytes = 0 if due or _growth.nbytes is None else _growth.nbytes + nbytes
    if due:
        trim(cache_folder(), limit)


def trim(root: Path, limit: int) -> None:
    """Remove entries that were not used for longest until the rest has at most ``limit`` bytes.

    The last one that was used stays, and so do folders that a process has named to `use`.
    """
    found = []
    for kind in _inside(root):
        if kind.is_dir() and not kind.is_symlink():
            found += [each for path in _inside(kind) if (each := _entry(path))]
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found)[:-1]:
        if total <= limit:
            break
        with contextlib.suppress(OSError):
            if _remove(path):
                total -= size


def _inside(folder: Path) -> list[Path]:
    """Return what is in a folder; nothing where it cannot be read."""
    with contextlib.suppress(OSError):
        return list(folder.iterdir())
    return []


def _entry(path: Path) -> tuple[float, int, Path] | None:
    """Return when it was used, its bytes, and where it is; None if it is no entry."""
    with contextlib.suppress(OSError):
        if path.is_symlink():
            return None
        if path.is_file():
            facts = path.stat()
            return (facts.st_mtime, facts.st_size, path) if _FILE.fullmatch(path.name) else None
        matched = _FOLDER.fullmatch(path.name)
        if matched:
            used = path if matched[2] else path / MANIFEST
            return used.stat().st_mtime, sum(
                each.lstat().st_size for each in path.rglob("*")), path
    return None


def _remove(path: Path) -> bool:
    """Whether an entry was removed: not if somebody makes or uses it."""
    if path.is_file():
        path.unlink()
        return True
    matched = _FOLDER.fullmatch(path.name)
    assert matched is not None
    lock, gone = (path.with_name(f"{matched[1]}{suffix}") for suffix in (".lock", ".gone"))
    with locked(lock, wait=False) as mine:
        if not mine:
            return False
        descriptor = os.open(path, os.O_RDONLY)
        try:
            if not _flock(descriptor, exclusive=True, wait=False):
                return False
            if path != gone:  # at once, so that nobody finds half of it
                shutil.rmtree(gone, ignore_errors=True)
                path.rename(gone)
            shutil.rmtree(gone)
        finally:
            os.close(descriptor)
        lock.unlink()
    return True


def _flock(descriptor: int, *, exclusive: bool, wait: bool) -> bool:
    import fcntl  # not on Windows, where only programs are kept, which are files
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
                    | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[bool]:
    """Hold a lock, a file, that ends with the process, however that ends.

    Yields
    ------
    mine
        Whether it is held: always where ``wait``.
    """
    while True:
        with path.open("w") as file:
            if not _flock(file.fileno(), exclusive=True, wait=wait):
                yield False
                return
            if _is_at(file.fileno(), path):  # else it was removed meanwhile
                yield True
                return


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


#: Open folders that this process uses; each is locked as long as it is open.
_used: dict[Path, int] = {}
_used_lock = threading.Lock()


def use(folder: Path) -> bool:
    """Keep the folder of an entry from being removed until this process ends.

    Returns
    -------
    there
        Whether there is one.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return False
    with contextlib.suppress(OSError):  # where there are no locks it is used all the same
        _flock(descriptor, exclusive=False, wait=True)
    if not _is_at(descriptor, folder):
        os.close(descriptor)
        return False
    with contextlib.suppress(OSError):  # a folder of somebody else's may be used, too
        os.utime(folder / MANIFEST)
    with _used_lock:
        before = _used.get(folder)
        _used[folder] = descriptor
    if before is not None:
        os.close(before)
    return True
