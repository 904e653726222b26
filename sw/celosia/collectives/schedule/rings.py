"""Collectives on rings, and on tori as rings along one dimension after the other.

The payload is cut among the chips, its owners, and each owner's words into a part for every port:
part 2 k + s goes up (s = 0) or down (s = 1) and along dimension k first, then k + 1 and so on,
round. So all links work from the first round to the last, and each carries what the bound of
Patarasuk and Yuan (JPDC 2009) says that it must.

What is joined goes round in one direction, which is its order. What is only copied leaves its owner
in both, and is everywhere after half as many hops.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise, product
from typing import NamedTuple

from celosia.collectives.schedule.table import (
    Action,
    Alike,
    Held,
    Schedule,
    Transfer,
    Words,
    parts_of,
    steps_of,
)
from celosia.collectives.topology import Topology

__all__ = ["Sizes", "all_gather", "all_reduce", "chain", "reduce_scatter", "ring_sizes"]

#: In how many what waits for external memory is cut.
_EDGE = 2
#: Words of what is cut in one piece more where it is joined, of those with a most.
_SHORT = range(6, 13)
#: Of each owner, the words of each of its parts.
Sizes = Sequence[Sequence[int]]


class _Part(NamedTuple):
    """What begins by one port.

    Attributes
    ----------
    dims
        The dimensions in the order in which it goes along them.
    down
        Whether it goes down each.
    places
        The words of each owner; they follow each other in the order of ``dims``.
    """

    dims: tuple[int, ...]
    down: bool
    places: dict[int, Words]


def _linked(topology: Topology) -> list[int]:
    return [dim for dim, extent in enumerate(topology.extents) if extent > 1] or [0]


def ring_sizes(topology: Topology, words: int, block: int = 1, *, equal: bool = False) -> Sizes:
    """Return how a payload is cut among its owners, and what each one owns among the ports.

    Cuts are at whole blocks; ``equal``: owners have equal shares all the same, where they can.
    """
    owned = parts_of(Words(0, words), topology.chips, 1 if equal else block)
    return tuple(_among_ports(topology, owner, each.count, block)
                 for owner, each in enumerate(owned))


def _among_ports(topology: Topology, owner: int, words: int, block: int) -> tuple[int, ...]:
    """Return how many of an owner's words each part has; which one has a block more goes round
    along each dimension.
    """
    ports = 2 * len(_linked(topology))
    blocks = [each.count for each in parts_of(Words(0, -(-words // block)), ports)]
    first = sum(topology.coordinates(owner)) % ports
    ends = accumulate(blocks[first:] + blocks[:first])
    cuts = [0, *(min(end * block, words) for end in ends)]
    return tuple(b - a for a, b in pairwise(cuts))


def _parts(topology: Topology, sizes: Sizes) -> list[_Part]:
    """Return the parts of a payload, which follow each other in it."""
    linked = _linked(topology)
    found, at = [], 0
    for i in range(2 * len(linked)):
        dims = tuple(linked[i // 2:] + linked[:i // 2])

        def key(owner: int, dims: tuple[int, ...] = dims) -> list[int]:
            return [topology.coordinates(owner)[dim] for dim in dims]

        places = {}
        for owner in sorted(range(topology.chips), key=key):
            places[owner] = Words(at, at + sizes[owner][i])
            at = places[owner].stop
        found.append(_Part(dims, i % 2 == 1, places))
    return found


def _bundles(topology: Topology, part: _Part, phase: int) -> dict[tuple[int, ...], Words]:
    """Return the words of all owners with some coordinates, the first ones of the part's order."""
    found: dict[tuple[int, ...], Words] = {}
    for owner, words in part.places.items():  # in that order
        at = topology.coordinates(owner)
        key = tuple(at[dim] for dim in part.dims[:phase + 1])
        found[key] = Words(found.get(key, words).start, words.stop)
    return found


def _hops(extent: int, gather: bool) -> tuple[int, ...]:
    """Return how far what is sent along a dimension goes in a part's direction, and the other."""
    return (extent // 2, (extent - 1) // 2) if gather else (extent - 1,)


def _along(topology: Topology, part: _Part, phase: int, gather: bool,
           ) -> Iterator[tuple[int, int, int, Words]]:
    """Give turn, chip, port and words of what a part sends along one of its dimensions."""
    dim = part.dims[phase]
    extent = topology.extents[dim]
    bundles = _bundles(topology, part, phase)
    for chip, (back, hops) in product(range(topology.chips), enumerate(_hops(extent, gather))):
        at = topology.coordinates(chip)
        down = part.down ^ back
        for turn in range(hops):
            owner = (at[dim] - (-1 if down else 1) * (turn if gather else turn + 1)) % extent
            key = (*(at[each] for each in part.dims[:phase]), owner)
            yield turn * (2 if gather else 1) + back, chip, 2 * dim + down, bundles[key]


def _transfers(topology: Topology, parts: list[_Part], pieces: int, most: int | None, first: int,
               gather: bool) -> Iterator[list[Transfer]]:
    """Give the transfers of each phase of a reduce-scatter or all-gather, from a round on."""
    hops = _hops(max(topology.extents), gather)
    phases = range(len(parts[0].dims))
    for phase in reversed(phases) if gather else phases:
        found = [each for part in parts for each in _along(topology, part, phase, gather)]
        longest = max((words.count for _, _, _, words in found), default=0)
        count = pieces
        if most is not None:
            # What is short waits at each hop to be joined, and the link waits for it.
            more = not gather and pieces > 1 and longest in _SHORT
            count = max(pieces + more, -(-longest // most))
        turns = len(hops) * hops[0]
        edge = (turns - len(hops) if gather else 0) if most and longest > pieces * most else None
        rounds = [first, *(first + each for each in accumulate(
            count + (_EDGE - 1) * (turn == edge) for turn in range(turns)))]
        yield [Transfer(rounds[turn] + i, chip, port, piece,
                        Action.SET if gather else Action.JOIN)
               for turn, chip, port, words in found
               for i, piece in enumerate(_pieces(words, count, turn == edge, gather))]
        first = rounds[-1]


def _pieces(words: Words, count: int, edge: bool, gather: bool) -> list[Words]:
    """Return pieces of words; at an edge all wait for the first one to be brought, or for the last
    one to be stored: it is cut once more.
    """
    found = parts_of(words, count)
    if not edge:
        return found
    if gather:
        return [*found[:-1], *parts_of(found[-1], _EDGE)]
    return [*parts_of(found[0], _EDGE), *found[1:]]


def _owned(parts: list[_Part], owner: int, chips: frozenset[int]) -> tuple[Held, ...]:
    return tuple(Held(part.places[owner], chips) for part in parts)


def _make(name: str, topology: Topology, sizes: Sizes | int, pieces: int, most: int | None,
          phases: str) -> Schedule:
    if isinstance(sizes, int):
        if sizes < 0 or pieces < 1:
            raise ValueError(f"{name} must be of 0 or more words in 1 or more pieces, not of "
                             f"{sizes} in {pieces}")
        sizes = ring_sizes(topology, sizes)
    chips = range(topology.chips)
    parts = _parts(topology, sizes)
    transfers: list[Transfer] = []
    last: list[Transfer] = []
    for phase in phases:
        first = max((each.round for each in transfers), default=-1) + 1
        for last in _transfers(topology, parts, pieces, most, first, phase == "g"):
            transfers += last
    count = topology.chips
    whole = tuple(part.places[owner] for owner in chips for part in parts)
    own = [_owned(parts, chip, frozenset([chip])) for chip in chips]
    given: Sequence[tuple[Held, ...]]
    result: Sequence[tuple[Held, ...]]
    if phases == "r":
        given, every = Alike(whole, count, joined=False), frozenset(chips)
        result = tuple(_owned(parts, chip, every) for chip in chips)
    elif phases == "g":
        given, result = tuple(own), (tuple(each for held in own for each in held),) * count
    else:
        given = Alike(whole, count, joined=False)
        result = Alike(whole, count, joined=True)
    return Schedule(name, topology, sum(map(sum, sizes)), steps_of(topology, transfers),
                    given, result,
                    min((each.round for each in last), default=0) if phases[-1] == "g" else None)


def reduce_scatter(topology: Topology, words: Sizes | int, pieces: int = 2,
                   most: int | None = None) -> Schedule:
    """Return how each chip gets its share of all chips' payloads joined.

    A part that goes up a ring is joined in the ring's order, beginning behind its owner i:
    ((x[i+1] + x[i+2]) + ..) + x[i]; one that goes down the other way round. In a torus that is
    what is done along the part's first dimension; then its results are, along the next.

    Parameters
    ----------
    topology
        Of the chips that take part.
    words
        Of the payload, cut as `ring_sizes` says; or how it is cut.
    pieces
        In how many what is sent at once is cut: while one is on its way, another is joined.
    most
        Words of a piece: what is longer is cut in more.
    """
    return _make("reduce_scatter", topology, words, pieces, most, "r")


def all_gather(topology: Topology, words: Sizes | int, pieces: int = 2,
               most: int | None = None) -> Schedule:
    """Return how each chip gets the shares of all chips; parameters as of `reduce_scatter`."""
    return _make("all_gather", topology, words, pieces, most, "g")


def all_reduce(topology: Topology, words: Sizes | int, pieces: int = 2,
               most: int | None = None) -> Schedule:
    """Return how each chip gets all payloads joined: `reduce_scatter`, then `all_gather`."""
    return _make("all_reduce", topology, words, pieces, most, "rg")


def chain(topology: Topology, words: int, pieces: int = 8) -> Schedule:
    """Return an all-reduce in the order of the chips: ((x[0] + x[1]) + x[2]) + ..

    Sums go up the ring from chip 0, results back down by the same links: the same bits as on the
    host in any order of chips, at a lower rate than `all_reduce`.

    Raises
    ------
    ValueError
        If the topology is not a ring.
    """
    chips = topology.chips
    if len(topology.extents) != 1:
        raise ValueError(f"topology of sums in the order of the group must be a ring, "
                         f"not {topology}")
    transfers = []
    for i, piece in enumerate(parts_of(Words(0, words), pieces)):
        for hop in range(chips - 1):
            transfers.append(Transfer(i + hop, hop, 0, piece, Action.JOIN))
            transfers.append(Transfer(i + chips - 1 + hop, chips - 1 - hop, 1, piece, Action.SET))
    whole = Words(0, words)
    return Schedule("all_reduce", topology, words, steps_of(topology, transfers),
                    tuple((Held(whole, frozenset([chip])),) for chip in range(chips)),
                    ((Held(whole, frozenset(range(chips))),),) * chips)
