"""The operations of the graph, each with its types, in the order of docs/graph.md."""

from celosia.graph.operations import contract, control, elementwise, indexed, reduce, shape

__all__ = ["contract", "control", "elementwise", "indexed", "reduce", "shape"]
