"""Random graphs: the compiled program gives what the interpreter gives; e2e runs them on RTL."""

import pytest
from hypothesis import given, settings

import celosia
from celosia.graph import interpret
from sw.compiler.exact_graphs import check_results, examples
from sw.graph.random_graphs import graphs  # noqa: F401 - the same graphs each time: its profile


@pytest.fixture(scope="module")
def model():
    with celosia.open("model", "core") as device:
        yield device


@settings(max_examples=200)
@given(example=examples())
def test_compiled_program_gives_what_the_interpreter_gives(example, model):
    found = example.compile().run(model, *example.inputs)
    check_results(found, interpret(example.graph, example.inputs), example.errors)


@settings(max_examples=150)
@given(example=examples(moves=True))
def test_moves_keep_every_bit(example, model):
    found = example.compile().run(model, *example.inputs)
    for a, b in zip(found, interpret(example.graph, example.inputs), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.tobytes() == b.tobytes()
