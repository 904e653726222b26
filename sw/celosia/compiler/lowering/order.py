"""The longest piece of work comes last: at its end nothing is left that could run beside it.

What is short, and does not depend on it, is done before: there it overlaps other work, and its own
beginning and end do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from celosia.arch.config import TpuConfig
from celosia.compiler.accesses import accesses
from celosia.compiler.lowered import Cluster, Dot, Fill, Move, Tensor, Work

__all__ = ["longest_last"]


def _cycles(config: TpuConfig, work: Work) -> float:
    """Cycles of array or vector unit, about; infinite for control flow and the like."""
    match work:
        case Cluster():
            panels = math.prod(work.space[:-1]) * math.ceil(work.space[-1] / config.dim)
            deep = 0
            if isinstance(work.product, Dot):
                deep = math.ceil(work.product.lhs.view.shape[2] / config.dim)
            return panels * max(deep, len(work.nodes), 1)
        case Move() | Fill():
            return math.prod(work.dst.view.shape) / config.dim
        case _:
            return math.inf


def _touches(work: Work) -> tuple[set[Tensor], set[Tensor]]:
    """What a piece of work reads, and what it writes."""
    found: tuple[set[Tensor], set[Tensor]] = set(), set()
    for access, written in accesses(work):
        found[written].add(access.tensor)
    return found


def longest_last(config: TpuConfig, works: Sequence[Work]) -> list[Work]:
    """Return work in which what follows the longest product comes before it, if it can.

    The product is one that takes longer than all that follows it.
    """
    found, rest = None, 0.0
    for i in range(len(works) - 1, -1, -1):
        work, cycles = works[i], _cycles(config, works[i])
        if isinstance(work, Cluster) and isinstance(work.product, Dot) and cycles > rest:
            found = i
        rest += cycles
    if found is None:
        return [*works]
    before, after = [*works[:found]], [works[found]]
    for work in works[found + 1:]:
        read, written = _touches(work)
        if any(written & (theirs[0] | theirs[1]) or read & theirs[1]
               for theirs in map(_touches, after)):
            after.append(work)
        else:
            before.append(work)
    return before + after
