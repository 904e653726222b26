"""The operators of mutation: each finds, in one node, what may be changed and into what.

====================  ====================================================================
comparison            ``<`` to ``<=``, ``==`` to ``!=``, ``is`` to ``is not``, ``in`` ...
off-by-one            an integer plus or minus one; the bounds of slices and ``range`` too
condition             one operand of ``and or & |`` alone; ``if`` (also ``m.If``) always or
                      never; ``not`` and ``~`` dropped
operand               operands of ``- / // % << >> ** @``, ``Cat``, ``Mux`` and ``sub`` swapped
constant              a truth value turned, a number halved or doubled, zero made one
statement             an assignment, an augmented one, a call removed; one of the statements
                      that are assigned to a domain in one list removed
====================  ====================================================================
"""

import ast
import re
from collections.abc import Iterator

__all__ = ["OPERATOR_TOKEN", "OPERATORS", "Change", "Placed", "Target", "is_width"]

#: What has a place in the source.
Placed = ast.expr | ast.stmt
#: What is replaced: a node, or the operator of comparison between two.
Target = Placed | tuple[Placed, Placed]
#: What is replaced, and the text that replaces it.
Change = tuple[Target, str]

_COMPARISONS = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}
_ORDERED = (ast.Sub, ast.Div, ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift, ast.Pow, ast.MatMult)
#: Callables whose arguments from this one on have an order that matters.
_ORDERED_CALLS = {"Cat": 0, "Mux": 1, "sub": 0, "subtract": 0, "divide": 0, "f32_sub": 0}
#: Callables whose result is never exactly another number: by chance, or by the clock.
_NEVER_EQUAL = {"random", "monotonic", "perf_counter"}
#: Callables that take a width or shape, where a larger one only costs area.
_WIDTHS = {"Signal", "In", "Out", "unsigned", "signed"}


def _name(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def is_width(parent: ast.AST) -> bool:
    """Whether what is in a node is a width or shape: a larger one only costs area."""
    return isinstance(parent, ast.Call) and _name(parent) in _WIDTHS


def _text(node: ast.AST) -> str:
    """Return a node as one line in parentheses where it may need them."""
    text = ast.unparse(node)
    return text if isinstance(node, ast.Name | ast.Constant | ast.Call | ast.Attribute
                              | ast.Subscript) else f"({text})"


def _is_integer(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _comparison(node: ast.AST, _parent: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Compare):
        for left, operator, right in zip([node.left, *node.comparators], node.ops,
                                         node.comparators, strict=False):
            if not any(isinstance(each, ast.Call) and _name(each) in _NEVER_EQUAL
                       for each in (left, right)):
                yield (left, right), _COMPARISONS[type(operator)]


def _off_by_one(node: ast.AST, parent: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        if is_width(parent):
            changed = [node.value - 1] if node.value else []
        elif isinstance(parent, ast.UnaryOp):
            changed = [node.value + 1]
        else:
            changed = [node.value + 1, node.value - 1]
        for value in changed:
            yield node, str(value) if value >= 0 else f"({value})"
    bounds: list[ast.expr | None] = []
    if isinstance(node, ast.Slice):
        bounds = [node.lower, node.upper]
    elif isinstance(node, ast.Call) and _name(node) == "range" and not is_width(
            parent):
        bounds = list(node.args[:2])
    for bound in bounds:
        if bound is not None and not _is_integer(bound) and not isinstance(bound, ast.Starred):
            yield bound, f"{_text(bound)} + 1"
            yield bound, f"{_text(bound)} - 1"


def _condition(node: ast.AST, parent: ast.AST) -> Iterator[Change]:
    match node:
        case ast.BoolOp(values=values):
            joint = " and " if isinstance(node.op, ast.And) else " or "
            for index in range(len(values)):
                rest = joint.join(_text(each) for each in values[:index] + values[index + 1:])
                yield node, f"({rest})"
        case ast.BinOp(left=left, op=ast.BitAnd() | ast.BitOr(), right=right):
            yield node, _text(left)
            yield node, _text(right)
        case ast.If(test=test) | ast.IfExp(test=test):
            yield test, "True"
            yield test, "False"
        case ast.While(test=test) if not isinstance(test, ast.Constant):
            yield test, "False"
        case ast.comprehension(ifs=ifs):
            for test in ifs:
                yield test, "True"
        case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
            yield node, _text(operand)
        case ast.withitem(context_expr=ast.Call(func=ast.Attribute(attr="If" | "Elif"),
                                                args=[test])):
            yield test, "1"
            yield test, "0"


def _operand(node: ast.AST, _parent: ast.AST) -> Iterator[Change]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, _ORDERED):
        left, right = node.left, node.right
        formats = isinstance(node.op, ast.Mod) and isinstance(left, ast.Constant | ast.JoinedStr)
        if not formats and ast.dump(left) != ast.dump(right):
            yield node, ast.unparse(ast.BinOp(_bracketed(right), node.op, _bracketed(left)))
    elif isinstance(node, ast.Call) and _name(node) in _ORDERED_CALLS:
        first = _ORDERED_CALLS[_name(node)]
        pair = node.args[first:first + 2]
        if len(pair) == 2 and ast.dump(pair[0]) != ast.dump(pair[1]):
            arguments = [*node.args[:first], pair[1], pair[0], *node.args[first + 2:]]
            yield node, ast.unparse(ast.Call(node.func, arguments, node.keywords))


def _bracketed(node: ast.expr) -> ast.expr:
    """Return a node that is written in parentheses where it is a compound."""
    return ast.Name(_text(node)) if not isinstance(node, ast.Constant) else node


def _constant(node: ast.AST, parent: ast.AST) -> Iterator[Change]:
    if not isinstance(node, ast.Constant):
        return
    value = node.value
    if isinstance(value, bool):
        yield node, str(not value)
    elif isinstance(value, float):
        yield node, repr(value * 2 if value else 1.0)
    elif isinstance(value, int) and abs(value) > 3:
        yield node, str(value // 2)
        if not is_width(parent):
            yield node, str(value * 2)


def _statement(node: ast.AST, _parent: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Assign() | ast.AugAssign() | ast.Expr(value=ast.Call()):
            yield node, "pass"
    match node:
        case ast.AugAssign(value=ast.List(elts=elements)) if len(elements) > 1:
            for element in elements:
                if not isinstance(element, ast.Starred):
                    yield element, "*()"


OPERATORS = {
    "comparison": _comparison, "off-by-one": _off_by_one, "condition": _condition,
    "operand": _operand, "constant": _constant, "statement": _statement,
}
#: Where an operator of comparison is, between its operands.
OPERATOR_TOKEN = re.compile(rb"is\s+not\b|not\s+in\b|is\b|in\b|[<>]=?|[=!]=")
