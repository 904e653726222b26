"""Random graphs: the compiled program gives what the interpreter gives, on model and RTL."""

import pytest
from exact_graphs import check_results, examples
from hypothesis import given, settings
from random_graphs import graphs  # noqa: F401 - the same graphs each time: its profile

import celosia
from celosia.graph import interpret


@pytest.fixture(scope="module")
def model():
    with celosia.open("model", "core") as device:
        yield device


@pytest.fixture(scope="module")
def rtl():
    with celosia.open("rtl", "core") as device:
        yield device


@settings(max_examples=150)
@given(example=examples())
def test_compiled_program_gives_what_the_interpreter_gives(example, model):
    compiled = celosia.compile(example.graph, "core", strict=True, cache=False)
    found = compiled.run(model, *example.inputs)
    check_results(found, interpret(example.graph, example.inputs), example.errors)


@pytest.mark.slow
@settings(max_examples=2000)
@given(example=examples(most=14))
def test_rtl_gives_what_the_model_gives(example, model, rtl):
    compiled = celosia.compile(example.graph, "core", strict=True, cache=False)
    found = [compiled.run(device, *example.inputs) for device in (model, rtl)]
    for a, b in zip(*found, strict=True):
        assert a.tobytes() == b.tobytes()
    check_results(found[0], interpret(example.graph, example.inputs), example.errors)
