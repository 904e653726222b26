"""Pages of docs/ that are made from sources: written, or compared with what would be written."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

__all__ = ["between", "write_page"]


def write_page(name: str, make: Callable[[str], str], argv: Sequence[str] | None = None,
               root: Path | None = None, is_fresh: Callable[[str], bool] | None = None) -> int:
    """Write a page where it is stale, or with ``--check`` only say that it is.

    Parameters
    ----------
    name
        Of the page in docs/.
    make
        Makes the page from what it is now, "" where there is none.
    argv
        Arguments; None: those of the process.
    root
        Folder that holds docs/; None: the repository that this file is in.
    is_fresh
        Whether a page needs not be made; None: it is what ``make`` gives.

    Returns
    -------
    int
        0, or 1 where the page is stale and was not written.
    """
    parser = argparse.ArgumentParser(prog="scripts/docs", description=f"Make docs/{name}.")
    parser.add_argument("--check", action="store_true",
                        help=f"write nothing; exit with 1 if docs/{name} is stale")
    args = parser.parse_args(argv)
    path = (root or Path(__file__).parents[2]) / "docs" / name
    page = path.read_text(encoding="utf-8") if path.exists() else ""
    if is_fresh(page) if is_fresh else page == make(page):
        return 0
    if args.check:
        print(f"docs/{name} is stale: run scripts/docs", file=sys.stderr)
        return 1
    path.parent.mkdir(exist_ok=True)
    path.write_text(make(page), encoding="utf-8")
    return 0


def between(page: str, marks: tuple[str, str], text: str) -> str:
    """Return a page with other text between two of its lines."""
    before, _, rest = page.partition(marks[0])
    _, _, after = rest.partition(marks[1])
    return before + marks[0] + "\n" + text + "\n" + marks[1] + after
