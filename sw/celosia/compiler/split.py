"""Graphs of which the chip runs a part: cut into graphs for the chip and the host, in turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from celosia.compiler.placement import Place, place
from celosia.graph import Graph, Node, Value, parameter

__all__ = ["Part", "host_nodes", "place_whole", "split"]

#: What is made again by each part that needs it, if its operands are.
_FREE = frozenset({"constant", "iota", "broadcast", "reshape"})


@dataclass(frozen=True)
class Part:
    """A part of a graph that runs in one place.

    Attributes
    ----------
    where
        "chip" or "host".
    graph
        What it computes.
    takes
        Number of the value that each parameter is. Values are numbered: the parameters of the
        whole graph, then the results of each part, in order.
    """

    where: str
    graph: Graph
    takes: tuple[int, ...]


def place_whole(node: Node) -> Place:
    """Return where a node of the canonical level runs with its regions, and why.

    A loop or a branch is in one place: on the host if anything in it must be.
    """
    for region in node.regions:
        for inner in region.nodes:
            found = place_whole(inner)
            if found.where == "host":
                return Place("host", f"{inner.op} in it: {found.reason}")
    return place(node)


def host_nodes(graph: Graph) -> Iterator[tuple[Node, str]]:
    """Yield the nodes of a canonical graph that the chip does not run, and the reason for each."""
    for node in graph.nodes:
        for region in node.regions:
            yield from host_nodes(region)
        found = place(node)
        if found.where == "host":
            yield node, found.reason


def split(graph: Graph) -> tuple[tuple[Part, ...], tuple[int, ...]]:
    """Cut a canonical graph into parts that run one after another.

    Returns
    -------
    parts
        Chip and host in turns, as few as their dependencies allow.
    gives
        Numbers of the values that are the graph's results.
    """
    stages, free = _stages(graph)
    numbers = {value: i for i, value in enumerate(graph.params)}
    count = len(numbers)
    parts = []
    for stage in sorted(set(stages.values())):
        nodes = [node for node in graph.nodes if stages.get(node) == stage]
        part, results = _part(graph, nodes, free, numbers, stage)
        parts.append(part)
        numbers.update({value: count + i for i, value in enumerate(results)})
        count += len(results)
    return tuple(parts), tuple(numbers[value] for value in graph.outputs)


def _stages(graph: Graph) -> tuple[dict[Node, int], set[Node]]:
    """Return when each node runs (even: chip, odd: host), and the nodes that every part makes."""
    stages: dict[Node, int] = {}
    free: set[Node] = set()
    results = {value.node for value in graph.outputs}
    for node in graph.nodes:
        if node.op == "parameter":
            continue
        sources = [value.node for value in node.operands]
        if node.op in _FREE and node not in results and all(each in free for each in sources):
            free.add(node)
            continue
        after = max((stages[each] for each in sources if each in stages), default=0)
        host = place_whole(node).where == "host"
        stages[node] = after + (after % 2 != host)
    return stages, free


def _part(graph: Graph, nodes: list[Node], free: set[Node], numbers: dict[Value, int],
          stage: int) -> tuple[Part, list[Value]]:
    """Return the part of some nodes, and the values that it gives."""
    values: dict[Value, Value] = {}
    takes: dict[Value, Value] = {}

    def copy(node: Node) -> None:
        operands = tuple(map(find, node.operands))
        made = Node(node.op, operands, node.attrs, node.regions, node.source)
        values.update(zip(node.results, made.results, strict=True))

    def find(value: Value) -> Value:
        if value not in values:
            if value.node in free:
                copy(value.node)
            else:
                name = value.node.attrs["name"] if value.node.op == "parameter" else value.node.op
                values[value] = takes[value] = parameter(value.type, name,
                                                         source=value.node.source)
        return values[value]

    inside = set(nodes)
    for node in nodes:
        copy(node)
    results = [value for node in nodes for value in node.results
               if value in graph.outputs or _used(graph.users.get(value, ()), inside)]
    where = "host" if stage % 2 else "chip"
    made = Graph(f"{graph.name}_{stage}", takes.values(), [values[value] for value in results])
    return Part(where, made, tuple(numbers[value] for value in takes)), results


def _used(users: Iterable[Node], inside: set[Node]) -> bool:
    return any(node not in inside for node in users)
