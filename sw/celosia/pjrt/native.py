"""What jaxlib calls: functions of C, see native.c, which is compiled where it is used, once.

Why there is C at all, and why it is compiled by the one who uses it: docs/frameworks.md.
"""

from __future__ import annotations

import ctypes
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from celosia.storage.cachefolder import cache_folder
from celosia.storage.libraries import compile_library, library

__all__ = ["FLAGS", "SOURCE", "STAYS", "Native", "build", "keep", "load", "native"]

#: What is compiled.
SOURCE = Path(__file__).with_suffix(".c")
#: Of every compiler.
FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-fvisibility=hidden")
#: In an object's cell: nothing destroys it.
STAYS = (1 << 8 * ctypes.sizeof(ctypes.c_size_t)) - 1


def keep(thing: object) -> None:
    """Never free an object: its memory is used after the interpreter has ended."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))


class Native:
    """The library, loaded.

    Parameters
    ----------
    path
        Where it is; another copy of the file has other objects and functions.

    Attributes
    ----------
    destroy
        Address of the function of the PJRT API that destroys any object.
    nothing
        Address of one that does nothing.

    Raises
    ------
    OSError
        If it cannot be loaded.
    """

    def __init__(self, path: Path):
        self._library = library = ctypes.PyDLL(str(path))
        self.destroy, self.nothing = (
            ctypes.cast(each, ctypes.c_void_p).value or 0
            for each in (library.destroy, library.nothing))
        self._destroyed = ctypes.c_size_t.in_dll(library, "destroyed")
        self._take = library.take_destroyed
        self._take.restype, self._take.argtypes = ctypes.c_size_t, ()
        self._begin, self._function = library.begin, library.function
        self._begin.restype, self._begin.argtypes = None, (ctypes.py_object, ctypes.c_size_t)
        self._function.restype = ctypes.c_size_t
        self._function.argtypes = ctypes.c_size_t, ctypes.py_object
        self._silence = library.silence
        self._silence.restype, self._silence.argtypes = None, ()

    def take(self) -> Iterator[int]:
        """Yield the addresses of cells of objects that were destroyed, each once."""
        if self._destroyed.value:
            cell = self._take()
            while cell:
                rest = ctypes.c_size_t.from_address(cell).value
                yield cell
                cell = rest

    def functions(self, calls: Sequence[Callable[[int], tuple[int, int]]],
                  adopt: Callable[..., object], interrupted: int) -> list[int]:
        """Return the addresses of functions of the PJRT API that call functions of Python.

        Parameters
        ----------
        calls
            What to call, with the address of the arguments. It returns an error's number, or 0, and
            a signal whose handler Python is to call soon, or 0.
        adopt
            Called before each of them with nothing; with what a handler has raised, if that was
            before the end of this function.
        interrupted
            Number of the error that a call is where there is no result.

        Raises
        ------
        ValueError
            If there are too many.
        """
        self._begin(adopt, interrupted)
        places = [self._function(i, call) for i, call in enumerate(calls)]
        if not all(places):
            raise ValueError(f"there must be at most {places.index(0)} functions, not "
                             f"{len(places)}")
        return places

    def silence(self) -> None:
        """Let these functions do nothing, without Python: objects outlive the interpreter."""
        self._silence()


def build() -> Path:
    """Compile the library, or find it in the cache folder; return where it is.

    Raises
    ------
    celosia.storage.ToolchainError
        If there is no compiler, or it fails.
    OSError
        If the folder cannot be used.
    """
    return library("pjrt", SOURCE, FLAGS)


def load() -> Native:
    """Build the library and load it.

    Where the cache folder cannot be used, or not be loaded from, it is compiled for this process
    alone.

    Raises
    ------
    celosia.storage.ToolchainError
        If there is no compiler, or it fails.
    RuntimeError
        If there is no place that it can be loaded from, or the system is none that it is for.
    """
    if sys.platform == "win32":
        raise RuntimeError("the system must be Linux or macOS for celosia to be a device of JAX, "
                           "not Windows")
    try:
        return Native(build())
    except OSError as error:
        first = error
    try:
        with tempfile.TemporaryDirectory() as folder:
            return Native(compile_library(SOURCE, FLAGS, Path(folder)))
    except OSError as error:
        raise RuntimeError(f"CELOSIA_CACHE must name a folder for libraries that can be loaded, "
                           f"not {str(cache_folder())!r}: {first}; and in a temporary one: "
                           f"{error}") from None


_lock = threading.Lock()
_loaded: list[Native] = []


def native() -> Native:
    """Return the library of this process; errors as of `load`."""
    with _lock:
        if not _loaded:
            _loaded.append(load())
        return _loaded[0]
