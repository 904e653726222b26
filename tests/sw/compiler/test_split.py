"""Where parts of a program compute what later ones want."""

from celosia.compiler import canonical
from celosia.compiler.builder import Builder
from celosia.compiler.split import split
from celosia.graph import DType, Graph, Source, TensorType, parameter


def test_what_grows_is_made_by_the_part_that_wants_it():
    make = Builder(Source())
    x = parameter(TensorType(DType.F32, (64, 64)), "x")
    scalar = parameter(TensorType(DType.F32, ()), "scalar")
    kept = make("multiply", scalar, scalar)
    met = make("all_reduce", make("add", x, x), groups=((0, 1),), reducer="add")
    wide = make("multiply", met, make.like(make("sqrt", kept), x.type))
    parts, _ = split(canonical(Graph("grows", (x, scalar), (kept, wide))))
    assert [part.where for part in parts] == ["chip", "link", "chip"]
    assert {value.shape for value in parts[0].graph.outputs} == {(), (64, 64)}
    assert "broadcast" in [node.op for node in parts[2].graph.nodes]
