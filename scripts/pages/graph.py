"""Makes the table of operations in docs/graph.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import celosia.graph.operations  # noqa: F401 - fills OPS
from celosia.graph.attributes import REQUIRED
from celosia.graph.spec import OPS, OpSpec
from pages.page import between, write_page

__all__ = ["main", "operations_table"]

#: Before and after the table in the page.
_MARKS = ("<!-- operations: written by scripts/docs -->\n", "<!-- end of operations -->\n")

_TITLES = {
    "shape": "Making and moving", "elementwise": "Elementwise", "contract": "Sums of products",
    "reduce": "Reductions", "indexed": "Indexed", "control": "Control",
    "callback": "Functions of the host", "collective": "Among devices",
    "spmd": "Whole arrays of several devices",
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
    """Write docs/graph.md; arguments and result are those of `pages.page.write_page`."""
    return write_page("graph.md", lambda page: between(page, _MARKS, operations_table()), argv,
                      root)
