"""Groups of nodes that run together, and what is behind the views between them.

Views (`VIEWS`) belong to no group: whoever needs one reads the tensor behind it in another way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from celosia.compiler.kernels.terms import Extent
from celosia.compiler.spaces import Space
from celosia.compiler.views import View
from celosia.graph import DType, Graph, Node, Trait, Value, having

__all__ = ["CHEAP", "LEAVES", "PRODUCTS", "VIEWS", "Group", "Roots", "inside", "is_fused",
           "product_space"]

LEAVES = having(Trait.LEAF)
#: `dynamic_slice` is one from an address of the run.
VIEWS = having(Trait.VIEW)
#: Those of them that a group may have in its midst.
_INSIDE = having(Trait.IN_ORDER)
#: Leaves that take no stream: parameters do.
CHEAP = having(Trait.CHEAP)
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
        self._addresses = {node: self._find_addresses(node) for node in self.needs}

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
        return self._addresses[node]

    def _find_addresses(self, node: Node) -> list[Node]:
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
        Of each node: FULL, or ROWS where it has one element for each row. Of a reduction, what it
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
            return cls(product_space(shape), [node], {node: Extent.FULL}, node)
        made = cls(Space.of(shape), [node], {node: Extent.FULL})
        if node.op == "reduce":
            made.lanes, rows = _joined_rows(node)
            if rows:
                made.joined, made.joins = rows, {node}
        return made

    def result_extent(self, node: Node) -> Extent | None:
        """What the result of a node is to those after it; None: it is not ready in the group."""
        if node.op != "reduce":
            return self.extents[node]
        if node in self.joins:
            return None
        return Extent.ROWS if _joined_rows(node)[0] else Extent.FULL

    @property
    def can_be_column(self) -> bool:
        """Whether it may run over the rows of another group, an element each."""
        return (self.product is None and not self.lanes and not self.joins
                and all(extent is Extent.FULL for extent in self.extents.values()))

    def ends_at(self, base: Value, consumer: Node) -> str:
        """Say why no group has both what makes ``base`` and a consumer of it; "" if one may."""
        if consumer.op in PRODUCTS:
            return "a product reads its operands from memory"
        if base.node in self.joins:
            return "what is joined over rows is ready at the end only"
        return ""

    def parted(self, base: Value, chain: list[Node], consumer: Node) -> str:
        """Say why a consumer does not find each element of ``base``, behind a chain of views, at
        its own row and lane; "" if it does.
        """
        if reason := self.ends_at(base, consumer):
            return reason
        if self._is_in_place(base, chain, consumer):
            return ""
        moved = ", ".join(dict.fromkeys(view.op for view in chain))
        return f"elements change rows or lanes between them{moved and f' ({moved})'}"

    def _is_in_place(self, base: Value, chain: list[Node], consumer: Node) -> bool:
        space, extents = self.space, self.extents
        given = (Extent.ROWS if base.node.op == "reduce" and _joined_rows(base.node)[0]
                 else extents[base.node])
        view = inside(View.contiguous(base.shape), chain)
        rows = View.contiguous(space.row_dims).strides
        if extents[consumer] is Extent.ROWS:
            return given is Extent.ROWS and _strides_match(view, space.row_dims, rows)
        if given is Extent.ROWS:
            return _strides_match(view, space.dims, (*rows, 0))
        return _strides_match(view, space.dims, View.contiguous(space.dims).strides)


def product_space(shape: tuple[int, ...]) -> Space:
    """Return the space of a product: its lanes are the last dimension, even of one element."""
    space = Space.of((*shape[:-1], 2))
    return Space(space.cuts, shape[-1])
