"""Where many objects are made that stay: without Python's collector of cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["uncollected"]


@contextmanager
def uncollected() -> Iterator[None]:
    """Leave cycles of garbage alone for a while, in all threads.

    Where hundreds of thousands of objects are made that live on, the collector looks through them
    again and again, which takes up to a quarter of the time (of parsing many small arrays, most of
    it), and finds hardly anything.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
