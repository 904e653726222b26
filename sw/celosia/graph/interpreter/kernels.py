"""The table of kernels: operation to NumPy function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from celosia.graph.node import Graph, Node
from celosia.graph.types import DType

__all__ = ["KERNELS", "KernelContext", "Peer", "HostArray", "in_f32", "kernel"]

HostArray = NDArray[Any]


class Peer(Protocol):
    """A device among others that run the same graph."""

    def exchange(self, node: Node, operands: Sequence[HostArray]) -> HostArray:
        """Return the result of an operation of `celosia.graph.operations.collective` here."""
        ...

    def look(self) -> None:
        """Raise what ends this device if another one has ended with an error."""
        ...


class KernelContext(NamedTuple):
    """What a kernel may need beside its operands.

    Attributes
    ----------
    node
        The operation.
    graph
        Runs a region on arrays.
    precision
        Stands for the `precision` of every node, unless None.
    peer
        The device, where it is one of several.
    """

    node: Node
    graph: Callable[[Graph, Sequence[HostArray]], list[HostArray]]
    precision: str | None = None
    peer: Peer | None = None

    def __getitem__(self, name: str) -> Any:
        """Return an attribute of the node."""
        return self.node.attrs[name]

    @property
    def dtype(self) -> DType:
        """Element type of the first result."""
        return self.node.types[0].dtype


Kernel = Callable[..., Any]
#: Each takes a `KernelContext` and the operands; returns an array, or a sequence of them.
KERNELS: dict[str, Kernel] = {}


def kernel(*names: str) -> Callable[[Kernel], Kernel]:
    """Enter the decorated function as the meaning of operations."""
    def enter(function: Kernel) -> Kernel:
        for name in names:
            assert name not in KERNELS, name
            KERNELS[name] = function
        return function

    return enter


def in_f32(function: Callable[..., HostArray], *operands: HostArray) -> HostArray:
    """Return ``function`` of the operands, of bf16 and f16 by way of fp32 with one rounding."""
    dtype = DType.of(operands[0].dtype)
    if not dtype.is_half:
        return function(*operands)
    return np.asarray(function(*(x.astype(np.float32) for x in operands))).astype(dtype.numpy)
