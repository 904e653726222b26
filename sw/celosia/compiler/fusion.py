"""Fusion: which nodes run together, so that what lies between them never leaves the chip.

Every product, elementwise operation and reduction begins as a group of its own. Along each edge the
group of the producer and that of the consumer become one where

- they run over the same rows and lanes (`celosia.compiler.spaces`), or one of them over the rows of
  the other alone (what a reduction over lanes gives, and what is computed from it: a column),
- every edge between them keeps rows and lanes where they are (no transpose does, and no slice),
- no other path leads from the one to the other: it would have to run in the midst,
- there is at most one product, at the beginning; what is joined over rows is ready at the end only.

Views (`VIEWS`) belong to no group: whoever needs one reads the tensor behind it in another way.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from celosia.arch.config import TpuConfig
from celosia.arch.words import ceil_div
from celosia.compiler.lowered import Extent
from celosia.compiler.spaces import Space
from celosia.compiler.views import View
from celosia.graph import DType, Graph, Node, Trait, Value, having

__all__ = ["LEAVES", "PRODUCTS", "VIEWS", "Group", "Roots", "fuse", "inside", "is_fused"]

LEAVES = having(Trait.LEAF)
#: `dynamic_slice` is one from an address of the run.
VIEWS = having(Trait.VIEW)
#: Those of them that a group may have in its midst.
_INSIDE = having(Trait.IN_ORDER)
#: Leaves that take no stream: parameters do.
_CHEAP = having(Trait.CHEAP)
PRODUCTS = having(Trait.PRODUCT)
_FUSED = having(Trait.ELEMENTWISE) | PRODUCTS | having(Trait.REDUCTION)


def is_fused(node: Node) -> bool:
    """Whether a node belongs to a group."""
    return node.op in _FUSED


def inside(view: View | None, chain: Iterable[Node]) -> View | None:
    """Return what a chain of views makes of a view; None where no group may have it inside."""
    for node in chain:
        if view is None or node.op not in _INSIDE:
            return None
        if node.op == "reshape":
            view = view.reshape(node.attrs["shape"])
        elif node.op == "broadcast":
            view = view.broadcast(node.attrs["shape"], node.attrs["dims"])
    return view


class Roots:
    """What is behind the views of a graph.

    Parameters
    ----------
    graph
        Canonical.
    offsets
        Of each dynamic slice and update: the value that holds its address.

    Attributes
    ----------
    rounded
        Conversions from f32 to bf16 of what lies in memory anyway, for products alone: loads round
        it, so these are views, too.
    needs
        For each node that is no leaf and no view: base and chain of views of each operand.
    """

    def __init__(self, graph: Graph, offsets: Mapping[Node, Value]):
        self.offsets = offsets
        self.rounded: set[Node] = set()
        self._find_rounded(graph)
        self.needs: dict[Node, list[tuple[Value, list[Node]]]] = {
            node: [self.base(value) for value in node.operands] for node in graph.nodes
            if node.op not in LEAVES and not self.is_view(node)}

    def _find_rounded(self, graph: Graph) -> None:
        outputs = set(graph.outputs)

        def for_products(value: Value) -> bool:
            users = graph.users.get(value, ())
            return value not in outputs and all(
                user.op in PRODUCTS or (user.op in VIEWS and user.op != "dynamic_slice"
                                        and all(map(for_products, user.results)))
                for user in users)

        for node in graph.nodes:
            if (node.op == "convert" and node.operands[0].dtype is DType.F32
                    and node.result.dtype is DType.BF16
                    and not is_fused(self.base(node.operands[0])[0].node)
                    and for_products(node.result)):
                self.rounded.add(node)

    def is_view(self, node: Node) -> bool:
        """Whether a node only shows what another one made."""
        return node.op in VIEWS or node in self.rounded

    def base(self, value: Value) -> tuple[Value, list[Node]]:
        """Return the value behind views, and these, from it on."""
        chain: list[Node] = []
        while self.is_view(value.node):
            chain.append(value.node)
            value = value.node.operands[value.index if value.node.op == "barrier" else 0]
        return value, chain[::-1]

    def addresses(self, node: Node) -> list[Node]:
        """Return the nodes that the addresses come from that a node reads and writes at."""
        found = [view for _, chain in self.needs[node] for view in chain]
        return [self.base(self.offsets[view])[0].node for view in (node, *found)
                if view in self.offsets]

    def producers(self, node: Node) -> list[Node]:
        """Return the nodes behind the operands of a node and behind their addresses."""
        return [base.node for base, _ in self.needs[node]] + self.addresses(node)

    inside = staticmethod(inside)


def _strides_match(view: View | None, dims: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    found = None if view is None else view.reshape(dims)
    return found is not None and all(
        size == 1 or have == want
        for size, have, want in zip(dims, found.strides, wanted, strict=True))


def _joined_rows(node: Node) -> tuple[bool, frozenset[tuple[int, int]]]:
    """Whether a reduction joins lanes, and which rows it joins, as intervals of row counts."""
    shape, dims = node.operands[0].shape, node.attrs["dims"]
    last = max((i for i, size in enumerate(shape) if size != 1), default=-1)
    found: list[tuple[int, int]] = []
    step = 1
    for i in range(last - 1, -1, -1):
        if shape[i] == 1:
            continue
        if i in dims:
            if found and found[-1][1] == step:
                found[-1] = (found[-1][0], step * shape[i])
            else:
                found.append((step, step * shape[i]))
        step *= shape[i]
    return last in dims, frozenset(found)


@dataclass(eq=False)
class Group:
    """Nodes that run together.

    Attributes
    ----------
    extents
        Of each node: FULL, or COLUMN where it has one element for each row. Of a reduction, what it
        runs over.
    joined
        Intervals of rows that are joined, or None; `join` names the reductions that do so.
    """

    space: Space
    nodes: list[Node]
    extents: dict[Node, Extent]
    product: Node | None = None
    lanes: bool = False
    joined: frozenset[tuple[int, int]] | None = None
    joins: set[Node] = field(default_factory=set)

    @classmethod
    def of(cls, node: Node) -> Group:
        """Return the group of a single node."""
        shape = node.operands[0].shape if node.op == "reduce" else node.result.shape
        if node.op in PRODUCTS:
            return cls(_product_space(shape), [node], {node: Extent.FULL}, node)
        made = cls(Space.of(shape), [node], {node: Extent.FULL})
        if node.op == "reduce":
            made.lanes, rows = _joined_rows(node)
            if rows:
                made.joined, made.joins = rows, {node}
        return made

    def result_extent(self, node: Node) -> Extent | None:
        """What the result of a node is to those after it; None: it is not ready in the group."""
        if node.op != "reduce" or node not in self.extents:
            return self.extents[node]
        if node in self.joins:
            return None
        return Extent.COLUMN if _joined_rows(node)[0] else Extent.FULL

    @property
    def can_be_column(self) -> bool:
        """Whether it may run over the rows of another group, an element each."""
        return (self.product is None and not self.lanes and not self.joins
                and all(extent is Extent.FULL for extent in self.extents.values()))

    def edge_is_inside(self, space: Space, extents: dict[Node, Extent], base: Value,
                       chain: list[Node], consumer: Node) -> bool:
        """Whether a consumer finds each element of ``base`` at its own row and lane."""
        if base.node in self.joins or consumer.op in PRODUCTS:
            return False
        given = (Extent.COLUMN if base.node.op == "reduce" and _joined_rows(base.node)[0]
                 else extents[base.node])
        view = inside(View.contiguous(base.shape), chain)
        rows = View.contiguous(space.row_dims).strides
        if extents[consumer] is Extent.COLUMN:
            return given is Extent.COLUMN and _strides_match(view, space.row_dims, rows)
        if given is Extent.COLUMN:
            return _strides_match(view, space.dims, (*rows, 0))
        return _strides_match(view, space.dims, View.contiguous(space.dims).strides)


def _product_space(shape: tuple[int, ...]) -> Space:
    """Return the space of a product: its lanes are the last dimension, even of one element."""
    space = Space.of((*shape[:-1], 2))
    return Space(space.cuts, shape[-1])


class _Fusion:
    def __init__(self, config: TpuConfig, graph: Graph, roots: Roots, late: Collection[Node]):
        self.config, self.roots, self.late = config, roots, late
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

    def run(self) -> list[Group]:
        for node, group in list(self.group.items()):
            for base, chain in self.needs[node]:
                if node in self.late and base.node not in self.late:
                    continue
                producer = self.group.get(base.node)
                if producer is not None and producer is not self.group[node]:
                    self.try_merge(producer, self.group[node], base, chain, node)
            del group
        found = dict.fromkeys(self.group.values())
        for group in found:
            group.nodes.sort(key=self.order.__getitem__)
        return list(found)

    def try_merge(self, first: Group, second: Group, base: Value, chain: list[Node],
                  consumer: Node) -> None:
        if (first.product is not None and second.product is not None) or (
                first.joined is not None and second.joined is not None
                and first.joined != second.joined):
            return
        for space, extents in self.candidates(first, second):
            merged = Group(space, first.nodes + second.nodes, extents,
                           first.product or second.product, first.lanes or second.lanes,
                           first.joined or second.joined, first.joins | second.joins)
            if (merged.edge_is_inside(space, extents, base, chain, consumer)
                    and self.fits(merged) and self.edges_are_inside(merged, first, second)
                    and not self.path_outside(first, second)
                    and not self.path_outside(second, first)):
                for node in merged.nodes:
                    self.group[node] = merged
                return

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
                    yield space, other.extents | dict.fromkeys(column.extents, Extent.COLUMN)

    def fits(self, group: Group) -> bool:
        """Whether a block of a group finds room on chip, its rows in an order that suits."""
        panels = ceil_div(group.space.lanes, self.config.dim)
        if group.product is not None:
            if group.joined is not None and not (
                    len(group.joined) == 1 and next(iter(group.joined))[0] == 1):
                return False
            # A weight tile is in use for as many cycles as a block has rows, and takes D to load.
            rows = 2 * self.config.dim * panels
            if group.lanes and (self.live(group) + 2) * rows > self.config.acc_rows:
                return False
            if group.product.op == "convolution" and (
                    group.space != _product_space(group.product.result.shape)):
                return False
        if group.lanes and panels > 1:
            return self.live(group) * panels * 2 <= self.config.acc_rows
        return True

    def live(self, group: Group) -> int:
        """Values of a group that are alive at once, about."""
        last: dict[Node, int] = {}
        nodes = sorted(group.nodes, key=self.order.__getitem__)
        outside = set()
        for i, node in enumerate(nodes):
            for base, _ in self.needs[node]:
                if base.node in group.extents:
                    last[base.node] = i
                elif base.node.op not in _CHEAP:
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

    def edges_are_inside(self, merged: Group, first: Group, second: Group) -> bool:
        for consumers, producers in ((second, first), (first, second)):
            for node in consumers.nodes:
                for base, chain in self.needs[node]:
                    if base.node in producers.extents and not merged.edge_is_inside(
                            merged.space, merged.extents, base, chain, node):
                        return False
                if any(producer in merged.extents for producer in self.roots.addresses(node)):
                    return False
        return True

    def path_outside(self, first: Group, second: Group) -> bool:
        """Whether a path leads from the one group to the other through nodes of neither."""
        latest = max(self.order[node] for node in second.nodes)
        stack = [user for node in first.nodes for user in self.users.get(node, ())
                 if user not in first.extents and user not in second.extents]
        seen: set[Node] = set()
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            group = self.group.get(node)
            members = group.nodes if group is not None else [node]
            seen.update(members)
            for member in members:
                for user in self.users.get(member, ()):
                    if user in second.extents:
                        return True
                    if user not in seen and user not in first.extents and (
                            self.order[user] < latest or user in self.group):
                        stack.append(user)
        return False


def fuse(config: TpuConfig, graph: Graph, roots: Roots,
         late: Collection[Node] = ()) -> list[Group]:
    """Return the groups of a canonical graph (its regions are graphs of their own).

    Nodes without elements are in none; those of ``late`` go with the nodes that need them, not
    with what they need.
    """
    return _Fusion(config, graph, roots, late).run()
