"""Sums, maxima and orders of integers of 64 bits.

What is joined otherwise is joined by a body (`celosia.frontend.stablehlo.folds`) before this.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from celosia.frontend.wide.words import Arithmetic, Unfit, Wide
from celosia.graph import DType, Node, Value, constant, op, splat
from celosia.graph.operations.elementwise import BITWISE, neutral

__all__ = ["all_reduce", "arg_reduce", "convolution", "dot", "number_of", "reduce",
           "reduce_window", "scatter", "sort", "top_k"]

_EXTREMES = ("maximum", "minimum")


def number_of(x: Value | Wide) -> int | None:
    """Return the number that all elements of a constant are; None if they are not one."""
    if isinstance(x, Wide):
        low, high = number_of(x.low), number_of(x.high)
        found = None if low is None or high is None else high << 32 | low
        return found if found is None or not x.signed or found < 1 << 63 else found - (1 << 64)
    node = x.node
    while node.op in ("broadcast", "reshape"):
        node = node.operands[0].node
    if node.op == "constant" and node.attrs["value"].is_splat:
        return int(node.attrs["value"].numpy.reshape(-1)[0])
    return None


def _neutral(a: Arithmetic, name: str, dtype: DType) -> Value:
    return constant(neutral(name, dtype), source=a.source)


def _extremes(a: Arithmetic, name: str, x: Wide, join: Callable[[Value], Value],
              back: Callable[[Value], Value]) -> Wide:
    """Return maxima or minima: of the high words, and of the low ones that are beside them.

    ``join`` makes those of words, ``back`` brings them to where they are of.
    """
    top = join(a.ordered(x))
    beside = a.compare("eq", a.ordered(x), back(top))
    none = splat(neutral(name, DType.U32), x.low.type, a.source)
    return Wide(join(a("select", beside, x.low, none)), a.bits(top), x.signed)


def reduce(a: Arithmetic, node: Node, x: Wide, initial: Wide) -> Wide:
    """Return the elements along dimensions as one."""
    name, dims = node.attrs["reducer"], node.attrs["dims"]
    kept = [dim for dim in range(len(x.shape)) if dim not in dims]
    if name in BITWISE:
        return Wide(*(a("reduce", *pair, dims=dims, reducer=name) for pair in (
            (x.low, initial.low), (x.high, initial.high))), signed=x.signed)

    def join(words: Value) -> Value:
        return a("reduce", words, _neutral(a, name, words.dtype), dims=dims, reducer=name)

    count = math.prod(x.shape[dim] for dim in dims)
    shape = node.types[0].shape
    begin = a.broadcast(initial, shape)
    if name in _EXTREMES:
        found = _extremes(a, name, x, join, lambda top: a("broadcast", top, shape=x.shape,
                                                          dims=kept))
        return a.extreme(name, found, begin) if count else begin
    if name == "add":
        return a.add(a.summed(x, count, join), begin)
    raise Unfit(f"64-bit elements must not be reduced by {name} as such")


def reduce_window(a: Arithmetic, node: Node, x: Wide, initial: Wide) -> Wide:
    """Return each window as one."""
    attrs = dict(node.attrs)
    name = attrs["reducer"]
    if name in BITWISE:
        return Wide(*(a("reduce_window", *pair, **attrs) for pair in (
            (x.low, initial.low), (x.high, initial.high))), signed=x.signed)
    if name != "add" or number_of(initial) != 0:
        raise Unfit(f"windows of 64-bit elements must be summed, from 0, not reduced by {name}")
    zero = constant(neutral("or", DType.U32), source=a.source)
    return a.summed(x, math.prod(attrs["window"]),
                    lambda words: a("reduce_window", words, zero, **attrs))


def arg_reduce(a: Arithmetic, node: Node, x: Value | Wide, index: Value | Wide,
               initial: Value | Wide, initial_index: Value | Wide) -> list[Value | Wide]:
    """Return the greatest or least elements and their indices, which are those of an array."""
    attrs, wide_index = dict(node.attrs), isinstance(index, Wide)
    if isinstance(index, Wide):
        if not _counts(node.operands[1]):
            raise Unfit("indices of 64 bits must be known (iota)")
        index = a.signed(index.low)
    if isinstance(initial_index, Wide):
        initial_index = a.clipped(initial_index)
    if not isinstance(x, Wide):
        assert isinstance(initial, Value)
        made = Node("arg_reduce", (x, index, initial, initial_index), attrs, (), a.source)
        best, place = made.results
    else:
        assert isinstance(initial, Wide)
        best, place = _arg_reduce(a, node, x, index, initial, initial_index)
    signed = node.types[1].dtype.is_signed
    return [best, a.extended(place, signed) if wide_index else place]


def _counts(value: Value) -> bool:
    """Whether it is plain to see that indices fit 32 bits."""
    node = value.node
    while node.op in ("broadcast", "reshape", "transpose", "slice"):
        node = node.operands[0].node
    if node.op == "constant":
        numbers, info = node.attrs["value"].numpy, np.iinfo(np.int32)
        return bool(((numbers >= info.min) & (numbers <= info.max)).all())
    return node.op == "iota"


def _arg_reduce(a: Arithmetic, node: Node, x: Wide, index: Value, initial: Wide,
                initial_index: Value) -> tuple[Wide, Value]:
    dims = node.attrs["dims"]
    name = "maximum" if node.attrs["reducer"] == "argmax" else "minimum"
    kept = [dim for dim in range(len(x.shape)) if dim not in dims]
    shape = node.types[0].shape
    begin = a.broadcast(initial, shape)
    count = math.prod(x.shape[dim] for dim in dims)

    def join(words: Value) -> Value:
        return a("reduce", words, _neutral(a, name, words.dtype), dims=dims, reducer=name)

    def back(words: Value) -> Value:
        return a("broadcast", words, shape=x.shape, dims=kept)

    best = a.extreme(name, _extremes(a, name, x, join, back), begin) if count else begin
    best_back = Wide(back(best.low), back(best.high), best.signed)
    most = _neutral(a, "minimum", index.dtype)
    places = a("select", a.compared("eq", x, best_back), index,
               a("broadcast", most, shape=x.shape) if x.shape else most)
    place = a("reduce", places, most, dims=dims, reducer="minimum")
    first = (a("broadcast", initial_index, shape=shape) if shape else initial_index)
    first = a("minimum", place, first)
    return best, a("select", a.compared("eq", begin, best), first, place)


def scatter(a: Arithmetic, node: Node, x: Wide, indices: Value, updates: Wide) -> Wide:
    """Return updates joined to elements."""
    attrs = dict(node.attrs)
    name = attrs.pop("reducer")

    def put(to: Value, update: Value, reducer: str = "set") -> Value:
        return a("scatter", to, indices, update, reducer=reducer, **attrs)

    if name in ("set", *BITWISE):
        return Wide(put(x.low, updates.low, name), put(x.high, updates.high, name), x.signed)
    if name == "add":
        count = math.prod(extent for dim, extent in enumerate(updates.shape)
                          if dim not in attrs["window_dims"])
        zeros = a.full(0, x.low.type)
        return a.add(x, a.summed(updates, count, lambda digit: put(zeros, digit, "add")))
    raise Unfit(f"64-bit updates must be added or set, not joined by {name} as such")


def all_reduce(a: Arithmetic, node: Node, x: Wide) -> Wide:
    """Return what devices make of their elements together."""
    attrs, name = dict(node.attrs), node.attrs["reducer"]

    def join(words: Value) -> Value:
        return a(node.op, words, **attrs)

    if name in BITWISE:
        return a.each(node.op, x, **attrs)
    if name == "add":
        return a.summed(x, max(map(len, attrs["groups"])), join)
    if name in _EXTREMES and node.op == "all_reduce":
        return _extremes(a, name, x, join, lambda top: top)
    raise Unfit(f"64-bit elements of several devices must not be joined by {name}")


def _digits(a: Arithmetic, x: Value | Wide, signed: bool) -> list[Value]:
    """Return numbers as eight digits of 8 bits, U8, the least first."""
    x = x if isinstance(x, Wide) else a.extended(x, signed)
    return [a("convert", a("and", a("shift_right", word, at), 0xFF), dtype=DType.U8)
            for word in (x.low, x.high) for at in (0, 8, 16, 24)]


def _of_digits(a: Arithmetic, node: Node, x: Value | Wide, y: Value | Wide, count: int) -> Wide:
    """Return sums of ``count`` products each, by those of digits."""
    if count > 1 << 16:
        raise Unfit(f"sums of products of 64-bit elements must be of at most 2**16, not {count}")
    attrs = {**node.attrs, "dtype": DType.U32}
    signed = node.types[0].dtype.is_signed
    left, right = (_digits(a, each, signed) for each in (x, y))
    total: Wide | None = None
    for place in range(8):
        for i in range(place + 1):
            part = a.extended(a(node.op, left[i], right[place - i], **attrs), signed)
            part = a.shifted("shift_left", part, 8 * place)
            total = part if total is None else a.add(total, part)
    assert total is not None
    return total


def dot(a: Arithmetic, node: Node, x: Value | Wide, y: Value | Wide) -> Value | Wide:
    """Return sums of products."""
    return _narrowed(a, node, _of_digits(a, node, x, y, math.prod(
        node.operands[0].shape[i] for i, _ in node.attrs["contract"])))


def convolution(a: Arithmetic, node: Node, x: Value | Wide, w: Value | Wide) -> Value | Wide:
    """Return sums of products of windows."""
    outputs = node.operands[1].shape[node.attrs["layout"].w.index("o")]
    return _narrowed(a, node, _of_digits(a, node, x, w, math.prod(
        node.operands[1].shape) // max(outputs, 1)))


def _narrowed(a: Arithmetic, node: Node, found: Wide) -> Value | Wide:
    dtype = node.types[0].dtype
    if dtype in (DType.I64, DType.U64):
        return found
    return found.low if dtype is DType.U32 else a("convert", found.low, dtype=dtype)


def sort(a: Arithmetic, node: Node, *xs: Value | Wide) -> list[Value | Wide]:
    """Return operands in the order of keys, of which one of two words is two."""
    flat: list[Value] = []
    keys = 0
    for i, x in enumerate(xs):
        parts = [a.ordered(x), x.low] if isinstance(x, Wide) else [x]
        flat += parts
        keys += len(parts) if i < node.attrs["keys"] else 0
    attrs = {**node.attrs, "keys": keys}
    rest = iter(Node("sort", flat, attrs, (), a.source).results)
    found: list[Value | Wide] = []
    for x in xs:
        if isinstance(x, Wide):
            high = a.bits(next(rest))
            found.append(Wide(next(rest), high, x.signed))
        else:
            found.append(next(rest))
    return found


def top_k(a: Arithmetic, node: Node, x: Wide) -> list[Value | Wide]:
    """Return the greatest elements along the last dimension, and where they were."""
    shape, last = x.shape, len(x.shape) - 1
    places = op("iota", dtype=DType.I32, shape=shape, dim=last, source=a.source)
    high, low, index = Node("sort", (a.ordered(x), x.low, places),
                            {"dim": last, "keys": 2, "descending": True}, (), a.source).results
    k = node.attrs["k"]

    def first(words: Value) -> Value:
        return a("slice", words, start=(0,) * len(shape), limit=(*shape[:-1], k),
                 stride=(1,) * len(shape))

    return [Wide(first(low), first(a.bits(high)), x.signed), first(index)]
