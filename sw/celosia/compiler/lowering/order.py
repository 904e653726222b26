"""The longest piece of work comes last: at its end nothing is left that could run beside it.

What is short, and does not depend on it, is done before: there it overlaps other work, and its own
beginning and end do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from celosia.arch.commands import Store
from celosia.arch.config import TpuConfig
from celosia.arch.words import ceil_div
from celosia.compiler import cycles
from celosia.compiler.accesses import accesses
from celosia.compiler.lowered import Cluster, Dot, Fill, Move, Tensor, Work

__all__ = ["longest_last"]


def _cycles(config: TpuConfig, work: Work) -> float:
    """Cycles of the unit that has the most to do, of those that compute or move; infinite for
    control flow and the like.
    """
    match work:
        case Cluster():
            rows, panels = math.prod(work.space[:-1]), ceil_div(work.space[-1], config.dim)
            deep = 0  # tiles of the depth
            if isinstance(work.product, Dot):
                deep = ceil_div(work.product.lhs.view.shape[2], config.dim)
            elif work.product is not None:
                *taps, depth, _ = work.product.w.view.shape
                deep = math.prod(taps) * ceil_div(depth, config.dim)
            return panels * max(deep * cycles.matmul(config, rows).occupied,
                                len(work.nodes) * cycles.vector(config, rows=rows).occupied)
        case Move() | Fill():
            elements = math.prod(work.dst.view.shape)
            return cycles.transfer(config, Store, ceil_div(elements, config.dim), config.dim,
                                   work.dst.tensor.element_bytes).occupied
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
        work, taken = works[i], _cycles(config, works[i])
        if isinstance(work, Cluster) and isinstance(work.product, Dot) and taken > rest:
            found = i
        rest += taken
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
