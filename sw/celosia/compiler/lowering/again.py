"""Rematerialisation: cheap results are computed again rather than stored and loaded.

The backward pass of a layer wants what the forward pass made on the way: the square of what goes
into an activation function, say, beside that itself. Where a group of nodes reads both, and what
makes the one of the other takes no longer than the loads that it saves, the group makes it itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from celosia.arch.config import TpuConfig
from celosia.arch.words import ceil_div
from celosia.compiler.builder import Builder, scalar_of
from celosia.compiler.fusion import fuse
from celosia.compiler.groups import Group, Roots
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.passes.residuals import MOST_STEPS, ONE_STEP
from celosia.graph import DType, Graph, Node, Value, rewrite

__all__ = ["again"]

#: Done on the way, with another step or by a store.
_FREE = frozenset({"reduce", "convert"})
#: Steps that one of the others takes, about.
_LONG = 8


class _Again:
    """What a group reads, and what of it the group can make of the rest."""

    def __init__(self, config: TpuConfig, graph: Graph, roots: Roots, group: Group):
        self.config, self.roots, self.group = config, roots, group
        self.outputs = set(graph.outputs)
        self.order = {node: i for i, node in enumerate(graph.nodes)}
        #: Values of whole rows that the group reads or makes, each behind views that move nothing.
        self.have: dict[Value, None] = {}
        for node in group.nodes:
            if node is not group.product and group.extents[node] is Extent.FULL:
                for value in node.operands:
                    base = self.plain(value)
                    if base is not None and base.type.size == group.space.size:
                        self.have.setdefault(base)

    def plain(self, value: Value) -> Value | None:
        """Return what is behind reshapes."""
        base, chain = self.roots.base(value)
        return base if all(view.op == "reshape" for view in chain) else None

    def found(self) -> list[Value]:
        """Return what the group is to compute again, the last first."""
        product = self.group.product
        if product is None or product.op != "dot":
            return []
        (left, _), = product.attrs["contract"]
        array = ceil_div(product.operands[0].shape[left], self.config.dim)
        steps = sum(1 if node.op in ONE_STEP else 0 if node.op in _FREE else _LONG
                    for node in self.group.nodes if node is not product)
        kept: set[Value] = set()
        made: list[Value] = []
        for value in sorted(self.have, key=lambda value: -self.order[value.node]):
            if (value.node in self.group.extents or value in kept or value in self.outputs
                    or value.dtype is not DType.F32):
                continue
            sources: set[Value] = set()
            more = self.cost(value, sources)
            if more <= MOST_STEPS and steps + more <= array:
                steps += more
                kept |= sources
                made.append(value)
                del self.have[value]
        return made

    def cost(self, value: Value, sources: set[Value]) -> int:
        """Return the steps that a value takes, and find what it is made of."""
        node = value.node
        if node.op not in ONE_STEP:
            return _LONG
        steps = 1
        for operand in node.operands:
            base = self.plain(operand)
            if scalar_of(operand) is not None:
                continue
            if base is None or steps > MOST_STEPS:
                return _LONG
            if base in self.have and base != value:
                sources.add(base)
            else:
                steps += self.cost(base, sources)
        return steps


def again(config: TpuConfig, graph: Graph) -> tuple[Graph, frozenset[Node]]:
    """Return a graph in which some results are made more than once, and the nodes that do so.

    Each of these is to run with those that need it, not with those that it needs. Regions are
    graphs of their own.
    """
    late: set[Node] = set()

    def in_regions(node: Node) -> tuple[Value, ...] | None:
        # Regions within these are done.
        made = [_again(config, region) for region in node.regions]
        late.update(*(each for _, each in made))
        regions = tuple(region for region, _ in made)
        if regions == node.regions:
            return None
        return node.on(node.operands, regions).results

    graph, own = _again(config, rewrite(graph, in_regions))
    return graph, own | late


def _again(config: TpuConfig, graph: Graph) -> tuple[Graph, frozenset[Node]]:
    roots = Roots(graph, {})
    groups = fuse(config, graph, roots).groups
    plans = {group: _Again(config, graph, roots, group) for group in groups
             if group.product is not None}
    wanted = {group: set(plan.found()) for group, plan in plans.items()}
    if not any(wanted.values()):
        return graph, frozenset()
    of = {node: group for group in groups for node in group.nodes if wanted.get(group)}
    values: dict[Value, Value] = {}
    made: dict[tuple[Group, Value], Value] = {}
    late: set[Node] = set()

    def once_more(plan: _Again, value: Value) -> Value:
        """Return the value as the group of the plan makes it."""
        found = made.get((plan.group, value))
        if found is None:
            node = value.node
            copy = node.on(tuple(values[operand] if scalar_of(operand) is not None
                                 else given(plan, operand) for operand in node.operands))
            late.add(copy)
            found = made[plan.group, value] = copy.result
        return found

    def given(plan: _Again, operand: Value) -> Value:
        base = plan.plain(operand)
        if base is None or base in plan.have or base.node in plan.group.extents:
            return values[operand]
        return Builder(base.node.source).reshape(once_more(plan, base), *operand.shape)

    def operands_of(node: Node) -> Iterable[Value]:
        group = of.get(node)
        for value in node.operands:
            base = None if group is None or node is group.product else plans[group].plain(value)
            if group is not None and base is not None and base in wanted[group]:
                yield Builder(node.source).reshape(once_more(plans[group], base), *value.shape)
            else:
                yield values[value]

    for node in graph.nodes:
        operands, now = tuple(operands_of(node)), node
        if operands != node.operands:
            now = node.on(operands, node.regions)
        values.update(zip(node.results, now.results, strict=True))
    outputs = tuple(values[value] for value in graph.outputs)
    return Graph(graph.name, graph.params, outputs), frozenset(late)
