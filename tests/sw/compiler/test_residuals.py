"""What loops keep for other loops: not what follows from the rest of it."""

import numpy as np
import pytest
from shared import agree, ops_of

import celosia
from celosia.compiler.builder import Builder
from celosia.compiler.levels import CANONICAL
from celosia.compiler.passes.residuals import residuals
from celosia.compiler.passes.simplify import simplify
from celosia.graph import DType, Graph, Node, Source, TensorType, check, interpret, parameter

F32, I32 = DType.F32, DType.I32
TURNS, STATE = 3, (4, 6)
KEPT = TensorType(F32, (TURNS, *STATE))
b = Builder(Source.UNKNOWN)


def loop(count, given, turn, first=0):
    """Results of a loop over a counter and other values; ``turn`` makes the others of them."""
    types = [TensorType(I32), *(value.type for value in given)]
    cond, body = ([parameter(type) for type in types] for _ in range(2))
    regions = (Graph("cond", cond, [b.compare("lt", cond[0], count)]),
               Graph("body", body, [b("add", body[0], 1), *turn(*body)]))
    return Node("while", (b.constant(first, I32), *given), {}, regions).results[1:]


def keep(stack, value, at):
    zero = b.constant(0, I32)
    return b("dynamic_update_slice", stack, b.reshape(value, 1, *STATE), at, zero, zero)


def part(stack, at):
    zero = b.constant(0, I32)
    return b.reshape(b("dynamic_slice", stack, at, zero, zero, sizes=(1, *STATE)), *STATE)


def derivative(s):
    return b("multiply", s, b("subtract", b.full(1, s.type), s))


def forth_and_back(of=derivative, first=0, wanted=False, also=None):
    """A loop that keeps its state and what ``of`` makes of it, and one that takes both."""
    x = parameter(TensorType(F32, STATE))
    zeros = b.full(0.0, KEPT)

    def forth(i, state, *kept):
        new = b("subtract", b.full(2.0, state.type), state)
        return new, *(keep(stack, value, i) for stack, value in zip(
            kept, (state, of(state)), strict=True))

    _, states, made = loop(TURNS, (x, zeros, zeros), forth, first)

    def back(i, total, states, made):
        at = b("subtract", b.constant(TURNS - 1, I32), i)
        total = b("add", b("multiply", total, part(made, at)), part(states, at))
        if also is not None:
            total = b("add", total, also(made))
        return total, states, made

    total = loop(TURNS, (x, states, made), back)[0]
    return simplify(Graph("scan", [x], [total, made] if wanted else [total]))


def updates(graph):
    """How many tensors each loop changes a part of, and how many parts it takes."""
    return [(names.count("dynamic_update_slice"), names.count("dynamic_slice"))
            for names in (ops_of(node.regions[1]) for node in graph.nodes if node.op == "while")]


def given():
    return [np.random.default_rng(0).integers(-3, 4, STATE).astype(np.float32)]


@pytest.mark.parametrize("of", [
    derivative, lambda s: b("subtract", b.full(1, s.type), s), lambda s: b("multiply", s, s)])
def test_what_follows_in_few_steps_is_not_kept(of):
    graph = forth_and_back(of)
    found = residuals(graph)
    check(found, CANONICAL)
    assert updates(graph) == [(2, 0), (0, 2)]
    assert updates(simplify(found)) == [(1, 0), (0, 1)]
    agree(graph, found, given())


@pytest.mark.parametrize("graph", [
    forth_and_back(lambda s: b("exp", s)),
    forth_and_back(lambda s: b("multiply", derivative(s), s)),  # three steps
    forth_and_back(wanted=True),
    forth_and_back(first=1),  # what was there before stays in one part
    forth_and_back(also=lambda made: b.reshape(b.part(made, 0, 1, 2), *STATE)),
])
def test_what_else_is_kept(graph):
    assert residuals(graph) is graph


def test_what_another_one_follows_from_is_kept():
    def forth(i, state, *kept):
        rest = b("subtract", b.full(1, state.type), state)
        return b("subtract", b.full(2.0, state.type), state), *(
            keep(stack, value, i) for stack, value in zip(
                kept, (b("multiply", rest, rest), rest, state), strict=True))

    def back(i, total, *kept):
        at = b("subtract", b.constant(TURNS - 1, I32), i)
        for stack in kept:
            total = b("add", b("multiply", total, total), part(stack, at))
        return total, *kept

    x, zeros = parameter(TensorType(F32, STATE)), b.full(0.0, KEPT)
    kept = loop(TURNS, (x, zeros, zeros, zeros), forth)[1:]
    graph = simplify(Graph("chain", [x], [loop(TURNS, (x, *kept), back)[0]]))
    found = residuals(graph)
    check(found, CANONICAL)
    assert updates(simplify(found)) == [(2, 0), (0, 2)]
    agree(graph, found, given())


def test_steps_between_loops_are_taken_once_each():
    def kept(i, state, stack):
        return state, keep(stack, state, i)

    x = parameter(TensorType(F32, STATE))
    made = loop(TURNS, (x, b.full(0.0, KEPT)), kept)[1]
    for _ in range(10):
        made = b("multiply", made, made)

    def back(i, total, made):
        return b("add", total, part(made, i)), made

    graph = simplify(Graph("squares", [x], [loop(TURNS, (x, made), back)[0]]))
    found = residuals(graph)
    body = [node for node in found.nodes if node.op == "while"][1].regions[1]
    assert ops_of(body).count("multiply") == 10
    agree(graph, found, [np.ones(STATE, np.float32)])


def test_compiled_loops_are_exact():
    graph = forth_and_back()
    (came,) = celosia.compile(graph, "core", cache=False)(*given())
    assert (came == interpret(graph, given())[0]).all()
