"""Makes docs/errors.md: what can go wrong, by what its message begins with, why, and what to do."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import house

from celosia.arch.faults import FAULT_CURES, FAULT_DOCS
from pages.classes import CURES
from pages.cures import CAUSES
from pages.page import write_page

__all__ = ["cause_of", "errors", "errors_page", "every", "main", "messages"]

_INTRO = """\
# Errors

Made by `scripts/docs` from where errors are declared: faults in `sw/celosia/arch/faults.py`,
exceptions by their docstrings, cures of these in `scripts/pages/cures.py`. A message says what
was wanted, what came, and where; names of instructions, operations and lines are those of the
program. The page *Every message* of the site has them all, with cause and cure, by the
module that says it.

## The chip stopped: `fault NAME`

`celosia debug fault FILE` shows what came before, and what the instruction at fault looked at.
"""
_EVERY = """\
What the sources of the package say where something is wrong, by module, each below its cause and
its cure: search for a few words of what you read. What stands in `<...>` is put in.
[Errors](errors.md) has causes and cures by the kind of error."""

def _classes() -> dict[str, type[BaseException]]:
    """Return the exceptions that have a cure, by name."""
    import importlib

    found = {}
    for name, path in house.modules().items():
        if not house.inside(name, "celosia") or house.inside(name, "celosia.tensorflow"):
            continue
        names = [node.name for node in house.tree(path).body
                 if isinstance(node, ast.ClassDef) and node.name in CURES]
        for each in names:
            found[each] = getattr(importlib.import_module(name), each)
    return dict(sorted(found.items()))


def _docs(kind: type[BaseException]) -> str:
    """Return the first sentence of a docstring, in a line."""
    text = inspect.getdoc(kind) or ""
    return " ".join(text.split("\n\n")[0].split()).replace("``", "`").replace("|", "\\|")


def errors() -> Iterator[str]:
    """Return the lines of the page."""
    yield _INTRO
    yield "| fault | cause | FAULT_ADDR | cure |"
    yield "|---|---|---|---|"
    for fault, cure in FAULT_CURES.items():
        cause, address = FAULT_DOCS[fault]
        yield f"| `{fault.name}` | {cause} | {address} | {cure} |"
    yield ""
    yield "## Exceptions of Python"
    yield ""
    yield ("Wrong arguments are a `ValueError` or a `TypeError` whose text is all there is to say. "
           "Commands print the text of an error, and end with exit code 1.")
    yield ""
    yield "| error | is a | cause | cure |"
    yield "|---|---|---|---|"
    for name, kind in _classes().items():
        base = next(each for each in kind.__mro__[1:] if not each.__name__.startswith("_"))
        yield (f"| `{kind.__module__}.{name}` | `{base.__name__}` | {_docs(kind)} | "
               f"{CURES[name]} |")


def errors_page() -> str:
    """Return docs/errors.md."""
    return "\n".join(errors()) + "\n"


def _template(node: ast.expr) -> str:
    """Return the text of a message with what is put in as ``<...>``, "" where there is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_template(part) if isinstance(part, ast.Constant)
                       else f"<{ast.unparse(part.value)}>" if isinstance(part, ast.FormattedValue)
                       else "" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _template(node.left) + _template(node.right)
    return ""


def _said(path: Path) -> Iterator[tuple[str, str]]:
    """Return the error and the message of each that a file raises."""
    for node in ast.walk(house.tree(path)):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            kind = ast.unparse(node.exc.func)
            text = max(map(_template, node.exc.args), key=len, default="")
            if len(text) > 10:
                yield kind, " ".join(text.split())


@cache
def every() -> dict[str, list[tuple[str, str, str, str]]]:
    """Return the messages by module: each with its error, its cause and its cure.

    Raises
    ------
    LookupError
        If a message has none.
    """
    found: dict[str, list[tuple[str, str, str, str]]] = {}
    for name, path in house.modules().items():
        for kind, text in dict.fromkeys(_said(path)):
            found.setdefault(name, []).append((kind, text, *cause_of(name, text)))
    return found


def cause_of(module: str, text: str) -> tuple[str, str]:
    """Return the cause of a message, and its cure.

    Raises
    ------
    LookupError
        If no line of `pages.cures.CAUSES` holds for it.
    """
    for each in CAUSES:
        if each.holds(module, text):
            return each.why, each.cure
    raise LookupError(f"a message must have a cause and a cure in scripts/pages/cures.py, "
                      f"{module} has none for {text!r}")


def messages() -> str:
    """Return the page of every message, by the module that says it, for the site."""
    lines = ["# Every message", "", _EVERY, ""]
    for name, said in every().items():
        lines += [f"## {name}", ""]
        causes = dict.fromkeys((why, cure) for _, _, why, cure in said)
        for why, cure in causes:
            lines += [f"**Cause:** {why}. **Cure:** {cure}.", ""]
            lines += [f"- {kind}: `{text.replace('`', chr(39))}`" for kind, text, *rest in said
                      if tuple(rest) == (why, cure)]
            lines.append("")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None, root: Path | None = None) -> int:
    """Write docs/errors.md; arguments and result as of `pages.page.write_page`."""
    return write_page("errors.md", lambda page: errors_page(), argv, root)
