"""Whole training programs at the canonical level."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from shared import agree

import celosia
from celosia.arch.config import preset
from celosia.compiler import CANONICAL, api, canonical, pipeline
from celosia.compiler.pipeline import count, prepared
from celosia.compiler.placement import PLACES, place
from celosia.frontend import import_stablehlo
from celosia.graph import (
    SOURCED,
    DType,
    Graph,
    GraphError,
    TensorType,
    check,
    op,
    ops,
    parameter,
)

PROGRAMS = Path(__file__).parents[1] / "frontend" / "programs"
#: Kinds of operations before and after, besides parameters.
KINDS = {"mlp_adam": (21, 21), "cnn_sgd": (24, 26), "lstm_sgd": (25, 25),
         "transformer_sgd": (31, 31)}
#: All that is left of the four.
LEFT = """
add and bitcast broadcast compare concatenate constant convert convolution divide dot
dynamic_slice dynamic_update_slice erfc exp gather iota is_finite log maximum minimum multiply
negate not or pad power reduce reshape reverse rsqrt select shift_left shift_right slice sqrt
subtract tanh transpose while xor
""".split()


def kinds(graph):
    found = Counter()
    for node in graph.nodes:
        if node.op != "parameter":
            found[node.op] += 1
        for region in node.regions:
            found += kinds(region)
    return found


def nodes(graph):
    for node in graph.nodes:
        yield node
        for region in node.regions:
            yield from nodes(region)


@pytest.fixture(scope="module")
def programs():
    found = {name: import_stablehlo(PROGRAMS / f"{name}.mlir") for name in KINDS}
    return {name: (graph, canonical(graph)) for name, graph in found.items()}


@pytest.mark.parametrize("name", KINDS)
def test_program(programs, name):
    graph, found = programs[name]
    check(found, CANONICAL)
    check(found, SOURCED)
    assert canonical(found) is found
    draw = np.random.default_rng(5)
    inputs = [(draw.standard_normal(each.shape) * 0.3).astype(each.dtype.numpy)
              if each.dtype.is_float else draw.integers(0, 3, each.shape).astype(each.dtype.numpy)
              for each in graph.params]
    agree(graph, found, inputs, 2e-4, 2e-5)


@pytest.mark.parametrize("name", KINDS)
def test_nothing_of_a_program_is_left_to_the_host(programs, name):
    assert {place(node).where for node in nodes(programs[name][1])} == {"chip"}


def test_kinds_that_are_left(programs):
    assert {name: (len(kinds(before)), len(kinds(after)))
            for name, (before, after) in programs.items()} == KINDS
    left = set().union(*(kinds(after) for _, after in programs.values()))
    assert sorted(left) == LEFT


def test_trace_says_what_each_pass_did():
    x = parameter(TensorType(DType.F32, (2, 3)))
    graph = Graph("layer", [x], [op("clamp", *[op("exp", x)] * 3), op("negate", op("negate", x))])
    lines = []
    found = canonical(graph, trace=lines.append)
    assert [line.rpartition(",")[0] for line in lines] == [
        "layer: round 1: simplify: 4 -> 2 nodes", "layer: round 1: elementwise: 2 -> 3 nodes",
        "layer: round 1: simplify: 3 -> 1 nodes"]
    assert count(found) == 1


def test_graph_that_is_not_well_formed_is_refused():
    x = parameter(TensorType(DType.F32, (2,)), "x")
    with pytest.raises(GraphError, match="parameter must be of g, not of a graph around it"):
        canonical(Graph("g", [], [op("exp", x)]))


def test_level_names_what_it_has_not():
    x = parameter(TensorType(DType.F32, (2,)))
    with pytest.raises(GraphError) as caught:
        check(Graph("g", [x], [op("erf_inv", x)]), CANONICAL)
    assert str(caught.value) == ("graph g is not canonical: unknown source: erf_inv: operation "
                                 "must be one of the level")


def test_every_operation_has_a_place():
    assert PLACES.keys() == CANONICAL.ops
    assert all(where in ("chip", "host", "link", "call") and reason
               for where, reason in PLACES.values())
    assert PLACES["divide"] == ("chip", "celosia.compiler.kernels.functions.div")
    assert PLACES["reduce"] == ("chip", "reductions of the vector unit")
    x = parameter(TensorType(DType.F32, (5000,)))
    assert place(ops("sort", x, dim=0)[0].node).where == "host"
    with pytest.raises(ValueError, match="operation must be canonical, not 'erf_inv'"):
        place(op("erf_inv", x).node)


def test_preparing_ends_in_the_same_grammar(monkeypatch):
    x = parameter(TensorType(DType.F32, (4,)))
    with pytest.raises(GraphError, match="ceil"):
        prepared(Graph("g", [x], [op("ceil", x)]), preset("core"))
    monkeypatch.setattr(pipeline, "long_rows", lambda graph, config: Graph(
        "g", [x], [op("ceil", x)]))
    with pytest.raises(GraphError, match="ceil"):
        prepared(Graph("g", [x], [op("negate", x)]), preset("core"))


def test_compiling_makes_the_canonical_graph_once(monkeypatch):
    made = []

    def once(graph, **rest):
        made.append(canonical(graph, **rest))
        return made[-1]

    x = parameter(TensorType(DType.F32, (4,)))
    monkeypatch.setattr(api, "canonical", once)
    monkeypatch.setattr(pipeline, "canonical", once)
    celosia.compile(Graph("g", [x], [op("ceil", x)]), cache=False)
    assert len(made) == 1
