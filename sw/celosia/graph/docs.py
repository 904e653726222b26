"""Makes the table of operations in docs/graph.md."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import celosia.graph.operations  # noqa: F401 - fills OPS
from celosia.graph.attributes import REQUIRED
from celosia.graph.spec import OPS, OpSpec

__all__ = ["main", "operations_table"]

#: Before and after the table in the page.
_MARKS = ("<!-- operations: written by scripts/docs -->\n", "<!-- end of operations -->\n")

_TITLES = {
    "shape": "Making and moving", "elementwise": "Elementwise", "contract": "Sums of products",
    "reduce": "Reductions", "indexed": "Indexed", "control": "Control",
}


def _attributes(spec: OpSpec) -> str:
    parts = []
    for name, attribute in spec.attrs.items():
        kind = "|".join(attribute.kind.choices) or attribute.kind.name
        default = "" if attribute.default is REQUIRED else (
            f" = {attribute.kind.text(attribute.kind.normal(attribute.default))}")
        parts.append(f"`{name}`: {kind}{default}".replace("|", "\\|"))
    return "; ".join(parts)


def operations_table() -> str:
    """Return a Markdown table of the operations of each group."""
    parts = []
    for group, title in _TITLES.items():
        rows = [f"### {title}\n", "| operation | operands | attributes | result |",
                "|---|---|---|---|"]
        for spec in OPS.values():
            if spec.group == group:
                operands = ", ".join((*spec.operands, *(f"{{{name}}}" for name in spec.regions)))
                rows.append(f"| `{spec.name}` | {operands} | {_attributes(spec)} | {spec.doc} |")
        parts.append("\n".join(rows))
    return "\n\n".join(parts) + "\n"


def main(argv: Sequence[str] | None = None, root: Path | None = None) -> int:
    """Write the table into docs/graph.md, or with ``--check`` say whether it is up to date.

    Parameters
    ----------
    argv
        Arguments; None: those of the process.
    root
        Folder that holds docs/; None: the repository that this file is in.

    Returns
    -------
    int
        0, or 1 where the page is stale.
    """
    parser = argparse.ArgumentParser(prog="scripts/docs", description="Make docs/graph.md.")
    parser.add_argument("--check", action="store_true",
                        help="write nothing; exit with 1 if docs/graph.md is stale")
    args = parser.parse_args(argv)
    path = (root or Path(__file__).parents[3]) / "docs" / "graph.md"
    page = path.read_text(encoding="utf-8")
    before, _, rest = page.partition(_MARKS[0])
    _, _, after = rest.partition(_MARKS[1])
    wanted = before + _MARKS[0] + "\n" + operations_table() + "\n" + _MARKS[1] + after
    if args.check:
        if page != wanted:
            print("docs/graph.md is stale: run scripts/docs", file=sys.stderr)
        return int(page != wanted)
    path.write_text(wanted, encoding="utf-8")
    return 0

