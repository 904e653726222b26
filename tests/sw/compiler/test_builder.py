"""Expressions of operations: what changes nothing is none."""

import numpy as np
import pytest

from celosia.compiler.builder import Builder, scalar_of
from celosia.graph import DType, Graph, Source, TensorType, interpret, op, parameter

F32, I32 = DType.F32, DType.I32
B = Builder(Source("a.py", 3, 1, "f"))
X = parameter(TensorType(F32, (2, 3)))
SCALAR = parameter(TensorType(F32))
ONES = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize("made", [
    B.reshape(X, 2, 3), B.transpose(X, [0, 1]), B.broadcast(X, [2, 3], [0, 1]),
    B.like(X, TensorType(I32, (2, 3))), B.convert(X, F32), B.bitcast(X, F32),
    B.slice(X, [0, 0], [2, 3]), B.slice(X, [0, 0], [2, 3], [1, 1]), B.part(X, 1, 0, 3),
    B.pad(X, 0, [0, 0], [0, 0]), B.pad(X, 0, [0, 0], [0, 0], [0, 0]), B.concatenate([X], 0),
    B.join("add", [X])])
def test_what_changes_nothing_is_no_operation(made):
    assert made is X


@pytest.mark.parametrize(("made", "name", "found"), [
    (B.reshape(X, 6), "reshape", ONES.reshape(6)),
    (B.transpose(X, [1, 0]), "transpose", ONES.T),
    (B.broadcast(X, [2, 3, 1], [0, 1]), "broadcast", ONES[..., None]),
    (B.broadcast(X, [4, 2, 3], [1, 2]), "broadcast", np.stack([ONES] * 4)),
    (B.convert(X, I32), "convert", ONES.astype(np.int32)),
    (B.bitcast(X, I32), "bitcast", ONES.view(np.int32)),
    (B.slice(X, [0, 0], [1, 3]), "slice", ONES[:1]),
    (B.slice(X, [0, 0], [2, 3], [1, 2]), "slice", ONES[:, ::2]),
    (B.slice(X, [1, 0], [2, 3]), "slice", ONES[1:]),
    (B.part(X, 0, 1, 2), "slice", ONES[1:]), (B.part(X, 1, 0, 3, 2), "slice", ONES[:, ::2]),
    (B.pad(X, 7, [1, 0], [0, 0]), "pad", np.pad(ONES, ((1, 0), (0, 0)), constant_values=7)),
    (B.pad(X, 7, [0, 0], [0, 2]), "pad", np.pad(ONES, ((0, 0), (0, 2)), constant_values=7)),
    (B.pad(X, B.constant(2, F32), [0, 0], [0, 0], [1, 0]), "pad",
     np.stack([ONES[0], np.full(3, 2, np.float32), ONES[1]])),
    (B.concatenate([X, X], 1), "concatenate", np.concatenate([ONES, ONES], 1)),
    (B.compare("ge", X, 3), "compare", ONES >= 3),
    (B.iota([2, 3], 1), "iota", np.array([[0, 1, 2]] * 2, np.int32))])
def test_what_is_made(made, name, found):
    assert made.node.op == name
    assert made.node.source == B.source
    [result] = interpret(Graph("g", [X], [made]), [ONES])
    assert result.dtype == found.dtype
    np.testing.assert_array_equal(result, found)


def test_a_scalar_in_a_shape():
    for made in (B.reshape(SCALAR, 1, 1), B.like(SCALAR, TensorType(F32, (2, 2)))):
        assert made.node.op == "broadcast"
        [result] = interpret(Graph("g", [SCALAR], [made]), [np.float32(4)])
        assert (result == 4).all()


@pytest.mark.parametrize(("count", "depth"), [(2, 1), (3, 2), (4, 2), (5, 3), (8, 3)])
def test_many_are_joined_in_few_steps(count, depth):
    made = B.join("add", [X] * count)

    def steps(value):
        return 0 if value is X else 1 + max(map(steps, value.node.operands))

    assert steps(made) == depth
    [result] = interpret(Graph("g", [X], [made]), [ONES])
    np.testing.assert_array_equal(result, count * ONES)


def test_the_number_that_a_constant_is():
    five = B.constant(5, I32)
    assert scalar_of(five) == 5
    assert scalar_of(B.full(5, TensorType(I32, (2, 2)))) == 5
    assert scalar_of(B.constant(np.array([5, 5], np.int32))) == 5
    assert scalar_of(B.constant(np.array([5, 6], np.int32))) is None
    assert scalar_of(X) is None
    assert scalar_of(op("negate", five)) is None


def test_polynomials_begin_with_the_highest_power():
    made = B.polynomial(X, [2, 0, 1])
    [result] = interpret(Graph("g", [X], [made]), [ONES])
    np.testing.assert_array_equal(result, 2 * ONES * ONES + 1)
