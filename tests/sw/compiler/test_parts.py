"""Concatenations that are rounded and reduced part by part, and written where loops keep them."""

import numpy as np
import pytest
from shared import agree

import celosia
from celosia.arch.config import PRESETS
from celosia.compiler import canonical
from celosia.compiler.builder import Builder
from celosia.compiler.lowered import Move, While
from celosia.compiler.lowering import lower
from celosia.compiler.passes.parts import parts
from celosia.graph import DType, Graph, Node, Source, TensorType, interpret, parameter

F32, BF16, I32 = DType.F32, DType.BF16, DType.I32
b = Builder(Source.UNKNOWN)


def joined(make, of=lambda x: b("multiply", x, 2.0), dim=1):
    x, y = (parameter(TensorType(F32, (4, 8))) for _ in range(2))
    return Graph("joined", [x, y], [make(b.concatenate([of(x), of(y)], dim))])


def rounded(x):
    return b.convert(x, BF16)


def total(x):
    return b("reduce", x, b.constant(0.0, F32), dims=(0,), reducer="add")


@pytest.mark.parametrize("make", [rounded, total])
def test_parts_come_first(make):
    graph = joined(make)
    found = parts(graph)
    assert found.outputs[0].node.op == "concatenate"
    rng = np.random.default_rng(0)
    agree(graph, found, [rng.standard_normal((4, 8)).astype(np.float32) for _ in range(2)])


@pytest.mark.parametrize("graph", [
    joined(rounded, lambda x: x), joined(total, dim=0), joined(lambda x: b("negate", x))])
def test_other_concatenations_stay(graph):
    assert parts(graph) is graph


def test_parts_are_written_to_where_a_loop_keeps_them():
    types = [TensorType(I32), TensorType(F32, (4, 16)), TensorType(F32, (3, 4, 32))]
    cond, body = ([parameter(type) for type in types] for _ in range(2))
    i, x, kept = body
    both = b.concatenate([b("multiply", x, 2.0), b("add", x, 1.0)], 1)
    zero = b.constant(0, I32)
    kept = b("dynamic_update_slice", kept, b.reshape(both, 1, 4, 32), i, zero, zero)
    new = b("subtract", b.part(both, 1, 8, 24), x)
    regions = (Graph("cond", cond, [b.compare("lt", cond[0], 3)]),
               Graph("body", body, [b("add", i, 1), new, kept]))
    given = [parameter(type) for type in types[1:]]
    loop = Node("while", (b.constant(0, I32), *given), {}, regions)
    graph = Graph("keep", given, [b("negate", value) for value in loop.results[1:]])
    works = lower(PRESETS["core"], canonical(graph)).works
    (found,) = (work for work in works if isinstance(work, While))
    assert not any(isinstance(work, Move) and work.dst.base is not None for work in found.body)
    rng = np.random.default_rng(0)
    inputs = [rng.integers(-9, 9, value.shape).astype(np.float32) for value in given]
    came = celosia.compile(graph, "core", cache=False)(*inputs)
    for got, wanted in zip(came, interpret(graph, inputs), strict=True):
        assert (got == wanted).all()


@pytest.mark.parametrize("view", [
    lambda g: g[:, 3:], lambda g: g[1:], lambda g: g[1], lambda g: g[:, ::-1], lambda g: g.T])
def test_loops_keep_views_that_are_no_concatenations(view):
    """Their places are not those of parts."""
    import jax

    x = np.arange(48, dtype=np.float32).reshape(2, 4, 6)
    with celosia.jit(lambda x: jax.lax.scan(lambda c, g: (c, view(g)), 0.0, x)[1],
                     cache=False) as compiled:
        np.testing.assert_array_equal(compiled(x), [view(g) for g in x])
