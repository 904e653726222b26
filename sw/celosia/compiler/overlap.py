"""Rounds: what the chip computes while its links are at an exchange that it need not wait for.

A round is an exchange and a part of the chip's work side by side: neither takes what the other one
gives. The order is a list schedule: an exchange of many bytes has a round of its own, as early as
what it carries can be there; products are spread over the rounds in which they can be; all else is
beside what it is made of.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from math import prod

from celosia.arch.config import BANKS, TpuConfig
from celosia.graph import Graph, Node

__all__ = ["link_rows", "rounds"]

#: What an exchange has of the accumulators beside a part of the chip, in eighths.
_EIGHTHS = 3
#: Bytes that are worth a round: the links need longer for them than for their way.
_LONG = 24 << 10
#: What is less than this part of the largest product is not spread.
_FEW = 16


def link_rows(config: TpuConfig) -> int:
    """Return how many rows of the accumulators, the last ones, an exchange has beside a part of the
    chip; 0: there are too few for both.
    """
    rows, least = config.acc_rows * _EIGHTHS // 8 // BANKS * BANKS, 4 * config.dim
    return rows if min(rows, config.acc_rows - rows) >= least else 0


def rounds(graph: Graph, nodes: Iterable[Node], links: Collection[Node]) -> dict[Node, int] | None:
    """Return the round of each node; None if there is nothing that could be side by side.

    Parameters
    ----------
    graph
        The nodes' graph.
    nodes
        Those that run once, in order; others are made where they are wanted.
    links
        Which of them are exchanges.
    """
    found = _Rounds(graph, tuple(nodes), links)
    return found.all() if len(found.long) > 1 else None


class _Rounds:
    """The list schedule of a graph.

    Attributes
    ----------
    long
        Exchanges that have a round: of many bytes that a product makes or uses.
    """

    def __init__(self, graph: Graph, nodes: tuple[Node, ...], links: Collection[Node]):
        self._nodes, self._links = nodes, links
        works = {node: _work(node) for node in nodes}
        self._works = {node: work for node, work in works.items()
                       if work * _FEW > max(works.values())}
        inside = set(nodes)
        self._before = {node: [each for value in node.operands
                               if (each := value.node) in inside] for node in nodes}
        self._users = {node: [user for value in node.results for user in graph.users.get(value, ())
                              if user in inside] for node in nodes}

        self.long = {node for node in links if any(
            value.type.nbytes >= _LONG for value in (*node.operands, *node.results)) and (
            self._meets_product(node, self._before) or self._meets_product(node, self._users))}

    def _meets_product(self, link: Node, beside: Mapping[Node, Sequence[Node]]) -> bool:
        """Whether there is a product on a way from an exchange, and no other exchange before."""
        seen, left = {link}, [link]
        while left:
            for node in beside[left.pop()]:
                if node in self._works:
                    return True
                if node not in seen and node not in self._links:
                    seen.add(node)
                    left.append(node)
        return False

    def all(self) -> dict[Node, int]:
        """Return the round of each node."""
        found = self._exchanges()
        latest = self._latest(found)
        loads: dict[int, int] = defaultdict(int)
        given: set[Node] = set()  # made of nothing but what is given
        for node in self._nodes:
            if node in self._links:
                continue
            before = self._before[node]
            if (work := self._works.get(node, 0)) == 0 and all(each in given for each in before):
                given.add(node)
                continue
            first = self._first(node, found)
            last = latest.get(node, first)
            found[node] = min(range(first, last + 1), key=loads.__getitem__) if work else first
            loads[found[node]] += work
        for node in reversed(self._nodes):
            if node in given:
                found[node] = min((self._wanted(user, found) for user in self._users[node]),
                                  default=0)
        return found

    def _first(self, node: Node, found: Mapping[Node, int]) -> int:
        """Return the first round in which all is there that a node is made of."""
        return max((found[each] + (each in self._links or node in self._links)
                    for each in self._before[node] if each in found), default=0)

    def _wanted(self, user: Node, found: Mapping[Node, int]) -> int:
        """Return the last round in which what a node uses can be made."""
        return found[user] - (user in self._links)

    def _exchanges(self) -> dict[Node, int]:
        """Return the rounds of the exchanges: each round has the first long one that is ready."""
        fixed: dict[Node, int] = {}
        behind = 0
        while True:
            found: dict[Node, int] = {}
            for node in self._nodes:
                found[node] = fixed.get(node, self._first(node, found))
            left = [node for node in self._nodes if node in self.long and node not in fixed]
            if not left:
                return {node: found[node] for node in self._links}
            node = min(left, key=lambda each: max(found[each], behind))
            fixed[node] = max(found[node], behind)
            behind = fixed[node] + 1

    def _latest(self, exchanges: Mapping[Node, int]) -> dict[Node, int]:
        """Return the last round of each node that some exchange waits for."""
        found = dict(exchanges)
        for node in reversed(self._nodes):
            if node not in found:
                wanted = [self._wanted(user, found) for user in self._users[node] if user in found]
                if wanted:
                    found[node] = min(wanted)
        return found


def _work(node: Node) -> int:
    """Return the products of the array that a node needs, about."""
    if node.op != "dot":
        return 0
    shape = node.operands[0].shape
    return prod(node.result.type.shape) * prod(shape[dim] for dim, _ in node.attrs["contract"])
