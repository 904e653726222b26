"""Levels of the grammar find what is not so, all of it."""

import numpy as np
import pytest

from celosia.graph import (
    CORE,
    SOURCED,
    DType,
    GrammarRule,
    Graph,
    GraphError,
    Source,
    TensorType,
    check,
    constant,
    op,
    ops,
    parameter,
)

F32 = TensorType(DType.F32)


def problems(graph, level=CORE):
    with pytest.raises(GraphError) as caught:
        check(graph, level)
    assert str(caught.value) == "\n".join(caught.value.problems)
    return caught.value.problems


def test_wide_elements():
    graph = Graph("g", [], [constant(np.int64(3)), constant(np.uint64(3))])
    assert problems(graph) == (
        ("graph g is not core: unknown source: constant: elements must have at most 32 bits, not "
        "i64[] (no 64-bit elements)"),
        ("graph g is not core: unknown source: constant: elements must have at most 32 bits, not "
        "u64[] (no 64-bit elements)"))


def test_parameter_of_another_graph():
    x = parameter(F32)
    assert problems(Graph("g", [], [op("exp", x)])) == (
        ("graph g is not core: unknown source: parameter: parameter must be of g, not of a graph "
        "around it"),)


def test_node_in_two_graphs():
    x, y = parameter(F32), parameter(F32)
    one = constant(np.float32(1))
    branch = Graph("branch", [y], [one])
    [z] = ops("case", constant(0, DType.I32), x, regions=[branch])
    assert problems(Graph("g", [x], [one, z])) == (
        ("graph g is not core: unknown source: constant: node must be in one graph, not in g and "
        "branch"),)


def test_sources():
    here = Source("a.py", 1, 2)
    x = parameter(F32)
    check(Graph("g", [x], [op("exp", x, source=here)]), SOURCED)
    assert problems(Graph("g", [x], [op("log", op("exp", x), source=here)]), SOURCED) == (
        "graph g is not sourced: unknown source: exp: source must be known (sources are known)",)


def test_levels_are_made_of_rules():
    def small(node):
        size = max(type.size for type in node.types)
        return f"size must be at most 4, not {size}" if size > 4 else None

    level = CORE.refine("small", without=["sort", "exp"],
                        rules=[GrammarRule("small results", small, frozenset({"iota"}))])
    x = parameter(TensorType(DType.F32, (9,)))
    iota = op("iota", dtype=DType.F32, shape=(9,))
    check(Graph("g", [x], [x]), level)
    check(Graph("g", [x], [op("exp", op("add", x, iota))]))
    assert problems(Graph("g", [x], [op("exp", op("add", x, iota))]), level) == (
        ("graph g is not small: unknown source: iota: size must be at most 4, not 9 (small "
        "results)"),
        "graph g is not small: unknown source: exp: operation must be one of the level")
    with pytest.raises(ValueError, match=r"^operations to leave out must be of level small, not "
                                         r"\['sort', 'sortt'\]$"):
        level.refine("smaller", without=["sort", "sortt", "dot"])
