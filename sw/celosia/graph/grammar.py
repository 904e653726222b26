"""What a graph may hold at one level of the compiler, as rules that run between passes.

`CORE` is what every graph obeys. A pass that establishes something states it as a level of its
own::

    CANONICAL = CORE.refine("canonical", without=("gather",), rules=[...])

and the pipeline calls ``check(graph, CANONICAL)`` after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import celosia.graph.operations  # noqa: F401 - fills OPS, before a level lists it
from celosia.graph.errors import GraphError
from celosia.graph.node import Graph, Node
from celosia.graph.spec import OPS, Trait

__all__ = ["CORE", "SOURCED", "GrammarRule", "Level", "check"]


@dataclass(frozen=True)
class GrammarRule:
    """Something that holds for every node, or for every one of the named operations.

    Attributes
    ----------
    name
        A few words; errors quote them.
    violation
        Returns what is wrong with a node ("X must be Y, not Z"), or None.
    ops
        Operations that it is about; empty for all.
    """

    name: str
    violation: Callable[[Node], str | None]
    ops: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Level:
    """A set of operations, and rules that hold for them."""

    name: str
    ops: frozenset[str]
    rules: tuple[GrammarRule, ...]

    def refine(self, name: str, *, without: Iterable[str] = (),
               rules: Iterable[GrammarRule] = ()) -> Level:
        """Return a level with fewer operations and more rules."""
        without = frozenset(without)
        unknown = without - self.ops
        if unknown:
            raise ValueError(f"operations to leave out must be of level {self.name}, not "
                             f"{sorted(unknown)}")
        return Level(name, self.ops - without, (*self.rules, *rules))


def _narrow(node: Node) -> str | None:
    wide = [str(type) for type in node.types if type.dtype.is_wide
            and not (type.dtype.pair_of and node.op in ("parameter", "bitcast"))]
    return f"elements must have at most 32 bits, not {wide[0]}" if wide else None


def _inferred(node: Node) -> str | None:
    try:
        types = node.infer()
    except ValueError as error:
        return str(error)
    return None if types == node.types else f"results must be {types}, not {node.types}"


def _known(node: Node) -> str | None:
    # Parameters of regions have no place of their own.
    return None if node.source.known or node.op == "parameter" else "source must be known"


CORE = Level("core", frozenset(OPS), (
    GrammarRule("types follow from operands", _inferred),
    GrammarRule("no 64-bit elements", _narrow),
))
#: Every node says where it came from; holds after import, and passes keep it.
SOURCED = CORE.refine("sourced", rules=(GrammarRule("sources are known", _known),))


def check(graph: Graph, level: Level = CORE) -> None:
    """Check a graph and its regions.

    Raises
    ------
    GraphError
        With every violation: of the rules of ``level``, of an operation that it has not, of a
        parameter that is not the graph's own, of a node that is in two graphs, of shardings and
        exchanges where they cannot be.
    """
    owner: dict[Node, Graph] = {}
    problems = [f"graph {graph.name} is not {level.name}: {problem}"
                for problem in _problems(graph, level, owner, graph.partitions)]
    if problems:
        raise GraphError(problems)


def _problems(graph: Graph, level: Level, owner: dict[Node, Graph],
              partitions: int) -> Iterator[str]:
    """Yield what is wrong; values are whole arrays of ``partitions`` devices, or of 1."""
    own = {value.node for value in graph.params}
    for node in graph.nodes:
        if owner.setdefault(node, graph) is not graph:
            yield (f"{_where(node)}node must be in one graph, not in {owner[node].name} and "
                   f"{graph.name}")
        for message in _of_devices(node, partitions):
            yield f"{_where(node)}{message}"
        if node.op not in level.ops:
            yield f"{_where(node)}operation must be one of the level"
        if node.op == "parameter" and node not in own:
            yield f"{_where(node)}parameter must be of {graph.name}, not of a graph around it"
        for rule in level.rules:
            if not rule.ops or node.op in rule.ops:
                message = rule.violation(node)
                if message:
                    yield f"{_where(node)}{message} ({rule.name})"
        for region in node.regions:
            yield from _problems(region, level, owner, 1 if node.op == "manual" else partitions)


def _where(node: Node) -> str:
    return f"{node.source}: {node.op}: "


def _of_devices(node: Node, partitions: int) -> Iterator[str]:
    attrs = node.attrs
    shardings = (attrs.get("sharding"), *attrs.get("entering", ()), *attrs.get("leaving", ()))
    for each in shardings:
        if each is not None and each.devices != partitions:
            yield f"sharding must be of {partitions} devices, not {each.devices}"
    if Trait.SPMD in node.spec.traits and partitions == 1:
        yield "operation must be on whole arrays of a program for several partitions"
    if Trait.COLLECTIVE in node.spec.traits and partitions > 1:
        yield (f"must be in a manual computation (jax.shard_map), where the program is for "
               f"{partitions} partitions")
    for region in node.regions:
        if region.replicas * region.partitions != 1:
            yield (f"region must not say for how many devices it is, not "
                   f"{region.replicas * region.partitions}")
