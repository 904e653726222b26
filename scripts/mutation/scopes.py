"""Which function a piece of code runs in, named the same by all who ask."""

import ast
from collections.abc import Iterator

__all__ = ["MODULE", "Def", "defs", "own_body"]

Def = ast.FunctionDef | ast.AsyncFunctionDef
#: The scope of code outside functions, class bodies included: it runs when the file is imported.
MODULE = "<module>"


def defs(tree: ast.AST, outer: tuple[str, ...] = ()) -> Iterator[tuple[Def, str]]:
    """Iterate over the functions of a tree and their names, ``Class.method.inner``."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, Def):
            inner = (*outer, child.name)
            yield child, ".".join(inner)
        elif isinstance(child, ast.ClassDef):
            inner = (*outer, child.name)
        else:
            inner = outer
        yield from defs(child, inner)


def own_body(scope: Def | ast.Module) -> int:
    """Return the index of the first statement that does something: after docstring and future."""
    index = 0
    for index, statement in enumerate(scope.body):
        docstring = (index == 0 and isinstance(statement, ast.Expr)
                     and isinstance(statement.value, ast.Constant))
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not docstring and not future:
            return index
    return index + 1
