"""Collective operations along the first dimension, where a device's share is in one piece.

Links bring words that follow each other in memory; what is cut or joined along another dimension is
turned before, or after, by the chip.
"""

from __future__ import annotations

from math import prod

from celosia.graph import Graph, Node, Source, Value, op, replace_nodes

__all__ = ["shares"]


def _turned(value: Value, shape: tuple[int, ...], order: tuple[int, ...], result: tuple[int, ...],
            source: Source) -> Value:
    """Return a value that has another shape, with its dimensions in another order, reshaped."""
    value = op("reshape", value, shape=shape, source=source)
    value = op("transpose", value, permutation=order, source=source)
    return op("reshape", value, shape=result, source=source)


def _split(shape: tuple[int, ...], dim: int, parts: int) -> tuple[int, int, int, int]:
    """Return elements before a dimension, parts of it, its extent in each, and elements behind."""
    return prod(shape[:dim]), parts, shape[dim] // parts, prod(shape[dim + 1:])


def _in_one_piece(now: Node, was: Node, graph: Graph) -> tuple[Value, ...] | None:
    attrs, source = dict(now.attrs), now.source
    if now.op not in ("all_gather", "reduce_scatter", "all_to_all"):
        return None
    [x], [type] = now.operands, now.types
    parts = len(attrs["groups"][0])
    cut, joined = (attrs["dim"] if "dim" in attrs else attrs[name] for name in ("split", "concat"))
    gives, gets = now.op != "all_gather", now.op != "reduce_scatter"
    if (not gives or prod(x.shape[:cut]) == 1) and (not gets or prod(type.shape[:joined]) == 1):
        return None
    whole = x.shape
    if gives:
        before, _, extent, behind = _split(x.shape, cut, parts)
        whole = (*x.shape[:cut], extent, *x.shape[cut + 1:])
        x = _turned(x, (before, parts, extent, behind), (1, 0, 2, 3), (parts, prod(whole)), source)
    else:
        x = op("reshape", x, shape=(1, prod(whole)), source=source)
    attrs |= {name: 0 for name in ("dim", "split", "concat") if name in attrs}
    x = op(now.op, x, source=source, **attrs)
    if not gets:
        return (op("reshape", x, shape=type.shape, source=source),)
    before, _, extent, behind = _split((*whole[:joined], whole[joined], *whole[joined + 1:]),
                                       joined, 1)
    return (_turned(x, (parts, before, extent, behind), (1, 0, 2, 3), type.shape, source),)


def shares(graph: Graph) -> Graph:
    """Return a canonical graph without other collective operations; not a canonical one."""
    return replace_nodes(graph, _in_one_piece)
