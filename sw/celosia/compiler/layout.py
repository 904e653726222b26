"""Layout of tensors on chip: matrices in panels of D columns, and what of them the units reach."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from celosia.arch.isa import Mem
from celosia.arch.words import ceil_div
from celosia.compiler.errors import CompileError
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.lowered import Access, OnChip, Tensor, rows_of
from celosia.compiler.views import View, merged

__all__ = ["Layout", "along_lanes", "has_one_stride", "operand_home"]


@dataclass(frozen=True)
class Layout:
    """How a tensor lies on chip, as `celosia.compiler.lowered.OnChip` says.

    Attributes
    ----------
    rows, columns
        Of the matrix; each panel of columns takes ``rows`` rows of the memory.
    dim
        Columns of a panel.
    """

    rows: int
    columns: int
    dim: int

    @classmethod
    def of(cls, tensor: Tensor, dim: int) -> Layout:
        """Return the layout of a tensor on a chip of ``dim`` lanes, whether it is there or not."""
        return cls(math.prod(tensor.shape[:-1]), tensor.shape[-1] if tensor.shape else 1, dim)

    @property
    def size(self) -> int:
        """Rows of the memory that the tensor takes."""
        return self.rows * ceil_div(self.columns, self.dim)

    def find(self, element: int) -> tuple[int, int]:
        """Return the row, from the tensor's first on, and the lane that an element has."""
        row, column = divmod(element, self.columns)
        return column // self.dim * self.rows + row, column % self.dim

    def steps(self, strides: Iterable[int]) -> tuple[int, ...]:
        """Return the rows of the memory that strides between whole rows of the matrix are."""
        return tuple(stride // self.columns for stride in strides)

    def reaches(self, access: Access, extent: Extent) -> bool:
        """Whether instructions reach an access: whole rows, from the beginning of a panel on."""
        view, rows = access.view, rows_of(access.view, extent)
        if access.base is not None or not self.columns or any(
                size != 1 and stride % self.columns
                for size, stride in zip(rows.shape, rows.strides, strict=True)):
            return False
        if Extent.LANES not in extent or view.shape[-1] == 1:
            return True
        column = view.offset % self.columns
        return (view.strides[-1] == 1 and column % self.dim == 0
                and column + view.shape[-1] <= self.columns)

    def feeds(self, access: Access, *, right: bool) -> bool:
        """Whether the array reaches an operand of a product, the ``right`` one or the left.

        That has the last dimension along lanes, from the beginning of a panel on; the rows of
        the right one come one after another.
        """
        view = access.view
        return (self.reaches(access, Extent.FULL) and self.find(view.offset)[1] == 0
                and along_lanes(view) is True
                and (not right or view.strides[-2] == self.columns))


def operand_home(access: Access, dim: int, *, right: bool,
                 source: str) -> tuple[int, Layout] | None:
    """Return the first row and the layout of an operand on chip; None for one in external memory.

    Raises
    ------
    CompileError
        If the array does not reach it there (`Layout.feeds`).
    """
    tensor, home = access.tensor, access.tensor.home
    if not isinstance(home, OnChip):
        return None
    layout = Layout.of(tensor, dim)
    if home.mem != Mem.UB or not layout.feeds(access, right=right):
        raise CompileError(f"{source}: the {'right' if right else 'left'} operand on chip must be "
                           f"whole rows of the unified buffer{' in order' * right}, from a "
                           f"multiple of {dim} lanes on and not transposed, not {access.view} of "
                           f"{tensor.name} {list(tensor.shape)}")
    return home.row, layout


def along_lanes(view: View) -> bool | None:
    """Whether the last dimension lies along lanes; False: the one before it; None: neither.

    One of the two has the stride 1 then, or both are 1 long.
    """
    (*_, height, width), (*_, down, across) = view.shape, view.strides
    if across == 1 and width > 1:
        return True
    if down == 1 or height == 1:
        return width == 1 and height == 1
    return True if width == 1 else None


def has_one_stride(view: View, extent: Extent) -> bool:
    """Whether all rows of a view are as far from one another: one instruction reaches them."""
    rows = rows_of(view, extent)
    return len(merged(rows.shape, rows.strides)[0]) <= 1
