"""Sums of products that loops carry: made after the loop, by what remains of it, or left alone."""

import numpy as np
import pytest
from shared import agree, ops_of

import celosia
from celosia.compiler.builder import Builder
from celosia.compiler.levels import CANONICAL
from celosia.compiler.passes import carried as module
from celosia.compiler.passes.carried import carried
from celosia.graph import DType, Graph, Node, Source, TensorType, check, interpret, parameter

F32, BF16, I32 = DType.F32, DType.BF16, DType.I32
TURNS, BATCH, WIDE, OUT = 3, 16, 12, 32
b = Builder(Source.UNKNOWN)


def scan(turn, first=0, turns=TURNS, out=OUT):
    """A loop over a counter, parts that it keeps, a state and a sum; ``turn`` makes the last two.
    """
    types = [TensorType(I32), TensorType(F32, (TURNS, BATCH, WIDE)),
             TensorType(F32, (BATCH, OUT)), TensorType(F32, (WIDE, out))]
    cond = [parameter(type) for type in types]
    body = [parameter(type) for type in types]
    i, parts, state, total = body
    outputs = (b("add", i, 1), parts, *turn(i, parts, state, total))
    given = [parameter(type) for type in types[1:]]
    regions = (Graph("cond", cond, [b.compare("lt", cond[0], first + turns)]),
               Graph("body", body, outputs))
    loop = Node("while", (b.constant(first, I32), *given), {}, regions)
    return Graph("scan", given, loop.results[2:])


def part(parts, at):
    zero = b.constant(0, I32)
    found = b("dynamic_slice", parts, at, zero, zero, sizes=(1, BATCH, WIDE))
    return b.convert(found, BF16)


def other(state):
    return b.convert(b.reshape(state, 1, BATCH, OUT), BF16)


def product(x, y, contract=(1, 1)):
    made = b("dot", x, y, dtype=F32, batch=[(0, 0)], contract=[contract])
    return b.reshape(made, *made.shape[1:])


def changed(state):
    return b("subtract", b.full(1, state.type), state)


def forward(i, parts, state, total):
    return changed(state), b("add", total, product(part(parts, i), other(state)))


def back(i, parts, state, total):
    at = b("subtract", b.constant(TURNS - 1, I32), i)
    return changed(state), b("add", product(part(parts, at), other(state)), total)


def once(i, parts, state, total):
    """The same part in every turn: none of the parts in order."""
    made = product(part(parts, b.constant(0, I32)), other(state))
    return changed(state), b("add", total, made)


def with_rest(i, parts, state, total):
    rest = b("multiply", b.slice(state, (0, 0), (WIDE, OUT)), 3.0)
    made = product(part(parts, i), other(state))
    return changed(state), b("add", b("add", made, rest), total)


def two(i, parts, state, total):
    """As products of "high" precision come."""
    x = part(parts, i)
    low = other(b("multiply", state, 0.5))
    return changed(state), b("add", total, b("add", product(x, low), product(x, other(state))))


def read(i, parts, state, total):
    last = b.pad(total, 0.0, (0, 0), (BATCH - WIDE, 0))
    return last, b("add", total, product(part(parts, i), other(state)))


def shared(i, parts, state, total):
    """A product that something else needs."""
    made = product(part(parts, i), other(state))
    return b.pad(made, 0.0, (0, 0), (BATCH - WIDE, 0)), b("add", total, made)


def turned(i, parts, state, total):
    x = b.transpose(part(parts, i), (0, 2, 1))
    return changed(state), b("add", total, product(x, other(state), (2, 1)))


def doubled(i, parts, state, total):
    return changed(state), b("add", b("add", total, total),
                             product(part(parts, i), other(state)))


def loop_of(graph):
    (found,) = (node for node in graph.nodes if node.op == "while")
    return found


def given(out=OUT):
    """Numbers whose sums are exact."""
    rng = np.random.default_rng(1)
    return [2 * rng.integers(-7, 8, shape).astype(np.float32)
            for shape in ((TURNS, BATCH, WIDE), (BATCH, OUT), (WIDE, out))]


@pytest.mark.parametrize(("turn", "first", "stacks", "products"), [
    (forward, 0, 1, 1), (back, 0, 1, 1), (once, 0, 2, 1), (once, 5, 2, 1), (with_rest, 0, 1, 1),
    (two, 0, 2, 2),
])
def test_a_sum_of_products_is_made_after_the_loop(turn, first, stacks, products):
    graph = scan(turn, first)
    found = carried(graph)
    check(found, CANONICAL)
    loop = loop_of(found)
    assert "dot" not in ops_of(loop.regions[1])
    assert len(loop.operands) == 4 + stacks
    assert ops_of(found).count("dot") == products
    agree(graph, found, given())


@pytest.mark.parametrize("turn", [read, shared, turned, doubled])
def test_other_sums_stay(turn):
    graph = scan(turn)
    assert carried(graph) is graph


def test_a_loop_of_one_turn_stays():
    graph = scan(forward, turns=1)
    assert carried(graph) is graph


def test_both_operands_may_be_parts_of_what_the_loop_keeps():
    def turn(i, parts, state, total):
        x = part(parts, i)
        return changed(state), b("add", total, product(x, x))

    graph = scan(turn, out=WIDE)
    found = carried(graph)
    assert len(loop_of(found).operands) == 4
    assert ops_of(found).count("dot") == 1
    agree(graph, found, given(WIDE))


@pytest.mark.parametrize(("limit", "stays"), [(0, False), (1, True)])
def test_operands_of_many_turns_stay(monkeypatch, limit, stays):
    monkeypatch.setattr(module, "_MOST_BYTES", TURNS * BATCH * OUT * 2 - limit)
    graph = scan(forward)
    assert (carried(graph) is graph) == stays


@pytest.mark.parametrize("turn", [back, with_rest, once])
def test_compiled_loops_with_sums_are_exact(turn):
    graph = scan(turn)
    inputs = given()
    came = celosia.compile(graph, "core", cache=False)(*inputs)
    for got, wanted in zip(came, interpret(graph, inputs), strict=True):
        assert (got == wanted).all()
