"""SPMD partitioner: rewrites a graph on whole arrays into what each device runs on its tiles."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from celosia.compiler.spmd.propagation import Propagation, propagate
from celosia.graph import (
    CORE,
    GrammarRule,
    Graph,
    Node,
    Source,
    TensorType,
    Trait,
    Value,
    check,
    constant,
    having,
    inlined,
    op,
    parameter,
)
from celosia.graph.sharding import Sharding

__all__ = ["PARTITIONED", "Spmd", "partition"]


def _of_one_device(node: Node) -> str | None:
    sharding = node.attrs["sharding"]
    return None if sharding is None else "sharding must have been used up by the partitioner"


#: What one device runs, alone or among others.
PARTITIONED = CORE.refine("partitioned", without=having(Trait.SPMD), rules=[
    GrammarRule("parameters are of one device", _of_one_device, frozenset({"parameter"}))])


@dataclass(frozen=True)
class Spmd:
    """A program for one or several devices.

    Attributes
    ----------
    graph
        What each device runs, on its tiles of the arguments. Device number i is partition i, or
        replica i.
    replicas, partitions
        How many the program is for; one of them is 1.
    arguments, results
        How those of the program are cut into those of the graph. Where the program does not say,
        arguments are as the first manual computation wants them, and results as they come.
    """

    graph: Graph
    replicas: int
    partitions: int
    arguments: tuple[Sharding, ...]
    results: tuple[Sharding, ...]

    @property
    def devices(self) -> int:
        """Number of devices."""
        return self.replicas * self.partitions


def partition(graph: Graph) -> Spmd:
    """Return what each device runs of a graph; of one for a single device that itself.

    Raises
    ------
    GraphError
        If the graph is for several partitions and not well formed.
    """
    if graph.partitions == 1:
        count = graph.replicas
        arguments, results = (
            tuple(Sharding.replicated(value.type.rank, count) for value in values)
            for values in (graph.params, graph.outputs))
        if count > 1:
            graph = Graph(graph.name, graph.params, graph.outputs)
        return Spmd(graph, count, 1, arguments, results)
    check(graph)
    found = propagate(graph)
    made = _Partition(found).graph(graph, whole=False)
    check(made, PARTITIONED)
    return Spmd(made, 1, graph.partitions, *(
        tuple(found.shardings[value] for value in values)
        for values in (graph.params, graph.outputs)))


class _Partition:
    """One rewrite.

    Attributes
    ----------
    values
        A device's part of each value.
    """

    def __init__(self, found: Propagation):
        self.plans, self.shardings, self.whole = found.plans, found.shardings, found.whole
        self.devices = found.devices
        self.values: dict[Value, Value] = {}

    def graph(self, graph: Graph, *, whole: bool) -> Graph:
        """Return a graph on tiles; ``whole``: it returns whole arrays."""
        for value in graph.params:
            attrs, shape = value.node.attrs, self.shardings[value].tile(value.shape)
            self.values[value] = parameter(TensorType(value.dtype, shape), attrs["name"],
                                           donated=attrs["donated"], source=value.node.source)
        for node in graph.nodes:
            if node.op != "parameter":
                self.values.update(zip(node.results, self._node(node), strict=True))
        outputs = [self.values[value] for value in graph.outputs]
        if whole:
            outputs = [_reshard(value, self.shardings[old], self.whole(old), old.node.source)
                       for value, old in zip(outputs, graph.outputs, strict=True)]
        return Graph(graph.name, [self.values[value] for value in graph.params], outputs)

    def _node(self, node: Node) -> Sequence[Value]:
        plan = self.plans[node]
        operands = [_reshard(self.values[value], self.shardings[value], to, node.source)
                    for value, to in zip(node.operands, plan.operands, strict=True)]
        match node.op:
            case "shard":
                return operands
            case "manual":
                return inlined(node.regions[0], operands)
        regions = [self.graph(region, whole=True) for region in node.regions]
        made = Node(node.op, operands, {**node.attrs, **plan.changes}, regions, node.source)
        if node.op == "callback":
            return self._told(made)
        if not plan.groups:
            return made.results
        value = made.result
        for groups in plan.groups:
            value = op("all_reduce", value, groups=groups, reducer=plan.reducer,
                       source=node.source)
        return [value]

    def _told(self, node: Node) -> Sequence[Value]:
        """Return the results of a call that one device makes, as all devices get them."""
        after, *results = node.results
        device = node.attrs["device"]
        if device < 0:
            return node.results
        found, everyone = [after], (tuple(range(self.devices)),)
        for value in results:
            row = op("reshape" if value.shape else "broadcast", value, shape=(1, *value.shape),
                     source=node.source)
            rows = op("all_gather", row, groups=everyone, dim=0, source=node.source)
            rest = (0,) * len(value.shape)
            own = op("slice", rows, start=(device, *rest), limit=(device + 1, *value.shape),
                     stride=(1,) * len(rows.shape), source=node.source)
            found.append(op("reshape", own, shape=value.shape, source=node.source))
        return found


def _reshard(value: Value, was: Sharding, to: Sharding, source: Source) -> Value:
    """Return a device's part of an array in another sharding."""
    kept = {dim for dim in range(len(to.parts)) if was.select([dim]) == to.select([dim])}
    return _cut(_gather(value, was, source, kept), to, source, kept)


def _gather(value: Value, was: Sharding, source: Source, kept: Collection[int]) -> Value:
    """Return the whole array, but for some dimensions, on every device."""
    for dim, count in enumerate(was.parts):
        if count > 1 and dim not in kept:
            value = op("all_gather", value, groups=was.groups(dim), dim=dim, source=source)
    return value


def _cut(value: Value, to: Sharding, source: Source, kept: Collection[int]) -> Value:
    """Return a device's tile of what every device has; some dimensions are cut already."""
    parts = [1 if dim in kept else count for dim, count in enumerate(to.parts)]
    if all(count == 1 for count in parts):
        return value
    to = to.select([None if dim in kept else dim for dim in range(len(parts))])
    shape, node = to.tile(value.shape), value.node
    if node.op == "broadcast" and all(parts[dim] == 1 or node.operands[0].shape[i] == 1
                                      for i, dim in enumerate(node.attrs["dims"])):
        return op("broadcast", *node.operands, dims=node.attrs["dims"], shape=shape,
                  source=node.source)
    if node.op == "iota" and parts[node.attrs["dim"]] == 1:
        return Node("iota", (), {**node.attrs, "shape": shape}, (), node.source).result
    number = op("device_id", source=source)
    starts = []
    for dim, extent in enumerate(shape):
        if parts[dim] == 1:
            starts.append(constant(np.array(0, np.int32), source=source))
            continue
        table = constant(np.array([to.place(device)[dim] * extent
                                   for device in range(to.devices)], np.int32), source=source)
        entry = op("dynamic_slice", table, number, sizes=(1,), source=source)
        starts.append(op("reshape", entry, shape=(), source=source))
    return op("dynamic_slice", value, *starts, sizes=shape, source=source)
