"""Code that is not mutated, because no test should have to see a change of it.

Everything else is. What is left out, and why:

- annotations, imports, ``__all__``, ``if TYPE_CHECKING``, ``if __name__ == "__main__"``: nothing
  runs that a test could see, or the process would not start;
- ``raise`` with its arguments, and ``assert``: the text of an
  error is pinned where it matters, and an assertion is a test itself (whether an error is raised is
  mutated all the same, in the condition before it);
- names of types, ``Row = Sequence[int]``, which stand in annotations alone;
- ``print``, warnings, logging;
- arguments of decorators: sizes of caches;
- ``strict`` of ``zip``, which is an assertion too, and ``reset_less`` of a signal: what need not be
  reset may be, which costs area alone;
- the `PRESENTATION` below: files and functions whose numbers are widths, colours and pauses of
  what people look at, and limits that grow with what they limit.
"""

import ast
import re
from fnmatch import fnmatch

__all__ = ["PRESENTATION", "is_skipped", "presents"]

#: FILE::FUNCTION patterns, each with its reason.
PRESENTATION = {
    "hw/celosia_hw/boards/budgets.py::*": "limits: a larger one is not wrong",
    "sw/celosia/cli/demo/curve.py::*": "draws the losses with matplotlib",
    "sw/celosia/cli/demo/show.py::*": "draws digits in the terminal",
    "sw/celosia/profile/page/floorplan.py::*": "draws the chip: where boxes and arrows are",
}
#: Names of types, and what an expression may have that is one.
_TYPE = re.compile("_?[A-Z][a-z]+[A-Za-z]*")
_TYPE_PARTS = (ast.Name, ast.Attribute, ast.Subscript, ast.BinOp, ast.BitOr, ast.Tuple, ast.List,
               ast.Constant, ast.Load)
#: Functions that only say something.
_SAYING = {"print", "warn", "warning", "debug", "info"}


def _is_named(test: ast.expr, *names: str) -> bool:
    return any(isinstance(node, ast.Name) and node.id in names for node in ast.walk(test))


def _says(call: ast.expr) -> bool:
    if not isinstance(call, ast.Call):
        return False
    function = call.func
    if isinstance(function, ast.Name):
        return function.id in _SAYING
    return (isinstance(function, ast.Attribute) and function.attr in _SAYING
            and isinstance(function.value, ast.Name)
            and function.value.id in ("warnings", "logging", "log", "logger", "_log"))


def is_skipped(node: ast.AST) -> bool:
    """Whether a node is left as it is, with everything in it."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Raise() | ast.Assert():
            return True
        case ast.Expr(value=ast.Constant()) | ast.keyword(arg="strict" | "reset_less"):
            return True
        case ast.Expr(value=call):
            return _says(call)
        case ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            return bool(_TYPE.fullmatch(name)) and all(
                isinstance(part, _TYPE_PARTS) for part in ast.walk(value))
        case ast.If(test=test):
            return _is_named(test, "TYPE_CHECKING", "__name__")
    return False


def presents(path: str, scope: str) -> bool:
    """Whether a function is presentation only."""
    return any(fnmatch(f"{path}::{scope}", pattern) for pattern in PRESENTATION)
