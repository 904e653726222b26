"""Programs in steps: what the chip lacks runs on the host, between programs of the chip."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import celosia
from celosia.compiled import Compiled, Resident
from celosia.compiled.steps import ChipStep, HostStep
from celosia.compiler import cache, canonical
from celosia.compiler.split import split
from celosia.graph import DType, Graph, TensorType, check, interpret, op, parameter, parse

RNG = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path):
    cache.clear()
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path / "cache"))


GRAPH = """graph turns(
  %0: f32[4,32] "x",
  %1: f32[4,32] "y",
  %2: i32[3] "n"
) {
  %3 = constant() value=f32[]{3.0}
  %4 = broadcast(%3) shape=(4,32) dims=() : f32[4,32]
  %5 = add(%0, %1) : f32[4,32]
  %6 = remainder(%5, %4) : f32[4,32] @ "a.py":3:1 "rem"
  %7 = multiply(%6, %4) : f32[4,32]
  %8 = add(%7, %5) : f32[4,32]
  %9 = remainder(%8, %0) : f32[4,32] @ "a.py":9:1
  %10 = subtract(%0, %1) : f32[4,32]
  return %9, %10, %2, %6, %4
}
"""


def turns():
    text = GRAPH.replace("value=f32[]{3.0}", "value=f32[]{3.0} : f32[]")
    text = text.replace("shape=(4,32)", "shape=[4,32]").replace("dims=()", "dims=[]")
    return parse(text)


ARGS = (RNG.standard_normal((4, 32)).astype(np.float32),
        RNG.standard_normal((4, 32)).astype(np.float32), np.array([3, 1, 2], np.int32))


def test_split_takes_turns():
    graph = canonical(turns())
    parts, gives = split(graph)
    assert [part.where for part in parts] == ["chip", "host", "chip", "host"]
    values = list(ARGS)
    for part in parts:
        check(part.graph)
        values += interpret(part.graph, [values[number] for number in part.takes])
    for number, wanted in zip(gives, interpret(graph, ARGS), strict=True):
        np.testing.assert_array_equal(values[number], wanted, strict=True)
    assert [len(part.takes) for part in parts] == [2, 2, 3, 2]


def test_what_only_later_parts_want_is_computed_there():
    """Of given arrays alone: it is not stored before the devices meet, but fused behind it."""
    x = parameter(TensorType(DType.F32, (4, 32)), "x")
    slope, kept = op("multiply", x, x), op("add", x, x)
    twice = op("add", kept, kept)
    joined = op("all_reduce", slope, groups=((0, 1),), reducer="add")
    graph = canonical(Graph("late", [x], [op("subtract", twice, joined)]))
    parts, _ = split(graph)
    assert [part.where for part in parts] == ["chip", "link", "chip"]
    assert [[node.op for node in part.graph.nodes if node.op != "parameter"]
            for part in (parts[0], parts[2])] == [["multiply"], ["add", "add", "subtract"]]


def test_results_are_those_of_the_interpreter(tmp_path):
    compiled = celosia.compile(turns())
    assert [step.where for step in compiled.steps] == ["chip", "host", "chip", "host"]
    assert repr(compiled) == "<turns for core and the host: chip, host, chip, host>"
    compiled.save(tmp_path / "turns.celosia")
    back = celosia.compiled.load(tmp_path / "turns.celosia")
    cache.clear()
    again = celosia.compile(turns())  # from the folder
    assert back.to_bytes() == compiled.to_bytes() == again.to_bytes()
    wanted = interpret(turns(), ARGS)
    for each in (compiled, back, again):
        for _ in range(2):
            for found, right in zip(each(*ARGS), wanted, strict=True):
                np.testing.assert_array_equal(found, right, strict=True)


def test_device_is_shared_and_given_back():
    compiled = celosia.compile(turns())
    with celosia.open("model", "core") as device:
        before = device.free_bytes
        with compiled.load(device) as executable:
            executable(*ARGS)
            assert executable.usable
            assert executable.cycles == compiled.report(json=True)["cycles"] > 0
            with pytest.raises(ValueError, match=r"argument 2 of turns, n, must be int32\[3\]"):
                executable(*ARGS[:2], 3)
        assert device.free_bytes == before
        assert not executable.usable
    with celosia.open("model", "core", memory_bytes=1 << 12) as device:
        before = device.free_bytes
        with pytest.raises(celosia.OutOfDeviceMemory):
            celosia.compile(turns()).load(device)
        assert device.free_bytes == before
    with celosia.open("model", "v2") as device, pytest.raises(ValueError, match="compiled for"):
        compiled.load(device)


def test_a_run_leaves_results_where_they_are():
    wanted = interpret(turns(), ARGS)
    with celosia.open("model", "core") as device, celosia.compile(turns()).load(device) as loaded:
        first = loaded.run(*ARGS)
        # remainder, subtract, an argument, remainder, and a broadcast
        resident = [isinstance(each, Resident) for each in first]
        assert resident == [False, True, False, False, True]
        for found, right in zip(first, wanted, strict=True):
            np.testing.assert_array_equal(found, right, strict=True)
        assert not any(np.shares_memory(each, ARGS[2]) for each in first[2:4])
        # A resident of the last run is read before the step that made it runs again.
        again = loaded.run(ARGS[0], first[4], ARGS[2])
        right = interpret(turns(), (ARGS[0], wanted[4], ARGS[2]))
        for one, other in zip(again, right, strict=True):
            np.testing.assert_array_equal(one, other, strict=True)
        with pytest.raises(celosia.StaleHandle, match="of turns must be used before the next run"):
            first[4].numpy()


#: Two states of one type, and one that is needed, as another shape, after it is written over.
STATES = parse("""graph states(
  %0: f32[8,32] "m" donated, %1: f32[8,32] "w" donated, %2: f32[8,32] "x", %3: f32[16] "t" donated
) {
  %4 = add(%1, %2) : f32[8,32]
  %5 = reshape(%3) shape=[4,4] : f32[4,4]
  %7 = remainder(%4, %2) : f32[8,32]
  %16 = reshape(%7) shape=[256] : f32[256]
  %17 = slice(%16) start=[0] limit=[16] stride=[1] : f32[16]
  %6 = add(%3, %17) : f32[16]
  %8 = add(%0, %7) : f32[8,32]
  %9 = add(%1, %8) : f32[8,32]
  %10 = remainder(%9, %2) : f32[8,32]
  %12 = reshape(%10) shape=[256] : f32[256]
  %13 = slice(%12) start=[0] limit=[16] stride=[1] : f32[16]
  %14 = reshape(%13) shape=[4,4] : f32[4,4]
  %15 = multiply(%5, %14) : f32[4,4]
  return %8, %9, %6, %15
}
""")


def test_state_stays_on_the_chip_from_step_to_step(monkeypatch):
    compiled = celosia.compile(STATES)
    assert [step.where for step in compiled.steps] == ["chip", "host", "chip", "host", "chip"]
    m, w, x = (RNG.standard_normal((8, 32)).astype(np.float32) for _ in range(3))
    values = wanted = [m, w, np.arange(16, dtype=np.float32)]
    with celosia.open("model", "core") as device, compiled.load(device) as loaded:
        moved = []
        put, get = type(device).put, type(device).get
        monkeypatch.setattr(type(device), "put", lambda self, array, **to: (
            moved.append(("put", np.shape(array))), put(self, array, **to))[1])
        monkeypatch.setattr(type(device), "get", lambda self, handle: (
            moved.append(("get", handle.shape)), get(self, handle))[1])
        for _ in range(3):
            moved.clear()
            m, w, t, last = loaded.run(*values[:2], x, values[2])
            values = [m, w, t]
            *wanted, right = interpret(STATES, [*wanted[:2], x, wanted[2]])
            crossed = list(moved)
            np.testing.assert_array_equal(last, right)
        for found, right in zip(values, wanted, strict=True):
            np.testing.assert_array_equal(found, right)
    # Both states stay; down goes what the host divides, and up what it makes of that, and x.
    large = [each for each in crossed if each[1] == (8, 32)]
    assert sorted(large) == [("get", (8, 32))] * 2 + [("put", (8, 32))] * 3


@pytest.mark.parametrize("what", ["program", "prediction"])
def test_what_only_one_step_has(what):
    with pytest.raises(ValueError, match=rf"^turns must run on the chip alone to have one {what}: "
                       r"its steps are chip, host, chip, host, see its report$"):
        getattr(celosia.compile(turns()), what)


def test_numbers_of_values_that_are_not_there():
    made = celosia.compile(turns())
    inputs, outputs = made.inputs, made.outputs

    def message(steps, gives):
        with pytest.raises(ValueError, match="not those of the numbers") as caught:
            Compiled(steps, gives, made.config, inputs, outputs, "net")
        return str(caught.value)

    first, second, *_ = made.steps
    assert isinstance(first, ChipStep)
    assert isinstance(second, HostStep)
    late = replace(first, takes=(0, 3))
    assert message([late], [0] * 5) == (
        "step 0 of net must take 2 of 3 values, not those of the numbers [0, 3]")
    assert message([first, replace(second, takes=(3,))], [0] * 5) == (
        "step 1 of net must take 2 of 6 values, not those of the numbers [3]")
    assert message([], [0, 1, 2, -1, 0]) == (
        "net must give 5 of 3 values, not those of the numbers [0, 1, 2, -1, 0]")


def test_report():
    compiled = celosia.compile(turns())
    facts = compiled.report(json=True)
    assert [step["where"] for step in facts["steps"]] == ["chip", "host", "chip", "host"]
    (work,) = facts["steps"][1]["works"]
    assert (work["operations"], work["source"]) == (["remainder"], "a.py:3:1 (rem)")
    text = compiled.report()
    assert text.startswith("turns, for core and the host, in 4 steps\ntakes         x f32[4,32], ")
    assert ("step 2: on the host\n  remainder: a remainder of fp32 needs a division of up to 277 "
            "bits; a.py:3:1 (rem)\n") in text


def test_loop_with_a_sort_in_it_is_on_the_host():
    def f(x):
        def body(i, x):
            return jnp.sort(x * 2.0) - 1.0
        return jnp.tanh(jax.lax.fori_loop(0, 3, body, x + 1.0))

    x = RNG.standard_normal(5000).astype(np.float32)
    with celosia.jit(f) as on_chip:
        np.testing.assert_allclose(on_chip(x), f(x), rtol=1e-5)
        compiled = on_chip.lower(x)
        assert [step.where for step in compiled.steps] == ["chip", "host", "chip"]
        assert "while: sort in it: more than 4,096 elements" in compiled.report()


def test_only_the_host():
    with celosia.jit(lambda x: jnp.sort(x)) as f:
        np.testing.assert_array_equal(f(np.arange(5000.0, 0, -1, np.float32)),
                                      np.arange(1, 5001, dtype=np.float32))
        assert f.cycles == 0
