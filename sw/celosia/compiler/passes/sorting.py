"""Sorts as bitonic networks of elementwise operations, along any dimension, of many rows at once.

Every operand is brought along: a step compares the elements of each pair of places that are a
distance apart, and exchanges what stands in the wrong order. Keys are integers in the order that is
wanted, the last of them the place where an element was: so no two are equal, and the network, which
by itself is not stable, is.

Elements far apart are whole pieces of rows. Those that are nearer than a row of lanes would be
pairs of lanes, so for them the lowest places become the first dimension, and back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from celosia.compiler.builder import Builder
from celosia.compiler.passes.reductions import MOST_MAXIMA, ordered, totally_ordered
from celosia.graph import Graph, Node, Value, rewrite
from celosia.graph.spread import spread

__all__ = ["MOST_SORTED", "sorting"]

#: Elements along the dimension that are sorted on the chip at most; the network grows with them.
MOST_SORTED = 4096
#: Places that are the first dimension where pairs are nearer than this.
_NEAR = 16


def sorting(graph: Graph) -> Graph:
    """Return the graph with sorts that are not too long as networks."""
    return rewrite(graph, _replace)


def _replace(node: Node) -> tuple[Value, ...] | None:
    b = Builder(node.source)
    if node.op in ("sort", "sort_by"):
        return _sort(b, node)
    return _top_k(b, node) if node.op == "top_k" else None


def _sort(b: Builder, node: Node) -> tuple[Value, ...] | None:
    dim, shape = node.attrs["dim"], node.operands[0].shape
    if shape[dim] > MOST_SORTED:
        return None
    if shape[dim] < 2 or not math.prod(shape):
        return node.operands
    if node.op == "sort_by":
        return _Network(b, shape, dim, node.regions[0]).run((), node.operands)
    keys = [ordered(b, x) for x in node.operands[:node.attrs["keys"]]]
    if node.attrs["descending"]:
        keys = [b("not", key) for key in keys]
    return _Network(b, shape, dim).run(keys, node.operands)


def _top_k(b: Builder, node: Node) -> tuple[Value, ...] | None:
    [x], k = node.operands, node.attrs["k"]
    last = x.type.rank - 1
    if not MOST_MAXIMA < k <= MOST_SORTED or x.shape[last] > MOST_SORTED or not x.type.size:
        return None
    places = b.iota(x.shape, last)
    found = _Network(b, x.shape, last).run([b("not", totally_ordered(b, x)[1])], (x, places))
    values, indices = (b.part(each, last, 0, k) for each in found)
    return values, indices


class _Network:
    """The network for a dimension of a shape.

    Arrays are (outer, places, inner) in it, as they lie in memory; ``count`` places, a power of
    two. Their order is that of keys, or ``less`` says it of two elements of each.
    """

    def __init__(self, b: Builder, shape: Sequence[int], dim: int, less: Graph | None = None):
        self.b, self.shape, self.length, self.less = b, tuple(shape), shape[dim], less
        self.outer, self.inner = math.prod(shape[:dim]), math.prod(shape[dim + 1:])
        self.count = 1 << (self.length - 1).bit_length()
        #: Places nearer than this are the first dimension while they are compared.
        self.near = 1 if self.inner >= _NEAR else min(_NEAR, self.count)

    def run(self, keys: Sequence[Value], xs: Sequence[Value]) -> tuple[Value, ...]:
        """Return ``xs`` in the order of the keys, i32; equal ones in the order that they have."""
        places = self.b.iota((self.outer, self.length, self.inner), 1)
        arrays = [*(self._rows(key, np.iinfo(np.int32).max) for key in keys),
                  self._rows(places, np.iinfo(np.int32).max), *(self._rows(x, 0) for x in xs)]
        self.keys = len(keys) + 1
        size = 2
        if self.near > 1:
            arrays = self._turned(arrays)
            while size <= self.near:
                arrays = self._merged_near(arrays, size, size // 2)
                size *= 2
            arrays = self._back(arrays)
        while size <= self.count:
            distance = size // 2
            while distance >= self.near:
                arrays = self._exchanged(arrays, (self.outer, self.count // (2 * distance), 2,
                                                  distance * self.inner), 2,
                                         self._downward(size, 2 * distance), 1)
                distance //= 2
            if distance:
                arrays = self._back(self._merged_near(self._turned(arrays), size, distance))
            size *= 2
        return tuple(self.b.reshape(self.b.part(
            self.b.reshape(x, self.outer, self.count, self.inner), 1, 0, self.length), *self.shape)
            for x in arrays[self.keys:])

    def _rows(self, x: Value, beyond: int) -> Value:
        """Return an operand as (outer, places, inner), with places up to a power of two."""
        b, missing = self.b, self.count - self.length
        x = b.reshape(x, self.outer, self.length, self.inner)
        other = b.constant(np.asarray(beyond).astype(x.dtype.numpy))
        return b.pad(x, other, (0, 0, 0), (0, missing, 0))

    def _downward(self, size: int, width: int) -> Value | None:
        """Return of each block of ``width`` places whether it is to descend.

        Of two neighbours of ``size`` places that are merged next, the second is; None: none is.
        """
        if size == self.count:
            return None
        starts = np.arange(0, self.count, width)
        return self.b.constant((starts & size) != 0)

    def _turned(self, arrays: Sequence[Value]) -> list[Value]:
        """Return arrays with the lowest places first: (near, outer, places / near, inner)."""
        b, shape = self.b, (self.outer, self.count // self.near, self.near, self.inner)
        return [b.transpose(b.reshape(x, *shape), (2, 0, 1, 3)) for x in arrays]

    def _back(self, arrays: Sequence[Value]) -> list[Value]:
        b, shape = self.b, (self.near, self.outer, self.count // self.near, self.inner)
        return [b.reshape(b.transpose(b.reshape(x, *shape), (1, 2, 0, 3)),
                          self.outer, self.count, self.inner) for x in arrays]

    def _merged_near(self, arrays: Sequence[Value], size: int, distance: int) -> list[Value]:
        """Return turned arrays after the steps of a merge from a distance on."""
        rows, high = self.near, self.count // self.near
        found = list(arrays)
        while distance:
            if size < rows:
                down, dim = self._low_downward(size, 2 * distance), 0
                shape = (rows // (2 * distance), 2, distance * self.outer * high * self.inner)
                found = self._exchanged(found, shape, 1, down, dim)
            else:
                shape = (rows // (2 * distance), 2, distance * self.outer, high, self.inner)
                found = self._exchanged(found, shape, 1, self._downward(size, rows), 3)
            distance //= 2
        return found

    def _low_downward(self, size: int, width: int) -> Value:
        return self.b.constant((np.arange(0, self.near, width) & size) != 0)

    def _exchanged(self, arrays: Sequence[Value], shape: tuple[int, ...], pair: int,
                   down: Value | None, dim: int) -> list[Value]:
        """Return arrays after one step.

        Parameters
        ----------
        shape, pair
            Where the dimension ``pair`` has the two places of each pair.
        down, dim
            Which pairs descend, along the dimension ``dim`` of the shape.
        """
        b = self.b
        whole = [b.reshape(x, *shape) for x in arrays]
        firsts, seconds = ([b.part(x, pair, i, i + 1) for x in whole] for i in (0, 1))
        swap = self._greater(firsts, seconds)
        if down is not None:
            swap = b("xor", swap, b.broadcast(down, swap.shape, [dim]))
        found = []
        for first, second in zip(firsts, seconds, strict=True):
            low, high = b("select", swap, second, first), b("select", swap, first, second)
            found.append(b.concatenate([low, high], pair))
        return found

    def _greater(self, firsts: Sequence[Value], seconds: Sequence[Value]) -> Value:
        """Return where the first of a pair belongs behind the second, by all keys."""
        b = self.b
        found = b.compare("gt", firsts[self.keys - 1], seconds[self.keys - 1])
        if self.less is not None:
            return self._behind(self.less, firsts, seconds, found)
        for key in reversed(range(self.keys - 1)):
            a, c = firsts[key], seconds[key]
            found = b("or", b.compare("gt", a, c), b("and", b.compare("eq", a, c), found))
        return found

    def _behind(self, less: Graph, firsts: Sequence[Value], seconds: Sequence[Value],
                later: Value) -> Value:
        """Return the same by a comparator; ``later`` is where the first has the later place."""
        b = self.b
        ahead, behind = (spread(less, (*xs, *ys), b.source)[0] for xs, ys in (
            (firsts[1:], seconds[1:]), (seconds[1:], firsts[1:])))
        found = b("or", behind, b("and", b("not", ahead), later))
        if self.count == self.length:
            return found
        # What fills the places up stays behind, whatever it would be compared as.
        there = [b.compare("lt", places, self.length) for places in (firsts[0], seconds[0])]
        return b("select", b("and", *there), found, later)
