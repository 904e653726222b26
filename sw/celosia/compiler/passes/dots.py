"""Dots: every sum of products is a batched matmul, [B,M,K] x [B,K,N] -> [B,M,N].

Either operand may be stored transposed: the pair in `contract` says so. The array loads a tile of
the right operand as stored or transposed at no cost, and a tile transposer turns tiles of the left
one at a row a cycle, so a flag there costs less than a transpose through memory; and a transpose
that keeps the last dimension, moving whole rows, less than one that does not. Among the orders of
the dimensions, and of the operands, the cheapest is taken; transposes of operands, and a transpose
that is the only user of the result, become part of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from celosia.compiler.builder import Builder
from celosia.compiler.passes.products import is_native, native_products
from celosia.graph import DType, Graph, Node, Value, replace_nodes

__all__ = ["canonical_dot", "dots", "is_canonical_dot"]

#: A dimension: "b", "k", "m" or "n" and its number there.
_Label = tuple[str, int]
_Order = tuple[_Label, ...]


class _Side(NamedTuple):
    """An operand as it is stored, and what its dimensions are."""

    value: Value
    order: _Order


class _Plan(NamedTuple):
    cost: int
    left: _Side
    right: _Side
    b: _Order
    k: _Order
    m: _Order
    n: _Order
    left_turned: bool
    right_turned: bool


def is_canonical_dot(node: Node) -> bool:
    """Whether a dot is a batched matmul of operands that there are at the canonical level."""
    [pair] = node.attrs["contract"] if len(node.attrs["contract"]) == 1 else [(0, 0)]
    return (is_native(node) and node.attrs["batch"] == ((0, 0),)
            and pair in ((2, 1), (2, 2), (1, 1), (1, 2))
            and all(each.type.rank == 3 for each in node.operands))


def dots(graph: Graph) -> Graph:
    """Return the graph with all dots canonical."""
    return replace_nodes(replace_nodes(graph, _turn), _replace)


def _turn(now: Node, old: Node, within: Graph) -> tuple[Value, ...] | None:
    """Swap the operands of a dot of which only the transposed result is used, if that is less."""
    dot = now.operands[0].node if now.op == "transpose" else None
    if dot is None or dot.op != "dot" or is_canonical_dot(dot):
        return None
    if (len(within.users[old.operands[0]]) > 1 or old.operands[0] in within.outputs):
        return None
    first = len(dot.attrs["batch"])
    middle = first + dot.operands[0].type.rank - first - len(dot.attrs["contract"])
    # Here all dimensions of the result go by one letter.
    dims: _Order = tuple(("m", dim) for dim in range(dot.types[0].rank))
    sizes: dict[_Label, int] = dict(zip(dims, dot.types[0].shape, strict=True))
    swapped = dims[:first] + dims[middle:] + dims[first:middle]
    wanted = tuple(dims[dim] for dim in now.attrs["permutation"])
    if _moves(swapped, wanted, sizes) >= _moves(dims, wanted, sizes):
        return None
    b = Builder(dot.source)
    pairs = {name: [(j, i) for i, j in dot.attrs[name]] for name in ("batch", "contract")}
    found = b("dot", *dot.operands[::-1], **{**dot.attrs, **pairs})
    return (b.transpose(found, [swapped.index(dim) for dim in wanted]),)


def _replace(now: Node, old: Node, within: Graph) -> tuple[Value, ...] | None:
    if now.op != "dot" or is_canonical_dot(now):
        return None
    return (canonical_dot(now),)


def _peeled(side: _Side) -> _Side:
    """Return what is under the transposes of an operand."""
    value, order = side
    while value.node.op == "transpose":
        permutation = value.node.attrs["permutation"]
        inner = list(order)
        for i, dim in enumerate(permutation):
            inner[dim] = order[i]
        value, order = value.node.operands[0], tuple(inner)
    return _Side(value, order)


def canonical_dot(node: Node) -> Value:
    """Return the result of a dot as a batched matmul with moves around it."""
    batch, contract = node.attrs["batch"], node.attrs["contract"]
    sides = []
    for side, rest in enumerate("mn"):
        names: dict[int, _Label] = {pair[side]: ("b", i) for i, pair in enumerate(batch)}
        names |= {pair[side]: ("k", i) for i, pair in enumerate(contract)}
        value = node.operands[side]
        free = [dim for dim in range(value.type.rank) if dim not in names]
        names |= {dim: (rest, i) for i, dim in enumerate(free)}
        sides.append(_peeled(_Side(value, tuple(names[dim] for dim in range(value.type.rank)))))
    extents = {label: extent for value, order in sides
               for label, extent in zip(order, value.shape, strict=True)}
    # Dimensions of the result follow one another as the sides had them at first.
    wanted = tuple([("b", i) for i in range(len(batch))] + [
        label for letter in "mn" for label in sorted(
            label for label in extents if label[0] == letter)])
    plan = min(_plans(sides[0], sides[1], wanted, extents), key=lambda plan: plan.cost)
    b = Builder(node.source)
    # Of a matrix that is stored turned, columns come first.
    left = _operand(b, plan.left, plan.b, *_in_order(plan.left_turned, plan.m, plan.k), extents)
    right = _operand(b, plan.right, plan.b, *_in_order(plan.right_turned, plan.k, plan.n),
                     extents)
    pair = (1 if plan.left_turned else 2, 2 if plan.right_turned else 1)

    def make(x: Value, y: Value, dtype: DType) -> Value:
        return b("dot", x, y, dtype=dtype, batch=[(0, 0)], contract=[pair])

    if left.shape[pair[0]] == 0:
        return b.full(0, node.types[0])
    raw = Node("dot", (left, right), {**node.attrs, "batch": [(0, 0)], "contract": [pair]},
               source=node.source)
    found = native_products(raw, make)
    order = plan.b + plan.m + plan.n
    found = b.reshape(found, *(extents[label] for label in order))
    found = b.transpose(found, [order.index(label) for label in wanted])
    return b.reshape(found, *node.types[0].shape)


def _in_order(turned: bool, rows: _Order, columns: _Order) -> tuple[_Order, _Order]:
    return (columns, rows) if turned else (rows, columns)


def _long(order: Sequence[_Label], extents: dict[_Label, int]) -> list[_Label]:
    return [label for label in order if extents[label] != 1]


def _moves(order: _Order, target: _Order, extents: dict[_Label, int]) -> int:
    """Return what it costs an element to come from one order to another."""
    now, then = _long(order, extents), _long(target, extents)
    if now == then:
        return 0
    # Whole rows move by their addresses; otherwise the elements of each row part.
    return 2 if now[-1] == then[-1] else 4


def _stored(side: _Side, straight: _Order, turned: _Order, price: int,
            extents: dict[_Label, int]) -> tuple[int, bool]:
    """Return the cost of an operand per element, and whether it should be stored turned."""
    costs = [(_moves(side.order, straight, extents), False),
             (_moves(side.order, turned, extents) + price, True)]
    return min(costs)


def _plans(left: _Side, right: _Side, wanted: _Order,
           extents: dict[_Label, int]) -> Iterator[_Plan]:
    def pick(letter: str, *orders: _Order) -> list[_Order]:
        return list(dict.fromkeys(tuple(label for label in order if label[0] == letter)
                                  for order in orders))

    size = math.prod(extents[label] for label in wanted)
    for x, y, rows, columns in ((left, right, "m", "n"), (right, left, "n", "m")):
        for b in pick("b", wanted, x.order, y.order):
            for k in pick("k", x.order, y.order):
                for m in pick(rows, wanted, x.order):
                    for n in pick(columns, wanted, y.order):
                        x_cost, x_turned = _stored(x, b + m + k, b + k + m, 1, extents)
                        y_cost, y_turned = _stored(y, b + k + n, b + n + k, 0, extents)
                        total = (x_cost * x.value.type.size + y_cost * y.value.type.size
                                 + _moves(b + m + n, wanted, extents) * size)
                        yield _Plan(total, x, y, b, k, m, n, x_turned, y_turned)


def _operand(b: Builder, side: _Side, batch: _Order, rows: _Order, columns: _Order,
             extents: dict[_Label, int]) -> Value:
    """Return an operand of rank 3."""
    value, order = side
    target = batch + rows + columns
    if _moves(order, target, extents):
        value = b.transpose(value, [order.index(label) for label in target])
    return b.reshape(value, *(math.prod(extents[label] for label in labels)
                              for labels in (batch, rows, columns)))
