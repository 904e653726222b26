"""Simplify, second part: what only moves elements.

Chains of reshapes, transposes, broadcasts, slices and pads become one each, or nothing. Forms that
hold afterwards: a broadcast keeps the order of its operand's dimensions and repeats none of them
(an extent of 1 that would be repeated is reshaped away first); a transpose of extents of 1 is a
reshape; a pad has no negative edge (a slice has cut that off).
"""

from __future__ import annotations

from collections.abc import Callable

from celosia.compiler.builder import Builder
from celosia.graph import Node, Value

__all__ = ["move"]

_Rule = Callable[[Builder, Node, Value], "Value | None"]


def _reshape(b: Builder, node: Node, x: Value) -> Value | None:
    shape = node.attrs["shape"]
    inner = x.node
    if shape == x.shape:
        return x
    if not x.type.rank:
        return b("broadcast", x, shape=shape)
    if inner.op == "reshape":
        return b.reshape(inner.operands[0], *shape)
    if inner.op == "broadcast" and inner.operands[0].type.rank == 0:
        return b("broadcast", inner.operands[0], shape=shape)
    return None


def _transpose(b: Builder, node: Node, x: Value) -> Value | None:
    permutation = node.attrs["permutation"]
    inner = x.node
    long = [dim for dim in permutation if x.shape[dim] != 1]
    if long == sorted(long):
        return b.reshape(x, *node.types[0].shape)
    if inner.op == "transpose":
        by = inner.attrs["permutation"]
        return b.transpose(inner.operands[0], [by[dim] for dim in permutation])
    if inner.op == "broadcast":
        dims = [permutation.index(dim) for dim in inner.attrs["dims"]]
        return b.broadcast(inner.operands[0], node.types[0].shape, dims)
    return None


def _broadcast(b: Builder, node: Node, x: Value) -> Value | None:
    shape, dims = node.attrs["shape"], node.attrs["dims"]
    inner = x.node
    if inner.op == "broadcast":
        outer = [dims[dim] for dim in inner.attrs["dims"]]
        return b.broadcast(inner.operands[0], shape, outer)
    if list(dims) != sorted(dims):
        order = sorted(range(len(dims)), key=lambda i: dims[i])
        return b.broadcast(b.transpose(x, order), shape, sorted(dims))
    if x.type.rank and x.type.size == node.types[0].size:
        # Order is kept, so nothing but extents of 1 come in.
        return b.reshape(x, *shape)
    kept = [i for i, dim in enumerate(dims) if x.shape[i] == shape[dim] != 1]
    if len(kept) < len(dims):
        return b.broadcast(b.reshape(x, *(x.shape[i] for i in kept)), shape,
                           [dims[i] for i in kept])
    return None


def _slice(b: Builder, node: Node, x: Value) -> Value | None:
    start, limit, stride = (node.attrs[name] for name in ("start", "limit", "stride"))
    shape = node.types[0].shape
    inner = x.node
    if shape == x.shape:
        return x
    if inner.op == "slice":
        starts, steps = inner.attrs["start"], inner.attrs["stride"]
        begin = [a + s * c for a, s, c in zip(starts, steps, start, strict=True)]
        step = [s * t for s, t in zip(steps, stride, strict=True)]
        end = [a + (n - 1) * t + 1 if n else a for a, n, t in zip(begin, shape, step, strict=True)]
        return b.slice(inner.operands[0], begin, end, step)
    if inner.op == "broadcast":
        dims, of = inner.attrs["dims"], inner.operands[0]
        if all(shape[dim] == x.shape[dim] for dim in dims):
            return b.broadcast(of, shape, dims)
    if inner.op == "concatenate":
        dim, first = inner.attrs["dim"], 0
        for part in inner.operands:
            last = first + part.shape[dim]
            if first <= start[dim] and limit[dim] <= last:
                return b("slice", part, stride=stride,
                         start=(*start[:dim], start[dim] - first, *start[dim + 1:]),
                         limit=(*limit[:dim], limit[dim] - first, *limit[dim + 1:]))
            first = last
    exact = [a + (n - 1) * t + 1 if n else a for a, n, t in zip(start, shape, stride, strict=True)]
    step = [1 if n == 1 else t for n, t in zip(shape, stride, strict=True)]
    if (tuple(exact), tuple(step)) != (limit, stride):
        return b("slice", x, start=start, limit=exact, stride=step)
    return None


def _pad(b: Builder, node: Node, x: Value) -> Value | None:
    low, high, interior = (node.attrs[name] for name in ("low", "high", "interior"))
    if x.shape == node.types[0].shape and not any((*low, *high)):
        return x
    if x.type.size == 0:
        return b.like(node.operands[1], node.types[0])
    if min((*low, *high)) < 0:
        whole = b.pad(x, node.operands[1], [max(edge, 0) for edge in low],
                      [max(edge, 0) for edge in high], interior)
        start = [max(-edge, 0) for edge in low]
        return b.slice(whole, start, [a + n for a, n in zip(start, node.types[0].shape,
                                                            strict=True)])
    within = tuple(0 if extent == 1 else i for extent, i in zip(x.shape, interior, strict=True))
    if within != interior:
        return b.pad(x, node.operands[1], low, high, within)
    inner = x.node
    if (inner.op == "pad" and inner.operands[1] == node.operands[1] and not any(interior)):
        below, above = ([a + c for a, c in zip(inner.attrs[name], edge, strict=True)]
                        for name, edge in (("low", low), ("high", high)))
        return b.pad(inner.operands[0], node.operands[1], below, above, inner.attrs["interior"])
    return None


def _concatenate(b: Builder, node: Node, x: Value) -> Value | None:
    dim = node.attrs["dim"]
    parts = [part for part in node.operands if part.shape[dim]]
    flat: list[Value] = []
    for part in parts:
        inner = part.node
        same = inner.op == "concatenate" and inner.attrs["dim"] == dim
        flat += inner.operands if same else (part,)
    if flat == list(node.operands) and len(flat) > 1:
        return None
    return b.concatenate(flat, dim) if flat else None


def _reverse(b: Builder, node: Node, x: Value) -> Value | None:
    dims = {dim for dim in node.attrs["dims"] if x.shape[dim] > 1}
    inner = x
    if x.node.op == "reverse":
        dims, inner = dims ^ set(x.node.attrs["dims"]), x.node.operands[0]
    if not dims:
        return inner
    if inner is x and tuple(sorted(dims)) == node.attrs["dims"]:
        return None
    return b("reverse", inner, dims=sorted(dims))


_RULES: dict[str, _Rule] = {
    "reshape": _reshape, "transpose": _transpose, "broadcast": _broadcast, "slice": _slice,
    "pad": _pad, "concatenate": _concatenate, "reverse": _reverse,
}


def move(node: Node) -> Value | None:
    """Return what stands for a node that moves elements, or None to keep it."""
    rule = _RULES.get(node.op)
    return rule(Builder(node.source), node, node.operands[0]) if rule else None
