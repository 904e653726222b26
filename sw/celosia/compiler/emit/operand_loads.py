"""Loads of operands of the array, and how their rows lie on chip."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from celosia.arch.config import COUNT_MAX, TpuConfig
from celosia.arch.isa import MatmulFormat, Mem
from celosia.arch.words import ceil_div
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.nodes import Op, Strides
from celosia.compiler.errors import CompileError
from celosia.compiler.lowered import Access, OnChip

__all__ = ["Dim", "Stream", "check_format", "is_natural", "loads", "on_chip"]


@dataclass(frozen=True)
class Dim:
    """Rows along one dimension: how many, elements and on-chip rows from one to the next."""

    count: int
    stride: int
    step: int


@dataclass(frozen=True)
class Stream:
    """Rows on chip that a matmul reads: counts and steps, innermost dimension first."""

    row: int
    counts: tuple[int, int, int]
    steps: Strides

    def merged(self) -> Stream:
        """Return the same rows in as few dimensions as they take, innermost first."""
        dims: list[tuple[int, int]] = []
        for count, step in zip(self.counts, self.steps, strict=True):
            if count == 1:
                continue
            if dims and step == dims[-1][0] * dims[-1][1]:
                dims[-1] = dims[-1][0] * count, dims[-1][1]
            else:
                dims.append((count, step))
        if not dims:
            return Stream(self.row, (1, 1, 1), (1, 0, 0))
        (n0, s0), (n1, s1), (n2, s2) = [*dims, (1, 0), (1, 0)][:3]
        return Stream(self.row, (n0, n1, n2), (s0, s1, s2))


def check_format(config: TpuConfig, fmt: MatmulFormat, source: str) -> None:
    """Raise a `CompileError` where the array of the chip does not have the format."""
    name = "int8" if fmt == MatmulFormat.INT8 else "bf16"
    if name not in config.formats:
        raise CompileError(f"{source}: a product of {name} needs an array with {name}, and that "
                           f"of chip {config.name} has {' and '.join(config.formats)}")


def is_natural(shape: tuple[int, ...], strides: tuple[int, ...], what: str, source: str) -> bool:
    """Whether the last dimension lies along lanes; False where the one before it does.

    Raises
    ------
    CompileError
        If neither has the stride 1.
    """
    if strides[-1] == 1 and shape[-1] > 1:
        return True
    if strides[-2] == 1 or shape[-2] == 1:
        return shape[-1] == 1 and shape[-2] == 1
    if shape[-1] == 1:
        return True
    raise CompileError(f"{source}: {what} must have the stride 1 along one of its last two "
                       f"dimensions, not {list(strides[-2:])}")


def _merged(dims: list[Dim]) -> list[Dim]:
    out: list[Dim] = []
    for dim in dims:
        if dim.count == 1:
            continue
        if out and (out[-1].stride == dim.count * dim.stride
                    and out[-1].step == dim.count * dim.step
                    and out[-1].count * dim.count <= COUNT_MAX):
            out[-1] = Dim(out[-1].count * dim.count, dim.stride, dim.step)
        else:
            out.append(dim)
    return out


def loads(access: Access, first: int, dims: list[Dim], cols: int, row: int, group_step: int,
          source: str, dim: int) -> list[Op]:
    """Return loads of rows of ``cols`` elements into the unified buffer.

    Parameters
    ----------
    access, first
        The tensor, and the first element: from the view's offset on.
    dims
        Its rows, outermost dimension first.
    row, group_step
        First row on chip, and rows from one group of D lanes to the next.
    dim
        D.
    """
    merged = _merged(dims)
    usable = [i for i, each in enumerate(merged)
              if each.stride >= 0 and each.step <= COUNT_MAX and each.count <= COUNT_MAX]
    best = max(usable, key=lambda i: merged[i].count, default=None)
    rows = merged.pop(best) if best is not None else Dim(1, 0, 1)
    size, reach = access.tensor.element_bytes, None
    if access.base is not None:
        start = access.address(-access.view.offset)
        reach = start, start + access.tensor.nbytes - 1
    out = []
    for index in itertools.product(*(range(each.count) for each in merged)):
        element = first + sum(i * each.stride for i, each in zip(index, merged, strict=True))
        at = row + sum(i * each.step for i, each in zip(index, merged, strict=True))
        out.append(nodes.load(
            Mem.UB, access.tensor.format, at, access.address(element), rows.count, cols,
            rows.stride * size, rows.step, group_step if ceil_div(cols, dim) > 1 else 0, source,
            base=access.base, reach=reach))
    return out


def on_chip(access: Access, dim: int, what: str, source: str) -> tuple[int, int, int] | None:
    """First row, rows of a panel, and columns of the tensor; None for one in external memory.

    Raises
    ------
    CompileError
        If the view is not of whole rows, from the beginning of a panel on.
    """
    home, view = access.tensor.home, access.view
    if not isinstance(home, OnChip):
        return None
    columns = access.tensor.shape[-1]
    panel = math.prod(access.tensor.shape[:-1])
    row, lane = divmod(view.offset, columns)
    uneven = any(stride % columns for size, stride in
                 zip(view.shape[:-1], view.strides[:-1], strict=True) if size > 1)
    if (home.mem != Mem.UB or lane % dim or uneven
            or (view.strides[-1] != 1 and view.shape[-1] > 1)):
        raise CompileError(f"{source}: {what} on chip must be whole rows of the unified buffer "
                           f"from a multiple of {dim} lanes on, not {view} of "
                           f"{access.tensor.name} {list(access.tensor.shape)}")
    return home.row + lane // dim * panel + row, panel, columns
