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
from celosia.compiler.accesses import accesses, inner
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.layout import Layout, has_one_stride
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
    rows_of,
)
from celosia.compiler.memory import Life, lives, numbered
from celosia.graph import DType

__all__ = ["plan_on_chip", "regions"]

#: Parts of the memories that tensors may take at a time; the rest is for the work.
_ACC_SHARE, _UB_SHARE = 4, 2


class _Users:
    """What touches each tensor, and whether that can reach it on chip."""

    def __init__(self, dim: int):
        self.dim = dim
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
        for read in work.reads:
            self.note(read.access.tensor, self.reached(read), False)
        for write in work.writes:
            access = write.access
            good = (access.view.size == math.prod(access.tensor.shape)
                    and work.kept == len(work.space) - 1 and self.reached(write))
            even = (write.extent is Extent.FULL
                    and Layout.of(access.tensor, self.dim).columns % self.dim == 0)
            self.note(access.tensor, good, good and even)
        if isinstance(work.product, Dot):
            for operand, right in ((work.product.lhs, False), (work.product.rhs, True)):
                self.note(operand.tensor, False, self.fed(operand, right))
            if work.product.turned is not None:
                self.note(work.product.turned.tensor, False, False)
        elif work.product is not None:
            for operand in (work.product.x, work.product.w):
                self.note(operand.tensor, False, False)

    def reached(self, use: Read | Write) -> bool:
        """Whether instructions take a value where it lies, in rows of one stride that ascend."""
        access, extent = use.access, use.extent
        if not Layout.of(access.tensor, self.dim).reaches(access, extent):
            return False
        rows = rows_of(access.view, extent)
        return has_one_stride(access.view, extent) and all(
            stride > 0 for size, stride in zip(rows.shape, rows.strides, strict=True) if size > 1)

    def fed(self, operand: Access, right: bool) -> bool:
        """Whether the array takes an operand where it lies: all of the first rows."""
        tensor, view = operand.tensor, operand.view
        layout = Layout.of(tensor, self.dim)
        return (tensor.dtype in (DType.BF16, DType.I8) and layout.feeds(operand, right=right)
                and view.offset == 0 and view.shape[2] == layout.columns == view.strides[1]
                and (view.shape[0] == 1 or view.strides[0] == view.shape[1] * layout.columns))


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
    users = _Users(config.dim)
    users.works(works)
    found = lives(works)
    placed: dict[Tensor, Life] = {}
    for mem, fits, share, total in ((Mem.ACC, users.acc, _ACC_SHARE, config.acc_rows),
                                    (Mem.UB, users.ub, _UB_SHARE, config.ub_rows)):
        low = total - total // share
        spans: list[tuple[int, int, Life]] = []
        chosen = [tensor for tensor, good in fits.items() if good and tensor not in fixed
                  and tensor.home is None and math.prod(tensor.shape)]
        sizes = {tensor: Layout.of(tensor, config.dim).size for tensor in chosen}
        for tensor, size in sorted(sizes.items(), key=lambda item: item[1]):
            life = found[tensor]
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
