"""Makes the table of names in docs/tensorflow.md, of celosia/tensorflow/names.py."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pages.page import between, write_page

__all__ = ["main", "names"]

#: Before and after what is made, in the page.
_MARKS = ("<!-- names: written by scripts/docs -->\n", "<!-- end of names -->\n")
_SOURCE = Path(__file__).parents[2] / "sw" / "celosia" / "tensorflow" / "names.py"


def names() -> Any:
    """Return the module of names, without its package, which needs TensorFlow."""
    spec = importlib.util.spec_from_file_location("celosia_tensorflow_names", _SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(argv: Sequence[str] | None = None, root: Path | None = None) -> int:
    """Write docs/tensorflow.md; arguments and result as of `pages.page.write_page`."""
    made = names().table()
    return write_page("tensorflow.md", lambda page: between(page, _MARKS, made), argv, root)
