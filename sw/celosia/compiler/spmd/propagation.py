"""Sharding propagation: how each value of a graph on whole arrays is cut, from operands to users.

What a rule covers stays on the tiles that its operands are cut into; the rest is done on whole
arrays, the same on every device. That is always right; it gains nothing where it is most of a
program.
"""

from __future__ import annotations

from collections.abc import Sequence

from celosia.compiler.spmd.rules import ShardingPlan, plan_of
from celosia.graph import Graph, Node, Value
from celosia.graph.constants import Constants
from celosia.graph.sharding import Sharding, UnevenSharding

__all__ = ["Propagation", "propagate"]


class Propagation:
    """What is known of the values of a graph on whole arrays.

    Attributes
    ----------
    shardings
        How each value is cut, but for those in manual computations.
    plans
        How each node is done.
    devices
        Number of devices.
    """

    def __init__(self, devices: int):
        self.devices = devices
        self._constants = Constants()
        self.shardings: dict[Value, Sharding] = {}
        self.plans: dict[Node, ShardingPlan] = {}

    def whole(self, value: Value) -> Sharding:
        """Return the sharding of what every device has all of."""
        return Sharding.replicated(value.type.rank, self.devices)

    def walk(self, graph: Graph, params: Sequence[Sharding]) -> None:
        """Take note of a graph whose parameters are cut as told, and of its regions."""
        self.shardings.update(zip(graph.params, params, strict=True))
        for node in graph.nodes:
            self._constants.note(node)
            if node.op != "parameter":
                plan = self.plans[node] = self._plan(node)
                self.shardings.update(zip(node.results, plan.results, strict=True))

    def _plan(self, node: Node) -> ShardingPlan:
        shardings = [self.shardings[value] for value in node.operands]
        match node.op:
            case "shard":
                [x], to = node.operands, node.attrs["sharding"]
                try:
                    to.tile(x.shape)
                except UnevenSharding:
                    [to] = shardings  # a wish that cannot be granted
                return ShardingPlan((to,), (to,))
            case "manual":
                return ShardingPlan(node.attrs["entering"], node.attrs["leaving"])
        operands, results = (tuple(map(self.whole, values))
                             for values in (node.operands, node.results))
        match node.op:
            case "while":
                # What a loop carries is whole: nothing is exchanged in each turn.
                for region in node.regions:
                    self.walk(region, operands)
            case "case":
                operands = (operands[0], *shardings[1:])
                for region in node.regions:
                    self.walk(region, operands[1:])
            case "sort_by":
                [less] = node.regions
                self.walk(less, [*map(self.whole, less.params)])
            case _:
                found = plan_of(node, shardings, self._constants)
                if found is not None:
                    return found
        return ShardingPlan(operands, results)


def propagate(graph: Graph) -> Propagation:
    """Return how the values of a graph on whole arrays are cut.

    Parameters are cut as they say, or as the first manual computation wants them that they enter.
    """
    found = Propagation(graph.partitions)
    found.walk(graph, [value.node.attrs["sharding"] or _entered(graph, value)
                       or found.whole(value) for value in graph.params])
    return found


def _entered(graph: Graph, value: Value) -> Sharding | None:
    for node in graph.users.get(value, ()):
        if node.op == "manual":
            return node.attrs["entering"][node.operands.index(value)]
    return None
