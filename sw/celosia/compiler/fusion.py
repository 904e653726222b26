"""Fusion: which nodes run together, so that what lies between them never leaves the chip.

Every product, elementwise operation and reduction begins as a group of its own. Along each edge the
group of the producer and that of the consumer become one where

- they run over the same rows and lanes (`celosia.compiler.spaces`), or one of them over the rows of
  the other alone (what a reduction over lanes gives, and what is computed from it: a column),
- every edge between them keeps rows and lanes where they are (no transpose does, and no slice),
- no other path leads from the one to the other: it would have to run in the midst,
- there is at most one product, at the beginning; what is joined over rows is ready at the end only.

Each test says why not, and `Fusion.apart` has what it said of the edges that are left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from celosia.arch.config import TpuConfig
from celosia.arch.words import ceil_div
from celosia.compiler.groups import CHEAP, Group, Roots, is_fused, product_space
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.spaces import Space
from celosia.graph import Graph, Node, Value

__all__ = ["Fusion", "Halves", "NotFused", "fuse"]

#: Nodes of a group that was too large, in two parts that are not to run together again.
Halves = tuple[frozenset[Node], frozenset[Node]]


@dataclass(frozen=True)
class NotFused:
    """Two nodes in different groups although the one needs the other, and why."""

    producer: Node
    consumer: Node
    reason: str


@dataclass(frozen=True)
class Fusion:
    """The groups of a graph, and the edges between them."""

    groups: list[Group]
    apart: tuple[NotFused, ...]


class _Fusion:
    def __init__(self, config: TpuConfig, graph: Graph, roots: Roots, late: Collection[Node],
                 halves: Sequence[Halves]):
        self.config, self.roots, self.late, self.halves = config, roots, late, halves
        self.order = {node: i for i, node in enumerate(graph.nodes)}
        self.group: dict[Node, Group] = {
            node: Group.of(node) for node in roots.needs
            if is_fused(node) and node.result.type.size and node.operands[0].type.size}
        self.needs = roots.needs
        #: The nodes that need something of a node.
        self.users: dict[Node, list[Node]] = {}
        for node in self.needs:
            for producer in roots.producers(node):
                self._uses(producer, node)

    def _uses(self, producer: Node, consumer: Node) -> None:
        users = self.users.setdefault(producer, [])
        if not users or users[-1] is not consumer:
            users.append(consumer)

    def run(self) -> Fusion:
        refused: list[NotFused] = []
        for node in list(self.group):
            for base, chain in self.needs[node]:
                producer = self.group.get(base.node)
                if producer is None or producer is self.group[node]:
                    continue
                if node in self.late and base.node not in self.late:
                    reason = "it is computed again where it is used"
                else:
                    reason = self.try_merge(producer, self.group[node], base, chain, node)
                if reason:
                    refused.append(NotFused(base.node, node, reason))
        found = dict.fromkeys(self.group.values())
        for group in found:
            group.nodes.sort(key=self.order.__getitem__)
        # Others may have brought together what was kept apart at first.
        return Fusion(list(found), tuple(dict.fromkeys(
            each for each in refused
            if self.group[each.producer] is not self.group[each.consumer])))

    def try_merge(self, first: Group, second: Group, base: Value, chain: list[Node],
                  consumer: Node) -> str:
        """Make one group of two; return why not, or ""."""
        if reason := first.ends_at(base, consumer):
            return reason
        if first.product is not None and second.product is not None:
            return "a group has one product"
        if (first.joined is not None and second.joined is not None
                and first.joined != second.joined):
            return "they join different rows"
        reasons: list[str] = []
        for space, extents in self.candidates(first, second):
            merged = Group(space, first.nodes + second.nodes, extents,
                           first.product or second.product, first.lanes or second.lanes,
                           first.joined or second.joined, first.joins | second.joins)
            reason = (merged.parted(base, chain, consumer) or self.too_large(merged)
                      or self.parted(merged, first, second) or self.path_outside(first, second)
                      or self.path_outside(second, first))
            if not reason:
                for node in merged.nodes:
                    self.group[node] = merged
                return ""
            reasons.append(reason)
        return reasons[0] if reasons else (
            f"{list(first.space.dims)} and {list(second.space.dims)} are not the same rows and "
            "lanes")

    @staticmethod
    def candidates(first: Group, second: Group) -> Iterator[tuple[Space, dict[Node, Extent]]]:
        space = first.space.refined(second.space)
        if space is not None:
            yield space, first.extents | second.extents
        for column, other in ((first, second), (second, first)):
            if column.can_be_column and column.space.size == other.space.rows > 1:
                cuts = Space.of((*column.space.dims, 2)).cuts
                space = other.space.cut(cuts)
                if space is not None:
                    yield space, other.extents | dict.fromkeys(column.extents, Extent.ROWS)

    def too_large(self, group: Group) -> str:
        """Say why a block of a group finds no room on chip, its rows in an order that suits; ""
        where it does, as far as can be told before its instructions are known.
        """
        if any(not part.isdisjoint(group.extents) and not other.isdisjoint(group.extents)
               for part, other in self.halves):
            return "together they did not fit the memories on chip"
        panels = ceil_div(group.space.lanes, self.config.dim)
        room = self.config.acc_rows
        if group.product is not None:
            if group.joined is not None and not (
                    len(group.joined) == 1 and next(iter(group.joined))[0] == 1):
                return "only the innermost rows of a product can be joined on the way"
            # A weight tile is in use for as many cycles as a block has rows, and takes D to load.
            need = (self.live(group) + 2) * 2 * self.config.dim * panels
            if group.lanes and need > room:
                return _crowded("whole rows of a product", need, room)
            if group.product.op == "convolution" and (
                    group.space != product_space(group.product.result.shape)):
                return "a convolution's rows are cut in another way"
        need = self.live(group) * panels * 2
        if group.lanes and panels > 1 and need > room:
            return _crowded("whole rows", need, room)
        return ""

    def live(self, group: Group) -> int:
        """Values of a group that are alive at once, about."""
        last: dict[Node, int] = {}
        nodes = sorted(group.nodes, key=self.order.__getitem__)
        outside = set()
        for i, node in enumerate(nodes):
            for base, _ in self.needs[node]:
                if base.node in group.extents:
                    last[base.node] = i
                elif base.node.op not in CHEAP:
                    outside.add(base)
        most = now = 0
        ends: dict[int, int] = {}
        for i, node in enumerate(nodes):
            if group.extents[node] is Extent.FULL:
                now += 1
                ends[last.get(node, i)] = ends.get(last.get(node, i), 0) + 1
            most = max(most, now)
            now -= ends.pop(i, 0)
        return most + len(outside) + 2

    def parted(self, merged: Group, first: Group, second: Group) -> str:
        """Say which edge between two groups is not inside the merged one; "" if all are."""
        for consumers, producers in ((second, first), (first, second)):
            for node in consumers.nodes:
                for base, chain in self.needs[node]:
                    reason = base.node in producers.extents and merged.parted(base, chain, node)
                    if reason:
                        return reason
                if any(producer in merged.extents for producer in self.roots.addresses(node)):
                    return "one of them reads at an address that the other computes"
        return ""

    def path_outside(self, first: Group, second: Group) -> str:
        """Say which node is on a path from the one group to the other through nodes of neither;
        "" if none is.
        """
        order, users, groups, goal = self.order, self.users, self.group, second.extents
        latest = max(order[node] for node in second.nodes)
        seen = set(first.extents)
        stack = [user for node in first.nodes for user in users.get(node, ())
                 if user not in seen and user not in goal]
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            group = groups.get(node)
            members = group.nodes if group is not None else (node,)
            seen.update(members)
            for member in members:
                for user in users.get(member, ()):
                    if user in goal:
                        return f"{member.op} has to run between them"
                    if user not in seen and (order[user] < latest or user in groups):
                        stack.append(user)
        return ""


def _crowded(what: str, need: int, room: int) -> str:
    return f"{what} would take about {need} of {room} accumulator rows"


def fuse(config: TpuConfig, graph: Graph, roots: Roots, late: Collection[Node] = (),
         halves: Sequence[Halves] = ()) -> Fusion:
    """Return the groups of a canonical graph (its regions are graphs of their own).

    Nodes without elements are in none; those of ``late`` go with the nodes that need them, not
    with what they need; no group has nodes of both parts of one of the ``halves``.
    """
    return _Fusion(config, graph, roots, late, halves).run()
