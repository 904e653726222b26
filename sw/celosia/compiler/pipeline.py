"""The front half of the compiler: from any graph to the canonical level."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from time import perf_counter

from celosia.arch.config import TpuConfig
from celosia.compiler.levels import CANONICAL
from celosia.compiler.passes.carried import carried
from celosia.compiler.passes.convolutions import convolutions
from celosia.compiler.passes.dots import dots
from celosia.compiler.passes.elementwise import elementwise
from celosia.compiler.passes.flat import flat
from celosia.compiler.passes.indexed import indexed
from celosia.compiler.passes.invariants import invariants
from celosia.compiler.passes.long_rows import long_rows
from celosia.compiler.passes.loops import loops
from celosia.compiler.passes.parts import parts
from celosia.compiler.passes.reductions import reductions
from celosia.compiler.passes.residuals import residuals
from celosia.compiler.passes.rounding import rounding
from celosia.compiler.passes.simplify import simplify
from celosia.compiler.passes.sorting import sorting
from celosia.compiler.passes.swapped import swapped
from celosia.compiler.passes.wide_products import wide_products
from celosia.compiler.passes.words import words
from celosia.compiler.verify import enabled
from celosia.graph import CORE, Graph, check, fingerprint

__all__ = ["PASSES", "canonical", "count", "prepared"]

#: In order: what a pass makes, later ones bring to the canonical level.
PASSES: tuple[Callable[[Graph], Graph], ...] = (
    simplify, loops, sorting, indexed, convolutions, dots, reductions, elementwise, words, simplify)
#: After them: the same operations in better places.
LAST: tuple[Callable[[Graph], Graph], ...] = (
    swapped, flat, residuals, carried, rounding, parts, invariants, simplify)
#: One brings a graph to the level; another finds what the first has laid open.
_MOST_ROUNDS = 8


def count(graph: Graph) -> int:
    """Return the number of nodes, those of regions too, without parameters."""
    return sum((node.op != "parameter") + sum(map(count, node.regions)) for node in graph.nodes)


def canonical(graph: Graph, *, trace: Callable[[str], None] | None = None) -> Graph:
    """Return a graph of the level `CANONICAL` that computes the same.

    Results are the same bit for bit but where sums, which have no order, are made in another one,
    and for `erf_inv`, which is off by a few ULP.

    Parameters
    ----------
    graph
        Any graph that `celosia.graph.check` accepts. A canonical one is returned as it is.
    trace
        Called with a line for every pass that changed something; `print` is one.

    Raises
    ------
    GraphError
        If the graph is not well formed, or holds what has no canonical form.
    """
    check(graph)
    for turn in range(_MOST_ROUNDS):
        before = graph
        for step in PASSES:
            start, old = perf_counter(), graph
            graph = step(graph)
            if graph is old:
                continue
            if enabled():
                check(graph, CORE)
            if trace is not None:
                milliseconds = (perf_counter() - start) * 1e3
                trace(f"{graph.name}: round {turn + 1}: {step.__name__}: {count(old)} -> "
                      f"{count(graph)} nodes, {milliseconds:.0f} ms")
        if graph is before or fingerprint(graph) == fingerprint(before):
            graph = before
            break
    check(graph, CANONICAL)
    return graph


def prepared(graph: Graph, config: TpuConfig, *,
             trace: Callable[[str], None] | None = None) -> Graph:
    """Return a canonical graph as it is lowered: products that the chip has, conversions where they
    cost least, rows that it can join.

    Raises
    ------
    GraphError
        If the graph is not canonical.
    """
    for step in (partial(wide_products, config=config), *LAST, partial(long_rows, config=config)):
        old, graph = graph, step(graph)
        if graph is not old and enabled():
            check(graph, CANONICAL)
        if graph is not old and trace is not None:
            name = (step.func if isinstance(step, partial) else step).__name__
            trace(f"{graph.name}: {name}: {count(old)} -> {count(graph)} nodes")
    check(graph, CANONICAL)
    return graph
