"""Calls of functions of the host out of loops and branches."""

import random

import numpy as np
import pytest
from kinds import called

import celosia
from celosia.compiler.errors import CompileError
from celosia.compiler.passes.calls import calls_apart, only_calls
from celosia.graph import (
    DType,
    Graph,
    TensorType,
    check,
    constant,
    interpret,
    op,
    ops,
    parameter,
)
from celosia.graph.calls import HostFunction

SCALAR, SQUARE = TensorType(DType.I32), TensorType(DType.F32, (4, 4))


def whole(number):
    return constant(np.int32(number))


def loop(held, turns, given=()):
    """Return a graph that multiplies and calls in each turn: with the turn, and with the product;
    in every other turn again. ``given``: types that the first call gives.
    """
    def params():
        return parameter(SCALAR), parameter(SQUARE), parameter(SCALAR)

    i, x, ticket = params()
    cond = Graph("cond", (i, x, ticket), [op("compare", i, whole(turns), direction="lt")])
    i, x, ticket = params()
    y = op("multiply", op("add", x, x), op("exp", op("negate", x)))
    after, *found = ops("callback", ticket, i, y, number=held.number, results=given)
    y = op("add", y, *found) if found else y

    def branch(calls):
        at, value, before = params()
        last = ops("callback", before, value, number=held.number)[0] if calls else before
        return Graph("branch", (at, value, before), [op("multiply", value, value), last])

    odd = op("and", i, whole(1))
    z, after = ops("case", odd, i, y, after, regions=(branch(False), branch(True)))
    body = Graph("body", (i, x, ticket), [op("add", i, whole(1)), z, after])
    x = parameter(SQUARE, "x")
    _, result, after = ops("while", whole(0), x, whole(0), regions=(cond, body))
    return Graph("loop", [x], [result, after])


@pytest.mark.parametrize("turns", [0, 1, 6])
def test_loop_and_branch_keep_their_calls(turns):
    log = []
    held = HostFunction(lambda *values: log.append([np.array(each) for each in values]) or ())
    graph = loop(held, turns)
    x = np.linspace(0, 1, 16, dtype=np.float32).reshape(4, 4)
    wanted, _ = interpret(graph, [x])
    before, log = log[:], []
    compiled = celosia.compile(graph, strict=True, cache=False)
    assert {step.where for step in compiled.steps} <= {"chip", "call"}
    # The chip runs the loop as one.
    assert sum(step.where == "chip" for step in compiled.steps) <= 1
    with celosia.open() as device, compiled.load(device) as loaded:
        found, _ = loaded(x)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-9)
    assert [len(values) for values in log] == [len(values) for values in before]
    for got, want in zip(log, before, strict=True):
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-9)


def test_results_in_a_loop():
    held = HostFunction(lambda *values: [np.ones((4, 4), np.float32)][:len(values) - 1])
    x = np.linspace(0, 1, 16, dtype=np.float32).reshape(4, 4)
    for turns, where in ((3, {"chip", "call"}), (5000, {"host"})):
        graph = loop(held, turns, (SQUARE,))
        compiled = celosia.compile(graph, cache=False)
        assert {step.where for step in compiled.steps} >= where
        if turns == 3:
            wanted, _ = interpret(graph, [x])
            with celosia.open() as device, compiled.load(device) as loaded:
                np.testing.assert_allclose(loaded(x)[0], wanted, rtol=1e-4, atol=1e-9)
        else:
            with pytest.raises(CompileError, match="functions whose results are used are called "
                                                   "in a loop that is too long"):
                celosia.compile(graph, strict=True, cache=False)


@pytest.mark.parametrize("part", range(6))
def test_calls_come_in_their_order_with_what_they_were_given(part):
    log = []
    held = HostFunction(lambda *values: log.append([np.array(each) for each in values]) or ())
    for seed in range(6 * part, 6 * part + 6):
        graph = called(random.Random(seed), held.number)
        found = calls_apart(graph)
        check(found)
        draw = np.random.default_rng(seed)
        inputs = [np.int32(seed % 4), *(draw.uniform(0.5, 1, (4, 4)).astype(np.float32)
                                        for _ in range(2))]
        log.clear()
        wanted, before = interpret(graph, inputs), log[:]
        log.clear()
        for a, b in zip(interpret(found, inputs), wanted, strict=True):
            np.testing.assert_array_equal(a, b)
        assert [len(each) for each in log] == [len(each) for each in before]
        for a, b in zip(sum(log, []), sum(before, []), strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("kind", "light"), [
    ("call", True), ("call, and arithmetic of words", True), ("call, and of arrays", False),
    ("words", False)])
def test_what_does_nothing_but_call(kind, light):
    x, i = parameter(SQUARE), parameter(SCALAR)
    at, value = parameter(SCALAR), parameter(SQUARE)
    found = at
    if "call" in kind:
        found = ops("callback", at, op("reshape", value, shape=(16,)), number=0)[0]
    if "words" in kind:
        found = op("add", found, whole(3))
    made = op("add", value, value) if "arrays" in kind else value
    branch = Graph("branch", [at, value], [found, made])
    assert only_calls(ops("case", i, i, x, regions=[branch])[0].node) == light
    assert not only_calls(op("add", x, x).node)
