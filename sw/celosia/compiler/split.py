"""Graph partitioning: graphs of which the chip runs a part, cut for chip and host in turns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from celosia.compiler.overlap import rounds
from celosia.compiler.passes.calls import only_calls
from celosia.compiler.passes.loops import trips, turn
from celosia.compiler.pipeline import count
from celosia.compiler.placement import Placement, place
from celosia.graph import Graph, Node, Trait, Value, having, parameter, replace_nodes

__all__ = ["GraphPart", "host_nodes", "on_chip", "place_whole", "split", "written_out"]

#: What is made again by each part that needs it, if its operands are.
_FREE = having(Trait.CHEAP)
#: Nodes of all turns of a loop that is written out because devices meet in it.
MOST_NODES = 4096
#: Places in the order in which they take turns; a device's number is wanted first.
_TURNS = ("link", "call", "chip", "host")


#: What is no fallback by itself, as reasons say it of a loop.
_INSIDE = {"link": "devices meet", "call": "functions whose results are used are called"}


@dataclass(frozen=True)
class GraphPart:
    """A part of a graph that runs in one place.

    Attributes
    ----------
    where
        "chip", "host", "link" or "call" (see `celosia.compiler.placement.Placement`).
    graph
        What it computes.
    takes
        Number of the value that each parameter is. Values are numbered: the parameters of the
        whole graph, then the results of each part, in order.
    """

    where: str
    graph: Graph
    takes: tuple[int, ...]


def place_whole(node: Node) -> Placement:
    """Return where a node of the canonical level runs with its regions, and why.

    A loop or a branch is in one place: on the host if anything in it is not on the chip, unless all
    that it does is to call functions.
    """
    if node.regions and only_calls(node):
        return Placement("call", "the program has the host call functions in it")
    for region in node.regions:
        for inner in region.nodes:
            found = place_whole(inner)
            if found.where != "chip":
                return Placement("host", f"{inner.op} in it: {found.reason}")
    return place(node)


def on_chip(graph: Graph) -> bool:
    """Return whether the chip alone runs a canonical graph."""
    return all(place_whole(node).where == "chip" for node in graph.nodes)


def host_nodes(graph: Graph) -> Iterator[tuple[Node, str]]:
    """Yield the nodes of a canonical graph that the chip does not run, and the reason for each.

    What devices do together is none of them, nor are functions that the program calls, but for
    where a loop or a branch has them and more: the host runs all of that.
    """
    for node in graph.nodes:
        if node.regions and only_calls(node):
            continue
        for region in node.regions:
            yield from host_nodes(region)
            for inner in region.nodes:
                if (where := place(inner).where) in _INSIDE:
                    yield inner, (f"{_INSIDE[where]} in a loop that is too long to be written "
                                  "out, or in a branch, which the host runs therefore")
        found = place(node)
        if found.where == "host":
            yield node, found.reason


def split(graph: Graph, *, overlap: bool = False) -> tuple[tuple[GraphPart, ...], tuple[int, ...]]:
    """Cut a canonical graph into parts that run one after another.

    Parameters
    ----------
    graph
        What is cut.
    overlap
        Whether links work by themselves: exchanges and parts of the chip that can be side by side
        follow each other (`celosia.compiler.overlap`).

    Returns
    -------
    parts
        Links, chip and host in turns, each only where something is left to do. A part of the chip
        may write results of the graph over donated parameters of their types that no part needs
        any more: those come first among what it takes and gives, in one order.
    gives
        Numbers of the values that are the graph's results.
    """
    stages, free, beside = _stages(graph, overlap)
    numbers = {value: i for i, value in enumerate(graph.params)}
    count = len(numbers)
    over = {result: given for result, given in _donated(graph).items() if all(
        _last(stages.get(node, 0), beside) <= stages[result.node]
        for node in graph.users.get(given, ()))}
    parts = []
    for stage in sorted(set(stages.values())):
        nodes = [node for node in graph.nodes if stages.get(node) == stage]
        part, results = _part(graph, nodes, free, numbers, stage, over)
        parts.append(part)
        numbers.update({value: count + i for i, value in enumerate(results)})
        count += len(results)
    return tuple(parts), tuple(numbers[value] for value in graph.outputs)


def _last(stage: int, beside: bool) -> int:
    """Return the last stage in which what one takes is read: of its round, if links work beside the
    chip.
    """
    last = len(_TURNS) - 1
    return stage + last if beside and stage % len(_TURNS) == _TURNS.index("link") else stage


def _donated(graph: Graph) -> dict[Value, Value]:
    """Return for results of a graph donated parameters of their types, each in order."""
    left = [value for value in graph.params
            if value.node.attrs["donated"] and value not in graph.outputs]
    found: dict[Value, Value] = {}
    for value in graph.outputs:
        given = next((each for each in left if each.type == value.type), None)
        if given is not None and value.node.op != "parameter" and value not in found:
            found[value] = given
            left.remove(given)
    return found


def _stages(graph: Graph, overlap: bool) -> tuple[dict[Node, int], set[Node], bool]:
    """Return when each node runs (see `_TURNS`), the nodes that every part makes, and whether links
    work beside the chip.
    """
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
        turn = _TURNS.index(place_whole(node).where)
        stages[node] = after + (turn - after) % len(_TURNS)
    places = {node: _TURNS[stage % len(_TURNS)] for node, stage in stages.items()}
    if overlap and {*places.values()} == {"link", "chip"}:
        links = {node: None for node, place in places.items() if place == "link"}
        if found := rounds(graph, stages, links):
            return {node: len(_TURNS) * number + _TURNS.index(places[node])
                    for node, number in found.items()}, free, True
    _delay(graph, stages, free)
    return stages, free, False


def _delay(graph: Graph, stages: dict[Node, int], free: set[Node]) -> None:
    """Let the chip compute what only later parts want there, if all that it is made of is there, or
    is smaller: it is not stored in between, and fused with what wants it.
    """
    chip, results = _TURNS.index("chip"), {value.node for value in graph.outputs}
    loose: set[Node] = set()
    for node in graph.nodes:
        if (node not in results and stages.get(node, 0) % len(_TURNS) == chip and all(
                each.node.op == "parameter" or each.node in free or each.node in loose
                for each in node.operands)):
            loose.add(node)
    for node in reversed(graph.nodes):
        users = [user for value in node.results for user in graph.users.get(value, ())]
        if (node in loose or _grows(node, stages, results)) and users:
            wanted = min(stages[user] for user in users if user in stages)
            stages[node] = wanted - (wanted - chip) % len(_TURNS)


def _grows(node: Node, stages: Mapping[Node, int], results: set[Node]) -> bool:
    """Whether the chip makes more of less by a broadcast."""
    return (node.op == "broadcast" and node not in results
            and stages.get(node, 0) % len(_TURNS) == _TURNS.index("chip")
            and node.result.type.nbytes > node.operands[0].type.nbytes)


def _part(graph: Graph, nodes: list[Node], free: set[Node], numbers: dict[Value, int],
          stage: int, over: Mapping[Value, Value]) -> tuple[GraphPart, list[Value]]:
    """Return the part of some nodes, and the values that it gives.

    ``over`` says which results may be written over which parameters of the graph.
    """
    values: dict[Value, Value] = {}
    takes: dict[Value, Value] = {}
    where = _TURNS[stage % len(_TURNS)]
    inside = set(nodes)
    results = [value for node in nodes for value in node.results
               if value in graph.outputs or _used(graph.users.get(value, ()), inside)]
    if where == "chip":
        pairs = {result: over[result] for result in results
                 if result in over and _used(graph.users.get(over[result], ()), inside, True)}
        results = [*pairs, *(each for each in results if each not in pairs)]
        for given in pairs.values():
            values[given] = takes[given] = parameter(
                given.type, given.node.attrs["name"], donated=True, source=given.node.source)

    def copy(node: Node) -> None:
        operands = tuple(map(find, node.operands))
        made = node.on(operands, node.regions)
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

    for node in nodes:
        copy(node)
    made = Graph(f"{graph.name}_{stage}", takes.values(), [values[value] for value in results])
    return GraphPart(where, made, tuple(numbers[value] for value in takes)), results


def _used(users: Iterable[Node], nodes: set[Node], inside: bool = False) -> bool:
    """Whether one of the users is outside of some nodes, or inside."""
    return any((node in nodes) == inside for node in users)


def written_out(graph: Graph) -> Graph:
    """Return a canonical graph with the loops in which devices meet, or functions of the host are
    called, written out, if they are short.

    These are steps of the program, and so cannot be in a loop of the chip; the host runs the whole
    loop where it stays.
    """
    return replace_nodes(graph, _written_out)


def _written_out(now: Node, was: Node, graph: Graph) -> tuple[Value, ...] | None:
    if (now.op != "while" or only_calls(now)
            or not any(_meets(region) for region in now.regions)):
        return None
    turns = trips(now)
    if turns is None or turns * count(now.regions[1]) > MOST_NODES:
        return None
    values = now.operands
    for _ in range(turns):
        values = turn(now.regions[1], values)
    return values


def _meets(graph: Graph) -> bool:
    return any(place(node).where in _INSIDE or any(map(_meets, node.regions))
               for node in graph.nodes)
