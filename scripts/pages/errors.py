"""Makes docs/errors.md: what can go wrong, by what its message begins with, why, and what to do."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from pathlib import Path

import house

from celosia.arch.faults import FAULT_CURES, FAULT_DOCS
from pages.page import write_page

__all__ = ["CURES", "errors", "errors_page", "main", "messages"]

_INTRO = """\
# Errors

Made by `scripts/docs` from where errors are declared: faults in `sw/celosia/arch/faults.py`,
exceptions by their docstrings, cures of these in `scripts/pages/errors.py`. A message says what
was wanted, what came, and where; names of instructions, operations and lines are those of the
program. The page *Every message* of the site has them all, by the module that says it.

## The chip stopped: `fault NAME`

`celosia debug fault FILE` shows what came before, and what the instruction at fault looked at.
"""
_EVERY = """\
What the sources of the package say where something is wrong, by module: search for a few words of
what you read. What stands in `<...>` is put in. [Errors](errors.md) has causes and cures by the
kind of error."""
#: What to do about each error that users of the package can meet, by its class.
CURES: dict[str, str] = {
    "AsmError": "go to the line and the caret; what is close to a misspelt name is said",
    "BusError": (
        "use offsets of docs/isa.md and addresses below the memory's end; a board that "
        "answers so may hold another bitstream (`celosia info --port`)"),
    "CallError": "see the error that it comes with: the function of the host raised it",
    "Cancelled": (
        "see the first error of the group: another device failed, and this one was stopped"),
    "ChipFault": "the table above, by the name of the fault",
    "CompileError": (
        "change what the message names: operation, type or shape; without `strict=True` the "
        "host runs what the chip cannot"),
    "DeviceError": "see which of those below it is",
    "DeviceLost": (
        "open the device anew; look at cable, port and baud rate, and who else has the port "
        "open"),
    "Divergence": (
        "report it: chip and model must be equal. `celosia debug diverge` has the "
        "instruction, and `--save` a program that shows it"),
    "FpgaError": "see the log that is named",
    "FrontendError": (
        "the list has each operation that cannot be read, with its line: rewrite it, or let "
        "the framework lower it to others (docs/coverage.md)"),
    "GraphError": (
        "the operation that is named breaks the grammar of docs/graph.md: sizes, types or "
        "attributes; of a graph that the frontend made, report it"),
    "IllFormed": "report it, with the program: a pass of the compiler made something illegal",
    "MemoryTooSmall": (
        "`celosia debug oom FILE` tries the ways out: a smaller batch, donated arguments, "
        "bf16, `jax.checkpoint`"),
    "MissingBokeh": "`pip install 'celosia[profile]'`",
    "OutOfDeviceMemory": (
        "free arrays and programs that are not used, or share an arena among programs"),
    "PjrtError": (
        "JAX shows it as an XlaRuntimeError; the code before the text says whose mistake it "
        "is (RESOURCE_EXHAUSTED: `celosia debug oom`)"),
    "PodEnded": "see the chip that is named: it ended while others waited for it",
    "PodStopped": "likewise, on the golden model",
    "Refusal": "the status says it: 4xx is the request's mistake, 503 come again later",
    "RunTimeout": "raise `timeout=`; if the program never ends, `celosia debug run --break`",
    "ScheduleError": "report it: a schedule of a collective is not what it should do",
    "StaleHandle": (
        "put the array, or load the program, again: its device was reset or closed, or it "
        "was freed"),
    "ToolFailed": "the first errors of the tool are said, and where its log is",
    "ToolMissing": "`pip install 'celosia[fpga]'`",
    "ToolchainError": (
        "`pip install 'celosia[sim]'`, or set CELOSIA_CC or CELOSIA_CXX to a compiler"),
    "UnevenSharding": "pad the dimension to a multiple of the devices, or shard another one",
    "WorkTooLarge": "split the operation that is named: it does not fit the chip's memories",
}


def _classes() -> dict[str, type[BaseException]]:
    """Return the exceptions that have a cure, by name."""
    import importlib

    found = {}
    for name, path in house.modules().items():
        if not house.inside(name, "celosia") or house.inside(name, "celosia.tensorflow"):
            continue
        names = [node.name for node in ast.parse(path.read_text(encoding="utf-8")).body
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
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            kind = ast.unparse(node.exc.func)
            text = max(map(_template, node.exc.args), key=len, default="")
            if len(text) > 10:
                yield kind, " ".join(text.split())


def messages() -> str:
    """Return the page of every message, by the module that says it, for the site."""
    lines = ["# Every message", "", _EVERY, ""]
    for name, path in house.modules().items():
        said = dict.fromkeys(_said(path))
        if said:
            lines += [f"## {name}", ""]
            lines += [f"- {kind}: `{text.replace('`', chr(39))}`" for kind, text in said]
            lines.append("")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None, root: Path | None = None) -> int:
    """Write docs/errors.md; arguments and result as of `pages.page.write_page`."""
    return write_page("errors.md", lambda page: errors_page(), argv, root)
