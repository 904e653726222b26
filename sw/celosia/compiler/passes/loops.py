"""Loop unrolling: short loops without products are written out, counters become constants.

The rounds of threefry are such a loop: five turns over a rotating list of distances. Written out,
the list folds away, and what remains is one chain of elementwise operations.
"""

from __future__ import annotations

from celosia.graph import Graph, Node, Trait, Value, having, replace_nodes

__all__ = ["counter", "loops", "trips"]

#: Turns, and nodes in all turns, of a loop that is written out.
_MOST_TURNS = 8
_MOST_NODES = 1024
#: What a loop keeps as it is: work on its own, which is the same in every turn.
_KEPT = (having(Trait.PRODUCT) | having(Trait.CONTROL) | having(Trait.DYNAMIC)
         | {"reduce_window"})


def _constant(value: Value) -> int | None:
    node = value.node
    if node.op != "constant" or value.shape != () or not value.dtype.is_integer:
        return None
    return int(node.attrs["value"].numpy.reshape(-1)[0])


def counter(node: Node) -> tuple[int, int, int] | None:
    """Return how a `while` counts from a constant to below another, by ones.

    That is: which operand it counts with, from which number on, and how often it runs.
    """
    cond, body = node.regions
    test = cond.outputs[0].node
    if test.op != "compare" or test.attrs["direction"] != "lt":
        return None
    counted, limit = test.operands
    if counted not in cond.params:
        return None
    i = cond.params.index(counted)
    first, last, step = _constant(node.operands[i]), _constant(limit), body.outputs[i].node
    if first is None or last is None or step.op != "add":
        return None
    for x, one in (step.operands, step.operands[::-1]):
        if x == body.params[i] and _constant(one) == 1:
            return i, first, max(0, last - first)
    return None


def trips(node: Node) -> int | None:
    """Return how often a `while` runs that `counter` knows."""
    found = counter(node)
    return None if found is None else found[2]


def turn(body: Graph, given: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return what the body of a loop makes of the given values, its nodes written out."""
    values: dict[Value, Value] = dict(zip(body.params, given, strict=True))
    for node in body.nodes:
        if node.op == "parameter":
            continue
        operands = tuple(values[value] for value in node.operands)
        made = node.on(operands, node.regions)
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
        values = turn(body, values)
    return values


def loops(graph: Graph) -> Graph:
    """Return the graph with its short loops written out."""
    return replace_nodes(graph, _written_out)
