"""What stands for the values of MLIR, function by function and region by region."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from celosia.frontend.stablehlo.constants import Constants
from celosia.graph import Graph, Node, Source, Trait, Value, having, parameter
from celosia.graph.sharding import Sharding

__all__ = ["ValueFrame", "RegionFrame"]

#: Operations that are written anew inside a region rather than brought in from around it.
_CHEAP = having(Trait.CHEAP)


class RegionFrame:
    """A region under construction: its parameters, and what it uses from around it."""

    def __init__(self, name: str, constants: Constants):
        self.name, self.constants = name, constants
        self.params: list[Value] = []
        self.outputs: Sequence[Value] = ()
        #: Values around it, and what stands for each here.
        self.captured: dict[Value, Value] = {}
        self._written: dict[Value, Value] = {}

    def capture(self, value: Value) -> Value:
        """Return what stands here for a value from around the region."""
        node = value.node
        if node in self.constants and node.op in _CHEAP:
            if value not in self._written:
                again = Node(node.op, map(self.capture, node.operands), node.attrs, (),
                             node.source)
                self.constants.note(again)
                self._written[value] = again.result
            return self._written[value]
        if value not in self.captured:
            self.captured[value] = parameter(value.type, source=node.source)
        return self.captured[value]

    def close(self, captured: Iterable[Value]) -> Graph:
        """Return the region as a graph that takes ``captured`` after its own parameters."""
        return Graph(self.name, (*self.params, *map(self.capture, captured)), self.outputs)


class ValueFrame:
    """Values of MLIR by what stands for them, in one region or one call of a function.

    Attributes
    ----------
    region
        Where nodes go.
    parent
        The frame of the operation around the region; None in a function.
    source
        Where the function is called, for what has no place of its own.
    manual
        Whether values are those of one device: in a program for several devices that is so in
        its manual computations only.
    shardings
        How values of MLIR are cut into what stands for them, where they are.
    returned
        What the block has returned, as values of MLIR.
    """

    def __init__(self, region: RegionFrame, parent: ValueFrame | None = None,
                 source: Source = Source.UNKNOWN, manual: bool = True):
        self.region, self.parent = region, parent
        self.manual = parent.manual if parent is not None else manual
        self.shardings: dict[Any, Sharding] = {}
        self.returned: Sequence[Any] = ()
        self.source = parent.source if parent is not None else source
        # None stands for a value whose type has no counterpart.
        self.values: dict[Any, Value | None] = {}

    def find(self, value: Any) -> Value | None:
        """Return what stands for a value of MLIR."""
        if value not in self.values:
            assert self.parent is not None, "value of no frame"
            found = self.parent.find(value)
            if found is not None and self.parent.region is not self.region:
                found = self.region.capture(found)
            self.values[value] = found
        return self.values[value]

    def sharding(self, value: Any) -> Sharding | None:
        """Return how a value of MLIR is cut; None where every device has all of it."""
        found = self.shardings.get(value)
        return self.parent.sharding(value) if found is None and self.parent else found
