"""Makes docs/coverage.md: which operations of StableHLO run on the chip.

Programs, a few lines of StableHLO for each operation, are brought to the canonical level; the page
says where `celosia.compiler.placement` places what they become. Those of training programs are in
coverage.mlir, those of the whole specification, for each type, in specification.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from celosia.compiler import canonical
from celosia.compiler.placement import place
from celosia.frontend import FrontendError, import_stablehlo
from celosia.frontend.stablehlo.calls import REFUSED
from celosia.frontend.stablehlo.reader import read_module
from celosia.graph import Graph, Node
from pages.page import write_page
from pages.specification import ELEMENTS, programs

__all__ = ["Cell", "Row", "Snippet", "coverage_page", "main", "rows", "snippets", "specification"]

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

_WHOLE = """\
## The whole specification

Every operation of [StableHLO's specification](https://openxla.org/stablehlo/spec), with each type
of elements that its verifier takes, as `scripts/pages/specification.py` has them: *chip*; *host*,
between programs of the chip, an error with `strict=True`; or the number of the reason why it is
refused, which the error has with the place in the program. Where nothing stands, the operation has
no such type. `tests/sw/frontend/test_specification.py` runs these programs, and compares them with
StableHLO's own interpreter.

{chip} of {all} are the chip's, {host} the host's, {refused} are refused.

ui8 and ui16 are as i8 and i16, ui64 as i64; i2, ui2 and ui4 as i4, the other floats of 4 and 8 bits
as f8E4M3FN: all of these are stored as bytes, and computed with in wider types. Cholesky and
triangular systems of complex numbers are no operations where JAX asks for them: it is given
functions that work. Integers of 64 bits are two words each (`celosia.frontend.wide`), and have all
their bits; floats of 64 bits may be constants. Eigenvalues of matrices that are not Hermitian
(`jax.numpy.linalg.eig`, `schur`) are no operation of StableHLO: JAX has them of LAPACK, on its CPU
alone, and the error says how a program gets them there.
"""

#: Elements that nothing has: a reason names them.
_WIDE = ("i64", "f64", "complex<f64>")
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


@cache
def _compiled() -> dict[tuple[str, str], list[Node]]:
    """Return the nodes that the snippets of each operation and form become."""
    found: dict[tuple[str, str], list[Node]] = {}
    for snippet in snippets():
        graph = canonical(import_stablehlo(snippet.text, filename=snippet.name))
        found.setdefault((snippet.name, snippet.form), []).extend(_nodes(graph))
    return found


def rows() -> list[Row]:
    """Place all snippets: a row for each operation, one for each other form."""
    return [_row(name, form, nodes) for (name, form), nodes in _compiled().items()]


def _row(name: str, form: str, nodes: Sequence[Node]) -> Row:
    loud = [node for node in nodes if node.op not in _QUIET] or [
        node for node in nodes if node.op == "constant"]
    places = dict.fromkeys(map(place, loud))
    return Row(name, form, tuple(dict.fromkeys(node.op for node in loud)),
               tuple(each.reason for each in places if each.where == "chip"),
               tuple(each.reason for each in places if each.where == "host"))


@dataclass(frozen=True)
class Cell:
    """An operation with one type of elements.

    Attributes
    ----------
    where
        "chip", "host" or "refused".
    reason
        Why it is not the chip's.
    """

    where: str
    reason: str = ""


@cache
def _specified() -> dict[str, dict[str, tuple[Node, ...] | str]]:
    """Return what each operation becomes, by the types that it has, or why it is refused."""
    found: dict[str, dict[str, tuple[Node, ...] | str]] = {}
    for name, element, text in programs():
        made = found.setdefault(name, {})
        try:
            module = read_module(text, name)
        except FrontendError:
            continue  # the verifier does not have it
        try:
            made[element] = tuple(_nodes(canonical(import_stablehlo(module, filename=name))))
        except FrontendError as error:
            problem = error.problems[0].partition(": ")[2].removeprefix(f"{name}: ")
            # One reason for all shapes, and for operations that this one was made of.
            problem = re.sub(r"\[[\d,]*\]", "", problem)
            problem = re.sub(r"tensor<[\dx]*x(.*?)>", r"\1", problem)
            problem = re.sub(r"(tuple|future)<.*>", r"\1", problem)
            if element not in _WIDE:
                problem = re.sub(r", not [a-z]+\d+\w*$", "", problem)
            made[element] = problem
    return found


def _cell(made: tuple[Node, ...] | str) -> Cell:
    if isinstance(made, str):
        return Cell("refused", made)
    places = [place(node) for node in made if node.op != "parameter"]
    host = [each.reason for each in places if each.where == "host"]
    return Cell("host", host[0]) if host else Cell("chip")


def specification() -> dict[str, dict[str, Cell]]:
    """Return where each operation runs, by the types that it has."""
    return {name: {element: _cell(made) for element, made in each.items()}
            or {"": Cell("refused", REFUSED[name.removeprefix("stablehlo.")])}
            for name, each in _specified().items()}


def _specification_page() -> Iterator[str]:
    known = specification()
    cells = [cell for each in known.values() for cell in each.values()]
    count = {where: sum(cell.where == where for cell in cells)
             for where in ("chip", "host", "refused")}
    yield _WHOLE.format(all=len(cells), **count)
    reasons: dict[str, int] = {}

    def show(cell: Cell | None) -> str:
        if cell is None or cell.where == "chip":
            return "" if cell is None else "chip"
        number = reasons.setdefault(cell.reason, len(reasons) + 1)
        return str(number) if cell.where == "refused" else f"host {number}"

    lines = []
    for name, each in known.items():
        shown = [show(each.get(element, each.get(""))) for element in ELEMENTS]
        lines.append((f"`{name.removeprefix('stablehlo.')}`", *shown))
    yield from _table(("operation", *ELEMENTS), lines)
    yield ""
    yield from _table(("", "why not"), [(str(number), reason.replace("|", "\\|"))
                                        for reason, number in reasons.items()])


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
    parts += ["", *_specification_page()]
    return "\n".join(parts) + "\n"


def _becomes(row: Row) -> str:
    return ", ".join(f"`{op}`" for op in row.becomes) or "its operands"


def main(argv: Sequence[str] | None = None, root: Path | None = None) -> int:
    """Write docs/coverage.md; arguments and result are those of `pages.page.write_page`."""
    return write_page("coverage.md", lambda _: coverage_page(), argv, root)
