"""Products leave the transposes of their activations to later ones that want them so.

The array takes activations row after row. A gradient of weights wants those of the forward product,
columns as rows: the vector unit would transpose them, and loads bring them, when both have the
most to do. While the forward product runs they lie in the unified buffer, and the vector unit
waits for the array.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from celosia.arch.config import TpuConfig
from celosia.arch.isa import MatmulFormat
from celosia.compiler.accesses import accesses
from celosia.compiler.lowered import Access, Cluster, Dot, Work
from celosia.compiler.lowering.tensors import Tensors, whole
from celosia.graph import DType, TensorType

__all__ = ["turned"]


def _dot(work: Work) -> Dot | None:
    return work.product if isinstance(work, Cluster) and isinstance(work.product, Dot) else None


def _is_turned(access: Access, of: Access) -> bool:
    """Whether a left operand is the transpose of another one, which is a matrix of whole rows."""
    here, there = access.view, of.view
    (batches, rows, depth), (_, pitch, step) = there.shape, there.strides
    return (access.tensor is of.tensor and access.base is None and of.base is None
            and here.offset == there.offset and batches == 1 and rows > 1 and depth > 1
            and step == 1 and here.shape == (1, depth, rows) and here.strides[1:] == (1, pitch))


def _has_time(config: TpuConfig, work: Cluster, dot: Dot) -> bool:
    """Whether the vector unit can transpose the activations while the array forms the product."""
    _, rows, depth = dot.lhs.view.shape
    panels, deep = (math.ceil(size / config.dim) for size in (work.space[-1], depth))
    steps = sum(node.op not in ("constant", "broadcast", "reshape") for node in work.nodes)
    return rows % config.dim == 0 and steps * panels + deep < panels * deep


def turned(config: TpuConfig, works: Sequence[Work], tensors: Tensors) -> list[Work]:
    """Return work in which products read transposes that earlier products have left.

    Parameters
    ----------
    works
        A whole program; what is in loops and branches stays as it is.
    tensors
        Where the transposes are made.
    """
    out = list(works)
    for i, work in enumerate(out):
        dot = _dot(work)
        if dot is None:
            continue
        assert isinstance(work, Cluster)
        for j in range(i - 1, -1, -1):
            before, first = out[j], _dot(out[j])
            if isinstance(before, Cluster) and first is not None and _is_turned(
                    dot.lhs, first.lhs) and _has_time(config, before, first):
                made = first.turned
                if made is None:
                    dtype = DType.I8 if dot.fmt == MatmulFormat.INT8 else DType.BF16
                    made = whole(tensors.new(TensorType(dtype, dot.lhs.view.shape[1:]), "turned"))
                    out[j] = replace(before, product=replace(first, turned=made))
                view = made.view.reshape(dot.lhs.view.shape)
                assert view is not None
                out[i] = replace(work, product=replace(dot, lhs=Access(made.tensor, view)))
                break
            if any(written and access.tensor is dot.lhs.tensor
                   for access, written in accesses(before)):
                break
    return out
