"""Where the values of one graph are, and the order of its work."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from celosia.compiler.codegen.nodes import Base
from celosia.compiler.errors import CompileError
from celosia.compiler.fusion import Halves, fuse
from celosia.compiler.groups import Group, Roots
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.lowered import Access, Fill, Move, ReadWord, Tensor, Work
from celosia.compiler.lowering.tensors import Tensors, whole, word_of
from celosia.compiler.views import View
from celosia.graph import DType, Graph, Node, TensorType, Trait, Value, having

__all__ = ["Scope", "GroupOrNode", "source_text"]

_SAME = having(Trait.UNCHANGED)

#: Addresses of slices that may be kept in registers, of which there are 32, until they are used.
_MOST_SLICES = 8

#: What is put in order: groups, and nodes that are work of their own.
GroupOrNode = Group | Node


def source_text(node: Node) -> str:
    """Return what instructions say they come from."""
    return node.source.told(node.op)


class Scope:
    """The values of one graph.

    Parameters
    ----------
    tensors
        Makes tensors.
    graph
        Canonical; dynamic slices and updates have an address in ``offsets``.
    offsets
        For each such node the value that holds the offset of its first element in bytes.
    given
        Where the parameters are.
    counted
        Registers that hold some of the offsets already.
    late
        Nodes that run with those that need them.
    halves
        Of groups that were too large (`celosia.compiler.fusion.fuse`).

    Attributes
    ----------
    apart
        What was not fused.
    works
        The work so far.
    needed
        Results of groups that something outside of their group reads.
    """

    def __init__(self, tensors: Tensors, graph: Graph, offsets: Mapping[Node, Value],
                 given: Mapping[Value, Access], counted: Mapping[Value, Base],
                 late: Collection[Node] = (), halves: Sequence[Halves] = ()):
        self.tensors, self.graph, self.offsets = tensors, graph, offsets
        self._bases: dict[Value, Base] = dict(counted)
        self.works: list[Work] = []
        self.values: dict[Value, Access] = dict(given)
        self.roots = Roots(graph, {node: value for node, value in offsets.items()
                                   if value not in self._bases})
        fusion = fuse(tensors.config, graph, self.roots, late, halves)
        self.apart = fusion.apart
        self.group_of = {node: group for group in fusion.groups for node in group.nodes}
        self._order = {node: i for i, node in enumerate(graph.nodes)}
        self._sliced: set[Value] = set()
        self.needed: set[Value] = set()
        self._find_needed()

    def _find_needed(self) -> None:
        wanted = [*self.graph.outputs,
                  *(value for value in self.offsets.values() if value not in self._bases)]
        for value in wanted:
            self.needed.add(self.roots.base(value)[0])
        for node, needs in self.roots.needs.items():
            own = self.group_of.get(node)
            for base, _ in needs:
                if own is None or self.group_of.get(base.node) is not own:
                    self.needed.add(base)

    def units(self) -> list[GroupOrNode]:
        """Return all units, each after those that it needs."""
        order: dict[GroupOrNode, None] = {}
        starts = [self.group_of.get(node, node) for node in self.roots.needs]
        starts.sort(key=self._last)
        for start in starts:
            stack = [(start, iter(self._before(start)))]
            while stack:
                unit, rest = stack[-1]
                waiting = next((other for other in rest if other not in order), None)
                if waiting is not None and unit not in order:
                    stack.append((waiting, iter(self._before(waiting))))
                else:
                    order.setdefault(unit)
                    stack.pop()
        return list(order)

    def _last(self, unit: GroupOrNode) -> tuple[bool, int]:
        """Where a unit stands if nothing holds it back.

        What a loop saves of its old state comes first: then the new one can be written over it.
        """
        if isinstance(unit, Group):
            return True, self._order[unit.nodes[-1]]
        return any(needed in self.group_of for needed in (
            base.node for base, _ in self.roots.needs[unit][:2])), self._order[unit]

    def _before(self, unit: GroupOrNode) -> list[GroupOrNode]:
        found: dict[GroupOrNode, None] = {}
        for node in unit.nodes if isinstance(unit, Group) else (unit,):
            for needed in self.roots.producers(node):
                other = self.group_of.get(needed, needed)
                if other is not unit and needed in self.roots.needs:
                    found.setdefault(other)
        return list(found)

    def get(self, value: Value) -> Access:
        """Return where a value lies in memory, as a view of its shape."""
        found = self.values.get(value)
        if found is None:
            found = self.values[value] = self._find(value)
        return found

    def _find(self, value: Value) -> Access:
        node = value.node
        if node.op == "constant":
            return self._constant(node)
        if node.op == "iota":
            size = node.attrs["shape"][node.attrs["dim"]]
            counted = np.arange(size).astype(node.attrs["dtype"].numpy)
            access = whole(self.tensors.constant(counted))
            return Access(access.tensor, access.view.broadcast(value.shape, [node.attrs["dim"]]))
        if node.op == "barrier":
            return self.get(node.operands[value.index])
        if node.op == "dynamic_slice":
            x = self.plain(node.operands[0])
            view = View(x.view.offset, value.shape, View.contiguous(x.view.shape).strides)
            access = Access(x.tensor, view, self.base(self.offsets[node], node))
            self._sliced.add(self.offsets[node])
            return self.copied(access, node) if len(self._sliced) > _MOST_SLICES else access
        if node in self.roots.rounded or node.op == "bitcast":
            return self.get(node.operands[0])
        x = self.get(node.operands[0]) if node.operands else None
        if x is None or node.op not in _SAME:
            raise CompileError(f"{node.source}: {node.op} must have been computed before it is "
                               "used")
        attrs = node.attrs
        if node.op == "reshape":
            return self.reshaped(x, attrs["shape"], node)
        if node.op == "broadcast":
            view = x.view.broadcast(attrs["shape"], attrs["dims"])
        elif node.op == "slice":
            view = x.view.slice(attrs["start"], attrs["limit"], attrs["stride"])
        elif node.op == "transpose":
            view = x.view.transpose(attrs["permutation"])
        else:
            view = x.view.reverse(attrs["dims"])
        return Access(x.tensor, view, x.base)

    def _constant(self, node: Node) -> Access:
        array = node.attrs["value"].numpy
        if array.size > 1 and node.attrs["value"].is_splat:
            access = whole(self.tensors.constant(array.reshape(-1)[:1].reshape(())))
            return Access(access.tensor, access.view.broadcast(array.shape, ()))
        return whole(self.tensors.constant(array))

    def reshaped(self, access: Access, shape: tuple[int, ...], node: Node) -> Access:
        """Return the same elements in another shape, copied where no view can show them."""
        view = access.view.reshape(shape)
        if view is None:
            access = self.copied(access, node)
            view = access.view.reshape(shape)
            assert view is not None
        return Access(access.tensor, view, access.base)

    def copied(self, access: Access, node: Node) -> Access:
        """Return a copy that lies in order."""
        tensor = self.tensors.new(TensorType(access.tensor.dtype, access.view.shape), "copy")
        self.works.append(Move(access, whole(tensor), source_text(node)))
        return whole(tensor)

    def plain(self, value: Value) -> Access:
        """Return a value as elements that lie in order, from an address that is known."""
        access = self.get(value)
        if access.base is not None or not access.view.is_contiguous:
            access = self.values[value] = self.copied(access, value.node)
        return access

    def base(self, offset: Value, node: Node) -> Base:
        """Return the register that holds an offset in bytes."""
        if offset not in self._bases:
            base = self._bases[offset] = Base(f"{node.op} {node.source}")
            self.works.append(ReadWord(base, self.get(offset), source_text(node)))
        return self._bases[offset]

    def result(self, value: Value, name: str = "") -> Tensor:
        """Return a new tensor that will hold a value, which lies there from now on."""
        tensor = self.tensors.new(value.type, name or value.node.op)
        self.values[value] = whole(tensor)
        return tensor

    def fill_or_move(self, value: Value, dst: Access, node: Node) -> Work:
        """Return the work that brings a value to a place."""
        base = self.roots.base(value)[0].node
        if base.op == "constant" and base.attrs["value"].is_splat and value.type.size:
            number = base.attrs["value"].numpy.reshape(-1)[0]
            if base.types[0].dtype is value.dtype:
                return Fill(dst, word_of(number, value.dtype), source_text(node))
        return Move(self.get(value), dst, source_text(node))

    def is_lane_index(self, value: Value, dims: tuple[int, ...], extent: Extent) -> bool:
        """Whether a view of an iota counts the lanes of a space."""
        base, chain = self.roots.base(value)
        if base.node.op != "iota" or extent is not Extent.FULL or base.dtype not in (
                DType.I32, DType.U32):
            return False
        strides = tuple(int(i == base.node.attrs["dim"]) for i in range(len(base.shape)))
        view = self.roots.inside(View(0, base.shape, strides), chain)
        found = None if view is None else view.reshape(dims)
        return found is not None and all(
            size == 1 or stride == int(i == len(dims) - 1)
            for i, (size, stride) in enumerate(zip(dims, found.strides, strict=True)))
