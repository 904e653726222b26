"""On-chip buffer allocation: which tensors stay on chip between pieces of work, and where.

Small values stay in the accumulators, operands of products in the unified buffer, as long as all
that touches them can reach them there: whole rows, from the beginning of a panel on. They lie at
the ends of the memories; work uses what is left below.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from celosia.arch.config import TpuConfig
from celosia.arch.isa import Mem
from celosia.arch.words import ceil_div
from celosia.compiler.lowered import (
    Access,
    Case,
    Cluster,
    Dot,
    OnChip,
    Read,
    ReadWord,
    Region,
    Tensor,
    While,
    Work,
    Write,
    row_strides,
)
from celosia.compiler.lowering.coalesce import accesses, inner
from celosia.compiler.memory import Life, lives, numbered
from celosia.graph import DType
from celosia.kernels.terms import Extent

__all__ = ["plan_on_chip", "regions"]

#: Parts of the memories that tensors may take at a time; the rest is for the work.
_ACC_SHARE, _UB_SHARE = 4, 2


def _matrix(tensor: Tensor) -> tuple[int, int]:
    return math.prod(tensor.shape[:-1]), tensor.shape[-1] if tensor.shape else 1


def _rows(config: TpuConfig, tensor: Tensor) -> int:
    height, columns = _matrix(tensor)
    return height * ceil_div(columns, config.dim)


def _reaches(config: TpuConfig, access: Access, extent: Extent) -> bool:
    """Whether an access to a tensor on chip is one of whole rows, from a panel on."""
    view = access.view
    _, columns = _matrix(access.tensor)
    if access.base is not None:
        return False
    if extent is Extent.SCALAR:
        return True
    strides = row_strides(view, extent)
    sizes = view.shape[:len(strides)]
    wide = Extent.LANES in extent and view.shape[-1] > 1
    if wide and (view.strides[-1] != 1 or view.offset % columns % config.dim
                 or view.offset % columns + view.shape[-1] > columns):
        return False
    # The rows must have one stride, of whole rows.
    dims = [(n, s) for n, s in zip(sizes, strides, strict=True) if n != 1]
    for (_, outer), (n, s) in zip(dims, dims[1:], strict=False):
        if outer != n * s:
            return False
    return all(s > 0 and s % columns == 0 for _, s in dims)


class _Users:
    """What touches each tensor, and whether that can reach it on chip."""

    def __init__(self, config: TpuConfig):
        self.config = config
        self.acc: dict[Tensor, bool] = {}
        self.ub: dict[Tensor, bool] = {}

    def works(self, works: Iterable[Work]) -> None:
        for work in works:
            for part in inner(work):
                self.works(part)
            if isinstance(work, Cluster):
                self.cluster(work)
            elif isinstance(work, ReadWord):
                self.word(work.access)
            elif isinstance(work, While):
                if work.predicate is not None:
                    self.word(work.predicate)
            elif isinstance(work, Case):
                self.word(work.index)
            else:
                for access, _ in accesses(work):
                    self.note(access.tensor, False, False)

    def note(self, tensor: Tensor, acc: bool, ub: bool) -> None:
        self.acc[tensor] = self.acc.get(tensor, True) and acc
        self.ub[tensor] = self.ub.get(tensor, True) and ub

    def word(self, access: Access) -> None:
        self.note(access.tensor, math.prod(access.tensor.shape) == 1, False)

    def cluster(self, work: Cluster) -> None:
        made: Read | Write
        for made in work.reads:
            good = _reaches(self.config, made.access, made.extent)
            self.note(made.access.tensor, good, False)
        for made in work.writes:
            whole = made.access.view.size == math.prod(made.access.tensor.shape)
            good = whole and work.kept == len(work.space) - 1 and _reaches(
                self.config, made.access, made.extent)
            _, columns = _matrix(made.access.tensor)
            even = made.extent is Extent.FULL and columns % self.config.dim == 0
            self.note(made.access.tensor, good, good and even)
        if isinstance(work.product, Dot):
            for operand in (work.product.lhs, work.product.rhs):
                self.note(operand.tensor, False, self.operand(operand))
            if work.product.turned is not None:
                self.note(work.product.turned.tensor, False, False)
        elif work.product is not None:
            for operand in (work.product.x, work.product.w):
                self.note(operand.tensor, False, False)

    def operand(self, operand: Access) -> bool:
        """Whether an operand of a product can be used where it lies in the unified buffer."""
        tensor, view = operand.tensor, operand.view
        _, columns = _matrix(tensor)
        return (tensor.dtype in (DType.BF16, DType.I8) and operand.base is None
                and view.offset == 0 and view.strides[2] == 1 and view.shape[2] == columns
                and view.strides[1] == columns and (view.shape[0] == 1 or (
                    view.strides[0] == view.shape[1] * columns)))


def plan_on_chip(config: TpuConfig, works: Sequence[Work],
                 fixed: Collection[Tensor]) -> dict[Tensor, Life]:
    """Give homes on chip to tensors; return those that got one, and their lives.

    Parameters
    ----------
    works
        The whole program.
    fixed
        Tensors that must be in external memory.
    """
    users = _Users(config)
    users.works(works)
    found = lives(works)
    placed: dict[Tensor, Life] = {}
    for mem, fits, share, total in ((Mem.ACC, users.acc, _ACC_SHARE, config.acc_rows),
                                    (Mem.UB, users.ub, _UB_SHARE, config.ub_rows)):
        low = total - total // share
        spans: list[tuple[int, int, Life]] = []
        chosen = [tensor for tensor, good in fits.items() if good and tensor not in fixed
                  and tensor.home is None and math.prod(tensor.shape)]
        for tensor in sorted(chosen, key=lambda tensor: _rows(config, tensor)):
            life, size = found[tensor], _rows(config, tensor)
            end = total
            for first, last, other in sorted(spans, key=lambda span: -span[0]):
                if life.first <= other.last and other.first <= life.last and (
                        first < end and end - size <= last):
                    end = first
            if end - size < low:
                continue
            tensor.home = OnChip(mem, end - size)
            spans.append((end - size, end - 1, life))
            placed[tensor] = life
    return placed


def regions(config: TpuConfig, works: Iterable[Work], placed: Mapping[Tensor, Life],
            control_rows: int) -> dict[Work, Region]:
    """Return the rows that each piece of work may use for itself.

    The first ``control_rows`` accumulator rows belong to control flow.
    """
    found: dict[Work, Region] = {}
    for begin, _, work in numbered(works):
        tops = {Mem.ACC: config.acc_rows, Mem.UB: config.ub_rows}
        for tensor, life in placed.items():
            home = tensor.home
            assert isinstance(home, OnChip)
            if life.first <= begin <= life.last:
                tops[home.mem] = min(tops[home.mem], home.row)
        found[work] = Region(range(tops[Mem.UB]), range(control_rows, tops[Mem.ACC]))
    return found
