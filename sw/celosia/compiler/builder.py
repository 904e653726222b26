"""Writing expressions of graph operations in a few characters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

from celosia.graph import DType, Graph, TensorType, Value, constant, op, ops
from celosia.graph.build import NodeMaker
from celosia.graph.operations.elementwise import neutral

__all__ = ["Builder", "scalar_of"]


def scalar_of(value: Value) -> Any:
    """Return the one number that all elements of a constant are, a NumPy scalar; None if not."""
    node = value.node
    if node.op == "broadcast":
        node = node.operands[0].node
    if node.op == "constant" and node.attrs["value"].is_splat:
        return node.attrs["value"].numpy.reshape(-1)[0]
    return None


class Builder(NodeMaker):
    """Makes nodes for passes."""

    def all(self, name: str, *operands: Value, regions: Iterable[Graph] = (),
            **attrs: Any) -> tuple[Value, ...]:
        """Return all results of an operation."""
        return ops(name, *operands, regions=regions, source=self.source, **attrs)

    def constant(self, value: Any, dtype: DType | None = None) -> Value:
        """Return a constant."""
        return constant(value, dtype, self.source)

    def iota(self, shape: Sequence[int], dim: int, dtype: DType = DType.I32) -> Value:
        """Return 0, 1, 2 and so on along a dimension."""
        return op("iota", dtype=dtype, shape=shape, dim=dim, source=self.source)

    def reshape(self, x: Value, *shape: int) -> Value:
        """Return the same elements in another shape."""
        if x.shape == shape:
            return x
        return self("reshape" if x.type.rank else "broadcast", x, shape=shape)

    def transpose(self, x: Value, permutation: Iterable[int]) -> Value:
        """Return the dimensions in another order."""
        permutation = tuple(permutation)
        same = permutation == tuple(range(x.type.rank))
        return x if same else self("transpose", x, permutation=permutation)

    def broadcast(self, x: Value, shape: Sequence[int], dims: Iterable[int]) -> Value:
        """Return x with its dimensions at ``dims`` of ``shape``."""
        dims = tuple(dims)
        same = x.shape == tuple(shape) and dims == tuple(range(x.type.rank))
        return x if same else self("broadcast", x, shape=shape, dims=dims)

    def like(self, x: Value, type: TensorType) -> Value:
        """Return a scalar in a shape, or what has it already."""
        return x if x.shape == type.shape else self.broadcast(x, type.shape, ())

    def convert(self, x: Value, dtype: DType) -> Value:
        """Return the numbers as another type."""
        return x if x.dtype is dtype else self("convert", x, dtype=dtype)

    def bitcast(self, x: Value, dtype: DType) -> Value:
        """Return the bits as another type."""
        return x if x.dtype is dtype else self("bitcast", x, dtype=dtype)

    def compare(self, direction: str, a: Value, b: Value | float) -> Value:
        """Return where a is so to b."""
        return self("compare", a, b, direction=direction)

    def slice(self, x: Value, start: Sequence[int], limit: Sequence[int],
              stride: Sequence[int] | None = None) -> Value:
        """Return part of x."""
        stride = tuple(stride or (1,) * x.type.rank)
        whole = not any(start) and tuple(limit) == x.shape and set(stride) <= {1}
        return x if whole else self("slice", x, start=start, limit=limit, stride=stride)

    def part(self, x: Value, dim: int, start: int, limit: int, stride: int = 1) -> Value:
        """Return x with a part of one dimension."""
        starts, limits, strides = [0] * x.type.rank, list(x.shape), [1] * x.type.rank
        starts[dim], limits[dim], strides[dim] = start, limit, stride
        return self.slice(x, starts, limits, strides)

    def pad(self, x: Value, value: Value | float, low: Sequence[int], high: Sequence[int],
            interior: Sequence[int] | None = None) -> Value:
        """Return x with something around it, and between its elements."""
        interior = tuple(interior or (0,) * x.type.rank)
        if not any((*low, *high, *interior)):
            return x
        if not isinstance(value, Value):
            value = self.constant(value, x.dtype)
        return self("pad", x, value, low=low, high=high, interior=interior)

    def join(self, name: str, values: Sequence[Value]) -> Value:
        """Return the values joined by a binary operation, as a tree of little depth."""
        values = list(values)
        while len(values) > 1:
            pairs = [self(name, a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
            values = pairs + values[len(pairs) * 2:]
        return values[0]

    def concatenate(self, values: Sequence[Value], dim: int) -> Value:
        """Return the values one after another."""
        return values[0] if len(values) == 1 else self("concatenate", *values, dim=dim)

    def neutral(self, name: str, dtype: DType) -> Value:
        """Return the scalar that a reducer leaves what it joins with as it was."""
        return self.constant(neutral(name, dtype))

    def polynomial(self, x: Value, coefficients: Sequence[float]) -> Value:
        """Return the polynomial with the coefficients, that of the highest power first."""
        first = self.full(coefficients[0], x.type)
        return reduce(lambda sum, c: self("add", self("multiply", sum, x), c), coefficients[1:],
                      first)
