"""The order of work: what is long comes last, vector work has products beside it.

The longest piece comes last: at its end nothing is left that could run beside it.

What is short, and does not depend on it, is done before: there it overlaps other work, and its own
beginning and end do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeGuard

from celosia.arch.commands import Store
from celosia.arch.config import TpuConfig
from celosia.arch.words import ceil_div
from celosia.compiler import cycles
from celosia.compiler.accesses import accesses
from celosia.compiler.lowered import WHOLE, Cluster, Dot, Fill, Move, Tensor, Work

__all__ = ["longest_last", "side_by_side"]

#: Cycles of work that is worth to run beside other work, and of products that may: those of more
#: keep the array busy by themselves, in loops.
_WORTH, _MOST = 1 << 15, 1 << 20
#: Cycles of work that may lie between a product and vector work that runs beside it.
_SHORT = 1 << 12
#: Nodes of vector work, about, that become one instruction.
_NODES = 2
#: What products, and vector work, have of the accumulators then.
_PRODUCTS, _VECTORS = (0, WHOLE[1] // 2), (WHOLE[1] // 2, WHOLE[1])


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


def side_by_side(config: TpuConfig, works: Sequence[Work]) -> list[Work]:
    """Return work in which long vector work runs beside products.

    These come from behind it, where neither it nor what follows it makes what they read. Where
    there are none it is the product before it, whose rows it may read as they come.
    """
    out = [*works]
    for work in works:
        if not isinstance(work, Cluster) or work.product is not None or not _WORTH <= _cycles(
                config, work):
            continue
        at = out.index(work)
        found = _independent(config, out[at:])
        if found:
            taken = {work, *found}
            out[at:] = [*(replace(each, share=_PRODUCTS) for each in found),
                        replace(work, share=_VECTORS),
                        *(each for each in out[at:] if each not in taken)]
            continue
        before = at - 1
        while before > 0 and _cycles(config, out[before]) < _SHORT:
            before -= 1
        product = out[before]
        if before >= 0 and _may_share(product, config) and (
                _NODES * _cycles(config, product) <= _cycles(config, work)):
            out[before] = replace(product, share=_PRODUCTS)
            out[at] = replace(work, share=_VECTORS)
    return out


def _may_share(work: Work, config: TpuConfig) -> TypeGuard[Cluster]:
    """Whether a piece of work is a product that may run beside other work."""
    return (isinstance(work, Cluster) and isinstance(work.product, Dot) and work.share == WHOLE
            and _WORTH <= _cycles(config, work) <= _MOST)


def _independent(config: TpuConfig, works: Sequence[Work]) -> list[Cluster]:
    """Return products, enough for the first of some works, that wait for none of those before."""
    found: list[Cluster] = []
    wanted = _cycles(config, works[0])
    read, written = _touches(works[0])
    for work in works[1:]:
        if wanted <= 0:
            break
        reads, writes = _touches(work)
        free = not (writes & (read | written) or reads & written)
        if free and _may_share(work, config):
            found.append(work)
            wanted -= _cycles(config, work)
        else:
            read |= reads
            written |= writes
    return found
