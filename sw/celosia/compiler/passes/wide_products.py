"""Products of integers on chips without int8: as bf16, whose sums are exact as far as they go.

An i8 is a bf16 exactly, and a product of two at most 2**14; 1,024 of them add to no more than 2**24
in fp32 without rounding. Longer sums are made in parts, which are added as integers.
"""

from __future__ import annotations

import math

from celosia.arch.config import TpuConfig
from celosia.compiler.builder import Builder
from celosia.compiler.errors import CompileError
from celosia.graph import DType, Graph, Node, Trait, Value, having, replace_nodes

__all__ = ["wide_products"]

_PRODUCTS = having(Trait.PRODUCT)
#: Products of i8 whose sum fp32 holds exactly, whatever their order.
_MOST = 1 << 10


def wide_products(graph: Graph, config: TpuConfig) -> Graph:
    """Return the graph without products of i8 where the chip has none.

    Parameters
    ----------
    graph
        Canonical.
    config
        The chip.

    Raises
    ------
    CompileError
        If the kernel of a convolution has more than 1,024 places.
    """
    if config.int8:
        return graph

    def widened(now: Node, was: Node, graph: Graph) -> tuple[Value, ...] | None:
        if now.op not in _PRODUCTS or now.operands[0].dtype is not DType.I8:
            return None
        b = Builder(now.source)
        x, w = (b.convert(b.convert(b.convert(each, DType.I32), DType.F32), DType.BF16)
                for each in now.operands)
        # The dimensions that are summed over and can be cut: of a dot K, of a convolution channels.
        dims, each = ((2, 1), 1) if now.op == "dot" else ((3, 2), math.prod(w.shape[:2]))
        if each > _MOST:
            raise CompileError(f"{now.source}: {now.op}: a kernel must have at most {_MOST} places "
                               f"on {config.name}, which is without int8, not {each}")
        part = _MOST // each
        total: Value | None = None
        for start in range(0, x.shape[dims[0]], part):
            end = min(start + part, x.shape[dims[0]])
            operands = (b.part(value, dim, start, end)
                        for value, dim in zip((x, w), dims, strict=True))
            node = Node(now.op, tuple(operands), {**now.attrs, "dtype": DType.F32}, (), now.source)
            found = b.convert(node.result, DType.I32)
            total = found if total is None else b("add", total, found)
        return None if total is None else (total,)

    return replace_nodes(graph, widened)
