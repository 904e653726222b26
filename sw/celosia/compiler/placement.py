"""Partitioning between chip and host: where each operation runs, and why (docs/coverage.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from celosia.compiler.levels import CANONICAL, FUNCTIONS, INSTRUCTIONS
from celosia.compiler.passes.reductions import MOST_MAXIMA, REPLACED
from celosia.compiler.passes.sorting import MOST_SORTED
from celosia.graph import Node, Trait, having
from celosia.graph.operations.callback import CALLS
from celosia.graph.operations.collective import COLLECTIVES

__all__ = ["PLACES", "Placement", "place"]


class Placement(NamedTuple):
    """Where an operation runs.

    Attributes
    ----------
    where
        "chip", "host", "link": what chips do together, by what connects them, or "call": what the
        program itself wants of the host. The host does these two, but they are nothing that a chip
        lacks.
    reason
        What runs it there, or what the chip lacks.
    """

    where: str
    reason: str


def _group(reason: str, names: Iterable[str]) -> dict[str, Placement]:
    return {name: Placement("chip", reason) for name in names}


#: Operation of the canonical level to its place, but for what `place` says of single nodes. What
#: holds for a kind of operations comes before what holds for one of them.
PLACES: dict[str, Placement] = {
    **_group("memory that the driver fills", having(Trait.STORED)),
    **_group("a view, or addresses of a stream", having(Trait.VIEW)),
    **_group("copies of streams", having(Trait.MOVEMENT)),
    **_group("vector instructions", [*INSTRUCTIONS, "compare", "convert", "rsqrt", "floor",
                                     "round", "requantise"]),
    **{name: Placement("chip", f"{kernel.__module__}.{kernel.__name__}")
       for name, kernel in FUNCTIONS.items()},
    **_group("the array", having(Trait.PRODUCT)),
    **_group("reductions of the vector unit", having(Trait.REDUCTION) - REPLACED.keys()),
    **_group("branches and loops of the scalar unit", having(Trait.CONTROL)),
    **{name: Placement("link", "devices exchange it by way of the host") for name in COLLECTIVES},
    **{name: Placement("call", "the program has the host call a function") for name in CALLS},
    "iota": Placement("chip", "the vector unit counts rows and lanes"),
    "transpose": Placement("chip", "the tile transposer, or addresses of a stream"),
    "bitcast": Placement("chip", "the same bits"),
    "barrier": Placement("chip", "nothing to do"),
    **_group("rows that an index names, in the vector unit", ["gather", "scatter"]),
    **_group("addresses from registers of the scalar unit",
             ["dynamic_slice", "dynamic_update_slice"]),
    "remainder": Placement("host", "a remainder of fp32 needs a division of up to 277 bits"),
    "select_and_scatter": Placement("host", "its window has too many elements to be written out"),
    **{name: Placement("host", f"more than {MOST_SORTED:,} elements would be sorted together")
       for name in ("sort", "sort_by")},
    "top_k": Placement("host", f"its k is above {MOST_MAXIMA}, and more than {MOST_SORTED:,} "
                               "elements would be sorted together"),
}
assert PLACES.keys() == CANONICAL.ops, PLACES.keys() ^ CANONICAL.ops


def _scatter(node: Node) -> Placement | None:
    if node.attrs["reducer"] != "set":
        return Placement("host", f"rows of one index are joined by {node.attrs['reducer']}, one "
                         "after another")
    return None


_SINGLE: dict[str, Callable[[Node], Placement | None]] = {
    "scatter": _scatter}


def place(node: Node) -> Placement:
    """Return where a node of the canonical level runs, and why.

    Raises
    ------
    ValueError
        If the level has no such operation.
    """
    if node.op not in PLACES:
        raise ValueError(f"{node.source}: operation must be canonical, not {node.op!r}")
    special = _SINGLE.get(node.op)
    return (special(node) if special else None) or PLACES[node.op]
