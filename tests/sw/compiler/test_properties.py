"""What holds for the canonical form of every graph."""

from hypothesis import given
from random_graphs import assert_equal, graphs

from celosia.compiler import CANONICAL, canonical
from celosia.compiler.passes.simplify import simplify
from celosia.graph import check, fingerprint, interpret, parse, to_text


def has_float_dot(graph):
    return any(node.op == "dot" and node.types[0].dtype.is_float or any(
        map(has_float_dot, node.regions)) for node in graph.nodes)


@given(graphs())
def test_simplify_keeps_every_bit(case):
    graph, inputs = case
    found = simplify(graph)
    check(found)
    assert simplify(found) is found
    assert_equal(interpret(found, inputs), interpret(graph, inputs))


@given(graphs())
def test_canonical_is_of_its_level_and_stays(case):
    graph, _ = case
    found = canonical(graph)
    check(found, CANONICAL)
    assert canonical(found) is found
    assert fingerprint(canonical(parse(to_text(graph)))) == fingerprint(found)
    assert found.signature == graph.signature
    assert [node.attrs for node in found.nodes if node.op == "parameter"] == [
        node.attrs for node in graph.nodes if node.op == "parameter"]


@given(graphs())
def test_canonical_means_the_same(case):
    graph, inputs = case
    # Sums of products of any bits have no order that would not show.
    if not has_float_dot(graph):
        assert_equal(interpret(canonical(graph), inputs), interpret(graph, inputs))
