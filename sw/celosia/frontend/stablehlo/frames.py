"""What stands for the values of MLIR, function by function and region by region."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from celosia.frontend.stablehlo.parts import ComplexValue, Imported
from celosia.graph import Graph, Node, Source, Trait, Value, having, parameter
from celosia.graph.constants import Constants

__all__ = ["ValueFrame", "RegionFrame"]

#: Operations that are written anew inside a region rather than brought in from around it.
_CHEAP = having(Trait.CHEAP)


class RegionFrame:
    """A region under construction: its parameters, and what it uses from around it.

    Attributes
    ----------
    of_device
        Whether it is the region of a manual computation, or in one.
    ticket
        What the last call of a function of the host with effects has given, here so far.
    """

    def __init__(self, name: str, constants: Constants, *, of_device: bool = False):
        self.name, self.constants, self.of_device = name, constants, of_device
        self.params: list[Value] = []
        self.outputs: Sequence[Value] = ()
        self.ticket: Value | None = None
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
    caller
        Where the function is called, or where the operation is whose region it is.
    """

    def __init__(self, region: RegionFrame, parent: ValueFrame | None = None,
                 caller: Source = Source.UNKNOWN):
        self.region, self.parent, self.caller = region, parent, caller
        # None stands for a value whose type has no counterpart.
        self.values: dict[Any, Imported | None] = {}

    def find(self, value: Any) -> Imported | None:
        """Return what stands for a value of MLIR."""
        if value not in self.values:
            assert self.parent is not None, "value of no frame"
            found = self.parent.find(value)
            if found is not None and self.parent.region is not self.region:
                found = (ComplexValue(*map(self.region.capture, (found.real, found.imag)))
                         if isinstance(found, ComplexValue) else self.region.capture(found))
            self.values[value] = found
        return self.values[value]
