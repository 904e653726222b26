"""What a translator of one operation sees and gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from celosia.frontend.errors import Unsupported, too_wide
from celosia.frontend.narrow import is_narrowed
from celosia.frontend.stablehlo.attributes import ints_of
from celosia.frontend.stablehlo.frames import RegionFrame, ValueFrame
from celosia.frontend.stablehlo.meshes import Meshes
from celosia.graph import DType, Graph, Node, Source, TensorType, Value
from celosia.graph.constants import Constants
from celosia.graph.operations.elementwise import BITWISE

__all__ = ["TRANSLATORS", "Here", "Import", "Translator", "translates"]


class Import(Protocol):
    """The import that an operation is part of: what translators use of it.

    Attributes
    ----------
    filename
        What the program is called.
    devices, replicas, partitions
        Devices that the program is for: one of the latter two is 1.
    functions
        Those of the module, by name.
    constants
        Nodes that do not depend on a parameter.
    meshes
        Those of a program for several partitions.
    narrows
        Whether 64-bit elements are made narrow when all is imported; else integers keep their
        bits, and floats must be constant.
    """

    filename: str
    devices: int
    replicas: int
    partitions: int
    functions: dict[str, Any]
    constants: Constants
    meshes: Meshes | None
    narrows: bool

    def inline(self, name: str, here: Here) -> Sequence[Value]:
        """Return the results of a function for the operands at hand."""
        ...

    def block(self, block: Any, here: Here) -> Sequence[Value]:
        """Return the results of a block that runs once, in place."""
        ...

    def region(self, name: str, region: Any, here: Here, *, of_device: bool = False,
               known: Mapping[int, Value] = MappingProxyType({}),
               ticket: Value | None = None, carried: bool = False) -> RegionFrame:
        """Return a region of the operation at hand.

        Parameters
        ----------
        name, region, here
            What to call it, and where it is.
        of_device
            Whether it is what each device does.
        known
            Constants from around it by the numbers of arguments that are no parameters.
        ticket, carried
            The ticket around it, where functions of the host are called in it; whether its own
            is its last parameter.
        """
        ...


class Here:
    """The operation at hand.

    Attributes
    ----------
    op
        The operation of MLIR.
    operands
        Its operands in the graph.
    types
        Types that its results must have.
    source
        Where it came from.
    """

    def __init__(self, importer: Import, frame: ValueFrame, op: Any, operands: Sequence[Value],
                 types: Sequence[TensorType], source: Source):
        self.importer, self.frame, self.op = importer, frame, op
        self.operands, self.types, self.source = tuple(operands), tuple(types), source

    @property
    def type(self) -> TensorType:
        """Type of the first result."""
        return self.types[0]

    @property
    def whole(self) -> Meshes | None:
        """The meshes, where values are whole arrays of a program for several partitions."""
        return None if self.frame.region.of_device else self.importer.meshes

    def joins(self, x: Value, reducer: str, initial: Value | None = None) -> bool:
        """Whether the graph joins elements by a reducer: those of two words it adds, in windows
        from 0, or has bit by bit, and of these `reduce` finds the greatest.
        """
        if not (x.dtype is DType.U64 or x.dtype is DType.I64 and not self.importer.narrows):
            return True
        if self.op.name == "stablehlo.reduce" and reducer in ("maximum", "minimum"):
            return True
        known = self.importer.constants
        from_0 = initial is None or initial.node in known and not known.values(
            initial.node)[initial.index].any()
        return reducer in BITWISE or from_0 and reducer in ("add", "subtract", "set")

    def has(self, name: str) -> bool:
        """Whether the operation has an attribute."""
        return name in self.op.attributes

    def __getitem__(self, name: str) -> Any:
        """Return an attribute of MLIR."""
        return self.op.attributes[name]

    def int(self, name: str) -> int:
        """Return an integer attribute."""
        return int(self[name].value)

    def ints(self, name: str, default: Sequence[int] = ()) -> tuple[int, ...]:
        """Return a list of integers; ``default`` where it is left out."""
        return ints_of(self[name]) if self.has(name) else tuple(default)

    def pairs(self, name: str, count: int) -> tuple[tuple[int, int], ...]:
        """Return ``count`` pairs of integers; zeros where they are left out."""
        values = self.ints(name, (0, 0) * count)
        return tuple(zip(values[::2], values[1::2], strict=True))

    def node(self, name: str, *operands: Value, regions: Sequence[Graph] = (),
             **attrs: Any) -> tuple[Value, ...]:
        """Return the results of a new node; where constant 64-bit elements are involved, of its
        value.

        Raises
        ------
        Unsupported
            If 64-bit floats are involved, are not constant, and do not become f32.
        """
        node = Node(name, operands, attrs, regions, self.source)
        self.importer.constants.note(node)
        types = [*node.types, *(value.type for value in operands)]
        wide = [type for type in types if type.dtype.is_wide and not type.dtype.is_complex]
        if not wide or name == "constant":
            return node.results
        if node not in self.importer.constants:
            double = next((type for type in wide if type.dtype is DType.F64), None)
            if double is None or self.importer.narrows and is_narrowed(node):
                return node.results
            raise Unsupported(too_wide(double, " where they are not constant"))
        return tuple(map(self.constant, self.importer.constants.values(node)))

    def emit(self, name: str, *operands: Value, **attrs: Any) -> Value:
        """Return the one result of a new node, as `node`."""
        [result] = self.node(name, *operands, **attrs)
        return result

    def constant(self, array: NDArray[Any]) -> Value:
        """Return a constant, as small as it can be written."""
        array = np.asarray(array)
        literal = self.emit("constant", value=array)
        if literal.dtype.is_wide or array.ndim == 0 or array.size < 2:
            return literal
        if literal.node.attrs["value"].is_splat:
            scalar = array.reshape(-1)[0]
            return self.emit("broadcast", self.constant(scalar), shape=array.shape)
        if literal.dtype.is_integer and array.size > 8 and np.array_equal(
                array.reshape(-1), np.arange(array.size)):
            count = math.prod(array.shape)
            line = self.emit("iota", dtype=literal.dtype, shape=(count,))
            return self.emit("reshape", line, shape=array.shape) if array.ndim > 1 else line
        return literal

    def splat(self, value: float, type: TensorType) -> Value:
        """Return a tensor of equal elements."""
        scalar = self.constant(np.asarray(value).astype(type.dtype.numpy))
        return scalar if type.rank == 0 else self.emit("broadcast", scalar, shape=type.shape)


Translator = Callable[[Here], Value | Sequence[Value]]
#: Operation of MLIR to the function that makes its nodes.
TRANSLATORS: dict[str, Translator] = {}


def translates(*names: str) -> Callable[[Translator], Translator]:
    """Enter the decorated function as the translator of operations."""
    def enter(translator: Translator) -> Translator:
        for name in names:
            assert name not in TRANSLATORS, name
            TRANSLATORS[name] = translator
        return translator

    return enter
