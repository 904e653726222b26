"""The rules of `celosia.compiler.lowered` once every tensor has a place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from celosia.arch.config import TpuConfig
from celosia.arch.isa import Mem
from celosia.compiler.accesses import accesses, inner
from celosia.compiler.layout import Layout
from celosia.compiler.lowered import External, OnChip, Region, Tensor, Work
from celosia.compiler.memory import Life, lives
from celosia.compiler.verify import refuse
from celosia.graph import DType
from celosia.program.buffer import ALIGNMENT

__all__ = ["check_homes"]

#: What the unified buffer holds.
_OPERANDS = (DType.BF16, DType.I8)
#: A memory, its first row or byte, and what follows the last.
_Span = tuple[str, int, int]


def check_homes(config: TpuConfig, works: Sequence[Work], fixed: Sequence[Tensor], size: int,
                regions: Mapping[Work, Region], control_rows: int) -> None:
    """Check where the tensors of a list of work lie.

    Parameters
    ----------
    fixed
        Inputs, outputs and constants.
    size
        Bytes of the arena.
    regions
        Rows that each piece of work has for itself (`celosia.compiler.residency.regions`).
    control_rows
        Accumulator rows, from the first on, that are control flow's.

    Raises
    ------
    IllFormed
        With every rule that is broken, and where.
    """
    life = lives(works)
    whole = Life(0, 1 << 62)
    life.update((tensor, whole) for tensor in fixed)
    refuse("the plan of memory", [
        *(problem for tensor in life for problem in _home(config, tensor, size, control_rows)),
        *_shared(config, life),
        *_regions(config, works, regions, control_rows)])


def _rows(config: TpuConfig, tensor: Tensor) -> int:
    return Layout.of(tensor, config.dim).size


def _span(config: TpuConfig, tensor: Tensor) -> _Span | None:
    home = tensor.home
    if isinstance(home, OnChip):
        return home.mem.name, home.row, home.row + _rows(config, tensor)
    return None if home is None else ("external", home.offset, home.offset + tensor.nbytes)


def _home(config: TpuConfig, tensor: Tensor, size: int, control_rows: int) -> Iterator[str]:
    span = _span(config, tensor)
    if span is None:
        yield f"{tensor.name} must have a home"
        return
    memory, first, end = span
    if isinstance(tensor.home, External):
        if first % ALIGNMENT or end > size:
            yield (f"{tensor.name} must begin at a multiple of {ALIGNMENT} and end within {size} "
                   f"bytes, not take {first}..{end - 1}")
        return
    low, high = (0, config.ub_rows) if memory == Mem.UB.name else (control_rows, config.acc_rows)
    if first < low or end > high:
        yield (f"{tensor.name} must lie in rows {low}..{high - 1} of {memory}, not in "
               f"{first}..{end - 1}")
    if memory == Mem.UB.name and tensor.dtype not in _OPERANDS:
        yield f"{tensor.name} in {memory} must be of bf16 or i8, not {tensor.dtype}"


def _shared(config: TpuConfig, life: Mapping[Tensor, Life]) -> Iterator[str]:
    """Yield which tensors share rows or bytes while both are needed."""
    spans = sorted((span, i, tensor) for i, tensor in enumerate(life)
                   if (span := _span(config, tensor)) is not None and span[1] < span[2])
    open_: list[tuple[_Span, Tensor]] = []
    for span, _, tensor in spans:
        memory, first, _ = span
        open_ = [each for each in open_ if each[0][0] == memory and each[0][2] > first]
        for _, other in open_:
            if life[tensor].first <= life[other].last and life[other].first <= life[tensor].last:
                yield (f"{other.name} and {tensor.name} must not be in the same place while both "
                       f"are needed, not in {memory} from {first} on")
        open_.append((span, tensor))


def _regions(config: TpuConfig, works: Sequence[Work], regions: Mapping[Work, Region],
             control_rows: int) -> Iterator[str]:
    for work in works:
        for part in inner(work):
            yield from _regions(config, part, regions, control_rows)
        region = regions[work]
        if (region.ub.start < 0 or region.ub.stop > config.ub_rows
                or region.acc.start < control_rows or region.acc.stop > config.acc_rows):
            yield (f"{work.source}: its own rows must be in the memories, not {region.ub} and "
                   f"{region.acc}")
        if inner(work):
            continue
        for access, _ in accesses(work):
            home = access.tensor.home
            if not isinstance(home, OnChip):
                continue
            own = region.ub if home.mem is Mem.UB else region.acc
            if home.row < own.stop and home.row + _rows(config, access.tensor) > own.start:
                yield (f"{work.source}: {access.tensor.name} must not lie in the work's own rows, "
                       f"{own} of {home.mem.name}, not at row {home.row}")
            if access.base is not None:
                yield (f"{work.source}: {access.tensor.name} must be in external memory, as its "
                       "address is known at run time only")
