"""The order of work: what is long comes last, vector work has products beside it.

The longest piece comes last: at its end nothing is left that could run beside it.

What is short, and does not depend on it, is done before: there it overlaps other work, and its own
beginning and end do.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
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
#: What products, and vector work, have of the accumulators then; and, where the ones make rows that
#: the others take, or both have products. Vector work is faster with many rows at once.
_HALF, _HALF_LEFT = (0, WHOLE[1] // 2), (WHOLE[1] // 2, WHOLE[1])
_QUARTER, _REST = (0, WHOLE[1] // 4), (WHOLE[1] // 4, WHOLE[1])


def _units(config: TpuConfig, work: Cluster) -> tuple[float, float]:
    """Cycles of the array and, with an instruction for each node, of the vector unit."""
    rows, panels = math.prod(work.space[:-1]), ceil_div(work.space[-1], config.dim)
    deep = 0  # tiles of the depth
    if isinstance(work.product, Dot):
        deep = ceil_div(work.product.lhs.view.shape[2], config.dim)
    elif work.product is not None:
        *taps, depth, _ = work.product.w.view.shape
        deep = math.prod(taps) * ceil_div(depth, config.dim)
    return (panels * deep * cycles.matmul(config, rows).occupied,
            panels * len(work.nodes) * cycles.vector(config, rows=rows).occupied)


def _cycles(config: TpuConfig, work: Work) -> float:
    """Cycles of the unit that has the most to do, of those that compute or move; infinite for
    control flow and the like.
    """
    match work:
        case Cluster():
            return max(_units(config, work))
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


def _meet(one: tuple[set[Tensor], set[Tensor]], other: tuple[set[Tensor], set[Tensor]]) -> bool:
    """Whether work of which one part reads and writes this, the other that, must keep its order."""
    (read, written), (reads, writes) = one, other
    return bool(writes & (read | written) or reads & written)


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
        if any(_meet(_touches(work), _touches(each)) for each in after):
            after.append(work)
        else:
            before.append(work)
    return before + after


def side_by_side(config: TpuConfig, works: Sequence[Work]) -> list[Work]:
    """Return work in which long vector work runs beside products.

    These come from before or behind it, where nothing between makes what they read. Where there
    are none vector work without a product runs beside the ones before and behind it, whose rows
    it takes as they come, or makes.
    """
    out = [*works]
    for work in works:
        if not isinstance(work, Cluster) or work not in out:
            continue  # it is beside other work already
        array, vector = _units(config, work)
        if work.product is None and vector >= _WORTH:
            found = _behind(config, out[out.index(work):], vector)
            if found:
                out = _moved(out, work, [*(replace(each, share=_HALF) for each in found),
                                         replace(work, share=_HALF_LEFT)], found)
            else:
                _beside_rows(config, out, out.index(work))
        elif _may_share(work, config) and vector / _NODES >= array + _WORTH:
            at, wanted = out.index(work), vector / _NODES - array
            found = _before(config, out[:at + 1], wanted) or _behind(config, out[at:], wanted)
            # Its own product goes first, as soon as it can.
            out = _moved(out, work, [replace(work, share=_REST, buffer=_QUARTER), *(
                replace(each, share=_QUARTER, buffer=_REST) for each in found)], found)
    return out


def _moved(works: Sequence[Work], work: Cluster, there: Sequence[Cluster],
           found: Sequence[Cluster]) -> list[Work]:
    """Return works with others in the place of one, and of what was found for it."""
    if not found:
        return [*works]
    at = works.index(work)
    before, behind = ([each for each in part if each not in found]
                      for part in (works[:at], works[at + 1:]))
    return [*before, *there, *behind]


def _beside_rows(config: TpuConfig, works: list[Work], at: int) -> None:
    """Have vector work share the accumulators with the products before and behind it, where these
    take less, and have little vector work; what is short, and comes between, and may, comes behind
    them.
    """
    work = works[at]
    assert isinstance(work, Cluster)
    taken = _cycles(config, work)
    before, behind = (_product(config, works, at, step, taken) for step in (-1, 1))
    places = []
    if before is not None:
        places.append(before)
    if behind is not None:
        between = works[at + 1:behind]
        if not any(_meet(_touches(works[behind]), _touches(each)) for each in between):
            works[at + 1:behind + 1] = [works[behind], *between]
            places.append(at + 1)
    for place in places:
        product = works[place]
        assert isinstance(product, Cluster)
        works[place] = replace(product, share=_QUARTER, stream=True)
    if places:
        works[at] = replace(work, share=_REST)


def _product(config: TpuConfig, works: Sequence[Work], at: int, step: int,
             most: float) -> int | None:
    """Return the place of the first long work before or behind a place, if it is one product, of at
    most so many cycles, that may share.
    """
    at += step
    while 0 <= at < len(works) and _cycles(config, works[at]) < _SHORT:
        at += step
    if not 0 <= at < len(works):
        return None
    work = works[at]
    # Products of a batch come row after row as they are, and are faster in loops.
    if not _may_share(work, config) or work.space[0] > 1:
        return None
    array, vector = _units(config, work)
    return at if vector <= array <= most else None


def _may_share(work: Work, config: TpuConfig) -> TypeGuard[Cluster]:
    """Whether a piece of work is a product that may run beside other work."""
    return (isinstance(work, Cluster) and isinstance(work.product, Dot) and work.share == WHOLE
            and _WORTH <= _cycles(config, work) <= _MOST)


def _behind(config: TpuConfig, works: Sequence[Work], wanted: float) -> list[Cluster]:
    """Return products, of so many cycles, that wait for none of the works before them."""
    found: list[Cluster] = []
    for work in _free(config, works):
        if wanted <= 0:
            break
        found.append(work)
        wanted -= _cycles(config, work)
    return found


def _before(config: TpuConfig, works: Sequence[Work], wanted: float) -> list[Cluster]:
    """Return the last product that no work behind it waits for, if it is of so many cycles."""
    return [work for work in islice(_free(config, works[::-1]), 1)
            if _cycles(config, work) >= wanted]


def _free(config: TpuConfig, works: Sequence[Work]) -> Iterator[Cluster]:
    """Yield products that may share, and change places with the works between them and the first,
    but for other such products.
    """
    read, written = _touches(works[0])
    for work in works[1:]:
        reads, writes = _touches(work)
        if not _meet((read, written), (reads, writes)) and _may_share(work, config):
            yield work
        else:
            read |= reads
            written |= writes
