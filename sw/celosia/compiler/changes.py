"""Programs that do nearly the same: other batches, narrower or donated arguments, more devices.

What else could be written, for who asks what would be gained: `celosia.profile` in cycles,
`celosia.compiler.ways` in memory. Each is a graph that can be compiled; none does so by itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from celosia.compiler.spmd import partition
from celosia.graph import DType, Graph, GraphError, Node, Trait, Value, having, inlined
from celosia.graph import op as graph_op
from celosia.graph.sharding import Sharding

__all__ = ["batches", "donating", "given", "named", "narrowable", "narrowed", "resized", "sharded"]

_PRODUCTS = having(Trait.PRODUCT)
_PRECISE = ("high", "highest")
#: Arguments with fewer elements are not worth a word; names that are said of many.
_SMALL, _MOST_NAMES = 256, 4
_VIEWS = frozenset({"reshape", "transpose", "convert", "broadcast"})
#: Attributes that say sizes of a result or bounds in an operand.
_SIZES = ("shape", "limit", "sizes")


def named(graph: Graph, values: Sequence[Value]) -> str:
    """Return what to call parameters of a graph in a sentence."""
    names = [value.node.attrs["name"] or f"argument {graph.params.index(value)}"
             for value in values]
    if len(names) == 1:
        return names[0]
    if len(names) <= _MOST_NAMES:
        return f"{', '.join(names[:-1])} and {names[-1]}"
    return f"{', '.join(names[:_MOST_NAMES - 1])} and {len(names) - _MOST_NAMES + 1} more"


def given(graph: Graph, instead: Mapping[Value, tuple[Value, Value]]) -> Graph | None:
    """Return a graph with other parameters: for some a new one, and what is made of it instead."""
    try:
        outputs = inlined(graph, [instead[each][1] if each in instead else each
                                  for each in graph.params])
        return graph.with_([instead[each][0] if each in instead else each
                            for each in graph.params], outputs)
    except GraphError:
        return None


def batches(graph: Graph) -> Iterator[tuple[int, list[Value]]]:
    """Yield sizes that are only ever the first of an argument, the least first, and whose."""
    sizes = {value.shape[0] for value in graph.params if value.type.rank > 1}
    for size in sorted(sizes):
        mine = [value for value in graph.params if value.shape[:1] == (size,)]
        if size not in [n for value in graph.params for n in value.shape[value in mine:]]:
            yield size, mine


def resized(graph: Graph, size: int, other: int) -> Graph | None:
    """Return a graph in which each dimension of some size has another; None where that cannot be
    told.
    """
    try:
        return _resized(graph, size, other)
    except (GraphError, KeyError, ValueError):
        return None


def _resized(graph: Graph, size: int, other: int) -> Graph:
    values: dict[Value, Value] = {}

    def shape(found: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(other if each == size else each for each in found)

    for node in graph.nodes:
        attrs = dict(node.attrs)
        for name in _SIZES:
            if isinstance(attrs.get(name), tuple):
                attrs[name] = shape(attrs[name])
        operands = [values[each] for each in node.operands]
        if node.op == "reshape":
            attrs["shape"] = _joined(node, operands[0], attrs["shape"], size, other)
        if node.op == "constant" and size in node.result.shape:
            raise ValueError("a constant has elements for each of the batch")
        made = Node(node.op, operands, attrs,
                    [_resized(region, size, other) for region in node.regions], node.source)
        for old, new in zip(node.results, made.results, strict=True):
            if node.op != "reshape" and len(new.shape) == len(old.shape) and any(
                    b != a and b * size != a * other
                    for a, b in zip(old.shape, new.shape, strict=True)):
                raise ValueError(f"{node.op} must not become {new.type}")
            values[old] = new
    for old in graph.outputs:
        if values[old].shape != shape(old.shape):
            raise ValueError(f"a result must be {shape(old.shape)}, not {values[old].shape}")
    return graph.with_([values[each] for each in graph.params],
                       [values[each] for each in graph.outputs])


def _joined(node: Node, operand: Value, wanted: tuple[int, ...], size: int, other: int
            ) -> tuple[int, ...]:
    """Return what a reshape makes of a batch that is joined with other dimensions."""
    old, count = node.operands[0].shape, operand.type.size
    if math.prod(wanted) == count or old == operand.shape:
        return wanted
    for i, each in enumerate(wanted):
        found = (*wanted[:i], each * other // size, *wanted[i + 1:])
        if math.prod(found) == count:
            return found
    return wanted


def _uses(graph: Graph, value: Value) -> list[tuple[Node, bool]] | None:
    """Return the products that a value is an operand of, and whether the right one, if nothing else
    needs it.
    """
    found: list[tuple[Node, bool]] = []
    if value in graph.outputs:
        return None
    for node in graph.users.get(value, ()):
        if node.op in _PRODUCTS:
            found.append((node, node.operands[0] is not value))
        elif node.op in _VIEWS and len(node.results) == 1:
            inner = _uses(graph, node.result)
            if inner is None:
                return None
            found += inner
        else:
            return None
    return found


def narrowable(graph: Graph) -> dict[str, dict[Value, Node]]:
    """Return arguments of 32 bits that nothing but the array looks at, which rounds them to 16.

    Those that are right operands alone are "weights", the others "inputs"; each with a product.
    """
    found: dict[str, dict[Value, Node]] = {"weights": {}, "inputs": {}}
    for value in graph.params:
        if value.dtype is not DType.F32 or value.type.rank < 2 or value.type.size < _SMALL:
            continue
        uses = _uses(graph, value)
        if uses and all(node.attrs.get("precision", "") not in _PRECISE for node, _ in uses):
            kind = "weights" if all(right for _, right in uses) else "inputs"
            found[kind][value] = uses[0][0]
    return found


def narrowed(graph: Graph, values: Sequence[Value]) -> Graph | None:
    """Return a graph that takes some arguments as bf16."""
    instead: dict[Value, tuple[Value, Value]] = {}
    for value in values:
        node = Node("parameter", (), {**value.node.attrs, "dtype": DType.BF16}, (),
                    value.node.source)
        instead[value] = node.result, graph_op("convert", node.result, dtype=DType.F32,
                                               source=node.source)
    return given(graph, instead)


def donating(graph: Graph) -> tuple[list[Value], Graph | None]:
    """Return arguments that results could be written over, and a graph that says so."""
    left = [value.type for value in graph.outputs if value not in graph.params]
    for value in graph.params:
        if value.node.attrs["donated"] and value.type in left:
            left.remove(value.type)
    found: list[Value] = []
    for value in graph.params:
        if not value.node.attrs["donated"] and value not in graph.outputs and value.type in left:
            left.remove(value.type)
            found.append(value)
    new = {value: Node("parameter", (), {**value.node.attrs, "donated": True}, (),
                       value.node.source).result for value in found}
    return found, given(graph, {value: (each, each) for value, each in new.items()})


def sharded(graph: Graph, devices: int, batch: int = 0) -> tuple[list[Value], Graph | None]:
    """Return arguments that are cut over devices, and what each device runs then.

    Arguments are cut along their first dimension if that is the batch; without one, each along the
    largest dimension that can be.
    """
    new: dict[Value, tuple[Value, Value]] = {}
    for value in graph.params:
        dims = [i for i, each in enumerate(value.shape) if each % devices == 0]
        if batch:
            dims = [0] if value.shape[:1] == (batch,) else []
        if not dims or value.type.size < _SMALL or batch % devices:
            continue
        cut = max(dims, key=lambda i: value.shape[i])
        parts = tuple(devices if i == cut else 1 for i in range(value.type.rank))
        made = Node("parameter", (), {**value.node.attrs, "sharding": Sharding(
            parts, tuple(range(devices)))}, (), value.node.source).result
        new[value] = made, made
    changed = given(graph, new) if new else None
    if changed is None:
        return [], None
    try:
        return list(new), partition(Graph(graph.name, changed.params, changed.outputs,
                                          partitions=devices)).graph
    except (GraphError, ValueError):
        return [], None
