"""Convolutions: one dense form for the array's streams, and matmuls or products for the rest.

Padding and dilation of x become a `pad` first, so a window's element lies at ``position * stride +
tap * dilation``, and what one tap or one position needs is a strided slice: a stream of the chip.

* A window of one element is a dot of a strided slice.
* Where there are more taps than positions of the window, as in weight gradients, whose window is
  an image: one dot for each position, over the slice of x below the window. Their sum over taps
  would load a tile of weights for a few rows; this one has long sums and few loads.
* Other convolutions stay: NHWC by HWIO, two spatial dimensions, groups and padding gone. It is a
  sum over taps of matmuls on strided slices (`stride`, `w_dilation`), which the chip streams as
  they lie; written out it would be a node for each tap, and the loop over them lost. One spatial
  dimension gets a second of extent 1; of three, the first is a sum over its taps.
* Groups become one convolution each; depthwise ones, which would use one column of the array,
  products and sums for the vector unit, over taps or positions, whichever are fewer.
"""

from __future__ import annotations

import math
from itertools import product
from typing import NamedTuple

from celosia.compiler.builder import Builder
from celosia.compiler.passes.dots import canonical_dot
from celosia.compiler.passes.products import is_native, native_products
from celosia.graph import DType, Graph, Node, Value, rewrite
from celosia.graph.operations.contract import ConvolutionLayout

__all__ = ["LAYOUT", "MOST_POSITIONS", "convolutions", "is_canonical_convolution"]

LAYOUT = "b01f_01io->b01f"
#: More dots than that for one weight gradient are no gain over a convolution of many taps.
MOST_POSITIONS = 64


def is_canonical_convolution(node: Node) -> bool:
    """Whether a convolution is of the one form that stays."""
    attrs = node.attrs
    if not (is_native(node) and str(attrs["layout"]) == LAYOUT and attrs["groups"] == 1
            and attrs["batch_groups"] == 1 and set(attrs["x_dilation"]) == {1}
            and set(attrs["padding"]) == {(0, 0)}):
        return False
    positions = math.prod(node.types[0].shape[1:3])
    taps = math.prod(node.operands[1].shape[:2])
    return 0 < node.types[0].size and taps > 1 and not _by_position(positions, taps)


def _by_position(positions: int, taps: int) -> bool:
    """Whether a dot for each position of the window is better than one for each tap."""
    return positions < min(taps, MOST_POSITIONS + 1)


def convolutions(graph: Graph) -> Graph:
    """Return the graph with all convolutions canonical, or made of dots and products."""
    def replace(node: Node) -> tuple[Value, ...] | None:
        if node.op != "convolution" or is_canonical_convolution(node):
            return None
        return (_Convolution(node).result(),)

    return rewrite(graph, replace)


class _Named(NamedTuple):
    """A tensor and a letter for each of its dimensions, as they are stored."""

    value: Value
    order: str

    def extent(self, letter: str) -> int:
        return self.value.shape[self.order.index(letter)]


class _Convolution:
    """Writes one convolution in other nodes."""

    def __init__(self, node: Node):
        self.node, self.attrs = node, node.attrs
        self.b = Builder(node.source)
        self.layout: ConvolutionLayout = node.attrs["layout"]
        self.spatial = self.layout.spatial
        of = dict(zip(self.layout.result, node.types[0].shape, strict=True))
        self.out = [of[letter] for letter in self.spatial]
        x, w = node.operands
        self.window = [w.shape[self.layout.w.index(letter)] for letter in self.spatial]
        self.taps, self.positions = math.prod(self.window), math.prod(self.out)

    def result(self) -> Value:
        """Return what stands for the node."""
        b, attrs = self.b, self.attrs
        groups, batch_groups = attrs["groups"], attrs["batch_groups"]
        x, w = self.node.operands
        inputs, outputs = (w.shape[self.layout.w.index(letter)] for letter in "io")
        if 0 in (self.taps, inputs) or not self.node.types[0].size:
            return b.full(0, self.node.types[0])
        if groups > 1 and inputs == 1:
            return self.depthwise()
        if batch_groups > 1 and batch_groups == outputs == x.shape[self.layout.x.index("b")]:
            return self.depthwise_by_batch()

        def make(x: Value, w: Value, dtype: DType) -> Value:
            image, kernel = self.padded(x), _Named(w, self.layout.w)
            parts = []
            for i in range(groups * batch_groups):
                split = "f" if groups > 1 else "b"
                parts.append(self.dense(self.share(image, split, i, groups * batch_groups),
                                        self.share(kernel, "o", i, groups * batch_groups), dtype))
            order = parts[0].order
            return self.ordered((b.concatenate([part.value for part in parts],
                                               order.index("f")), order))

        return native_products(self.node, make)

    def padded(self, x: Value) -> _Named:
        """Return x with its padding and dilation in memory."""
        low, high, interior = ([0] * x.type.rank for _ in range(3))
        for i, letter in enumerate(self.spatial):
            dim = self.layout.x.index(letter)
            low[dim], high[dim] = self.attrs["padding"][i]
            interior[dim] = self.attrs["x_dilation"][i] - 1
        return _Named(self.b.pad(x, 0, low, high, interior), self.layout.x)

    def share(self, x: _Named, letter: str, i: int, count: int) -> _Named:
        """Return part ``i`` of ``count`` along a dimension."""
        dim, size = x.order.index(letter), x.extent(letter) // count
        return _Named(self.b.part(x.value, dim, i * size, (i + 1) * size), x.order)

    def cut(self, x: _Named, at: tuple[int, ...], sizes: list[int],
            steps: tuple[int, ...]) -> _Named:
        """Return ``sizes`` elements of x from ``at`` on in the spatial dimensions."""
        value = x.value
        for i, letter in enumerate(self.spatial):
            last = at[i] + (sizes[i] - 1) * steps[i] + 1
            value = self.b.part(value, x.order.index(letter), at[i], last, steps[i])
        return _Named(value, x.order)

    def at_tap(self, x: _Named, tap: tuple[int, ...]) -> _Named:
        """Return what one tap of all windows sees."""
        at = tuple(t * d for t, d in zip(tap, self.attrs["w_dilation"], strict=True))
        return self.cut(x, at, self.out, self.attrs["stride"])

    def at_position(self, x: _Named, position: tuple[int, ...]) -> _Named:
        """Return what all taps of one window see."""
        at = tuple(p * s for p, s in zip(position, self.attrs["stride"], strict=True))
        return self.cut(x, at, self.window, self.attrs["w_dilation"])

    def ordered(self, x: tuple[Value, str]) -> Value:
        """Return a tensor with the dimensions of the result, in their order."""
        value, order = x
        return self.b.transpose(value, [order.index(letter) for letter in self.layout.result])

    def dense(self, x: _Named, w: _Named, dtype: DType) -> _Named:
        """Return the convolution without groups."""
        if self.taps == 1:
            x = self.at_tap(x, (0,) * len(self.spatial))
            kernel = [w.order.index(letter) for letter in "io"]
            flat = self.b.transpose(w.value, [*map(w.order.index, self.spatial), *kernel])
            w = _Named(self.b.reshape(flat, *flat.shape[-2:]), "io")
            return _Named(self.dot(x, w, "f", dtype), x.order.replace("f", "") + "f")
        if _by_position(self.positions, self.taps):
            found = []
            for position in product(*map(range, self.out)):
                part = self.at_position(x, position)
                one = self.dot(part, w, self.spatial + "f", dtype)
                found.append(self.b.reshape(one, 1, *one.shape))
            whole = self.b.concatenate(found, 0)
            shape = (*self.out, *whole.shape[1:])
            return _Named(self.b.reshape(whole, *shape), self.spatial + "bf")
        image = self.b.transpose(x.value, map(x.order.index, "b" + self.spatial + "f"))
        kernel = self.b.transpose(w.value, map(w.order.index, self.spatial + "io"))
        found = self.planes(image, kernel, self.attrs["stride"], self.attrs["w_dilation"], dtype)
        return _Named(found, "b" + self.spatial + "f")

    def dot(self, x: _Named, w: _Named, over: str, dtype: DType) -> Value:
        """Return sums over dimensions of x and those of w that belong to them."""
        pairs = [(x.order.index(letter), w.order.index("i" if letter == "f" else letter))
                 for letter in over]
        return canonical_dot(self.b("dot", x.value, w.value, dtype=dtype, contract=pairs).node)

    def planes(self, x: Value, w: Value, stride: tuple[int, ...], dilation: tuple[int, ...],
               dtype: DType) -> Value:
        """Return a convolution b..f by ..io as ones of two spatial dimensions."""
        b, rank = self.b, len(stride)
        if rank == 1:
            batch, extent, features = x.shape
            found = self.planes(b.reshape(x, batch, 1, extent, features), b.reshape(w, 1, *w.shape),
                                (1, *stride), (1, *dilation), dtype)
            return b.reshape(found, batch, *found.shape[2:])
        if rank == 2:
            found = b("convolution", x, w, dtype=dtype, layout=LAYOUT, stride=stride,
                      padding=[(0, 0)] * 2, x_dilation=(1, 1), w_dilation=dilation)
            # One plane of three dimensions may be better as dots.
            good = is_canonical_convolution(found.node)
            return found if good else _Convolution(found.node).result()
        terms = []
        count = self.out[len(self.out) - rank]
        for tap in range(w.shape[0]):
            first = tap * dilation[0]
            part = b.part(x, 1, first, first + (count - 1) * stride[0] + 1, stride[0])
            flat = b.reshape(part, part.shape[0] * count, *part.shape[2:])
            plane = b.reshape(b.part(w, 0, tap, tap + 1), *w.shape[1:])
            terms.append(self.planes(flat, plane, stride[1:], dilation[1:], dtype))
        total = b.join("add", terms)
        return b.reshape(total, x.shape[0], count, *total.shape[1:])

    def factors(self) -> tuple[Value, Value]:
        """Return the operands as they enter products of the vector unit."""
        found = []
        for x in self.node.operands:
            if x.dtype is DType.F32 and self.attrs["precision"] == "default":
                x = self.b.convert(x, DType.BF16)
            found.append(self.b.convert(x, DType.F32 if x.dtype.is_float else DType.I32))
        return found[0], found[1]

    def depthwise(self) -> Value:
        """Return a convolution of which each output feature needs one input feature."""
        b = self.b
        x, w = self.factors()
        order = "b" + self.spatial + "f"
        value = b.transpose(self.padded(x).value, map(self.layout.x.index, order))
        kernel = b.transpose(w, map(self.layout.w.index, self.spatial + "io"))
        kernel = b.reshape(kernel, *self.window, kernel.shape[-1])
        features = kernel.shape[-1]
        if value.shape[-1] != features:
            many = (*value.shape, features // value.shape[-1])
            value = b.reshape(b.broadcast(value, many, range(value.type.rank)),
                              *value.shape[:-1], features)
        image = _Named(value, order)
        if self.positions < self.taps:
            terms = []
            for position in product(*map(range, self.out)):
                part = self.at_position(image, position).value
                wide = b.broadcast(kernel, part.shape, range(1, part.type.rank))
                terms.append(self.summed(b("multiply", part, wide), range(1, part.type.rank - 1)))
            whole = b.concatenate([b.reshape(term, 1, *term.shape) for term in terms], 0)
            whole = b.reshape(whole, *self.out, *whole.shape[1:])
            return b.convert(self.ordered((whole, self.spatial + "bf")), self.attrs["dtype"])
        terms = []
        for tap in product(*map(range, self.window)):
            part = self.at_tap(image, tap).value
            line = b.slice(kernel, (*tap, 0), (*(t + 1 for t in tap), features))
            wide = b.broadcast(b.reshape(line, features), part.shape, [part.type.rank - 1])
            terms.append(b("multiply", part, wide))
        return b.convert(self.ordered((b.join("add", terms), order)), self.attrs["dtype"])

    def depthwise_by_batch(self) -> Value:
        """Return the weight gradient of a depthwise convolution: features are its batch."""
        b = self.b
        x, w = self.factors()
        order = "f" + self.spatial + "b"
        image = _Named(b.transpose(self.padded(x).value, map(self.layout.x.index, order)), order)
        kernel = b.transpose(w, map(self.layout.w.index, "i" + self.spatial + "o"))
        rank = kernel.type.rank
        if self.positions <= self.taps:
            terms = []
            for position in product(*map(range, self.out)):
                part = b("multiply", self.at_position(image, position).value, kernel)
                terms.append(b.reshape(self.summed(part, range(rank - 1)), 1, kernel.shape[-1]))
            whole = b.concatenate(terms, 0)
        else:
            terms = []
            for tap in product(*map(range, self.window)):
                part = self.at_tap(image, tap).value
                line = b.slice(kernel, (0, *tap, 0), (kernel.shape[0], *(t + 1 for t in tap),
                                                      kernel.shape[-1]))
                line = b.reshape(line, kernel.shape[0], kernel.shape[-1])
                terms.append(b("multiply", part, b.broadcast(line, part.shape, (0, rank - 1))))
            whole = self.summed(b.join("add", terms), [0])
        whole = b.reshape(whole, *self.out, 1, kernel.shape[-1])
        return b.convert(self.ordered((whole, self.spatial + "bf")), self.attrs["dtype"])

    def summed(self, x: Value, dims: range | list[int]) -> Value:
        """Return sums over dimensions."""
        return self.b("reduce", x, self.b.neutral("add", x.dtype), dims=dims, reducer="add")
