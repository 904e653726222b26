"""The operands of dots and convolutions, in the one form that `product` works on."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from celosia.arch.config import TpuConfig
from celosia.arch.isa import MatmulFormat
from celosia.arch.words import ceil_div
from celosia.compiler.emit.acts import Acts, Window
from celosia.compiler.emit.weights import Weights
from celosia.compiler.errors import CompileError
from celosia.compiler.layout import along_lanes
from celosia.compiler.lowered import Cluster, Convolution, Dot, OnChip
from celosia.compiler.views import View, merged

__all__ = ["Operands", "operands"]


@dataclass(frozen=True)
class Operands:
    """Operands of a product.

    Attributes
    ----------
    taps
        Line and column of each; one for a dot.
    batched
        Whether each image (batch) has weights of its own.
    """

    fmt: MatmulFormat
    acts: Acts
    weights: Weights
    taps: tuple[tuple[int, int], ...]
    batched: bool


def _check_format(config: TpuConfig, fmt: MatmulFormat, source: str) -> None:
    """Raise a `CompileError` where the array of the chip does not have the format."""
    name = "int8" if fmt == MatmulFormat.INT8 else "bf16"
    if name not in config.formats:
        raise CompileError(f"{source}: a product of {name} needs an array with {name}, and that "
                           f"of chip {config.name} has {' and '.join(config.formats)}")


def _is_natural(view: View, what: str, source: str) -> bool:
    """Whether the last dimension lies along lanes; False where the one before it does.

    Raises
    ------
    CompileError
        If neither has the stride 1.
    """
    found = along_lanes(view)
    if found is None:
        raise CompileError(f"{source}: {what} must have the stride 1 along one of its last two "
                           f"dimensions, not {list(view.strides[-2:])}")
    return found


def _dot(config: TpuConfig, dot: Dot, source: str) -> Operands:
    batches, rows, depth = dot.lhs.view.shape
    left, right = dot.lhs.view.strides, dot.rhs.view.strides
    columns = dot.rhs.view.shape[2]
    batched = batches > 1 and right[0] != 0
    natural = _is_natural(dot.lhs.view, "the left operand", source)
    shape, strides = (batches, 1, rows), (left[0], 0, left[1])
    sizes, (steps,) = merged((batches, rows), left[:2])
    if not batched and natural and batches > 1 and len(sizes) == 1:
        # All batches are one matrix.
        shape, strides = (1, 1, sizes[0]), (0, 0, steps[0])
    return Operands(
        dot.fmt,
        Acts(config, dot.lhs, dot.fmt, shape, strides, depth, left[2], natural,
             (Window(), Window()), source),
        Weights(config, dot.rhs, ((batches if batched else 1, right[0]),), (depth, right[1]),
                (columns, right[2]),
                _is_natural(dot.rhs.view, "the right operand", source), batched, source),
        ((0, 0),), batched)


def _convolution(config: TpuConfig, product: Convolution, space: tuple[int, ...],
                 source: str) -> Operands:
    x, w = product.x.view, product.w.view
    down, across = (Window(taps, stride, dilation) for taps, stride, dilation in zip(
        w.shape[:2], product.stride, product.dilation, strict=True))
    images, lines, columns, _ = space
    return Operands(
        product.fmt,
        Acts(config, product.x, product.fmt, (images, lines, columns),
             (x.strides[0], x.strides[1], x.strides[2]), x.shape[3], 1, True, (down, across),
             source),
        Weights(config, product.w, tuple(zip(w.shape[:2], w.strides[:2], strict=True)),
                (w.shape[2], w.strides[2]), (w.shape[3], w.strides[3]), True, False, source),
        tuple(itertools.product(range(w.shape[0]), range(w.shape[1]))), False)


def _merged_taps(config: TpuConfig, product: Convolution, space: tuple[int, ...],
                 source: str) -> Operands | None:
    """Operands with the taps of a line side by side in the lanes, as they lie in memory.

    None where they do not, or where it saves no panel of depth.
    """
    x, w = product.x.view, product.w.view
    lines, taps, channels, columns = w.shape
    # Strides of dimensions of size 1 mean nothing.
    pixel = channels * (w.strides[2] if channels > 1 else w.strides[1])
    dim = config.dim
    if (taps == 1 or product.dilation[1] != 1 or x.strides[2] != channels
            or (channels > 1 and x.strides[3] != 1) or w.strides[1] != pixel
            or ceil_div(taps * channels, dim) == taps * ceil_div(channels, dim)
            or any(isinstance(each.tensor.home, OnChip) for each in (product.x, product.w))):
        return None
    depth = taps * channels
    return Operands(
        product.fmt,
        Acts(config, product.x, product.fmt, (space[0], space[1], space[2]),
             (x.strides[0], x.strides[1], x.strides[2] * product.stride[1]), depth, 1, True,
             (Window(lines, product.stride[0], product.dilation[0]), Window()), source),
        Weights(config, product.w, ((lines, w.strides[0]),), (depth, pixel // channels),
                (columns, w.strides[3]), True, False, source),
        tuple((line, 0) for line in range(lines)), False)


def operands(config: TpuConfig, cluster: Cluster) -> list[Operands]:
    """Return the forms in which a cluster's product may take its operands.

    Raises
    ------
    CompileError
        If the chip does not have the format, or an operand lies as the array cannot take it.
    """
    product = cluster.product
    assert product is not None
    _check_format(config, product.fmt, cluster.source)
    if isinstance(product, Dot):
        return [_dot(config, product, cluster.source)]
    forms = [_convolution(config, product, cluster.space, cluster.source),
             _merged_taps(config, product, cluster.space, cluster.source)]
    return [form for form in forms if form is not None]
