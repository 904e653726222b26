"""Where finished work is kept from run to run, and what names it."""

import hashlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

__all__ = ["cache_folder", "digest"]


def cache_folder() -> Path:
    """The folder of builds: $CELOSIA_CACHE, else ``celosia`` in the user's cache folder."""
    if chosen := os.environ.get("CELOSIA_CACHE"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "celosia"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "celosia"


def digest(parts: Mapping[str, object]) -> str:
    """A key of 24 hexadecimal digits that stands for everything in ``parts``."""
    text = json.dumps(parts, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:24]
