"""Indexed: every gather and scatter is one of rows, a comparison with an iota, or a slice.

One window, as `jax.vmap` makes of a dynamic slice, is one from where registers say. Others are of
rows: what the vector unit gathers and scatters, x [R,C], i32 indices [K], K rows of C elements.
The indices of several dimensions, and of the elements of a window, become one number in plain
arithmetic, in range by construction: a gather's are clamped, and a scatter of rows gets one more
row for those that are not in x, which is cut off again.

A comparison is better where each row has an index of its own (``take_along_axis``, losses of
labels): there the gather is a sum of what is selected and the scatter a selection, in one walk over
x. A scatter that adds, as the gradient of an embedding, must not lose one of two rows with the same
index: it is a matmul with the one-hot rows, which are exact in bf16. (An infinity in an update
makes NaNs of other rows there.) Where no two have the same index, rows are gathered, joined, and
put back, whatever joins them. Otherwise what is not a sum of floats is, for each row, a reduction
of the updates whose index is that of the row, as long as there are not too many comparisons.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from celosia.compiler.builder import Builder, scalar_of
from celosia.compiler.passes.bounds import within
from celosia.graph import DType, Graph, Node, TensorType, Trait, Value, having, rewrite

__all__ = ["MOST_ONE_HOT", "MOST_REDUCED", "indexed", "is_row_gather", "is_row_scatter"]

#: Elements of a one-hot matrix at most; a longer scatter stays.
MOST_ONE_HOT = 1 << 24
#: Elements that are compared, selected and reduced at most; a longer scatter stays.
MOST_REDUCED = 1 << 20
_ELEMENTWISE = having(Trait.ELEMENTWISE)


def is_row_gather(node: Node) -> bool:
    """Whether a gather takes rows of a matrix."""
    x, indices = node.operands
    return (x.type.rank == 2 and indices.type.rank == 1 and indices.dtype is DType.I32
            and node.attrs["offset_dims"] == (1,) and node.attrs["collapsed"] == (0,)
            and node.attrs["start_map"] == (0,) and node.attrs["index_dim"] == 1
            and node.attrs["sizes"] == (1, x.shape[1]) and within(indices, x.shape[0]))


def is_row_scatter(node: Node) -> bool:
    """Whether a scatter puts rows into a matrix."""
    x, indices, updates = node.operands
    return (x.type.rank == updates.type.rank == 2 and indices.type.rank == 1
            and indices.dtype is DType.I32 and node.attrs["window_dims"] == (1,)
            and node.attrs["inserted"] == (0,) and node.attrs["start_map"] == (0,)
            and node.attrs["index_dim"] == 1 and x.shape[1] == updates.shape[1]
            and within(indices, x.shape[0]))


def indexed(graph: Graph) -> Graph:
    """Return the graph with gathers and scatters of rows only."""
    def replace(node: Node) -> tuple[Value, ...] | None:
        if node.op in ("gather", "scatter") and _is_one(node):
            found = _one(Builder(node.source), node)
            if found is not None:
                return (found,)
        if node.op == "gather" and not is_row_gather(node):
            return (_gather(Builder(node.source), node),)
        if node.op == "scatter" and not (is_row_scatter(node) and _stays(
                node, node.operands[2].shape[0], *node.operands[0].shape)):
            return (_scatter(Builder(node.source), node),)
        return None

    return rewrite(graph, replace)


def _is_one(node: Node) -> bool:
    """Whether a gather or scatter is of one window, and no row of a matrix."""
    indices, attrs = node.operands[1], node.attrs
    count = math.prod(extent for dim, extent in enumerate(indices.shape)
                      if dim != attrs["index_dim"])
    good = is_row_gather(node) if node.op == "gather" else is_row_scatter(node)
    return count == 1 and not attrs["x_batch"] and not good and node.operands[0].type.rank > 0


def _one(b: Builder, node: Node) -> Value | None:
    """Return a gather or scatter of one window as a slice from where registers say.

    None of a scatter of which it is not plain to see that the window is in x, or that joins it.
    """
    (x, indices, *rest), attrs = node.operands, node.attrs
    if node.op == "gather":
        window = list(attrs["sizes"])
    else:
        sizes = iter(rest[0].shape[dim] for dim in sorted(attrs["window_dims"]))
        window = [1 if dim in attrs["inserted"] else next(sizes) for dim in range(x.type.rank)]
    starts = [b.constant(0, DType.I32)] * x.type.rank
    numbers = b.reshape(indices, len(attrs["start_map"]))
    for i, dim in enumerate(attrs["start_map"]):
        starts[dim] = _element(b, numbers, i)
    if node.op == "gather":
        return b.reshape(b("dynamic_slice", x, *starts, sizes=window), *node.types[0].shape)
    inside = all(within(start, extent - size + 1)
                 for start, extent, size in zip(starts, x.shape, window, strict=True))
    if not inside or attrs["reducer"] != "set":
        return None
    return b("dynamic_update_slice", x, b.reshape(rest[0], *window), *starts)


def _element(b: Builder, x: Value, i: int) -> Value:
    """Return an element of a vector as a scalar, from what made it so far as that is plain."""
    node = x.node
    if node.op == "concatenate":
        for part in node.operands:
            if i < part.shape[0]:
                return _element(b, part, i)
            i -= part.shape[0]
    if node.op == "broadcast" and node.operands[0].type.size == 1:
        return b.reshape(node.operands[0])
    if node.op == "reshape" and x.type.size == 1:
        return b.reshape(node.operands[0])
    if node.op in _ELEMENTWISE:
        return b(node.op, *(_element(b, each, i) if each.type.rank else each
                            for each in node.operands), **node.attrs)
    return b.reshape(b.part(x, 0, i, i + 1))


def _joins_once(node: Node) -> bool:
    """Whether a scatter joins what is there, but each element with one update at most."""
    attrs = node.attrs
    shape = node.operands[1].shape
    count = math.prod(extent for dim, extent in enumerate(shape) if dim != attrs["index_dim"])
    return attrs["reducer"] != "set" and (attrs["unique"] or count == 1)


def _stays(node: Node, count: int, rows: int, width: int) -> bool:
    """Whether a scatter of ``count`` rows to a matrix is one: it sets them, or they are many."""
    name = node.attrs["reducer"]
    if name == "set" or _joins_once(node):
        return name == "set"
    if name == "add" and node.types[0].dtype.is_float:
        return count * rows > MOST_ONE_HOT
    return count * rows * width > MOST_REDUCED


class _Index(NamedTuple):
    """One dimension of x that is indexed: its index, in the shape of S, and its window."""

    dim: int
    start: Value
    window: int
    kept: bool


def _index(b: Builder, node: Node, window: dict[int, int], gone: tuple[int, ...],
           clamp: bool) -> tuple[tuple[int, ...], list[_Index]]:
    """Return the shape S of the indices, and what is indexed, in the order of dimensions."""
    x, indices = node.operands[:2]
    at, attrs = node.attrs["index_dim"], node.attrs
    if at == indices.type.rank:
        indices = b.reshape(indices, *indices.shape, 1)
    if indices.dtype is DType.U32:
        # Too large stays too large.
        indices = b.bitcast(b("minimum", indices, 0x7FFFFFFF), DType.I32)
    indices = b.convert(indices, DType.I32)
    shape = indices.shape[:at] + indices.shape[at + 1:]
    found = []
    for dim in range(x.type.rank):
        size = window[dim]
        if dim in attrs["start_map"]:
            i = attrs["start_map"].index(dim)
            start = b.reshape(b.part(indices, at, i, i + 1), *shape)
            if clamp:
                start = b("maximum", b("minimum", start, x.shape[dim] - size), 0)
        elif dim in attrs["x_batch"]:
            theirs = attrs["indices_batch"][attrs["x_batch"].index(dim)]
            start = b.iota(shape, theirs - (theirs > at))
        elif clamp or size == x.shape[dim]:
            continue
        else:
            start = b.full(0, TensorType(DType.I32, shape))
        found.append(_Index(dim, start, size, dim not in gone))
    return shape, found


def _linear(b: Builder, x: Value, shape: tuple[int, ...],
            index: list[_Index]) -> tuple[Value, Value | None]:
    """Return indices of rows in the shape S and windows, and where they are in x."""
    whole = shape + tuple(each.window for each in index if each.kept)
    total, inside = b.full(0, TensorType(DType.I32, whole)), None
    at = len(shape)
    step = math.prod(x.shape[each.dim] for each in index)
    for each in index:
        place = b.broadcast(each.start, whole, range(len(shape)))
        if each.kept:
            place = b("add", place, b.iota(whole, at))
            at += 1
        extent = x.shape[each.dim]
        step //= extent
        total = b("add", total, b("multiply", place, step))
        # Below 0 is far above as a number without a sign.
        good = b.compare("lt", b.bitcast(place, DType.U32), extent)
        inside = good if inside is None else b("and", inside, good)
    return total, inside


def _rows(b: Builder, x: Value, dims: list[int]) -> Value:
    """Return x as a matrix whose rows are the dimensions ``dims``."""
    rest = [dim for dim in range(x.type.rank) if dim not in dims]
    turned = b.transpose(x, [*dims, *rest])
    rows = math.prod(x.shape[dim] for dim in dims)
    return b.reshape(turned, rows, math.prod(x.shape[dim] for dim in rest))


def _one_each(x: Value, node: Node, shape: tuple[int, ...], index: list[_Index]) -> bool:
    """Whether every row of the batch has one index of its own."""
    batch = [each for each in index if each.dim in node.attrs["x_batch"]]
    return (bool(batch) and len(index) == len(batch) + 1
            and all(each.window == 1 for each in index)
            and math.prod(shape) == math.prod(x.shape[each.dim] for each in batch))


def _mask(b: Builder, node: Node, shape: tuple[int, ...],
          index: list[_Index]) -> tuple[Value, int]:
    """Return where x is indexed, one place for each row of the batch, and the dimension."""
    x = node.operands[0]
    [one] = [each for each in index if each.dim not in node.attrs["x_batch"]]
    # Each dimension of S is one of x, or has the extent 1.
    at = node.attrs["index_dim"]
    of = {theirs - (theirs > at): mine for mine, theirs in
          zip(node.attrs["x_batch"], node.attrs["indices_batch"], strict=True)}
    dims = [dim for dim in range(len(shape)) if dim in of]
    start = b.reshape(one.start, *(shape[dim] for dim in dims))
    order = sorted(range(len(dims)), key=lambda i: of[dims[i]])
    start = b.transpose(start, order)
    wide = b.broadcast(start, x.shape, sorted(of.values()))
    return b.compare("eq", wide, b.iota(x.shape, one.dim)), one.dim


def _gather(b: Builder, node: Node) -> Value:
    x, attrs = node.operands[0], node.attrs
    gone = attrs["collapsed"] + attrs["x_batch"]
    shape, index = _index(b, node, dict(enumerate(attrs["sizes"])), gone, True)
    dims = [each.dim for each in index]
    x = b.slice(x, [0] * x.type.rank, [extent if dim in dims else attrs["sizes"][dim]
                                       for dim, extent in enumerate(x.shape)])
    rest = [dim for dim in range(x.type.rank) if dim not in dims]
    if _one_each(x, node, shape, index) and x.type.size == node.operands[0].type.size:
        mask, dim = _mask(b, node, shape, index)
        reducer = "or" if x.dtype is DType.BOOL else "add"
        nothing = b.neutral(reducer, x.dtype)
        one = b("reduce", b("select", mask, x, b.like(nothing, x.type)), nothing, dims=[dim],
                reducer=reducer)
        # What is left of x, those of the batch in the order of S first.
        left = [each for each in range(x.type.rank) if each != dim]
        batch = sorted(attrs["x_batch"],
                       key=lambda each: attrs["indices_batch"][attrs["x_batch"].index(each)])
        found = b.transpose(one, [left.index(each) for each in [*batch, *rest]])
    else:
        total, _ = _linear(b, x, shape, index)
        table = _rows(b, x, dims)
        found = b("gather", table, b.reshape(total, total.type.size), offset_dims=[1],
                  collapsed=[0], start_map=[0], index_dim=1, sizes=[1, table.shape[1]])
    # Now: S, windows of what is indexed, the rest; some of them of extent 1 and gone.
    kept = [each.dim for each in index if each.kept] + [dim for dim in rest if dim not in gone]
    found = b.reshape(found, *shape, *(attrs["sizes"][dim] for dim in kept))
    offset = iter(sorted(kept))
    others = iter(range(len(shape)))
    order = [len(shape) + kept.index(next(offset)) if dim in attrs["offset_dims"]
             else next(others) for dim in range(node.types[0].rank)]
    return b.transpose(found, order)


def _scatter(b: Builder, node: Node) -> Value:
    x, _, updates = node.operands
    attrs, name = node.attrs, node.attrs["reducer"]
    gone = attrs["inserted"] + attrs["x_batch"]
    window = dict.fromkeys(range(x.type.rank), 1)
    left = [dim for dim in range(x.type.rank) if dim not in gone]
    window |= dict(zip(left, (updates.shape[dim] for dim in sorted(attrs["window_dims"])),
                       strict=True))
    shape, index = _index(b, node, window, gone, False)
    dims = [each.dim for each in index]
    rest = [dim for dim in range(x.type.rank) if dim not in dims]
    # Dimensions of the updates: S, windows of what is indexed, the rest.
    of = dict(zip(left, sorted(attrs["window_dims"]), strict=True))
    kept = [each.dim for each in index if each.kept]
    order = [dim for dim in range(updates.type.rank) if dim not in attrs["window_dims"]]
    last = [of[dim] for dim in rest if dim in of]
    if _one_each(x, node, shape, index):
        turned = b.transpose(updates, order + [of[dim] for dim in kept] + last)
        return _select(b, node, turned, shape, index)
    total, inside = _linear(b, x, shape, index)
    table, count = _rows(b, x, dims), total.type.size
    rows, width = table.shape
    if inside is not None:
        total = b("select", inside, total, b.full(rows, total.type))
        # Nothing changes, and now it is plain to see.
        total = b("maximum", b("minimum", total, rows), 0)
    # Rows in the order of the updates: the last of one place stays.
    now = order + [of[dim] for dim in kept]
    total = b.reshape(b.transpose(total, [now.index(dim) for dim in sorted(now)]), count)
    turned = b.reshape(b.transpose(updates, sorted(now) + last), count, width)
    once = _joins_once(node)
    if not once and not _stays(node, count, rows, width):
        join = _add if name == "add" and x.dtype.is_float else _reduced
        found = join(b, name, table, total, turned)
    else:
        padded = b.pad(table, b.constant(table.dtype.numpy.type(0)), (0, 0), (1, 0))
        if once:
            there = b("gather", padded, total, offset_dims=[1], collapsed=[0], start_map=[0],
                      index_dim=1, sizes=[1, width])
            turned, name = b(name, there, turned), "set"
        found = b("scatter", padded, total, turned, window_dims=[1], inserted=[0], start_map=[0],
                  index_dim=1, reducer=name)
        found = b.slice(found, (0, 0), (rows, width))
    found = b.reshape(found, *(x.shape[dim] for dim in dims + rest))
    return b.transpose(found, [(dims + rest).index(dim) for dim in range(x.type.rank)])


def _reduced(b: Builder, name: str, table: Value, index: Value, updates: Value) -> Value:
    count, rows = updates.shape[0], table.shape[0]
    here = b.compare("eq", b.broadcast(index, (count, rows), [0]), b.iota((count, rows), 1))
    # Without a last dimension of one element, which would be alone in its row of lanes.
    width = table.shape[1:] if table.shape[1] > 1 else ()
    shape, dims = (count, rows, *width), [0, *range(2, 2 + len(width))]
    nothing = b.neutral(name, table.dtype)
    chosen = b("select", b.broadcast(here, shape, [0, 1]),
               b.broadcast(b.reshape(updates, count, *width), shape, dims),
               b.like(nothing, TensorType(table.dtype, shape)))
    found = b("reduce", chosen, nothing, dims=[0], reducer=name)
    return b(name, table, b.reshape(found, *table.shape))


def _add(b: Builder, name: str, table: Value, index: Value, updates: Value) -> Value:
    count, rows = updates.shape[0], table.shape[0]
    one_hot = b.compare("eq", b.broadcast(index, (count, rows), [0]), b.iota((count, rows), 1))
    sums = b("dot", b.convert(one_hot, DType.BF16), updates, dtype=DType.F32, contract=[(0, 0)],
             precision="highest")
    wide = b.convert(table, DType.F32)
    found = b("add", wide, sums)
    if scalar_of(table) is None:
        # A -0 that nothing is added to stays one.
        found = b("select", b.compare("eq", sums, 0.0), wide, found)
    return b.convert(found, table.dtype)


def _select(b: Builder, node: Node, updates: Value, shape: tuple[int, ...],
            index: list[_Index]) -> Value:
    """Return a scatter of one update for each row of the batch."""
    x, name = node.operands[0], node.attrs["reducer"]
    mask, dim = _mask(b, node, shape, index)
    attrs = node.attrs
    batch = sorted(attrs["x_batch"],
                   key=lambda each: attrs["indices_batch"][attrs["x_batch"].index(each)])
    rest = [each for each in range(x.type.rank) if each != dim and each not in batch]
    now = b.reshape(updates, *(x.shape[each] for each in batch + rest))
    now = b.transpose(now, [(batch + rest).index(each) for each in sorted(batch + rest)])
    wide = b.broadcast(now, x.shape, sorted(batch + rest))
    if name == "set":
        return b("select", mask, wide, x)
    nothing = b.neutral(name, x.dtype)
    if name == "add" and x.dtype.is_float:
        nothing = b.constant(x.dtype.numpy.type(-0.0))  # which leaves -0, too
    nothing = b.like(nothing, x.type)
    return b(name, x, b("select", mask, wide, nothing))
