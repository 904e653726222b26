"""Which files of an output folder were made of what, so that a second build makes no file twice."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from celosia.cli.fpga.errors import FpgaError

__all__ = ["Stamps", "content", "digest", "locked"]


def digest(*parts: object) -> str:
    """A key that stands for everything in ``parts``."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:24]


def content(path: Path) -> str:
    """A key that stands for what is in a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:24]


class Stamps:
    """What each file of ``folder`` was made of, kept in a file there.

    A file counts only while its content is that of when it was made.
    """

    def __init__(self, folder: Path):
        self._folder, self._path = folder, folder / "stamps.json"
        try:
            self._made = dict(json.loads(self._path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            self._made = {}

    def fresh(self, key: str, *names: str) -> bool:
        """Whether the files were made of ``key``."""
        for name in names:
            made = self._made.get(name)
            path = self._folder / name
            if not (isinstance(made, list) and made[0] == key and path.is_file()
                    and made[1] == content(path)):
                return False
        return True

    def forget(self, *names: str) -> None:
        """Remove files that are about to be made anew."""
        for name in names:
            self._made.pop(name, None)
            (self._folder / name).unlink(missing_ok=True)
        self._write()

    def keep(self, key: str, seconds: float, *names: str) -> None:
        """Note that the files were made of ``key``, in how many seconds."""
        for name in names:
            self._made[name] = [key, content(self._folder / name), round(seconds, 1)]
        self._write()

    def seconds(self, name: str) -> float:
        """How long a fresh file took."""
        return self._made[name][2]

    def _write(self) -> None:
        self._path.write_text(json.dumps(self._made, indent=1), encoding="utf-8")


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make a folder, and keep a second build out of it.

    Raises
    ------
    FpgaError
        If there is one, or the folder cannot be.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / "lock").open("w")
    except OSError as error:
        raise FpgaError(f"--out must be a folder that can be written, not {folder}: "
                        f"{error.strerror}") from error
    with file:
        try:
            import fcntl
        except ImportError:  # not on Windows
            yield
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise FpgaError(f"{folder} must be no folder of a build that goes on: choose another "
                            f"with --out") from None
        yield
