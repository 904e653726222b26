"""The forms of functions by default, instruction by instruction, and what is said of them."""

import math
from types import SimpleNamespace

import pytest

from celosia.arch.vector import VectorOp as Op
from celosia.compiler.kernels.terms import Extent, recording, step
from celosia.compiler.selection.bounded import Bounded
from celosia.compiler.selection.exact import exact
from celosia.compiler.selection.fast import short_tanh, whole_power
from celosia.compiler.selection.notation import div, recip, select, sqrt
from celosia.compiler.selection.pool import Pool
from celosia.compiler.selection.uses import Uses
from celosia.graph import DType, Graph, TensorType, op, parameter, splat

TYPE = TensorType(DType.F32, (4, 16))
A, B = parameter(TYPE), parameter(TYPE)
INF = math.inf


@pytest.fixture
def k():
    pool = Pool()
    known = SimpleNamespace(pool=pool, x=pool.read("x", Extent.FULL), y=pool.read("y", Extent.FULL),
                            s=pool.read("s", Extent.LANES), u=pool.read("u", Extent.SCALAR))
    with recording(pool):
        yield known


def ruled(k, name, node, *args, graph=None):
    """Return the term that a rule makes, and the proof that it gives."""
    bounded = Bounded(Uses(graph) if graph else None)
    args = [k.pool.fp32(each) if isinstance(each, float) else each for each in args]
    return bounded.rules[name](k.pool, node, args), bounded.proofs.get(node)


POWER = op("power", A, B).node


def test_whole_powers_are_products_or_products_of_the_inverse(k):
    for size in range(1, 9):
        assert ruled(k, "power", POWER, k.x, float(size)) == (whole_power(k.x, size), None)
    for size in range(1, 5):
        assert ruled(k, "power", POWER, k.x, float(-size))[0] is whole_power(recip(k.x), size)
    for number in (0.0, 9.0, -5.0, -8.0, 1.5, -0.5, 2.5, -1.5, INF, -INF):
        assert ruled(k, "power", POWER, k.x, number)[0] is exact(
            k.pool, "power", k.x, k.pool.fp32(number))
    assert ruled(k, "power", POWER, k.x, k.y)[0] is exact(k.pool, "power", k.x, k.y)


def test_the_power_of_a_half_is_a_root_but_of_minus_infinity(k):
    assert ruled(k, "power", POWER, k.x, 0.5)[0] is select(
        step(Op.FEQ, k.x, -INF), INF, sqrt(k.x + 0.0))


@pytest.mark.parametrize(("number", "inverse"), [
    (2.0, 0.5), (-4.0, -0.25), (0.5, 2.0), (3.0, 1 / 3), (5.0, 0.2), (10.0, 0.1), (7.0, None),
    (13.0, None), (49.0, 1 / 49), (2.0**126, 2.0**-126), (2.0**127, None), (2.0**-126, 2.0**126),
    (0.0, None), (INF, None), (math.nan, None)])
def test_a_quotient_by_a_number_is_a_product_where_that_is_as_good(k, number, inverse):
    quotient = op("divide", A, splat(number, TYPE))
    found, proof = ruled(k, "divide", quotient.node, k.x, number)
    assert found is (k.x * inverse if inverse else div(k.x, k.pool.fp32(number)))
    assert proof is None


LATE = ("unknown source: divide: by one number last: a sum takes that product in, a rounding less "
        "(while the quotient without it is normal)")


def test_a_sum_takes_a_number_in_that_comes_last(k):
    product = op("multiply", A, splat(3.0, TYPE))
    quotient = op("divide", product, B)

    def made(numerator, *outputs):
        return ruled(k, "divide", quotient.node, numerator, k.y,
                     graph=Graph("g", [A, B], outputs))

    for name in ("add", "subtract"):
        assert made(k.x * k.u, op(name, A, quotient)) == (div(k.x, k.y) * k.u, LATE)
    assert made(k.x * 3.0, op("add", quotient, A)) == (div(k.x, k.y) * 3.0, LATE)
    plain = div(k.x * k.u, k.y), None
    assert made(k.x * k.u, op("multiply", A, quotient)) == plain
    assert made(k.x * k.u, quotient) == plain
    assert made(k.x * k.u, op("add", A, quotient), op("exp", quotient)) == plain
    assert made(k.x * k.u, op("add", A, quotient), product) == plain
    assert made(k.x * k.u, op("add", product, quotient)) == plain
    assert made(k.x * k.s, op("add", A, quotient)) == (div(k.x * k.s, k.y), None)
    assert made(k.s * k.u, op("add", A, quotient)) == (div(k.s * k.u, k.y), None)
    assert made(k.x + k.u, op("add", A, quotient)) == (div(k.x + k.u, k.y), None)
    assert ruled(k, "divide", quotient.node, k.x * k.u, k.y) == plain


def tanh(*users):
    """Return the node of a hyperbolic tangent, and the graph of what uses it."""
    node = op("tanh", A)
    return node.node, Graph("g", [A, B], [user(node) for user in users])


def plus(number, name="add", turned=False):
    def user(t):
        operands = t, splat(number, TYPE)
        return op(name, *operands[::-1 if turned else 1])
    return user


def again(name="add", other=A, turned=False):
    def user(t):
        operands = op("multiply", other, t), A
        return op(name, *operands[::-1 if turned else 1])
    return user


@pytest.mark.parametrize(("users", "least"), [
    ([plus(1.0)], "1"), ([plus(0.5)], "0.5"), ([plus(-0.5)], "0.5"), ([plus(0.49)], None),
    ([plus(2.0, "subtract")], "2"), ([plus(3.0, "subtract", True)], "3"),
    ([plus(1.0, "multiply")], None), ([plus(2.0), plus(0.75)], "0.75"),
    ([plus(2.0), plus(0.25)], None), ([plus(1.0), lambda t: t], None),
    ([lambda t: op("exp", t)], None), ([lambda t: op("add", t, B)], None),
    ([again()], "1"), ([again("subtract")], "1"), ([again(turned=True)], "1"),
    ([again(other=B)], None), ([again("multiply")], None),
    ([lambda t: op("add", op("multiply", t, t), A)], None),
    ([lambda t: op("add", op("reshape", t, shape=(64,)), splat(
        1.0, TensorType(DType.F32, (64,))))], "1")])
def test_a_tangent_is_short_where_only_sums_with_large_numbers_use_it(k, users, least):
    node, graph = tanh(*users)
    proof = None if least is None else (
        f"unknown source: tanh: only sums with constants from {least} on use it, and 2**-22 is 4 "
        "ULP of 1")
    assert ruled(k, "tanh", node, k.x, graph=graph) == (
        exact(k.pool, "tanh", k.x) if least is None else short_tanh(k.x), proof)


def test_nothing_is_known_without_a_graph(k):
    node, _ = tanh()
    assert ruled(k, "tanh", node, k.x) == (exact(k.pool, "tanh", k.x), None)
