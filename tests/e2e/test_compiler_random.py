"""Random graphs, compiled, on the RTL: the bits of the model."""

import pytest
from hypothesis import given, settings

import celosia
from celosia.graph import interpret, parse
from sw.compiler.exact_graphs import check_results, examples
from sw.compiler.test_found import FOUND, inputs_of
from sw.graph.random_graphs import graphs  # noqa: F401 - the same graphs each time: its profile


@pytest.fixture(scope="module")
def devices():
    with celosia.open("model", "core") as model, celosia.open("rtl", "core") as rtl:
        yield model, rtl


def same_on_both(compiled, devices, inputs):
    """Return the results, which must be the same on both devices."""
    model, rtl = (compiled.run(device, *inputs) for device in devices)
    for a, b in zip(model, rtl, strict=True):
        assert a.tobytes() == b.tobytes()
    return model


@pytest.mark.parametrize("name", FOUND)
def test_found(name, devices):
    graph = parse(FOUND[name])
    compiled = celosia.compile(graph, "core", strict=True, cache=False)
    same_on_both(compiled, devices, inputs_of(graph))


@settings(max_examples=40)
@given(example=examples())
def test_rtl_gives_what_the_model_gives(example, devices):
    same_on_both(example.compile(), devices, example.inputs)


@pytest.mark.slow
@settings(max_examples=2000)
@given(example=examples(most=14))
def test_many_and_larger_graphs(example, devices):
    found = same_on_both(example.compile(), devices, example.inputs)
    check_results(found, interpret(example.graph, example.inputs), example.errors)
