"""From a group of nodes to a cluster: its space, what it reads, what it writes."""

from __future__ import annotations

from celosia.arch.isa import MatmulFormat
from celosia.compiler.errors import CompileError
from celosia.compiler.groups import Group
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.lowered import Access, Cluster, Convolution, Dot, Read, Write
from celosia.compiler.lowering.scope import Scope, source_text
from celosia.compiler.views import View
from celosia.graph import DType, Node, Trait, Value, having

__all__ = ["cluster"]

_IN_ORDER = having(Trait.IN_ORDER)

_FORMATS = {DType.BF16: MatmulFormat.BF16, DType.I8: MatmulFormat.INT8}


class _Clusters:
    def __init__(self, scope: Scope, group: Group):
        self.scope, self.group = scope, group
        self.dims = self._dims()
        self.order, self.kept = self._order()
        self.inside: dict[Node, None] = {}
        self.reads: dict[Value, Read] = {}

    def _dims(self) -> tuple[int, ...]:
        """Sizes of the space, before its rows are put into another order."""
        space, product = self.group.space, self.group.product
        if product is None:
            return (1, space.lanes) if not space.cuts else space.dims
        shape = product.result.shape
        if product.op == "convolution":
            return shape
        rows = list(space.row_dims)
        if shape[0] == 1:
            return (1, *rows, shape[-1])
        below = [cut for cut in space.cuts if cut <= shape[1]] if shape[1] > 1 else []
        inner = len(below)
        outer = rows[:len(rows) - inner]
        batch = 1
        for size in outer:
            batch *= size
        assert batch == shape[0], (space, shape)
        return (batch, *rows[len(rows) - inner:], shape[-1])

    def _order(self) -> tuple[tuple[int, ...], int]:
        """Order of the dimensions, and how many of the rows are kept where rows are joined."""
        rows = len(self.dims) - 1
        joined = self.group.joined
        if joined is None:
            return tuple(range(rows + 1)), rows
        reduced, step = set(), 1
        for i in reversed(range(rows)):
            low, step = step, step * self.dims[i]
            if any(first <= low and step <= last for first, last in joined) and self.dims[i] > 1:
                reduced.add(i)
        if self.group.product is not None:
            first = min(reduced, default=rows)
            reduced |= set(range(first, rows))
        kept = [i for i in range(rows) if i not in reduced]
        return (*kept, *sorted(reduced), rows), len(kept)

    def make(self) -> Cluster:
        group, scope = self.group, self.scope
        for node in group.nodes:
            for value in node.operands:
                if node is not group.product:
                    self._operand(node, value)
            self.inside[node] = None
        product = None
        if group.product is not None:
            node = group.product
            product = self._dot(node) if node.op == "dot" else self._convolution(node)
        writes = tuple(self._write(node.result) for node in group.nodes
                       if node.result in scope.needed)
        first = group.product or group.nodes[-1]
        return Cluster(tuple(self.dims[i] for i in self.order), self.kept, product,
                       group.product.result if group.product else None,
                       tuple(node for node in self.inside if node is not group.product),
                       tuple(self.reads.values()), writes, source_text(first))

    def _operand(self, node: Node, value: Value) -> None:
        base, chain = self.scope.roots.base(value)
        # A reduction's start is what changes nothing.
        if node.op == "reduce" and value != node.operands[0]:
            return
        extent = self.group.extents[node]
        free = (base.node.op == "constant" and base.node.attrs["value"].is_splat
                or self.scope.is_lane_index(value, self.dims, extent))
        if base.node in self.group.extents or (free and all(
                view.op in _IN_ORDER for view in chain)):
            for view in (base.node, *chain):
                if view is not self.group.product:
                    self.inside.setdefault(view)
        elif value not in self.reads:
            self.reads[value] = self._read(value, extent, node)

    def _read(self, value: Value, extent: Extent, node: Node) -> Read:
        dims = self.dims if extent is Extent.FULL else self.dims[:-1]
        access = self.scope.get(value)
        # A single element goes with any space.
        alone = Access(access.tensor, View(access.view.offset, (), ()), access.base)
        if value.type.size == 1:
            return Read(value, Extent.SCALAR, alone)
        access = self.scope.reshaped(access, dims, node)
        if extent is Extent.FULL and access.view.strides[-1] not in (0, 1) and dims[-1] != 1:
            access = self.scope.reshaped(self.scope.copied(access, node), dims, node)
        view = access.view
        rows = any(stride for size, stride in zip(self.dims[:-1], view.strides, strict=False)
                   if size != 1)
        lanes = extent is Extent.FULL and dims[-1] != 1 and view.strides[-1] != 0
        order = self.order if extent is Extent.FULL else self.order[:-1]
        # With a single row there is no difference: FULL is the simplest, but with the sums of a
        # product factors and terms of columns are to go into one instruction.
        full = lanes and not self.group.space.cuts and self.group.product is None
        if full or (rows and extent is Extent.FULL and (lanes or dims[-1] == 1)):
            return Read(value, Extent.FULL, Access(access.tensor, view.transpose(order),
                                                   access.base))
        if rows:
            shown = View(view.offset, view.shape[:len(self.dims) - 1],
                         view.strides[:len(self.dims) - 1])
            return Read(value, Extent.ROWS, Access(
                access.tensor, shown.transpose(self.order[:-1]), access.base))
        if lanes:
            return Read(value, Extent.LANES, Access(
                access.tensor, View(view.offset, view.shape[-1:], view.strides[-1:]), access.base))
        alone = Access(access.tensor, View(view.offset, (), ()), access.base)
        return Read(value, Extent.SCALAR, alone)

    def _write(self, value: Value) -> Write:
        group = self.group
        scope_outputs = self.scope.graph.outputs
        tensor = self.scope.result(value)
        view = View.contiguous(tensor.shape)
        node = value.node
        extent = group.result_extent(node)
        shape = tuple(self.dims[i] for i in self.order)
        if extent is None:
            lanes = value.type.size // max(_product(shape[:self.kept]), 1)
            extent = Extent.FULL if lanes != 1 or (self.dims[-1] == 1) else Extent.ROWS
            wanted = shape[:self.kept] + (shape[-1:] if extent is Extent.FULL else ())
            shown = view.reshape(wanted)
        elif extent is Extent.ROWS:
            shown = view.reshape(self.dims[:-1])
            shown = shown and shown.transpose(self.order[:-1])
        else:
            shown = view.reshape(self.dims)
            shown = shown and shown.transpose(self.order)
        assert shown is not None, (value, self.dims)
        if value not in scope_outputs and value.type.size:
            # As a matrix, as it may lie on chip.
            tensor.shape = ((value.type.size, 1) if extent is Extent.ROWS
                            else (value.type.size // self.dims[-1], self.dims[-1]))
        return Write(value, extent, Access(tensor, shown))

    def _format(self, node: Node) -> MatmulFormat:
        dtype = node.operands[0].dtype
        config = self.scope.tensors.config
        if dtype not in _FORMATS:
            raise CompileError(f"{node.source}: {node.op} must be of bf16 or i8, not {dtype}")
        name = "bf16" if dtype is DType.BF16 else "int8"
        if name not in config.formats:
            raise CompileError(f"{node.source}: {node.op} of {dtype} needs a chip with {name}; "
                               f"{config.name} has {', '.join(config.formats)}")
        return _FORMATS[dtype]

    def _dot(self, node: Node) -> Dot:
        (left, right), = node.attrs["contract"]
        lhs = self.scope.get(node.operands[0])
        rhs = self.scope.get(node.operands[1])
        order = (0, 1, 2) if left == 2 else (0, 2, 1)
        lhs = self._streamed(Access(lhs.tensor, lhs.view.transpose(order), lhs.base), node)
        order = (0, 1, 2) if right == 1 else (0, 2, 1)
        rhs = self._streamed(Access(rhs.tensor, rhs.view.transpose(order), rhs.base), node)
        return Dot(self._format(node), lhs, rhs)

    def _streamed(self, access: Access, node: Node) -> Access:
        """Return an operand that can be loaded row after row, copied if it must be."""
        shape, strides = access.view.shape, access.view.strides
        good = any(shape[i] == 1 or strides[i] == 1 for i in (1, 2))
        if not good or access.base is not None or min(strides, default=0) < 0:
            return self.scope.copied(access, node)
        return access

    def _convolution(self, node: Node) -> Convolution:
        x, w = (self.scope.get(value) for value in node.operands)
        if x.base is not None or (x.view.shape[-1] != 1 and x.view.strides[-1] != 1) or min(
                x.view.strides) < 0:
            x = self.scope.copied(x, node)
        if w.base is not None or (w.view.shape[-1] != 1 and w.view.strides[-1] != 1):
            w = self.scope.copied(w, node)
        attrs = node.attrs
        return Convolution(self._format(node), x, w, attrs["stride"], attrs["w_dilation"])


def _product(sizes: tuple[int, ...]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total


def cluster(scope: Scope, group: Group) -> Cluster:
    """Return the cluster of a group; copies that it needs come to the scope's work before it."""
    return _Clusters(scope, group).make()
