"""Nodes and graphs are checked when they are made, and do not change."""

import re

import ml_dtypes
import numpy as np
import pytest

from celosia.graph import (
    OPS,
    Array,
    DType,
    Graph,
    GraphError,
    Node,
    Source,
    TensorType,
    constant,
    fingerprint,
    op,
    ops,
    parameter,
    splat,
)

F32, I32, BOOL = DType.F32, DType.I32, DType.BOOL


def value(dtype, *shape):
    return parameter(TensorType(dtype, shape))


def region(name, params, *outputs):
    return Graph(name, params, outputs)


X = value(F32, 2, 3)
I = value(I32)  # noqa: E741
WRONG = {
    "no such operation": (
        lambda: op("addd", X, X),
        ("unknown source: operation must be one of celosia.graph.OPS, not 'addd'; did you mean "
        "'add'?")),
    "too few operands": (
        lambda: op("add", X),
        "unknown source: add: operands must be 2 (a, b), not 1"),
    "types differ": (
        lambda: op("add", X, value(F32, 3, 2)),
        "unknown source: add: operands must be equal, not f32[2,3], f32[3,2]"),
    "source": (
        lambda: op("exp", I, source=Source("a.py", 3, 7, "jit(f)/exp")),
        "a.py:3:7 (jit(f)/exp): exp: operand must be a float, not i32[]"),
    "no such attribute": (
        lambda: op("iota", dtype=F32, shape=(3,), dims=0),
        ("unknown source: iota: attributes must be of dtype, shape, dim, not 'dims'; did you "
        "mean 'dim'?")),
    "attribute left out": (
        lambda: op("transpose", X),
        "unknown source: transpose: attribute permutation must be given"),
    "attribute of another kind": (
        lambda: op("transpose", X, permutation=(0.5, 1)),
        ("unknown source: transpose: attribute permutation must be a list of integers, not "
        "(0.5, 1)")),
    "word": (
        lambda: op("compare", X, X, direction="<"),
        ("unknown source: compare: attribute direction must be one of eq, ne, lt, le, gt, ge, not "
        "'<'")),
    "bools have no sum": (
        lambda: op("add", value(BOOL), value(BOOL)),
        "unknown source: add: operands must be numbers, not bool[]"),
    "permutation": (
        lambda: op("transpose", X, permutation=(0, 0)),
        ("unknown source: transpose: permutation must be different numbers from 0 to 1, not "
        "[0, 0]")),
    "reshape": (
        lambda: op("reshape", X, shape=(7,)),
        "unknown source: reshape: shape must have 6 elements as f32[2,3] does, not [7]"),
    "broadcast": (
        lambda: op("broadcast", X, shape=(2, 4), dims=(0, 1)),
        "unknown source: broadcast: extent 1 of f32[2,3] must be 1 or 4, not 3"),
    "slice": (
        lambda: op("slice", X, start=(0, 2), limit=(2, 5), stride=(1, 1)),
        ("unknown source: slice: dimension 1 must have 0 <= start <= limit <= 3 and stride > 0, "
        "not 2:5:1")),
    "dot": (
        lambda: op("dot", X, X, dtype=F32, contract=[(1, 0)]),
        "unknown source: dot: extents of pair [1,0] must be equal, not 3 and 2"),
    "dot of two kinds": (
        lambda: op("dot", X, value(I32, 3, 2), dtype=F32, contract=[(1, 0)]),
        ("unknown source: dot: operands must both be floats or both integers, not f32[2,3] and "
        "i32[3,2]")),
    "layout": (
        lambda: op("convolution", X, X, dtype=F32, layout="bf_io", stride=(), padding=(),
                   x_dilation=(), w_dilation=()),
        ("unknown source: convolution: attribute layout must be a layout like b01f_01io->b01f, "
        "not 'bf_io'")),
    "convolution": (
        lambda: op("convolution", value(F32, 1, 5, 4), value(F32, 3, 2, 6), dtype=F32,
                   layout="b0f_0io->b0f", stride=(1,), padding=[(0, 0)], x_dilation=(1,),
                   w_dilation=(1,)),
        "unknown source: convolution: features of x must be 2 x 1 groups, not 4"),
    "reducer": (
        lambda: op("reduce", X, value(F32), dims=(0,), reducer="and"),
        "unknown source: reduce: operand of reducer and must not be a float"),
    "reducer of floats": (
        lambda: op("reduce", I, I, dims=(), reducer="logaddexp"),
        "unknown source: reduce: operand of reducer logaddexp must be a float"),
    "initial": (
        lambda: op("reduce", X, I, dims=(0,), reducer="add"),
        "unknown source: reduce: initial must be f32[], not i32[]"),
    "dynamic_slice": (
        lambda: op("dynamic_slice", X, I, sizes=(1, 1)),
        "unknown source: dynamic_slice: start indices must be 2, not 1"),
    "body": (
        lambda: ops("while", X, regions=[region("cond", [v := value(F32, 2, 3)],
                                                constant(True)),
                                         region("body", [v])]),
        "unknown source: while: region body must return (f32[2,3]), not ()"),
    "regions": (
        lambda: ops("while", X),
        "unknown source: while: regions must be 2 (cond, body), not 0"),
    "index": (
        lambda: ops("case", value(DType.U32), regions=[region("branch", [])]),
        "unknown source: case: index must be i32[], not u32[]"),
    "one result": (
        lambda: op("top_k", X, k=1),
        "unknown source: top_k must have 1 result, not 2"),
    "parameter": (
        lambda: Graph("g", [op("exp", X)], []),
        "graph g: parameter 0 must be a parameter node, not exp"),
    "parameter twice": (
        lambda: Graph("g", [X, X], []),
        "graph g: parameters must differ from one another"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name):
    make, message = WRONG[name]
    with pytest.raises(GraphError) as caught:
        make()
    assert str(caught.value) == message


def test_nodes_do_not_change():
    node = op("exp", X).node
    with pytest.raises(AttributeError, match="a node does not change: op of exp"):
        node.op = "log"
    with pytest.raises(TypeError):
        node.attrs["x"] = 1  # pyright: ignore[reportIndexIssue]
    array = np.zeros(3, np.float32)
    held = constant(array).node.attrs["value"].numpy
    array[0] = 1
    assert held[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        held[0] = 1


def test_types():
    assert str(TensorType(DType.BF16, (2, 3))) == "bf16[2,3]"
    assert TensorType(DType.BF16, (2, 3)).nbytes == 12
    assert DType.of(ml_dtypes.bfloat16) is DType.BF16
    with pytest.raises(ValueError, match=r"^dtype must be one of bool, .*, not complex128$"):
        DType.of(np.complex128)
    for shape in ((-1,), (2, 3.0)):
        wanted = f"shape must be of non-negative integers, not {shape}"
        with pytest.raises(ValueError, match=f"^{re.escape(wanted)}$"):
            TensorType(DType.F32, shape)


def test_what_is_concatenated_is_as_long_as_its_parts():
    parts = [parameter(TensorType(DType.F32, (2, size))) for size in (3, 0, 4)]
    assert op("concatenate", parts[0], dim=1).type == parts[0].type
    assert op("concatenate", *parts, dim=1).type == TensorType(DType.F32, (2, 7))


def test_equal_attributes_become_one():
    a = Node("iota", (), {"dtype": "i32", "shape": [np.int64(3)]})
    assert a.attrs == {"dtype": DType.I32, "shape": (3,), "dim": 0}
    assert a.types == (TensorType(DType.I32, (3,)),)


def test_arrays_compare_bit_for_bit():
    assert Array(np.float32([0.0])) != Array(np.float32([-0.0]))
    assert Array(np.float32([np.nan])) == Array(np.float32([np.nan]))
    assert Array(np.zeros((2, 2), np.int8)).is_splat
    assert not Array(np.arange(2)).is_splat
    assert not Array(np.zeros(0, np.int8)).is_splat


def test_what_no_output_needs_is_no_part():
    y = op("exp", X)
    op("log", y)
    graph = Graph("g", [X], [y])
    assert [node.op for node in graph.nodes] == ["parameter", "exp"]
    assert graph.users[X] == (y.node,)


def test_graphs_may_be_deep():
    x = value(F32)
    y = x
    for _ in range(5000):
        y = op("add", y, y)
    assert len(Graph("g", [x], [y]).nodes) == 5001


def test_fingerprint_is_of_the_meaning():
    def graph(name, source, number):
        x = parameter(TensorType(F32), name)
        return Graph(name, [x], [op("add", x, splat(number, x.type), source=source)])

    a = graph("a", Source.UNKNOWN, 1)
    assert fingerprint(a) == fingerprint(graph("b", Source("b.py", 1, 1), 1))
    assert fingerprint(a) != fingerprint(graph("a", Source.UNKNOWN, 2))


def test_every_operation_says_what_it_does():
    for spec in OPS.values():
        assert spec.doc.endswith("."), spec.name


def test_on_other_operands_it_is_as_if_made_anew():
    x, y, wide = (parameter(TensorType(DType.F32, shape)) for shape in ((3,), (3,), (2, 3)))
    node = Node("add", (x, x), source=Source("here.py", 7))
    for operands, types in (((x, y), (x.type,)), ((wide, wide), (wide.type,))):
        now = node.on(operands)
        assert (now.op, now.operands, now.attrs, now.regions, now.source, now.types) == (
            "add", operands, node.attrs, (), node.source, types)
    for wrong in ((x,), (x, wide)):
        with pytest.raises(GraphError):
            node.on(wrong)
    sums = [Graph("sum", [a, b], [Node("add", (a, b)).result]) for a, b in (
        [parameter(TensorType(dtype)) for _ in range(2)] for dtype in (DType.F32, DType.I32))]
    loop = Node("case", (parameter(TensorType(DType.I32)), *sums[0].params), regions=sums[:1])
    assert loop.on(loop.operands, (sums[0],)).types == loop.types
    with pytest.raises(GraphError):
        loop.on(loop.operands, (sums[1],))
