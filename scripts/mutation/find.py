"""Every mutant of a file, in the order of the file."""

import ast
from collections.abc import Iterator

from mutation.excluded import is_skipped, presents
from mutation.mutant import Mutant
from mutation.operators import OPERATOR_TOKEN, OPERATORS, Placed, Target, is_width
from mutation.scopes import MODULE, Def

__all__ = ["compiles", "mutants"]


def mutants(path: str, source: bytes) -> list[Mutant]:
    """Return the mutants of a file; a few do not compile."""
    text = _Text(path, source)
    found: dict[Mutant, None] = {}
    for operator, scope, target, after in _changes(ast.parse(source)):
        if presents(path, scope):
            continue
        mutant = text.mutant(operator, scope, target, after)
        if mutant is not None:
            found[mutant] = None
    return sorted(found)


def compiles(source: bytes) -> bool:
    """Whether Python reads a file."""
    try:
        compile(source, "", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


class _Text:
    """Positions in the bytes of a file."""

    def __init__(self, path: str, source: bytes):
        self._path, self._source = path, source
        self._lines = source.split(b"\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def _span(self, node: Placed) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (self._starts[node.lineno - 1] + node.col_offset,
                self._starts[node.end_lineno - 1] + node.end_col_offset)

    def mutant(self, operator: str, scope: str, target: Target, after: str) -> Mutant | None:
        """Return the mutant that replaces ``target``: a node, or the token between two nodes."""
        if isinstance(target, ast.expr | ast.stmt):
            start, end = self._span(target)
        else:
            left, right = target
            start, end = self._span(left)[1], self._span(right)[0]
            token = OPERATOR_TOKEN.search(self._source, start, end)
            if token is None or b"#" in self._source[start:end]:
                return None
            start, end = token.span()
        line = self._source.count(b"\n", 0, start) + 1
        before = self._source[start:end].decode()
        if "".join(before.split()) == "".join(after.split()):
            return None
        begin = self._starts[line - 1]
        rest = self._source[end:].partition(b"\n")[0]
        becomes = (self._source[begin:start] + after.encode() + rest).decode().strip()
        return Mutant(self._path, start, end, operator, after, before, scope, line,
                      start - begin + 1, self._lines[line - 1].decode().strip(), becomes)


def _changes(tree: ast.Module) -> Iterator[tuple[str, str, Target, str]]:
    """Iterate over operator, scope, what is replaced, and by what."""

    def visit(node: ast.AST, parent: ast.AST, outer: tuple[str, ...],
              scope: str) -> Iterator[tuple[str, str, Target, str]]:
        if is_skipped(node) or isinstance(node, ast.JoinedStr):
            return
        for operator, changes in OPERATORS.items():
            for target, after in changes(node, parent):
                yield operator, scope, target, after
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list", "type_comment"):
                continue
            inside, inner = outer, scope
            if field == "body" and isinstance(node, ast.ClassDef | Def):
                inside = (*outer, node.name)
                inner = ".".join(inside) if isinstance(node, Def) else scope
            # A factor of a width is one, too.
            above = parent if isinstance(node, ast.BinOp) and isinstance(
                node.op, ast.Mult) and is_width(parent) else node
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from visit(child, above, inside, inner)

    return visit(tree, tree, (), MODULE)
