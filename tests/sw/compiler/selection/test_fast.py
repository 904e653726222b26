"""With `fast`: how many instructions of a cycle a row things take, and how far off they are."""

import numpy as np
import pytest
from clusters import EXACT, FAST, full_steps, run, sample

from celosia.graph import DType, Graph, TensorType, op, parameter, splat

SPACE = (48, 40)
F32 = DType.F32


class Maker:
    """Writes graphs short: arithmetic with numbers, and shapes by name."""

    def __init__(self, space=SPACE):
        self.space, self.params = space, []

    def read(self, shape=None):
        shape = self.space if shape is None else shape
        x = parameter(TensorType(F32, shape), f"x{len(self.params)}")
        self.params.append(x)
        dims = {self.space: None, self.space[:1]: [0], self.space[1:]: [1], (): []}[shape]
        return x if dims is None else op("broadcast", x, shape=self.space, dims=dims)

    def __call__(self, name, *operands, **attrs):
        like = next(x for x in operands if not isinstance(x, float))
        return op(name, *(splat(x, like.type) if isinstance(x, float) else x for x in operands),
                  **attrs)

    def rows(self, x, reducer="add"):
        start = 0.0 if reducer == "add" else -np.inf
        return op("reduce", x, splat(start, TensorType(F32)), dims=[1], reducer=reducer)

    def wide(self, column):
        return op("broadcast", column, shape=self.space, dims=[0])

    def graph(self, *outputs):
        return Graph("g", self.params, outputs)


def inputs_of(graph, seed=3, scale=1.0):
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=x.shape) * scale).astype(np.float32) for x in graph.params]


def close(graph, inputs, steps, rtol=1e-5, atol=1e-6, space=SPACE):
    code, got, want = run(graph, inputs, space, options=FAST)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a.astype(np.float64), b.astype(np.float64), rtol, atol)
    assert full_steps(code) == steps


def adam(form):
    b = Maker()
    p, g, m, v = (b.read() for _ in range(4))
    rate, a1, a2 = (b.read(()) for _ in range(3))
    m1 = b("add", b("multiply", m, 0.9), b("multiply", g, 0.1))
    v1 = b("add", b("multiply", v, 0.999), b("multiply", b("multiply", g, 0.001), g))
    if form == "plain":
        root = b("add", b("sqrt", v1), 1e-8)
        step = b("divide", b("multiply", rate, m1), root)
    elif form == "optax":
        root = b("add", b("sqrt", b("add", b("divide", v1, a2), 0.0)), 1e-8)
        step = b("multiply", b("divide", b("divide", m1, a1), root), rate)
    else:
        root = b("add", b("sqrt", b("divide", v1, a2)), 1e-7)
        step = b("divide", b("multiply", b("divide", m1, a1), rate), root)
    p1 = b("subtract", p, step)
    return b.graph(p1, m1, v1)


@pytest.mark.parametrize(("form", "steps"), [("plain", 7), ("optax", 7), ("keras", 7)])
def test_adam(form, steps):
    graph = adam(form)
    inputs = inputs_of(graph)
    inputs[3] = np.abs(inputs[3])
    inputs[3][0, :5] = inputs[1][0, :5] = 0
    inputs[4:] = [np.float32(1e-3), np.float32(0.1), np.float32(0.001)]
    close(graph, inputs, steps)


def test_sgd_with_momentum():
    b = Maker()
    p, g, v = b.read(), b.read(), b.read()
    v1 = b("add", b("multiply", v, 0.9), g)
    p1 = b("subtract", p, b("multiply", b.read(()), v1))
    graph = b.graph(p1, v1)
    close(graph, inputs_of(graph), 2)


def test_softmax():
    b = Maker()
    x = b.read()
    e = b("exp", b("subtract", x, b.wide(b.rows(x, "maximum"))))
    graph = b.graph(b("divide", e, b.wide(b.rows(e))))
    inputs = inputs_of(graph, scale=4)
    inputs[0][:2] = [[-1e30], [-2.38e38]]  # rows that are masked as a whole
    close(graph, inputs, 5)


def test_softmax_of_largest_elements_that_are_read():
    b = Maker()
    x, top = b.read(), b.read(SPACE[:1])
    e = b("exp", b("subtract", b("multiply", x, 0.3), top))
    graph = b.graph(b("divide", e, b.wide(b.rows(e))))
    inputs = inputs_of(graph, scale=4)
    inputs[1] = (inputs[0] * np.float32(0.3)).max(1)
    close(graph, inputs, 4)


def test_softmax_cross_entropy_gradient():
    b = Maker()
    x, y = b.read(), b.read()
    d = b("subtract", x, b.wide(b.rows(x, "maximum")))
    e = b("exp", d)
    total = b.rows(e)
    loss = b.rows(b("multiply", y, b("subtract", d, b.wide(op("log", total)))))
    p = b("divide", e, b.wide(total))
    graph = b.graph(b("multiply", b("subtract", p, y), 1 / 48), op("negate", loss))
    close(graph, inputs_of(graph, scale=2), 8, atol=1e-4)


def layer_norm(b, x, gamma, beta):
    n = float(b.space[1])
    mean = b("divide", b.rows(x), n)
    d = b("subtract", x, b.wide(mean))
    var = b("divide", b.rows(b("multiply", d, d)), n)
    inverse = op("rsqrt", b("add", var, 1e-5))
    normal = b("multiply", d, b.wide(inverse))
    return b("add", b("multiply", normal, gamma), beta), normal, inverse


def test_layer_norm():
    b = Maker()
    y, _, _ = layer_norm(b, b.read(), b.read(SPACE[1:]), b.read(SPACE[1:]))
    graph = b.graph(y)
    close(graph, inputs_of(graph), 5)


def test_layer_norm_backward():
    b = Maker()
    x, dy, gamma, beta = b.read(), b.read(), b.read(SPACE[1:]), b.read(SPACE[1:])
    _, normal, inverse = layer_norm(b, x, gamma, beta)
    n = float(SPACE[1])
    g = b("multiply", dy, gamma)
    first = b("divide", b.rows(g), n)
    second = b("divide", b.rows(b("multiply", g, normal)), n)
    dx = b("subtract", b("subtract", g, b.wide(first)), b("multiply", normal, b.wide(second)))
    graph = b.graph(b("multiply", dx, b.wide(inverse)))
    close(graph, inputs_of(graph), 11)


def gelu(b, x, form):
    if form == "erf":
        inner = op("erf", b("multiply", x, 2**-0.5))
    else:
        cube = b("multiply", b("multiply", x, x), x)
        inner = b("add", x, b("multiply", cube, 0.044715))
        inner = op("tanh", b("multiply", inner, (2 / np.pi)**0.5))
    return b("multiply", b("multiply", x, 0.5), b("add", inner, 1.0))


@pytest.mark.parametrize(("form", "steps"), [("tanh", 5), ("erf", 10)])
def test_gelu(form, steps):
    b = Maker()
    graph = b.graph(gelu(b, b.read(), form))
    close(graph, inputs_of(graph, scale=2), steps)


def logistic(b, x):
    return b("divide", 1.0, b("add", op("exp", op("negate", x)), 1.0))


def test_logistic_and_silu():
    b = Maker()
    x = b.read()
    graph = b.graph(logistic(b, x))
    close(graph, inputs_of(graph, scale=4), 2)
    graph = b.graph(b("multiply", x, logistic(b, x)))
    close(graph, inputs_of(graph, scale=4), 3)


def test_lstm_cell():
    b = Maker()
    i, f, g, o, c = (b.read() for _ in range(5))
    c1 = b("add", b("multiply", logistic(b, f), c), b("multiply", logistic(b, i), op("tanh", g)))
    h = b("multiply", logistic(b, o), op("tanh", c1))
    graph = b.graph(c1, h)
    close(graph, inputs_of(graph), 16)


def test_dropout_and_relu_gradients():
    b = Maker()
    x, dy = b.read(), b.read()
    kept = op("compare", x, splat(0.0, x.type), direction="gt")
    graph = b.graph(b("maximum", x, 0.0),
                    op("select", kept, b("multiply", dy, 1.25), splat(0.0, dy.type)))
    close(graph, inputs_of(graph), 4)


def threefry(x, y):
    """Two rounds of additions, rotations and exclusive ors."""
    for turn in (13, 15):
        x = op("add", x, y)
        y = op("or", op("shift_left", y, splat(turn, y.type)),
               op("shift_right", y, splat(32 - turn, y.type)))
        y = op("xor", x, y)
    return x, y


def test_threefry_rounds():
    x, y = (parameter(TensorType(DType.U32, SPACE), "x") for _ in range(2))
    graph = Graph("g", [x, y], threefry(x, y))
    rng = np.random.default_rng(0)
    inputs = [sample(rng, np.uint32, SPACE) for _ in range(2)]
    code, got, want = run(graph, inputs, SPACE, options=FAST)
    for a, c in zip(got, want, strict=True):
        np.testing.assert_array_equal(a, c)
    assert full_steps(code) == 10
    assert len(run(graph, inputs, SPACE, options=EXACT)[0].steps) == 10
