"""Random graphs, written as StableHLO, come back with the same meaning."""

from hypothesis import given
from random_graphs import assert_equal, graphs
from stablehlo_text import Writer

from celosia.frontend import import_stablehlo
from celosia.graph import check, interpret


@given(graphs())
def test_import_of_a_written_graph(case):
    graph, inputs = case
    text = Writer().function(graph)
    again = import_stablehlo(text)
    check(again)
    assert_equal(interpret(again, inputs), interpret(graph, inputs))
