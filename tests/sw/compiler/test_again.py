"""Values that a group makes again rather than reads."""

import numpy as np
import pytest

import celosia
from celosia.arch.config import PRESETS
from celosia.compiler import canonical
from celosia.compiler.builder import Builder
from celosia.compiler.lowered import Cluster
from celosia.compiler.lowering import lower
from celosia.compiler.lowering.again import again
from celosia.graph import DType, Graph, Source, TensorType, interpret, parameter

CORE = PRESETS["core"]
F32, BF16 = DType.F32, DType.BF16
ROWS, WIDE = 20, 64
b = Builder(Source.UNKNOWN)


def product(x, w):
    x, w = (b.convert(b.reshape(value, 1, *value.shape), BF16) for value in (x, w))
    return b.reshape(b("dot", x, w, dtype=F32, batch=[(0, 0)], contract=[(2, 1)]), ROWS, WIDE)


def layers(forward, backward):
    """Two products: ``backward`` joins the second with what ``forward`` made of the first."""
    x, g = (parameter(TensorType(F32, (ROWS, WIDE))) for _ in range(2))
    w, v = (parameter(TensorType(F32, (WIDE, WIDE))) for _ in range(2))
    made = forward(product(x, w))
    # The second product waits for the first.
    y = product(b("add", g, made[0]), v)
    return Graph("layers", [x, g, w, v], [backward(y, *made)])


def square(h):
    return h, b("multiply", h, h)


def line(h):
    return h, b("multiply", b("add", h, 1.0), 0.5)


def long(h):
    return h, b("multiply", b("add", b("multiply", h, 2.0), 1.0), 0.5)


def other(h):
    return h, b("exp", h)


def both(y, h, s):
    return b("multiply", b("add", y, h), s)


def one(y, h, s):
    return b("multiply", y, s)


def reads(graph):
    """Tensors that the work of the last product reads, besides its operands."""
    works = lower(CORE, *again(CORE, canonical(graph))).works
    *_, last = (work for work in works if isinstance(work, Cluster))
    return len(last.reads)


@pytest.mark.parametrize(("forward", "backward", "count"), [
    (square, both, 1), (line, both, 1), (long, both, 2), (other, both, 2), (square, one, 1)])
def test_what_takes_few_steps_is_made_again(forward, backward, count):
    assert reads(layers(forward, backward)) == count


def test_the_vector_unit_is_not_kept_longer_than_the_array():
    def much(y, h, s):
        for _ in range(4):
            y = b("add", b("multiply", y, 0.5), h)
        return b("multiply", y, s)

    assert reads(layers(square, much)) == 2


@pytest.mark.parametrize("forward", [square, line])
def test_programs_give_the_same(forward):
    graph = layers(forward, both)
    rng = np.random.default_rng(0)
    given = [rng.integers(-2, 3, value.shape).astype(np.float32) for value in graph.params]
    (came,) = celosia.compile(graph, "core", cache=False)(*given)
    assert (came == interpret(graph, given)[0]).all()
