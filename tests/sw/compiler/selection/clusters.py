"""Clusters of graphs, and what their code gives beside what the graphs mean."""

import numpy as np
from run_code import evaluate, from_words

from celosia.arch.config import preset
from celosia.compiler import canonical
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.lowered import Access, Cluster, External, Read, Tensor, Write, storage
from celosia.compiler.selection import SelectionOptions, select_instructions
from celosia.compiler.selection.bounded import Bounded
from celosia.compiler.selection.uses import Uses
from celosia.compiler.views import View
from celosia.graph import interpret

CORE = preset("core")
#: Operations stay as they are; functions are short.
EXACT, FAST = SelectionOptions(merge=False), SelectionOptions(fast=True)


def extent_of(shape, space):
    """Return what a shape is in a space of two sizes that differ."""
    return {space: Extent.FULL, space[:-1]: Extent.ROWS, space[-1:]: Extent.LANES,
            (): Extent.SCALAR}[tuple(shape)]


def access(value):
    tensor = Tensor("t", value.shape, value.dtype, storage(CORE, value.dtype), External(0))
    return Access(tensor, View.contiguous(value.shape))


def cluster_of(graph, space, kept=None, config=CORE):
    reads = [Read(value, extent_of(value.shape, space), access(value)) for value in graph.params]
    kept = len(space) - 1 if kept is None else kept
    writes = []
    for value in graph.outputs:
        if kept < len(space) - 1 and value.shape != space:
            extent = Extent.FULL if value.shape[-1:] == space[-1:] else Extent.ROWS
        else:
            extent = extent_of(value.shape, space)
        writes.append(Write(value, extent, access(value)))
    nodes = tuple(node for node in graph.nodes if node.op != "parameter")
    return Cluster(space, kept, None, None, nodes, tuple(reads), tuple(writes), "a test")


def full_steps(code):
    """Return how many steps cost a cycle for each row of each panel."""
    return sum(any(term.extent is Extent.FULL for term in (*step.args, step))
               for step in code.steps)


def run(graph, inputs, space, kept=None, options=None, dim=16, bounded=None):
    """Return (code, what it writes, what the graph means)."""
    graph = canonical(graph)
    code = select_instructions(CORE, cluster_of(graph, space, kept), options,
                               bounded or Bounded(Uses(graph)))
    found = evaluate(code, space, dict(zip(graph.params, inputs, strict=True)), dim, kept)
    got = [from_words(found[value], value.dtype).reshape(value.shape) for value in graph.outputs]
    with np.errstate(all="ignore"):
        want = interpret(graph, inputs)
    return code, got, want


def sample(rng, dtype, shape):
    """Return numbers of all kinds, but subnormal ones."""
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(np.bool_)
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, endpoint=True, dtype=dtype)
    numbers = rng.normal(size=shape) * 2.0**rng.integers(-20, 20, shape)
    special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 0.5, 1e30, -1e30, 1e-30])
    flat = numbers.reshape(-1)
    count = min(len(special), len(flat))
    flat[rng.permutation(len(flat))[:count]] = special[:count]
    with np.errstate(over="ignore"):  # of float16
        return numbers.astype(dtype)


__all__ = ["CORE", "EXACT", "FAST", "cluster_of", "extent_of", "full_steps", "run", "sample"]
