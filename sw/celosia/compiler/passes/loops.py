"""Short loops without products are written out: their counters become constants.

The rounds of threefry are such a loop: five turns over a rotating list of distances. Written out,
the list folds away, and what remains is one chain of elementwise operations.
"""

from __future__ import annotations

from celosia.compiler.builder import replace_nodes
from celosia.graph import Graph, Node, Value

__all__ = ["loops", "trips"]

#: Turns, and nodes in all turns, of a loop that is written out.
_MOST_TURNS = 8
_MOST_NODES = 1024
#: What a loop keeps as it is: work on its own, which is the same in every turn.
_KEPT = frozenset({"dot", "convolution", "while", "case", "sort", "gather", "scatter",
                   "dynamic_slice", "dynamic_update_slice", "top_k", "reduce_window",
                   "select_and_scatter"})


def _constant(value: Value) -> int | None:
    node = value.node
    if node.op != "constant" or value.shape != () or not value.dtype.is_integer:
        return None
    return int(node.attrs["value"].numpy.reshape(-1)[0])


def trips(node: Node) -> int | None:
    """Return how often a `while` runs that counts from a constant to below another, by ones."""
    cond, body = node.regions
    test = cond.outputs[0].node
    if test.op != "compare" or test.attrs["direction"] != "lt":
        return None
    counter, limit = test.operands
    if counter not in cond.params:
        return None
    i = cond.params.index(counter)
    first, last, step = _constant(node.operands[i]), _constant(limit), body.outputs[i].node
    if first is None or last is None or step.op != "add":
        return None
    for x, one in (step.operands, step.operands[::-1]):
        if x == body.params[i] and _constant(one) == 1:
            return max(0, last - first)
    return None


def _turn(body: Graph, given: tuple[Value, ...]) -> tuple[Value, ...]:
    values: dict[Value, Value] = dict(zip(body.params, given, strict=True))
    for node in body.nodes:
        if node.op == "parameter":
            continue
        operands = tuple(values[value] for value in node.operands)
        made = Node(node.op, operands, node.attrs, node.regions, node.source)
        values.update(zip(node.results, made.results, strict=True))
    return tuple(values[value] for value in body.outputs)


def _written_out(now: Node, was: Node, graph: Graph) -> tuple[Value, ...] | None:
    if now.op != "while":
        return None
    count, body = trips(now), now.regions[1]
    if (count is None or count > _MOST_TURNS or count * len(body.nodes) > _MOST_NODES
            or any(node.op in _KEPT for node in body.nodes)):
        return None
    values = now.operands
    for _ in range(count):
        values = _turn(body, values)
    return values


def loops(graph: Graph) -> Graph:
    """Return the graph with its short loops written out."""
    return replace_nodes(graph, _written_out)
