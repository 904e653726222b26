"""The operations of the graph, each with its types, in the order of docs/graph.md."""

from celosia.graph.operations import (
    callback,
    collective,
    contract,
    control,
    elementwise,
    indexed,
    reduce,
    shape,
    spmd,
)

__all__ = ["callback", "collective", "contract", "control", "elementwise", "indexed", "reduce",
           "shape", "spmd"]
