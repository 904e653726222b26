"""What holds for every graph."""

import numpy as np
from hypothesis import given
from random_graphs import arrays, assert_equal, graphs

from celosia.graph import (
    OPS,
    Array,
    DType,
    Graph,
    TensorType,
    check,
    constant,
    fingerprint,
    interpret,
    op,
    parse,
    rewrite,
    to_text,
)


@given(graphs())
def test_text_reads_back(case):
    graph, _ = case
    text = to_text(graph)
    again = parse(text)
    assert to_text(again) == text
    assert fingerprint(again) == fingerprint(graph)
    assert [node.source for node in again.nodes] == [node.source for node in graph.nodes]
    assert fingerprint(parse(to_text(graph, sources=False))) == fingerprint(graph)


@given(graphs())
def test_graph_is_well_formed(case):
    graph, _ = case
    check(graph)
    before = set()
    for node in graph.nodes:
        assert all(value.node in before for value in node.operands)
        before.add(node)
    assert len(before) == len(graph.nodes)


@given(graphs())
def test_results_have_their_types(case):
    graph, inputs = case
    outputs = interpret(graph, inputs)
    assert [TensorType(DType.of(each.dtype), each.shape) for each in outputs] == [
        value.type for value in graph.outputs]


@given(graphs())
def test_text_means_the_same(case):
    graph, inputs = case
    for a, b in zip(interpret(graph, inputs), interpret(parse(to_text(graph)), inputs),
                    strict=True):
        assert np.ascontiguousarray(a).tobytes() == np.ascontiguousarray(b).tobytes()


@given(graphs())
def test_rewriting_nothing_changes_nothing(case):
    graph, _ = case
    assert rewrite(graph, lambda node: None) is graph


@given(graphs())
def test_rewriting_all_keeps_the_meaning(case):
    graph, inputs = case
    # Each sum the other way round, in regions too.
    turned = rewrite(graph, lambda node: op("add", *node.operands[::-1], source=node.source)
                     .node.results if node.op == "add" else None)
    check(turned)
    assert_equal(interpret(turned, inputs), interpret(graph, inputs))


@given(arrays())
def test_constants_read_back_bit_for_bit(array):
    graph = Graph("g", [], [constant(array)])
    found = parse(to_text(graph)).outputs[0].node.attrs["value"]
    assert found == Array(array)
    assert found.numpy.tobytes() == array.tobytes()


def test_random_graphs_reach_most_kinds_of_operations():
    seen = set()

    @given(graphs())
    def collect(case):
        def walk(graph):
            for node in graph.nodes:
                seen.add(node.op)
                for region in node.regions:
                    walk(region)
        walk(case[0])

    collect()
    # Those among devices are for several; functions of the host are not at random.
    groups = {spec.group for spec in OPS.values()} - {"callback", "collective", "spmd"}
    assert {OPS[name].group for name in seen} == groups
