"""What is concatenated is rounded and reduced part by part, where its parts are made.

The gates of an LSTM's gradient are put side by side for a product, which takes them rounded, and
are summed up over the batch: neither needs all of them at once. Rounded early, half the bytes are
put side by side; summed up early, none are read for it.
"""

from __future__ import annotations

from celosia.compiler.builder import Builder
from celosia.graph import DType, Graph, Node, Trait, Value, having, replace_nodes

__all__ = ["parts"]

_VIEWS = having(Trait.BIJECTIVE)
_MADE = having(Trait.ELEMENTWISE) | having(Trait.PRODUCT) | having(Trait.REDUCTION)


def _is_made(value: Value) -> bool:
    """Whether work makes a value that can do more with it, behind views."""
    while value.node.op in _VIEWS:
        value = value.node.operands[0]
    return value.node.op in _MADE


def _early(now: Node, was: Node, graph: Graph) -> tuple[Value, ...] | None:
    if not now.operands or now.operands[0].node.op != "concatenate":
        return None
    whole = now.operands[0].node
    dim, b = whole.attrs["dim"], Builder(now.source)
    if not all(map(_is_made, whole.operands)):
        return None
    if now.op == "convert" and now.result.dtype is DType.BF16:
        return (b.concatenate([b.convert(part, DType.BF16) for part in whole.operands], dim),)
    if now.op == "reduce" and dim not in now.attrs["dims"]:
        found = [b("reduce", part, now.operands[1], **now.attrs) for part in whole.operands]
        return (b.concatenate(found, dim - sum(each < dim for each in now.attrs["dims"])),)
    return None


def parts(graph: Graph) -> Graph:
    """Return a canonical graph whose concatenations are rounded and reduced part by part."""
    return replace_nodes(graph, _early)
