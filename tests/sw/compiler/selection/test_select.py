"""Clusters as a whole: what is refused, what is shared, random ones."""

import re
from dataclasses import replace

import numpy as np
import pytest
from clusters import CORE, EXACT, FAST, access, cluster_of, full_steps, run
from run_code import evaluate
from test_fast import Maker, logistic

from celosia.arch.config import preset
from celosia.compiler import canonical
from celosia.compiler.errors import CompileError
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.lowered import Cluster, Write
from celosia.compiler.selection import SelectionOptions, select_instructions
from celosia.graph import DType, Graph, TensorType, op, parameter, splat

SPACE = (6, 40)
FULL = TensorType(DType.F32, SPACE)


def test_floats_need_a_chip_with_them():
    x, y = parameter(FULL, "x"), parameter(FULL, "y")
    graph = Graph("g", [x, y], [op("add", x, y)])
    with pytest.raises(CompileError, match=re.escape(
            "unknown source: add must be of integers on edge, a chip without bf16; it takes "
            "fadd")):
        select_instructions(preset("edge"), cluster_of(graph, SPACE))


def test_integers_need_no_floats():
    x = parameter(TensorType(DType.I32, SPACE), "x")
    y = op("maximum", op("add", x, x), splat(0, x.type))
    code = select_instructions(preset("edge"), cluster_of(canonical(Graph("g", [x], [y])), SPACE))
    assert len(code.steps) == 1


def test_what_is_joined_over_rows_cannot_be_used():
    x = parameter(FULL, "x")
    total = op("reduce", x, splat(0.0, TensorType(DType.F32)), dims=[0], reducer="add")
    y = op("add", x, op("broadcast", total, shape=SPACE, dims=[1]))
    with pytest.raises(CompileError, match="must not use what its cluster joins over rows"):
        select_instructions(CORE, cluster_of(Graph("g", [x], [y]), SPACE))


def test_the_result_of_a_product_is_written_from_where_it_is():
    x = parameter(FULL, "x")
    cluster = Cluster(SPACE, 1, None, x, (), (), (Write(x, Extent.FULL, access(x)),))
    code = select_instructions(CORE, cluster)
    assert not code.steps
    assert code.outputs[x] is code.inputs[x]


def test_what_is_read_is_copied_where_it_is_written():
    x = parameter(FULL, "x")
    code = select_instructions(CORE, cluster_of(Graph("g", [x], [x]), SPACE))
    assert len(code.steps) == 1


def test_a_column_and_a_row_of_the_same_size_are_told_apart():
    space = (16, 16)
    x, column, row = (parameter(TensorType(DType.F32, shape), "x")
                      for shape in (space, (16,), (16,)))
    y = op("subtract", op("add", x, op("broadcast", column, shape=space, dims=[0])),
           op("broadcast", row, shape=space, dims=[1]))
    graph = Graph("g", [x, column, row], [y])
    cluster = cluster_of(graph, space)
    extents = (Extent.FULL, Extent.ROWS, Extent.LANES)
    cluster = replace(cluster, reads=tuple(
        replace(read, extent=extent) for read, extent in zip(cluster.reads, extents, strict=True)))
    rng = np.random.default_rng(0)
    arrays = {value: rng.normal(size=value.shape).astype(np.float32) for value in graph.params}
    found = evaluate(select_instructions(CORE, cluster, EXACT), space, arrays)[y].view(np.float32)
    np.testing.assert_array_equal(
        found, arrays[x] + arrays[column][:, np.newaxis] - arrays[row])


def test_values_of_one_row_stay_so():
    b = Maker(SPACE)
    x, s, t, row = b.read(), b.read(()), b.read(()), b.read(SPACE[1:])
    graph = b.graph(b("multiply", b("multiply", b("multiply", x, s), row), b("sqrt", t)))
    code, _, _ = run(graph, [np.ones(x.shape, np.float32) for x in graph.params], SPACE,
                     options=FAST)
    assert full_steps(code) == 1


def test_every_bf16_operation_rounds():
    x, y = (parameter(TensorType(DType.BF16, SPACE), "x") for _ in range(2))
    graph = canonical(Graph("g", [x, y], [op("multiply", op("add", x, y), x)]))
    cluster = cluster_of(graph, SPACE)
    assert len(select_instructions(CORE, cluster).steps) == 6
    assert len(select_instructions(CORE, cluster, FAST).steps) == 5


def test_steps_read_two_streams():
    b = Maker(SPACE)
    m, x, y = b.read(), b.read(), b.read()
    graph = b.graph(op("select", op("compare", m, x, direction="lt"), x, y),
                    b("add", b("multiply", m, x), y))
    for options in (EXACT, SelectionOptions(), FAST):
        code, _, _ = run(graph, [np.ones(SPACE, np.float32)] * 3, SPACE, options=options)
        for step in code.steps:
            assert sum(arg.is_stream for arg in step.args) <= 2


def test_sums_take_all_products_in():
    b = Maker(SPACE)
    terms = [b("multiply", b.read(), b.read(SPACE[1:])) for _ in range(5)]
    graph = b.graph(b("add", b("add", terms[0], terms[1]),
                      b("add", terms[2], b("add", terms[3], terms[4]))))
    rng = np.random.default_rng(0)
    inputs = [rng.normal(size=x.shape).astype(np.float32) for x in graph.params]
    for options, steps in ((SelectionOptions(), 6), (FAST, 5)):
        code, [got], [want] = run(graph, inputs, SPACE, options=options)
        np.testing.assert_allclose(got, want, 1e-5, 1e-5)
        assert full_steps(code) == steps


@pytest.mark.parametrize(("name", "options"), [(name, options) for name in ("and", "or")
                                               for options in (EXACT, SelectionOptions(), FAST)])
def test_masks_need_no_complement(name, options):
    x, y = (parameter(TensorType(DType.BOOL, SPACE), "x") for _ in range(2))
    graph = Graph("g", [x, y], [op(name, op("not", x), y)])
    rng = np.random.default_rng(0)
    inputs = [rng.integers(0, 2, SPACE).astype(np.bool_) for _ in range(2)]
    code, [got], [want] = run(graph, inputs, SPACE, options=options)
    np.testing.assert_array_equal(got, want)
    assert len(code.steps) == 1


UNARY = ("negate", "abs", "exp", "tanh", "sqrt", "rsqrt", "log", "erf", "square", "logistic")
BINARY = ("add", "subtract", "multiply", "divide", "maximum", "minimum")


def random_graph(rng):
    space = (6, int(rng.choice([12, 40])))
    b = Maker(space)
    shapes = [space, space, space[:1], space[1:], ()]
    made = [b.read(shapes[rng.integers(len(shapes))]) for _ in range(rng.integers(1, 5))]

    def pick():
        return made[-1 - int(rng.integers(min(5, len(made))))]

    for _ in range(rng.integers(2, 14)):
        x, kind = pick(), rng.integers(9)
        if kind < 3:
            name = str(rng.choice(UNARY))
            if name in ("sqrt", "rsqrt", "log"):
                x = b("add", b("abs", x), 0.5)
            made.append(b("multiply", x, x) if name == "square" else logistic(b, x)
                        if name == "logistic" else
                        op(name, b("minimum", x, 3.0) if name == "exp" else x))
        elif kind < 6:
            name, y = str(rng.choice(BINARY)), pick()
            made.append(b(name, x, b("add", b("abs", y), 0.5) if name == "divide" else y))
        elif kind < 8:
            number = float(np.float32(rng.choice([2, -1.5, 0.25, 3, -0.7, 0.1])))
            name = str(rng.choice(BINARY[:5]))
            made.append(b(name, x, number) if rng.integers(2) or name == "divide" else
                        b(name, number, x))
        else:
            column = b.wide(b.rows(x, str(rng.choice(["add", "maximum"]))))
            made.append(b("multiply", column, 1 / space[1]))
    others = [value for value in made[:-1] if rng.integers(6) == 0
              and value.node.op not in ("parameter", "broadcast")]
    return b.graph(made[-1], *others), space


@pytest.mark.parametrize("seed", range(120))
def test_random_clusters(seed):
    rng = np.random.default_rng(seed)
    graph, space = random_graph(rng)
    inputs = [rng.normal(size=x.shape).astype(np.float32) for x in graph.params]
    exact, near, want = run(graph, inputs, space, options=EXACT)
    for options in (SelectionOptions(), FAST):
        code, got, _ = run(graph, inputs, space, options=options)
        assert full_steps(code) <= full_steps(exact)
        for a, b, c in zip(got, near, want, strict=True):
            good = np.isfinite(c) & (np.abs(c) < 1e6)
            scale = 1 + np.abs(c[good].astype(np.float64))
            error, least = (np.abs(x[good] - c[good].astype(np.float64)) / scale for x in (a, b))
            assert error.max(initial=0) <= max(2e-4, 30 * least.max(initial=0))
            assert least.max(initial=0) <= 1e-3
