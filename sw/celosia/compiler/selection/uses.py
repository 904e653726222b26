"""Def-use chains: who uses a value, on which a function's short form may depend."""

from __future__ import annotations

from celosia.compiler.builder import scalar_of
from celosia.graph import Graph, Node, Trait, Value, having

__all__ = ["SHAPES", "Uses", "bare", "constant_of"]

#: Operations that change neither an element nor how many users it has.
SHAPES = having(Trait.UNCHANGED)


def bare(value: Value) -> Value:
    """Return what a value is but for changes of its shape."""
    while value.node.op in SHAPES:
        value = value.node.operands[value.index]
    return value


def constant_of(value: Value) -> float | None:
    """Return the number that all elements of a constant are; None for anything else."""
    found = scalar_of(bare(value))
    return None if found is None else float(found)


class Uses:
    """The users of the values of graphs, those of their regions too."""

    def __init__(self, *graphs: Graph):
        self._users: dict[Value, list[Node | None]] = {}
        for graph in graphs:
            self._add(graph)

    def _add(self, graph: Graph) -> None:
        for node in graph.nodes:
            for operand in dict.fromkeys(node.operands) if node.op == "barrier" else node.operands:
                self._users.setdefault(operand, []).append(node)
            for region in node.regions:
                self._add(region)
        for output in graph.outputs:
            self._users.setdefault(output, []).append(None)

    def of(self, value: Value) -> list[Node] | None:
        """Return the operations that use a value, behind changes of its shape.

        None: it is a result, or nothing is known of it.
        """
        found: list[Node] = []
        for user in self._users.get(value, [None]):
            if user is None:
                return None
            if user.op not in SHAPES:
                found.append(user)
                continue
            for same in _same(user, value):
                more = self.of(same)
                if more is None:
                    return None
                found += more
        return found

    def only(self, value: Value) -> Node | None:
        """Return the one operation that uses a value once; None: there is no such."""
        users = self.of(value)
        return users[0] if users is not None and len(users) == 1 else None


def _same(user: Node, value: Value) -> list[Value]:
    """Return the results of a change of shape that have the elements of an operand."""
    if user.op != "barrier":
        return [user.result]
    return [result for result, operand in zip(user.results, user.operands, strict=True)
            if operand == value]
