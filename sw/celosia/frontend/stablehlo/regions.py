"""Bodies of reductions and sorts, recognised by what they compute."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from celosia.frontend.errors import Unsupported
from celosia.frontend.stablehlo.attributes import array_of, name_of, tensor_type
from celosia.frontend.stablehlo.elementwise import BOOLEAN
from celosia.graph import DType, Trait, having
from celosia.graph.operations.reduce import REDUCERS

__all__ = ["arg_reducer_of", "expressions_of", "reducer_of", "select_of", "sort_of", "text_of"]

#: A tree: ("arg", i), ("constant", text), or an operation, its words and its operands.
Expression = tuple[Any, ...]

_COMMUTATIVE = having(Trait.COMMUTATIVE)
_MIRRORED = {"GT": "LT", "LT": "GT", "GE": "LE", "LE": "GE", "EQ": "EQ", "NE": "NE"}


def expressions_of(region: Any) -> tuple[Expression, ...]:
    """Return what a region returns, as trees of its arguments, in one of the equal forms.

    Operands of commutative operations are sorted; comparisons have the operand that sorts first
    on the left; the kind of comparison is left out.
    """
    [block] = region.blocks
    values: dict[Any, Expression] = {value: ("arg", i) for i, value in enumerate(block.arguments)}
    for operation in block.operations:
        op = operation.operation
        name = op.name.removeprefix("stablehlo.")
        if name == "constant":
            values[op.results[0]] = ("constant", _number(op))
            continue
        for value in op.operands:
            # Portable artifacts have the constants of all regions in the function.
            owner = getattr(value.owner, "operation", value.owner)
            if value not in values and getattr(owner, "name", "") == "stablehlo.constant":
                values[value] = ("constant", _number(owner))
        if any(value not in values for value in op.operands) or len(op.regions):
            raise Unsupported(f"body must be of simple operations on its arguments, not {op.name}")
        operands = [values[value] for value in op.operands]
        if name in ("return", "func.return"):
            return tuple(operands)
        if name == "sdy.sharding_constraint":
            # Of a scalar it says nothing.
            values[op.results[0]] = operands[0]
            continue
        words: list[str] = []
        if name in _COMMUTATIVE:
            operands.sort(key=repr)
        if name == "compare":
            direction = name_of(op.attributes["comparison_direction"])
            if repr(operands[0]) > repr(operands[1]):
                operands.reverse()
                direction = _MIRRORED[direction]
            words.append(direction)
        if name == "convert":
            words.append(str(op.results[0].type))
        if len(op.results) != 1:
            raise Unsupported(f"body must be of simple operations, not {op.name}")
        values[op.results[0]] = (name, *words, *operands)
    raise Unsupported("body must return something")


def _number(op: Any) -> str:
    """Return the value of a constant as text."""
    if tensor_type(op.results[0].type).dtype.is_complex:
        # The bindings cannot hand it out.
        return op.get_asm(print_generic_op_form=True).partition(" = ")[2]
    # All NaNs print as "nan".
    array = array_of(op.attributes["value"])
    floating = DType.of(array.dtype).is_float
    return str((array.astype(np.float32) if floating else array).tolist())


def _arg(i: int) -> Expression:
    return ("arg", i)


def reducer_of(region: Any, *, update: bool = False) -> str:
    """Return the name of a reducer of one value; "set" or "subtract" for what only updates do.

    Raises
    ------
    Unsupported
        If it is none that the graph has.
    """
    trees = expressions_of(region)
    if update and trees == (_arg(1),):
        return "set"
    if update and trees == (("subtract", _arg(0), _arg(1)),):
        return "subtract"
    for name in REDUCERS:
        if trees == ((name, _arg(0), _arg(1)),):
            dtype = tensor_type(region.blocks[0].arguments[0].type).dtype
            return BOOLEAN.get(name, name) if dtype is DType.BOOL else name
    if trees == (_log_add_exp(_arg(0), _arg(1)),):
        return "logaddexp"
    raise Unsupported(f"body must be {', '.join(REDUCERS[:-1])} or {REDUCERS[-1]} of its "
                      f"arguments, not {_text(trees)}")


def _log_add_exp(a: Expression, b: Expression) -> Expression:
    """Return jax.numpy.logaddexp, written out."""
    difference: Expression = ("subtract", a, b)
    rest = ("log_plus_one", ("exponential", ("negate", ("abs", difference))))
    # Infinities of one sign have none.
    return ("select", ("compare", "NE", difference, difference), ("add", a, b),
            ("add", *sorted((("maximum", a, b), rest), key=repr)))


def arg_reducer_of(region: Any) -> str:
    """Return "argmax" or "argmin" for a reducer of values and their indices."""
    trees = expressions_of(region)
    value, index, other, other_index = map(_arg, range(4))
    for name, direction in (("argmax", "GT"), ("argmin", "LT")):
        better: Expression = ("compare", direction, value, other)
        nan = ("compare", "NE", value, value)
        for wins in (("or", *sorted((better, nan), key=repr)), better):
            tie = ("and", *sorted((("compare", "EQ", value, other),
                                   ("compare", "LT", index, other_index)), key=repr))
            first = ("or", *sorted((wins, tie), key=repr))
            if trees == (("select", wins, value, other), ("select", first, index, other_index)):
                return name
        # As XLA's own helper writes it.
        wins = ("compare", {"GT": "GE", "LT": "LE"}[direction], value, other)
        place = ("select", ("compare", "EQ", value, other),
                 ("minimum", *sorted((index, other_index), key=repr)),
                 ("select", wins, index, other_index))
        if trees == (("select", wins, value, other), place):
            return name
    raise Unsupported(f"body of two values must be an argmax or argmin, not {_text(trees)}")


def select_of(region: Any) -> str:
    """Return the comparison of a select_and_scatter."""
    trees = expressions_of(region)
    for direction in ("GE", "LE"):
        if trees == (("compare", direction, _arg(0), _arg(1)),):
            return direction.lower()
    raise Unsupported(f"select must be compare GE or LE of its arguments, not {_text(trees)}")


def sort_of(region: Any) -> tuple[int, bool]:
    """Return how many operands are keys, and whether they descend: complex ones are two."""
    trees = expressions_of(region)
    parts: dict[Expression, Expression] = {}
    count = 0
    for i, argument in enumerate(region.blocks[0].arguments[::2]):
        names = ("real", "imag") if tensor_type(argument.type).dtype.is_complex else (None,)
        for name in names:
            for side in (0, 1):
                of = _arg(2 * i + side)
                parts[of if name is None else (name, of)] = _arg(2 * count + side)
            count += 1
    tree = _ordered(_plain(_renamed(trees[0], parts)))
    for keys in range(1, count + 1):
        for direction in ("LT", "GT"):
            if tree == _ordered(_lexicographic(keys, direction)):
                return keys, direction == "GT"
    raise Unsupported(f"comparator must order by the first operands, not {_text(trees)}")


def _renamed(tree: Expression, names: Mapping[Expression, Expression]) -> Expression:
    """Return a tree with other leaves."""
    if tree in names:
        return names[tree]
    return tuple(_renamed(part, names) if isinstance(part, tuple) else part for part in tree)


def _lexicographic(keys: int, direction: str) -> Expression:
    """Return the comparison by several keys: the first, or if that is equal by the others."""
    pairs = [(_arg(2 * key), _arg(2 * key + 1)) for key in range(keys)]
    tree: Expression = ("compare", direction, *pairs[-1])
    for pair in reversed(pairs[:-1]):
        tree = ("or", ("compare", direction, *pair), ("and", ("compare", "EQ", *pair), tree))
    return tree


def _plain(tree: Expression) -> Expression:
    """Return a tree without what makes zeros and NaNs equal, as `sort` does by itself."""
    if tree[0] == "select":
        condition, then, otherwise = tree[1:]
        nan = ("constant", "nan")
        if then == nan and condition[:2] == ("compare", "NE") and condition[2] == condition[3]:
            inner = _plain(otherwise)
            return inner if inner == condition[2] else tree
        if then == ("constant", "0.0") and condition[:2] == ("compare", "EQ") \
                and set(condition[2:]) == {then, otherwise}:
            return otherwise
    return tuple(_plain(part) if isinstance(part, tuple) else part for part in tree)


def _ordered(tree: Expression) -> Expression:
    """Return a tree with operands sorted anew after its leaves have changed."""
    if tree[0] in ("arg", "constant"):
        return tree
    parts = [_ordered(part) if isinstance(part, tuple) else part for part in tree]
    if tree[0] in _COMMUTATIVE:
        parts[1:] = sorted(parts[1:], key=repr)
    if tree[0] == "compare" and repr(parts[2]) > repr(parts[3]):
        parts[1:] = [_MIRRORED[str(parts[1])], parts[3], parts[2]]
    return tuple(parts)


def text_of(region: Any) -> str:
    """Return what a region returns, in terms of its arguments, as far as it is simple."""
    try:
        return _text(expressions_of(region))
    except Unsupported:
        return "what it is"


def _text(trees: tuple[Expression, ...]) -> str:
    def show(tree: Expression) -> str:
        if tree[0] == "arg":
            return f"arg{tree[1]}"
        if tree[0] == "constant":
            return str(tree[1])
        parts = [show(part) if isinstance(part, tuple) else part for part in tree[1:]]
        return f"{tree[0]}({', '.join(parts)})"

    text = ", ".join(map(show, trees))
    return text if len(text) <= 200 else text[:200] + "..."
