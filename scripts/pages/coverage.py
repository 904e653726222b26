"""Makes docs/coverage.md: which operations of training programs run on the chip.

The programs in coverage.mlir, a few lines of StableHLO for each operation, are brought to the
canonical level; the page says where `celosia.compiler.placement` places what they become.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from celosia.compiler import canonical
from celosia.compiler.placement import place
from celosia.frontend import import_stablehlo
from celosia.graph import Graph, Node
from pages.page import write_page

__all__ = ["Row", "Snippet", "coverage_page", "main", "rows", "snippets"]

_INTRO = """\
# Coverage

Made by `scripts/docs`, which compiles the programs of `scripts/pages/coverage.mlir` up to the
[canonical level](passes.md) and asks `celosia.compiler.placement` about each operation that they
become; edit those, not this page.

{chip} of these {all} operations run on the chip: those that training programs of JAX, Keras, Flax
and torchax use, and some that other programs do. The host runs the others, between programs of the
chip; `strict=True` refuses them.
Collectives and shardings are those of a single device here; several exchange arrays by way of the
host (`celosia.collectives`).
"""

_OTHERS = """\
Of operations that run on the chip these forms do not. Training programs do not have them, as a
rule.
"""

#: What most programs have and few readers ask about.
_QUIET = frozenset({"parameter", "constant"})


@dataclass(frozen=True)
class Snippet:
    """A program of StableHLO for one operation.

    Attributes
    ----------
    name
        Of the operation, with its dialect.
    form
        What is particular about it; "" for one that training programs use.
    text
        A module whose function is called main.
    """

    name: str
    form: str
    text: str


@dataclass(frozen=True)
class Row:
    """What is known of an operation in the forms of some snippets.

    Attributes
    ----------
    becomes
        Operations of the canonical level.
    chip
        What runs them, without repetitions.
    host
        Why the chip does not run some of them; empty where it runs all.
    """

    name: str
    form: str
    becomes: tuple[str, ...]
    chip: tuple[str, ...]
    host: tuple[str, ...]


def snippets() -> list[Snippet]:
    """Return the programs, in the order of the file."""
    text = Path(__file__).with_name("coverage.mlir").read_text(encoding="utf-8")
    found = []
    for block in text.rstrip().split("\n\n"):
        head, _, program = block.partition("\n")
        name, _, form = head.removeprefix("// ").partition(" (")
        found.append(Snippet(name, form.removesuffix(")"), program + "\n"))
    return found


def _nodes(graph: Graph) -> Iterator[Node]:
    for node in graph.nodes:
        yield node
        for region in node.regions:
            yield from _nodes(region)


def rows() -> list[Row]:
    """Place all snippets: a row for each operation, one for each other form."""
    nodes: dict[tuple[str, str], list[Node]] = {}
    for snippet in snippets():
        graph = canonical(import_stablehlo(snippet.text, filename=snippet.name))
        nodes.setdefault((snippet.name, snippet.form), []).extend(_nodes(graph))
    return [_row(name, form, found) for (name, form), found in nodes.items()]


def _row(name: str, form: str, nodes: Sequence[Node]) -> Row:
    loud = [node for node in nodes if node.op not in _QUIET] or [
        node for node in nodes if node.op == "constant"]
    places = dict.fromkeys(map(place, loud))
    return Row(name, form, tuple(dict.fromkeys(node.op for node in loud)),
               tuple(each.reason for each in places if each.where == "chip"),
               tuple(each.reason for each in places if each.where == "host"))


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for line in lines:
        yield "| " + " | ".join(line) + " |"


def coverage_page() -> str:
    """Return docs/coverage.md."""
    known = rows()
    main = [row for row in known if not row.form]
    count = sum(not row.host for row in main)
    parts = [_INTRO.format(chip=count, all=len(main))]
    parts += _table(("operation", "on the chip", "what runs it, or why nothing does",
                     "becomes"), [
        (f"`{row.name}`", "no" if row.host else "yes",
         "; ".join(row.host or row.chip) or "nothing to do", _becomes(row)) for row in main])
    parts += ["", _OTHERS]
    parts += _table(("operation", "form", "why not"), [
        (f"`{row.name}`", row.form, "; ".join(row.host)) for row in known if row.form])
    return "\n".join(parts) + "\n"


def _becomes(row: Row) -> str:
    return ", ".join(f"`{op}`" for op in row.becomes) or "its operands"


def main(argv: Sequence[str] | None = None, root: Path | None = None) -> int:
    """Write docs/coverage.md; arguments and result are those of `pages.page.write_page`."""
    return write_page("coverage.md", lambda _: coverage_page(), argv, root)
