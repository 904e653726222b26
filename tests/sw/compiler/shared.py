"""Comparing a graph with what passes made of it."""

import numpy as np

from celosia.graph import Graph, check, interpret


def ops_of(graph):
    """Return the names of the operations of a graph, in order, without parameters."""
    return [node.op for node in graph.nodes if node.op != "parameter"]


def agree(before: Graph, after: Graph, inputs, rtol=0.0, atol=0.0):
    """Assert that two graphs are well formed and give the same."""
    check(after)
    for a, b in zip(interpret(after, inputs), interpret(before, inputs), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol, atol)
