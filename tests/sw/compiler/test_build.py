"""Stored programs on the golden model: as the interpreter says, however they are compiled."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pages.coverage import snippets

import celosia
from celosia.compiler.builder import Builder
from celosia.frontend import import_stablehlo
from celosia.graph import (
    DType,
    Graph,
    Source,
    TensorType,
    interpret,
    op,
    parameter,
    splat,
)

PROGRAMS = Path(__file__).parents[1] / "frontend" / "programs"
NAMES = ("mlp_adam", "cnn_sgd", "lstm_sgd", "transformer_sgd")
#: Largest difference, relative to the largest element of a result: sums in another order, and what
#: `celosia.compiler.selection` says of fast functions, through a step of training.
TOLERANCE = 2e-6
b = Builder(Source.UNKNOWN)


def arguments(graph, seed=0):
    rng = np.random.default_rng(seed)
    found = []
    for value in graph.params:
        if value.dtype is DType.F32:  # second moments are positive
            found.append(rng.uniform(0.01, 1, value.shape).astype(np.float32))
        else:
            found.append(rng.integers(0, 3, value.shape).astype(value.dtype.numpy))
    return found


def results(graph, args, **options):
    compiled = celosia.compile(graph, "core", strict=True, cache=False, options=options)
    return compiled(*args)


@pytest.mark.parametrize("name", NAMES)
def test_a_step_is_what_the_interpreter_says(name):
    graph = import_stablehlo(PROGRAMS / f"{name}.mlir")
    args = arguments(graph)
    for wanted, came in zip(interpret(graph, args), results(graph, args), strict=True):
        scale = np.abs(wanted).max(initial=1e-30)
        np.testing.assert_allclose(came / scale, wanted / scale, 0, TOLERANCE)


@pytest.mark.parametrize("name", NAMES)
def test_where_tensors_lie_changes_no_bit(name):
    graph = import_stablehlo(PROGRAMS / f"{name}.mlir")
    args = arguments(graph, 1)
    for here, there in zip(results(graph, args, resident=True),
                           results(graph, args, resident=False), strict=True):
        assert here.tobytes() == there.tobytes()


def crowded(columns, count):
    """Return a graph that has ``count`` results of the same rows in use at once."""
    x = parameter(TensorType(DType.F32, (8, columns)))
    parts = [b("tanh", b("multiply", x, 1 + i / 7)) for i in range(count)]
    total = op("reduce", sum_of(parts), splat(0, TensorType(DType.F32)), dims=(1,),
               reducer="add")
    y = b("broadcast", total, shape=x.shape, dims=(0,))
    for part in parts:
        y = b("maximum", b("multiply", y, part), y)
    return Graph("crowded", [x], [y])


def sum_of(values):
    total, *rest = values
    for value in rest:
        total = b("add", total, value)
    return total


@pytest.mark.parametrize(("columns", "count"), [(16, 60), (80, 8), (40, 24)])
def test_groups_that_do_not_fit_are_cut(columns, count):
    config = replace(celosia.preset("core"), acc_rows=64)
    graph = crowded(columns, count)
    wide = celosia.compile(graph, "core", cache=False)
    assert [work.kind for work in wide.works] == ["map"]
    compiled = celosia.compile(graph, config, cache=False)
    assert len(compiled.works) > 1
    assert "together they did not fit the memories on chip" in {
        each.reason for each in compiled.apart}
    (x,) = arguments(graph)
    (wanted,), (came,) = interpret(graph, [x]), compiled(x)
    np.testing.assert_allclose(came, wanted, 1e-5)
    (there,) = wide(x)
    assert came.tobytes() == there.tobytes()


def test_little_memory_is_an_error():
    graph = import_stablehlo(PROGRAMS / "mlp_adam.mlir")
    with pytest.raises(celosia.CompileError, match="must fit 1000 bytes of external memory"):
        celosia.compile(graph, "core", cache=False, options={"memory": 1000})


@pytest.mark.extra(name="jax", default=True)
def test_fast_is_chosen():
    import jax

    x = np.ones((8, 16), np.float32)
    sizes = [len(make(jax.numpy.exp).lower(x).program.insns) for make in (
        celosia.jit, celosia.jit(fast=True, cache=False),
        lambda f: celosia.jit(f, fast=True, cache=False),
        lambda f: celosia.jit(f, options={"fast": True}, cache=False),
        lambda f: celosia.jit(f, fast=True, options={"fast": False}, cache=False))]
    assert sizes[1] == sizes[2] == sizes[3] < sizes[0] == sizes[4]


@pytest.mark.extra(name="jax", default=True)
def test_reports_say_why_short_forms_keep_the_bound():
    import jax

    x = np.ones((8, 16), np.float32)

    def net(x):
        return jax.nn.gelu(jax.nn.softmax(x))

    compiled = celosia.jit(net, cache=False).lower(x)
    [gelu] = (proof.split(": ", 1)[1] for proof in compiled.proofs)
    assert gelu.startswith("tanh: only sums with constants from ")
    text = " ".join(compiled.report().split())
    assert all(proof in text for proof in compiled.proofs)
    assert not celosia.jit(net, fast=True, cache=False).lower(x).proofs


@pytest.mark.extra(name="jax", default=True)
def test_options_of_jit_are_those_of_compile():
    x = np.arange(9, dtype=np.float32)
    with celosia.jit(lambda x: x / 3, options={"merge": False}, cache=False) as exact:
        assert (exact(x) == x / np.float32(3)).all()
    with (celosia.jit(lambda x: x / 3, options={"fats": False}, cache=False) as wrong,
          pytest.raises(ValueError, match="options must be some of fast, merge, memory, "
                                          "resident, not fats")):
        wrong(x)


def test_every_piece_of_work_says_what_it_is_and_who_does_it():
    names = ("dot_general", "convolution", "gather", "scatter", "while", "case", "dynamic_slice",
             "reduce")
    found = {(work.kind, work.reason) for snippet in snippets()
             if snippet.name.removeprefix("stablehlo.") in names and not snippet.form
             for work in celosia.compile(import_stablehlo(snippet.text), "core").works}
    assert found == {
        ("dot", "the array"), ("convolution", "the array"), ("map", "the vector unit"),
        ("gather", "the vector unit"), ("scatter", "the vector unit"),
        ("move", "load and store"), ("fill", "load and store"),
        ("read", "the scalar unit"), ("while", "the scalar unit"), ("case", "the scalar unit")}
