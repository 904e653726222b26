"""Makes the notebooks of tutorials from their pages: cells of code are the blocks of Python, with
what they print.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from pages.page import write_page

__all__ = ["NOTEBOOKS", "main", "notebook"]

#: Tutorials that are notebooks, too.
NOTEBOOKS = ("first-program", "how-it-works", "faster")
_BLOCK = re.compile(r"^```(python|text)\n(.*?)^```\n?$", re.DOTALL | re.MULTILINE)


def _lines(text: str) -> list[str]:
    return text.rstrip("\n").splitlines(keepends=True)


def notebook(page: str) -> str:
    """Return the notebook of a page."""
    cells: list[dict[str, object]] = []
    at = 0
    for found in _BLOCK.finditer(page):
        before = page[at:found.start()].strip()
        if found[1] == "text":
            if not before and cells:  # else it is a text like others
                cells[-1]["outputs"] = [{"name": "stdout", "output_type": "stream",
                                         "text": found[2].splitlines(keepends=True)}]
                at = found.end()
            continue
        at = found.end()
        if before:
            cells.append({"cell_type": "markdown", "metadata": {}, "source": _lines(before)})
        cells.append({"cell_type": "code", "execution_count": None, "metadata": {},
                      "outputs": [], "source": _lines(found[2])})
    if rest := page[at:].strip():
        cells.append({"cell_type": "markdown", "metadata": {}, "source": _lines(rest)})
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return json.dumps({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4,
                       "nbformat_minor": 5}, indent=1) + "\n"


def main(argv: Sequence[str] | None = None, root: Path | None = None) -> int:
    """Write them; arguments and result as of `pages.page.write_page`."""
    stale = 0
    for name in NOTEBOOKS:
        page = (root or Path(__file__).parents[2]) / "docs" / "tutorials" / f"{name}.md"
        text = page.read_text(encoding="utf-8")
        stale |= write_page(f"tutorials/{name}.ipynb", lambda _, text=text: notebook(text), argv,
                            root)
    return stale
