"""Programs of JAX on the chip: right on the golden model, and the same on the RTL."""

import functools

import jax
import numpy as np
import pytest

import celosia
from e2e.programs.cases import MODELS, PROGRAMS
from e2e.programs.reference import by_graph, by_jax, distance, distances


@functools.cache
def made(name, size="small"):
    return PROGRAMS[name].make(size)


@functools.cache
def compiled_on_model(name, size="small"):
    """Return a program, and its results on the golden model; nothing may run on the host."""
    function, args = made(name, size)
    with celosia.jit(function, "core", "model", strict=True) as chip:
        return chip.lower(*args), chip(*args)


def on_model(name, size="small"):
    return compiled_on_model(name, size)[1]


@pytest.fixture(scope="module")
def rtl():
    with celosia.open("rtl", "core") as device:
        yield device


def in_others(name):
    """Whether other programs have all that one has: with dropout too, or, of the steps, any two of
    its network, its optimiser and its type.
    """
    if f"{name} dropout" in PROGRAMS:
        return True
    network, kind, dtype, *more = name.split()
    choices = [*MODELS].index(network), kind == "adam", dtype == "bf16"
    return kind != "forward" and more in ([], ["dropout"]) and sum(choices) % 2 == 0


LEAN = [pytest.param(name, marks=[pytest.mark.slow] * in_others(name)) for name in PROGRAMS]


@pytest.mark.parametrize("name", LEAN)
def test_program(name, rtl):
    """It gives what its graph means and what JAX gives on the CPU, and the RTL the same bits."""
    tolerance = PROGRAMS[name].tolerance
    found = distances(on_model(name), by_graph(*made(name)))
    assert max(found) <= tolerance.graph["small"], found
    found = distances(on_model(name), by_jax(*made(name)))
    assert max(found) <= tolerance.jax, found
    compiled, _ = compiled_on_model(name)
    with compiled.load(rtl) as chip:
        results = chip(*map(np.asarray, jax.tree.leaves(made(name)[1])))
    for a, b in zip(results, jax.tree.leaves(on_model(name)), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert a.tobytes() == b.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_large_program_gives_what_its_graph_means(name):
    found = distances(on_model(name, "bench"), by_graph(*made(name, "bench")))
    assert max(found) <= PROGRAMS[name].tolerance.graph["bench"], found


def test_tolerances_are_below_what_rounding_operands_costs():
    # Else a program that rounds nothing, or rounds twice, would pass.
    function, args = made("mlp sgd f32")
    exact = jax.tree.leaves(jax.jit(function)(*args))
    assert max(distances(on_model("mlp sgd f32"), exact)) > 5 * PROGRAMS[
        "mlp sgd f32"].tolerance.graph["small"]


def test_training_goes_down():
    function, (params, state, *batch) = made("mlp adam f32")
    losses = []
    with celosia.jit(function, strict=True) as chip:
        for _ in range(30):
            loss, params, state = chip(params, state, *batch)
            losses.append(float(loss))
    assert losses[-1] < 0.5 * losses[0]
    assert int(state[0]) == 33


def test_distance():
    x = np.array([3, 4], np.float32)
    assert distance(x, x) == 0
    assert distance(x, x * 2) == pytest.approx(0.5)
    assert distance(np.float32([0, np.nan]), np.float32([0, 0])) == np.inf
    assert distance(np.int32([1]), np.int32([2])) == np.inf
    assert distance(np.float32([1e-3]), np.float32([0])) == np.float32(1e-3)
