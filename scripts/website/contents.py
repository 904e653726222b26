"""Which pages the site has, in which order, and from which files."""

from __future__ import annotations

from pathlib import Path

__all__ = ["ROOT", "SECTIONS", "WIDE", "pages"]

ROOT = Path(__file__).parents[2]
#: Headings of the table of contents and the names of their pages: those of docs/ without .md, one
#: of `_ELSEWHERE`, or made with the site.
SECTIONS: dict[str, tuple[str, ...]] = {
    "Start": ("readme", "live", "network"),
    "Tutorials": ("tutorials/index", "tutorials/first-program", "tutorials/how-it-works",
                  "tutorials/faster", "tutorials/wrong-numbers", "tutorials/train-and-serve",
                  "tutorials/board", "tutorials/new-operation"),
    "Use it": ("frameworks", "training", "serving", "tensorflow", "pods", "fpga"),
    "Measure and debug": ("profiling", "debugging", "errors", "messages", "performance",
                          "benchmarks", "gallery"),
    "The chip": ("chip", "isa", "configuration", "numerics", "link"),
    "The compiler": ("compiler", "graph", "passes", "coverage", "kernels"),
    "Reference": ("commands", "api"),
    "The project": ("architecture", "contributing", "changelog", "licences"),
}
#: Pages without their own table of contents at the side.
WIDE = ("index", "live", "network")
#: Pages that are not in docs/.
_ELSEWHERE = {"readme": "README.md", "contributing": "CONTRIBUTING.md", "changelog": "CHANGELOG.md"}


def pages() -> dict[str, Path]:
    """Return the file of each page that is written by hand or kept in the repository."""
    names = ("index", *(name for section in SECTIONS.values() for name in section))
    return {name: ROOT / _ELSEWHERE.get(name, f"docs/{name}.md") for name in names}
