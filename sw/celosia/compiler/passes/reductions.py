"""Reductions: sums, maxima and minima of whole dimensions, which the vector unit has.

* The value that a reduction starts from is the one that changes nothing; any other is joined at
  the end.
* Products and exclusive ors, which the chip's reductions have not, halve the dimension until one
  element is left.
* `arg_reduce` is a maximum, a comparison with it, and the least index where that holds.
* `top_k` is so many maxima, of each the first that has it, which the next ones leave out.
* A window is joined dimension by dimension: shifted slices, or, from `LONG` elements on, windows of
  2, 4, 8 ... elements of which the window consists (a cumulative sum is one long window).
* The gradient of a maximum over windows finds the tap that each window took, as the interpreter
  does, and pads what each tap gets back to its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from celosia.arch.vector import ReduceOp
from celosia.compiler.builder import Builder, scalar_of
from celosia.graph import DType, Graph, Node, TensorType, Value, rewrite

__all__ = ["JOINS_F", "JOINS_I", "LONG", "MOST_MAXIMA", "MOST_TAPS", "REPLACED",
           "is_canonical_reduction", "reduced", "reductions"]

#: From this extent on a window is made of windows half as long.
LONG = 5
#: Of a greater k `top_k` stays, for the host.
MOST_MAXIMA = 64
#: A window of more elements than that keeps its select_and_scatter, for the host.
MOST_TAPS = 128
#: Reducers that the vector unit has, of floats and of integers.
JOINS_F = {"add": ReduceOp.SUM_F, "maximum": ReduceOp.MAX_F, "minimum": ReduceOp.MIN_F}
JOINS_I = {"add": ReduceOp.SUM_I, "maximum": ReduceOp.MAX_I, "minimum": ReduceOp.MIN_I,
           "and": ReduceOp.AND, "or": ReduceOp.OR}


def reductions(graph: Graph) -> Graph:
    """Return the graph with reductions as the vector unit has them."""
    def replace(node: Node) -> tuple[Value, ...] | None:
        rule = _RULES.get(node.op)
        return rule(Builder(node.source), node) if rule else None

    return rewrite(graph, replace)


def is_canonical_reduction(node: Node) -> bool:
    """Whether a `reduce` is of a reducer that there is, and starts from what changes nothing."""
    return (not node.operands[0].dtype.is_half and node.attrs["reducer"] in JOINS_I
            and _is_neutral(node.attrs["reducer"], node.operands[1]))


def _is_neutral(reducer: str, initial: Value) -> bool:
    number = scalar_of(initial)
    if number is None:
        return False
    # Also +0: it makes +0 of a sum of -0 only, and frameworks start from it.
    return bool(number == scalar_of(Builder(initial.node.source).neutral(reducer, initial.dtype)))


def _in_f32(b: Builder, dtype: DType, make: Callable[..., Value], *xs: Value) -> Value:
    """Return what ``make`` returns, of bf16 and f16 in fp32 and rounded once."""
    if not dtype.is_half:
        return make(*xs)
    return b.convert(make(*(b.convert(x, DType.F32) for x in xs)), dtype)


def _reduce(b: Builder, node: Node) -> tuple[Value, ...] | None:
    x, initial = node.operands
    name, dims = node.attrs["reducer"], node.attrs["dims"]
    if is_canonical_reduction(node) and dims and all(
            x.shape[dim] != 1 for dim in dims):
        return None
    neutral = _is_neutral(name, initial)

    def make(x: Value, initial: Value) -> Value:
        found = reduced(b, x, name, dims)
        if not neutral:
            found = b(name, found, b.like(initial, found.type))
        return found

    return (_in_f32(b, x.dtype, make, x, initial),)


def reduced(b: Builder, x: Value, name: str, dims: Sequence[int]) -> Value:
    """Return the elements along dimensions as one."""
    kept = [extent for dim, extent in enumerate(x.shape) if extent != 1 or dim not in dims]
    left = [dim for dim in dims if x.shape[dim] != 1]
    dims = [dim - sum(x.shape[other] == 1 for other in dims if other < dim) for dim in left]
    x = b.reshape(x, *kept)
    if not dims:
        return x
    if name in JOINS_I:
        return b("reduce", x, b.neutral(name, x.dtype), dims=dims, reducer=name)
    for dim in sorted(dims, reverse=True):
        if not x.shape[dim]:
            shape = x.shape[:dim] + (1,) + x.shape[dim + 1:]
            x = b.like(b.neutral(name, x.dtype), TensorType(x.dtype, shape))
        while x.shape[dim] > 1:
            half = x.shape[dim] // 2
            pair = b(name, b.part(x, dim, 0, half), b.part(x, dim, half, 2 * half))
            rest = b.part(x, dim, 2 * half, x.shape[dim])
            x = b.concatenate([pair, rest], dim) if rest.shape[dim] else pair
        x = b.reshape(x, *x.shape[:dim], *x.shape[dim + 1:])
    return x


def _arg_reduce(b: Builder, node: Node) -> tuple[Value, ...]:
    x, index, initial, initial_index = node.operands
    if x.dtype.is_half:
        x, initial = b.convert(x, DType.F32), b.convert(initial, DType.F32)
    dims = node.attrs["dims"]
    name = "maximum" if node.attrs["reducer"] == "argmax" else "minimum"
    best = reduced(b, x, name, dims)
    best = b(name, best, b.like(initial, best.type))
    kept = [dim for dim in range(x.type.rank) if dim not in dims]

    def wins(x: Value, best: Value) -> Value:
        same = b.compare("eq", x, best)
        # Also each NaN, which is why the best is one.
        return b("or", same, b.compare("ne", x, x)) if x.dtype.is_float else same

    last = b.neutral("minimum", index.dtype)
    places = b("select", wins(x, b.broadcast(best, x.shape, kept)), index,
               b.like(last, index.type))
    first = reduced(b, places, "minimum", dims)
    other = b("select", wins(b.like(initial, best.type), best),
              b.like(initial_index, first.type), b.like(last, first.type))
    return b.convert(best, node.types[0].dtype), b("minimum", first, other)


def _reduce_window(b: Builder, node: Node) -> tuple[Value, ...]:
    x, initial = node.operands
    name = node.attrs["reducer"]
    if not node.types[0].size:
        return (b.like(initial, node.types[0]),)
    neutral = _is_neutral(name, initial)

    def make(x: Value, initial: Value) -> Value:
        low, high = zip(*node.attrs["padding"], strict=True) if x.type.rank else ((), ())
        x = b.pad(x, initial, low, high, [each - 1 for each in node.attrs["x_dilation"]])
        for dim, count in enumerate(node.types[0].shape):
            x = _window(b, x, name, dim, count, *(
                node.attrs[each][dim] for each in ("window", "stride", "window_dilation")))
        return x if neutral else b(name, x, b.like(initial, x.type))

    return (_in_f32(b, x.dtype, make, x, initial),)


def _window(b: Builder, x: Value, name: str, dim: int, count: int, window: int, stride: int,
            dilation: int) -> Value:
    """Return windows along one dimension, each as one element."""
    def strided(x: Value, first: int) -> Value:
        return b.part(x, dim, first, first + (count - 1) * stride + 1, stride)

    if window < LONG:
        return b.join(name, [strided(x, tap * dilation) for tap in range(window)])
    terms, first, size = [], 0, 1
    while True:
        if window & size:
            terms.append(strided(x, first * dilation))
            first += size
        size *= 2
        if size > window:
            return b.join(name, terms)
        # Element i is now what was i and, half a window on, what is next.
        reach = size // 2 * dilation
        x = b(name, b.part(x, dim, 0, x.shape[dim] - reach), b.part(x, dim, reach, x.shape[dim]))


def _select_and_scatter(b: Builder, node: Node) -> tuple[Value, ...] | None:
    x, updates, initial = node.operands
    window, stride, padding = (node.attrs[name] for name in ("window", "stride", "padding"))
    taps = list(product(*map(range, window)))
    if len(taps) > MOST_TAPS or not updates.type.size:
        return None if updates.type.size else (b.like(initial, x.type),)
    low, high = zip(*padding, strict=True) if x.type.rank else ((), ())
    shape = [low[i] + x.shape[i] + high[i] for i in range(x.type.rank)]
    zero = b.constant(np.zeros((), x.dtype.numpy))
    image = b.pad(x, zero, [max(edge, 0) for edge in low], [max(edge, 0) for edge in high])
    image = b.slice(image, [max(-edge, 0) for edge in low],
                    [max(-edge, 0) + extent for edge, extent in zip(low, shape, strict=True)])

    def under(tap: tuple[int, ...]) -> Value:
        last = [t + (n - 1) * s + 1 for t, n, s in zip(tap, updates.shape, stride, strict=True)]
        return b.slice(image, tap, last, stride)

    def inside(tap: tuple[int, ...]) -> Value | None:
        """Where a tap is no padding; None where it never is."""
        found = []
        for dim in range(x.type.rank):
            at = np.arange(updates.shape[dim]) * stride[dim] + tap[dim] - low[dim]
            good = (at >= 0) & (at < x.shape[dim])
            if not good.all():
                found.append(b.broadcast(b.constant(good), updates.shape, [dim]))
        return b.join("and", found) if found else None

    best, chosen, masks = None, None, []
    for tap in taps:
        candidate, real = under(tap), inside(tap)
        if best is None or chosen is None:
            taken = b.full(True, TensorType(DType.BOOL, updates.shape)) if real is None else real
            best, chosen = candidate, taken
        else:
            keep = b.compare(node.attrs["select"], best, candidate)
            taken = b("not", b("and", chosen, keep))
            taken = taken if real is None else b("and", taken, real)
            best, chosen = b("select", taken, candidate, best), b("or", chosen, taken)
        masks.append(taken)
    # The last tap that was taken is the one; from the back, one is as soon as none was later.
    later = None
    name = node.attrs["scatter"]
    neutral = b.neutral(name, x.dtype)
    apart = window == stride and not any(map(any, padding))

    def scatter(updates: Value, neutral: Value, initial: Value) -> Value:
        nonlocal later
        parts = []
        for tap, mask in zip(taps[::-1], masks[::-1], strict=True):
            final = mask if later is None else b("and", mask, b("not", later))
            later = mask if later is None else b("or", later, mask)
            part = b("select", final, updates, b.like(neutral, updates.type))
            if apart:
                parts.append(part)
                continue
            rest = [shape[i] - (tap[i] + (updates.shape[i] - 1) * stride[i] + 1) - high[i]
                    for i in range(x.type.rank)]
            parts.append(b.pad(part, neutral, [t - edge for t, edge in zip(tap, low, strict=True)],
                               rest, [s - 1 for s in stride]))
        if apart:
            found = _interleaved(b, parts[::-1], window)
            found = b.pad(found, neutral, [0] * found.type.rank,
                          [n - m for n, m in zip(x.shape, found.shape, strict=True)])
        else:
            found = b.join(name, parts)
        if apart and _is_neutral(name, initial):
            return found
        return b(name, found, b.like(initial, found.type))

    return (_in_f32(b, x.dtype, scatter, updates, neutral, initial),)


def _interleaved(b: Builder, parts: list[Value], window: tuple[int, ...]) -> Value:
    """Return the tensor whose windows have the elements of ``parts``, a part for each tap."""
    for dim in reversed(range(len(window))):
        if window[dim] == 1:
            continue
        shape = list(parts[0].shape)
        stacked = [*shape[:dim + 1], 1, *shape[dim + 1:]]
        shape[dim] *= window[dim]
        parts = [b.reshape(b("concatenate", *(b.reshape(part, *stacked)
                                              for part in parts[at:at + window[dim]]), dim=dim + 1),
                           *shape)
                 for at in range(0, len(parts), window[dim])]
    [found] = parts
    return found


def _top_k(b: Builder, node: Node) -> tuple[Value, ...] | None:
    [x], k = node.operands, node.attrs["k"]
    if not 0 < k <= MOST_MAXIMA:
        return None
    last, rows = x.type.rank - 1, x.shape[:-1]
    bits, keys = totally_ordered(b, x)
    places, taken = b.iota(x.shape, last), b.full(False, TensorType(DType.BOOL, x.shape))
    least, after = b.neutral("maximum", DType.I32), b.neutral("minimum", DType.I32)

    def beside(found: Value) -> Value:
        return b.broadcast(found, x.shape, range(last))

    def of_rows(name: str, where: Value, values: Value, other: Value) -> Value:
        return reduced(b, b("select", where, values, b.like(other, values.type)), name, [last])

    found: list[tuple[Value, Value]] = []
    for _ in range(k):
        free = b("not", taken)
        best = of_rows("maximum", free, keys, least)
        wins = b("and", b.compare("eq", keys, beside(best)), free)
        place = of_rows("minimum", wins, places, after)
        chosen = b.compare("eq", places, beside(place))
        value = of_rows("or", chosen, bits, b.constant(0, bits.dtype))
        found.append((b.reshape(value, *rows, 1), b.reshape(place, *rows, 1)))
        taken = b("or", taken, chosen)
    values, indices = (b.concatenate(each, last) for each in zip(*found, strict=True))
    wide = DType.F32 if x.dtype.is_float else bits.dtype
    return b.convert(b.bitcast(values, wide), x.dtype), indices


def totally_ordered(b: Builder, x: Value) -> tuple[Value, Value]:
    """Return the elements as words of 32 bits, and as i32 in the total order of their bits."""
    if not x.dtype.is_float:
        if x.dtype is DType.U32:
            return x, b.bitcast(b("xor", x, 1 << 31), DType.I32)
        x = b.convert(x, DType.I32)
        return x, x
    bits = b.bitcast(b.convert(x, DType.F32), DType.I32)
    # Negative numbers are in the other order by their bits but the first.
    return bits, b("xor", bits, b("and", b("shift_right_signed", bits, 31), 0x7FFFFFFF))


def ordered(b: Builder, x: Value) -> Value:
    """Return the elements as i32 in the order that sorts have: zeros equal, NaN greatest."""
    if not x.dtype.is_float:
        return totally_ordered(b, x)[1]
    x = b.convert(x, DType.F32)
    _, keys = totally_ordered(b, x)
    keys = b("select", b.compare("eq", x, 0.0), b.full(0, keys.type), keys)
    return b("select", b.compare("ne", x, x), b.full(0x7FFFFFFF, keys.type), keys)


_Rule = Callable[[Builder, Node], tuple[Value, ...] | None]
#: What the canonical level has not.
REPLACED: dict[str, _Rule] = {"arg_reduce": _arg_reduce, "reduce_window": _reduce_window}
_RULES = {**REPLACED, "reduce": _reduce, "select_and_scatter": _select_and_scatter,
          "top_k": _top_k}
