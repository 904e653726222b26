"""Nodes, the values that they make, and graphs of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from celosia.graph.errors import GraphError, suggest
from celosia.graph.source import Source
from celosia.graph.spec import OPS, Call, OpSpec, Signature
from celosia.graph.types import DType, TensorType

__all__ = ["Graph", "Node", "Value"]


class Node:
    """One operation on values; does not change, and is equal to itself only.

    Parameters
    ----------
    op
        Name of an operation of `celosia.graph.OPS`.
    operands
        Values of nodes that exist already, so a graph cannot have a cycle.
    attrs
        Its attributes; those left out take their defaults.
    regions
        Graphs that it runs, closed: what they use comes in by their parameters.
    source
        Where it came from.

    Attributes
    ----------
    types
        Types of its results, which follow from all of the above.

    Raises
    ------
    GraphError
        If operands, attributes or regions do not fit the operation.
    """

    __slots__ = ("attrs", "op", "operands", "regions", "source", "types")

    op: str
    operands: tuple[Value, ...]
    attrs: Mapping[str, Any]
    regions: tuple[Graph, ...]
    source: Source
    types: tuple[TensorType, ...]

    def __init__(self, op: str, operands: Iterable[Value] = (),
                 attrs: Mapping[str, Any] | None = None, regions: Iterable[Graph] = (),
                 source: Source = Source.UNKNOWN):
        put = object.__setattr__
        put(self, "op", op)
        put(self, "operands", tuple(operands))
        put(self, "regions", tuple(regions))
        put(self, "source", source)
        if op not in OPS:
            raise GraphError(f"{source}: operation must be one of celosia.graph.OPS, not {op!r}"
                             f"{suggest(op, OPS)}")
        try:
            put(self, "attrs", MappingProxyType(self.spec.normal_attrs(attrs or {})))
            put(self, "types", self.infer())
        except ValueError as error:
            raise GraphError(f"{source}: {op}: {error}") from None

    def on(self, operands: tuple[Value, ...], regions: tuple[Graph, ...] = ()) -> Node:
        """Return the same operation on other operands, with as many regions.

        Where they have the types that these have, nothing about it can be wrong, and its results
        have the types that these results have.
        """
        alike = len(operands) == len(self.operands) and len(regions) == len(self.regions) and all(
            new.type == old.type for new, old in zip(operands, self.operands, strict=True)) and all(
            new is old or new.signature == old.signature
            for new, old in zip(regions, self.regions, strict=True))
        if not alike:
            return Node(self.op, operands, self.attrs, regions, self.source)
        node, put = object.__new__(Node), object.__setattr__
        put(node, "op", self.op)
        put(node, "operands", operands)
        put(node, "regions", regions)
        put(node, "source", self.source)
        put(node, "attrs", self.attrs)
        put(node, "types", self.types)
        return node

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a node does not change: {name} of {self.op}")

    def __repr__(self) -> str:
        return f"<{self.op} : {', '.join(map(str, self.types))}>"

    @property
    def spec(self) -> OpSpec:
        """What the table says about the operation."""
        return OPS[self.op]

    def infer(self) -> tuple[TensorType, ...]:
        """Return the types that the results must have; `ValueError` if the node is wrong."""
        return self.spec.results(Call(tuple(value.type for value in self.operands), self.attrs,
                                      tuple(region.signature for region in self.regions)))

    @property
    def results(self) -> tuple[Value, ...]:
        """The values that it makes."""
        count = len(self.types)
        return (Value(self, 0),) if count == 1 else tuple(Value(self, i) for i in range(count))

    @property
    def result(self) -> Value:
        """The one value that it makes."""
        if len(self.types) != 1:
            raise GraphError(f"{self.source}: {self.op} must have 1 result, not "
                             f"{len(self.types)}")
        return Value(self, 0)


@dataclass(frozen=True, slots=True)
class Value:
    """Result ``index`` of a node."""

    node: Node
    index: int = 0

    @property
    def type(self) -> TensorType:
        """Element type and shape."""
        return self.node.types[self.index]

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self.type.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents."""
        return self.type.shape

    def __repr__(self) -> str:
        return f"<result {self.index} of {self.node!r}>"


class Graph:
    """A function: parameters, and the values that it returns.

    What no output needs is no part of it. Operations have no effects, so their order is free;
    `nodes` is one that respects who uses whom, and always the same one.

    Parameters
    ----------
    name
        A word.
    params
        Values of different `parameter` nodes.
    outputs
        Values that follow from the parameters and constants; their nodes may be in this graph
        only (`celosia.graph.check` sees to that).
    replicas
        How many devices run it, each on values of its own.
    partitions
        How many devices run it together: values are whole arrays, but in the region of a
        ``manual``, and each device has its part of them. One of the two is 1.

    Raises
    ------
    GraphError
        If a parameter is none, or twice; or if it is for several replicas of several partitions.
    """

    def __init__(self, name: str, params: Iterable[Value], outputs: Iterable[Value], *,
                 replicas: int = 1, partitions: int = 1):
        self.name = name
        self.replicas, self.partitions = replicas, partitions
        if min(replicas, partitions) != 1:
            raise GraphError(f"graph {name}: program must be for several replicas or partitions, "
                             f"not {replicas} x {partitions}")
        self.params = tuple(params)
        self.outputs = tuple(outputs)
        for i, value in enumerate(self.params):
            if value.node.op != "parameter":
                raise GraphError(f"graph {name}: parameter {i} must be a parameter node, not "
                                 f"{value.node.op}")
        if len(set(self.params)) != len(self.params):
            raise GraphError(f"graph {name}: parameters must differ from one another")

    def __repr__(self) -> str:
        return f"<graph {self.name}, {len(self.nodes)} nodes>"

    def with_(self, params: Iterable[Value], outputs: Iterable[Value]) -> Graph:
        """Return a graph of this name, for as many devices, with other values."""
        return Graph(self.name, params, outputs, replicas=self.replicas,
                     partitions=self.partitions)

    @property
    def signature(self) -> Signature:
        """Types of parameters and outputs."""
        return Signature(tuple(value.type for value in self.params),
                         tuple(value.type for value in self.outputs))

    def walk(self) -> Iterator[Node]:
        """Yield the nodes, each followed by those of its regions."""
        for node in self.nodes:
            yield node
            for region in node.regions:
                yield from region.walk()

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Parameters, then every node that an output needs, after those whose values it uses."""
        order: dict[Node, None] = dict.fromkeys(value.node for value in self.params)
        for output in self.outputs:
            stack = [(output.node, iter(output.node.operands))]
            while stack:
                node, rest = stack[-1]
                # By hand, because chains of operations are longer than Python's stack is deep.
                waiting = next((value.node for value in rest if value.node not in order), None)
                if waiting is not None:
                    stack.append((waiting, iter(waiting.operands)))
                else:
                    order.setdefault(node)
                    stack.pop()
        return tuple(order)

    @cached_property
    def users(self) -> Mapping[Value, tuple[Node, ...]]:
        """Nodes that use each value, in the order of `nodes`."""
        found: dict[Value, dict[Node, None]] = {}
        for node in self.nodes:
            for value in node.operands:
                found.setdefault(value, {})[node] = None
        return MappingProxyType({value: tuple(nodes) for value, nodes in found.items()})
