"""What is known of a program before it runs."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from celosia.graph.interpreter import evaluate
from celosia.graph.node import Node
from celosia.graph.operations.callback import CALLS
from celosia.graph.operations.collective import COLLECTIVES

__all__ = ["Constants"]

#: Operations without operands whose values are not known.
_OTHERS = COLLECTIVES | CALLS | {"parameter"}


class Constants:
    """Nodes whose values do not depend on a parameter."""

    def __init__(self) -> None:
        self._values: dict[Node, list[NDArray[Any]] | None] = {}

    def note(self, node: Node) -> None:
        """Take note of a new node; those of its operands come first."""
        if node.op not in _OTHERS and not node.regions and all(
                value.node in self._values for value in node.operands):
            self._values.setdefault(node)

    def __contains__(self, node: Node) -> bool:
        return node in self._values

    def values(self, node: Node) -> list[NDArray[Any]]:
        """Return the values of a node of which note was taken."""
        found = self._values[node]
        if found is None:
            operands = [self.values(value.node)[value.index] for value in node.operands]
            found = self._values[node] = evaluate(node, operands)
        return found
