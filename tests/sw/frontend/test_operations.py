"""Each operation: from JAX through StableHLO and the graph to the same numbers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax
from through_jax import agree, both, graph_of

import celosia
from celosia.compiler import canonical
from celosia.frontend import import_stablehlo
from celosia.graph import interpret

RNG = np.random.default_rng(3)
EDGES = np.array([0.0, -0.0, 0.3, -0.7, 0.5, 1.0, -1.0, 1.5, 2.5, -2.5, 3.7, -8.2, 40.0, 1e-5,
                  -1e30, 1e30, np.inf, -np.inf, np.nan], np.float32)
INTEGERS = np.array([0, 1, -1, 2, 7, -7, 31, 32, 33, 100, -100, 2**31 - 1, -2**31], np.int32)


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(dtype)


def pairs(values):
    """Return every pair of values, as two arrays."""
    return tuple(np.ascontiguousarray(each.ravel()) for each in np.meshgrid(values, values))


UNARY = {
    "abs": jnp.abs, "negate": lax.neg, "sign": lax.sign, "floor": jnp.floor, "ceil": jnp.ceil,
    "round": jnp.round, "round_away": lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
    "is_finite": jnp.isfinite, "exponential": jnp.exp, "exponential_minus_one": jnp.expm1,
    "log": jnp.log, "log_plus_one": jnp.log1p, "tanh": jnp.tanh, "cosh": jnp.cosh, "sqrt": jnp.sqrt,
    "rsqrt": lax.rsqrt, "cbrt": jnp.cbrt, "square": jnp.square, "erf": lax.erf, "erfc": lax.erfc,
    "erf_inv": lax.erf_inv, "logistic": jax.nn.sigmoid, "clamp": lambda x: lax.clamp(-1.0, x, 2.0),
    "clip": lambda x: jnp.clip(x, -1, 2), "gelu": lambda x: jax.nn.gelu(x, approximate=False),
    "isnan": jnp.isnan, "to_i32": lambda x: x.astype(jnp.int32),
    "to_i8": lambda x: x.astype(jnp.int8), "to_u8": lambda x: x.astype(jnp.uint8),
    "to_u32": lambda x: x.astype(jnp.uint32), "to_bool": lambda x: x.astype(jnp.bool_),
    "to_bf16": lambda x: x.astype(jnp.bfloat16),
    "bits": lambda x: lax.bitcast_convert_type(x, jnp.uint32),
    "bytes": lambda x: lax.bitcast_convert_type(x, jnp.uint8),
    "reduce_precision": lambda x: lax.reduce_precision(x, 5, 10),
    "reduce_precision_bf16": lambda x: lax.reduce_precision(x, 8, 7),
    "softplus": jax.nn.softplus, "silu": jax.nn.silu, "relu": jax.nn.relu,
}


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    agree(UNARY[name], EDGES, rtol=5e-6)


@pytest.mark.parametrize("function", [jnp.sin, jnp.cos, jnp.tan])
def test_trigonometric(function):
    agree(function, np.linspace(-10, 10, 101, dtype=np.float32), rtol=1e-5)


@pytest.mark.parametrize("function", [jnp.sinh, jnp.arcsinh, lax.lgamma])
def test_client_dialect_is_made_of_operations_that_there_are(function):
    agree(function, np.linspace(0.1, 4, 40, dtype=np.float32), rtol=1e-5)


BINARY = {
    "add": lax.add, "subtract": lax.sub, "multiply": lax.mul, "maximum": lax.max,
    "minimum": lax.min, "divide": lax.div, "remainder": lax.rem, "eq": lax.eq, "ne": lax.ne,
    "lt": lax.lt, "le": lax.le, "gt": lax.gt, "ge": lax.ge,
    "select": lambda a, b: jnp.where(a > b, a, b),
}


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    # Not the infinities beyond 1e30: JAX's remainder of those by a fraction is approximate.
    agree(BINARY[name], *pairs(EDGES[[0, 1, 2, 3, 4, 5, 7, 10, 16, 17, 18]]))
    agree(BINARY[name], *pairs(INTEGERS))
    agree(BINARY[name], *pairs(INTEGERS.astype(np.uint32)))


def test_angles():
    agree(lax.atan2, *pairs(EDGES))
    [found], [wanted] = both(lax.atan2, *pairs(EDGES))
    zero = wanted == 0
    np.testing.assert_array_equal(np.signbit(found[zero]), np.signbit(wanted[zero]))
    agree(lambda x: (jnp.arcsin(x), jnp.arccos(x), jnp.arctan(x)), np.linspace(-1, 1, 41,
                                                                               dtype=np.float32))


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("direction", ["EQ", "NE", "LT", "LE", "GT", "GE"])
def test_total_order(direction, dtype):
    words = np.uint32([0xFFC00000, 0xFF800000, 0xBF800000, 0x80800000, 0x80000000,
                       0, 0x00800000, 0x3F800000, 0x7F800000, 0x7FC00000])
    order = words.view(np.float32) if dtype == "f32" else (words >> 16).astype(
        np.uint16).view(jnp.bfloat16)
    i, j = pairs(np.arange(10))
    graph = import_stablehlo(f"""
        func.func @main(%a: tensor<100x{dtype}>, %b: tensor<100x{dtype}>) -> tensor<100xi1> {{
          %0 = stablehlo.compare {direction}, %a, %b, TOTALORDER
            : (tensor<100x{dtype}>, tensor<100x{dtype}>) -> tensor<100xi1>
          return %0 : tensor<100xi1>
        }}""")
    wanted = getattr(np, {"EQ": "equal", "NE": "not_equal", "LT": "less", "LE": "less_equal",
                          "GT": "greater", "GE": "greater_equal"}[direction])(i, j)
    [found] = interpret(canonical(graph), [order[i], order[j]])
    np.testing.assert_array_equal(found, wanted)


def test_places_in_sorted_numbers():
    x, at = np.sort(normal(9)), np.concatenate([EDGES, normal(9)])
    agree(lambda x, at: (jnp.searchsorted(x, at), jnp.searchsorted(x, at, side="right"),
                         jnp.digitize(at, x), jnp.interp(at, x, x * 2)), x, at)


@pytest.mark.parametrize("function", [lax.bitwise_and, lax.bitwise_or, lax.bitwise_xor,
                                      lax.shift_left, lax.shift_right_logical,
                                      lax.shift_right_arithmetic])
def test_bits(function):
    agree(function, *pairs(INTEGERS))
    agree(function, *pairs(INTEGERS.astype(np.uint32)))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "uint32"])
def test_counts_of_bits(dtype):
    x = np.concatenate([INTEGERS, RNG.integers(-2**31, 2**31, 50)]).astype(dtype)
    agree(lambda x: (lax.population_count(x), lax.clz(x)), x)


def test_bools():
    a, b = pairs(np.array([False, True]))
    agree(lambda a, b: (a & b, a | b, a ^ b, ~a, a == b, a < b, jnp.where(a, b, a),
                        a.astype(jnp.float32), lax.max(a, b), lax.min(a, b)), a, b)
    x = RNG.integers(0, 2, (5, 4)).astype(bool) & np.array([1, 1, 0, 1, 1], bool)[:, None]
    agree(lambda x: (jnp.argmax(x, 1), jnp.argmin(x, 0), jnp.argmax(x), jnp.argmin(x | True)), x)
    agree(lambda x: (x @ x.T, jnp.einsum("ij,ij->i", x, x), jnp.einsum("ij,jk->ijk", x, x.T),
                     jnp.dot(x[0], x[0], preferred_element_type=jnp.int32)), x)


def test_power():
    x, y = pairs(np.array([0.5, 1, 2, 3.5, -2], np.float32))
    agree(jnp.power, x, y, rtol=1e-5)
    agree(lambda x: (x**2, x**3, x**-1, x**0.5), EDGES, rtol=1e-5)
    agree(lambda x: x**5, INTEGERS)


def test_bf16_elementwise():
    x = normal(64).astype(jnp.bfloat16)
    agree(lambda x: (x + x * x, jnp.exp(x), jnp.maximum(x, 0), x.astype(jnp.float32), x / 3,
                     jnp.tanh(x), x > 0), x, rtol=1e-2)


def test_constants():
    b = np.array([[1.5, -0.25, np.inf], [3e-5, np.nan, -0.0]], jnp.bfloat16)
    long = normal(300).astype(jnp.bfloat16)
    f, i, u = normal(4, 5), INTEGERS, np.arange(256, dtype=np.uint8)
    agree(lambda x: (x + 1, x * b[0, 0], b + 0, long + 0, f + 0, i + 0, u + 0, i > 3,
                     jnp.full((3, 4), 2, jnp.bfloat16), jnp.zeros((0, 3))), normal(2))


def test_shapes():
    agree(lambda x: (x.reshape(6, 4), x.transpose(2, 0, 1), x[:, ::2, 1:], x[::-1],
                     jnp.concatenate([x, x], 1), jnp.broadcast_to(x[:, :1], (2, 3, 4)),
                     jnp.pad(x, ((1, 2), (0, 0), (3, 0))), jnp.tile(x, (1, 2, 1)), x[None],
                     lax.pad(x, 7.0, ((0, 1, 2), (-1, 0, 0), (2, -3, 1))),
                     jnp.arange(6).reshape(2, 3) + lax.broadcasted_iota(jnp.int32, (2, 3), 1),
                     jnp.stack([x, x], 1), jnp.roll(x, 2, 1), lax.broadcast_in_dim(
                         x, (2, 5, 3, 4), (0, 2, 3))), normal(2, 3, 4))


def test_dot():
    agree(lambda a, b: a @ b, normal(5, 7), normal(7, 3), rtol=1e-5)
    agree(lambda a, b: jnp.einsum("bhqd,bhkd->bhqk", a, b), normal(2, 3, 4, 5),
          normal(2, 3, 6, 5), rtol=1e-5, atol=1e-5)
    agree(lambda a, b: jnp.einsum("abc,cdb->da", a, b), normal(2, 3, 4), normal(4, 5, 3),
          rtol=1e-5, atol=1e-5)
    agree(jnp.outer, normal(3), normal(4))
    agree(jnp.dot, normal(6), normal(6), rtol=1e-5)


def test_dot_of_integers_in_floats():
    a = RNG.integers(-128, 128, (4, 6)).astype(np.int8)
    for dtype in (np.int8, np.int16, np.int32):
        x = a.astype(dtype)
        agree(lambda x: (lax.dot(x, x.T, preferred_element_type=jnp.float32),
                         lax.conv_general_dilated(x.reshape(1, 1, 4, 6), x.reshape(1, 1, 4, 6),
                                                  (1, 1), "SAME",
                                                  preferred_element_type=jnp.float32)), x)


def test_dot_of_integers():
    a = RNG.integers(-128, 128, (9, 40), np.int8)
    agree(lambda a, b: lax.dot(a, b, preferred_element_type=jnp.int32), a, a.T.copy())
    agree(lambda a, b: a @ b, INTEGERS.reshape(1, -1), INTEGERS.reshape(-1, 1))


def test_dot_rounds_operands_as_asked():
    a, b = normal(16, 64), normal(64, 8)

    def rounded(a, b):
        return lax.dot(a.astype(jnp.bfloat16), b.astype(jnp.bfloat16),
                       preferred_element_type=jnp.float32)

    [default], _ = both(lambda a, b: a @ b, a, b, precision=None)
    np.testing.assert_allclose(default, np.asarray(jax.jit(rounded)(a, b)), 1e-5, 1e-5)
    assert np.abs(default - a @ b).max() > 1e-3
    [highest], _ = both(lambda a, b: jnp.dot(a, b, precision="highest"), a, b, precision=None)
    np.testing.assert_allclose(highest, a @ b, 1e-5, 1e-5)


@pytest.mark.parametrize(("preset", "precision"), [
    ("BF16_BF16_F32", "default"), ("BF16_BF16_F32_X3", "high"), ("BF16_BF16_F32_X6", "highest"),
    ("F32_F32_F32", "highest")])
def test_dot_algorithms(preset, precision):
    graph = graph_of(lambda a, b: jnp.dot(a, b, precision=preset), normal(2, 3), normal(3, 2))
    [dot] = [node for node in graph.nodes if node.op == "dot"]
    assert dot.attrs["precision"] == precision


def test_mixed_precision():
    def loss(w, x):
        y = lax.dot(x.astype(jnp.bfloat16), w.astype(jnp.bfloat16),
                    preferred_element_type=jnp.float32)
        return (y * y).mean()

    agree(jax.value_and_grad(loss), normal(8, 3), normal(5, 8), rtol=2e-2, atol=1e-3)


@pytest.mark.parametrize("options", [
    {}, {"window_strides": (2, 1)}, {"padding": "VALID"},
    {"lhs_dilation": (2, 3), "padding": ((2, 1), (0, 2))},
    {"rhs_dilation": (2, 1)}, {"padding": ((1, 2), (-1, 3))}], ids=str)
def test_convolution(options):
    options = {"window_strides": (1, 1), "padding": "SAME"} | options
    layout = ("NHWC", "HWIO", "NHWC")

    def f(x, w):
        return lax.conv_general_dilated(x, w, dimension_numbers=layout, **options)

    x, w = normal(2, 7, 6, 3), normal(3, 2, 3, 4)
    agree(f, x, w, rtol=1e-5, atol=1e-5)
    agree(jax.grad(lambda x, w: (f(x, w) ** 2).sum(), (0, 1)), x, w, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("groups", [2, 4])
def test_grouped_convolution(groups):
    def f(x, w):
        return lax.conv_general_dilated(x, w, (2, 1), "SAME", feature_group_count=groups)

    x, w = normal(2, 4, 6, 5), normal(8, 4 // groups, 3, 3)
    agree(f, x, w, rtol=1e-5, atol=1e-5)
    agree(jax.grad(lambda x, w: (f(x, w) ** 2).sum(), (0, 1)), x, w, rtol=1e-4, atol=1e-4)


def test_convolution_of_other_ranks():
    agree(lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME"), normal(2, 3, 9),
          normal(4, 3, 3), rtol=1e-5, atol=1e-5)
    agree(lambda x, w: lax.conv_general_dilated(x, w, (1, 2, 1), "SAME"), normal(1, 2, 4, 5, 3),
          normal(3, 2, 2, 2, 2), rtol=1e-5, atol=1e-5)


def test_convolution_rounds_operands_as_asked():
    x, w = normal(1, 3, 8, 8), normal(4, 3, 3, 3)

    def f(x, w):
        return lax.conv_general_dilated(x, w, (1, 1), "SAME")

    [found], _ = both(f, x, w, precision=None)
    rounded = [np.asarray(each.astype(jnp.bfloat16), np.float32) for each in (x, w)]
    np.testing.assert_allclose(found, np.asarray(jax.jit(f)(*rounded)), 1e-4, 1e-5)


def test_reductions():
    x = normal(3, 4, 5)
    agree(lambda x: (x.sum(1), x.max((0, 2)), x.min(), x.prod(2), x.mean(0), x.var(-1),
                     jax.nn.softmax(x), jax.nn.logsumexp(x, 1), (x > 0).any(0), (x > 0).all(),
                     jnp.argmax(x, 1), jnp.argmin(x), x.astype(jnp.int32).sum(0),
                     (x > 0).sum(), jnp.zeros((0, 4)).sum(0)), x, rtol=1e-5)


def test_arg_reduce_of_nans_and_ties():
    x = np.array([[1, 3, 3, 2], [np.nan, 5, np.nan, 1], [-np.inf] * 4, [0.0, -0.0, 0, 0]],
                 np.float32)
    agree(lambda x: (jnp.argmax(x, 1), jnp.argmin(x, 1), jnp.argmax(x, 0)), x)
    i = np.array([[1, 3, 3, -5], [-2**31, -2**31, 2, 1]], np.int32)
    agree(lambda x: (jnp.argmax(x, 1), jnp.argmin(x, 1)), i)


def test_windows():
    x = normal(2, 6, 7, 3)
    agree(lambda x: (
        lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 3, 1), (1, 2, 1, 1), "SAME"),
        lax.reduce_window(x, 0.0, lax.add, (1, 3, 2, 1), (1, 1, 2, 1), "VALID"),
        lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 1, 1, 1), "VALID",
                          base_dilation=(1, 2, 1, 1), window_dilation=(1, 1, 3, 1)),
        jnp.cumsum(x, 1), jnp.cumprod(x, 2), lax.cummax(x, 1), lax.cumsum(x, 0, reverse=True)),
        x, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, jnp.bfloat16])
def test_sums_of_logarithms(dtype):
    x = (8 * normal(3, 7, 9)).astype(dtype)
    x[0, :2], x[1, 3:5], x[2, 2] = -np.inf, np.inf, np.nan
    least = jnp.asarray(-np.inf, dtype)
    rtol = 1e-5 if dtype is np.float32 else 2e-2
    agree(lambda x: (
        lax.cumlogsumexp(x, 1), lax.cumlogsumexp(x, 2, reverse=True),
        lax.reduce_window(x, least, jnp.logaddexp, (1, 3, 2), (1, 2, 1), "SAME")),
        x, rtol=rtol, atol=rtol)
    with np.errstate(invalid="ignore"):
        wide = np.logaddexp.reduce(np.asarray(x, np.float64), 1)
    graph = graph_of(lambda x: lax.reduce(x, least, jnp.logaddexp, (1,)), x)
    [found] = interpret(graph, [x])
    np.testing.assert_allclose(found.astype(np.float64), wide, rtol, rtol)


def test_reductions_by_bodies_without_a_name():
    x, i = normal(3, 7, 2), np.arange(42, dtype=np.int32).reshape(3, 7, 2) % 5

    def count_and_greatest(a, b):
        return a[0] + b[0], lax.select(a[1] >= b[1], a[1], b[1])

    # Not commutative: the first that is not 0, and what a chain of x -> a * x + b comes to.
    def first(a, b):
        return lax.select(a != 0, a, b)

    def chain(f, g):
        return f[0] * g[0], g[0] * f[1] + g[1]

    none = np.int32(0), jnp.float32(-np.inf)
    agree(lambda x, i: (
        lax.reduce((i, x), none, count_and_greatest, (1, 2)),
        lax.reduce((i, x), none, count_and_greatest, (0,)),
        lax.reduce((x, x, i), (*none[1:] * 2, none[0]), lambda a, b: (
            jnp.maximum(a[0], b[0]), jnp.maximum(a[1], b[1]), a[2] ^ b[2]), (1,)),
        lax.reduce(i, none[0], first, (1,)), lax.reduce(i[:0], none[0], first, (0,)),
        lax.reduce((i, i), (np.int32(1), np.int32(0)), chain, (0, 1)),
        lax.reduce_window((i, x), none, count_and_greatest, (1, 3, 2), (1, 2, 1), "SAME"),
        lax.reduce_window(i, none[0], first, (1, 5, 1), (1, 1, 1), [(0, 0), (4, 0), (0, 0)]),
        lax.reduce_window(i, none[0], first, (2, 3, 1), (1, 2, 1), "VALID",
                          base_dilation=(1, 2, 1), window_dilation=(1, 3, 1)),
        lax.reduce_window((i, i), (np.int32(1), np.int32(0)), chain, (1, 7, 1), (1, 1, 1),
                          [(0, 0), (6, 0), (0, 0)])), x, i)


def test_window_gradients():
    x = normal(2, 6, 6, 3)

    def pool(x, padding):
        return (lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), padding)
                ** 2).sum()

    agree(jax.grad(lambda x: pool(x, "VALID")), x, rtol=1e-5)
    agree(jax.grad(lambda x: pool(x, "SAME")), x, rtol=1e-5)
    # Of equal elements the first is taken.
    agree(jax.grad(lambda x: pool(x, "SAME")), np.ones_like(x))
    agree(jax.grad(lambda x: (jnp.cumsum(x) ** 2).sum()), normal(9), rtol=1e-4)


def test_gather():
    x, i = normal(5, 4, 3), np.array([[0, 4], [-1, 2], [7, -9]], np.int32)
    agree(lambda x, i: (x[i], x[:, i], jnp.take(x, i, 1, mode="clip"),
                        jnp.take(x, i, 0, mode="fill"), x[i, 1], x[i[:, 0], :, i[:, 1]]), x, i)
    agree(lambda x, i: jnp.take_along_axis(x, i, 1), normal(3, 4), i[:, :1] % 4)
    agree(lambda x, i: jax.vmap(lambda x, i: x[i])(x, i), normal(3, 6), i)


def test_scatter():
    x, i, u = normal(5, 3), np.array([4, 0, 4, 9, -1], np.int32), normal(5, 3)
    agree(lambda x, i, u: (x.at[i].add(u), x.at[i].multiply(u), x.at[i].min(u), x.at[i].max(u),
                           x.at[:, 1].set(u[:, 0]), x.at[i[:2]].set(u[:2]),
                           x.at[i].subtract(u), x.at[2].subtract(u[0])), x, i, u, rtol=1e-5)
    agree(lambda x, i: x.at[i].set(7), x, i)
    agree(lambda x, i: jax.grad(lambda x: (x[i] ** 2).sum())(x), x, i % 5, rtol=1e-5)
    agree(lambda x, i: jax.grad(lambda x: jnp.take_along_axis(x, i, 1).sum())(x), normal(5, 6),
          i[:, None] % 6)


def test_scatter_of_a_function():
    x, u = normal(5, 3), normal(2, 3)
    agree(lambda x: (x.at[2].apply(jnp.sin), x.at[1:3].apply(lambda v: v * 3 + 1),
                     x.at[9].apply(jnp.exp), x.at[np.array([0, 4])].apply(jnp.exp),
                     (x > 0).at[1].apply(jnp.logical_not)), x, rtol=1e-5)
    agree(lambda i: (i.at[2].apply(lambda v: v // 2 + 7), i.at[np.array([1, 3])].add(2)),
          INTEGERS)
    graph = graph_of(lambda x, u: x.at[np.array([3, 1])].multiply(u), x, u)
    [scatter] = [node for node in graph.nodes if node.op == "scatter"]
    assert scatter.attrs["unique"]
    # As often as an index is there.
    at = np.array([[1, 1], [3, 1], [9, -1]], np.int32)
    agree(lambda x, i: (x.at[i].apply(jnp.sin), x.at[:, i[0]].apply(lambda v: 2 - v),
                        x.at[i[:, 0], i[:, 1]].apply(jnp.exp)), x, at, rtol=1e-5)


def test_dynamic_slices():
    x, u = normal(6, 5), normal(2, 3)
    for start in (0, 3, 9, -2):
        at = np.int32(start)
        agree(lambda x, at: lax.dynamic_slice(x, (at, at), (2, 3)), x, at)
        agree(lambda x, u, at: lax.dynamic_update_slice(x, u, (at, at)), x, u, at)


def test_sort():
    x = np.concatenate([EDGES, normal(20), EDGES])
    y = RNG.integers(0, 3, x.size).astype(np.int32)
    agree(lambda x, y: (jnp.sort(x), jnp.argsort(x), lax.sort((y, x), num_keys=2), jnp.sort(y),
                        lax.sort((y, x), num_keys=1), jnp.argsort(y, descending=True),
                        jnp.sort(y.astype(jnp.uint8))), x, y)
    agree(lambda x: (jnp.sort(x, 0), jnp.median(x), jnp.argsort(x, 1)), normal(7, 6))


def test_top_k():
    composite = export.export(jax.jit(lambda x: lax.top_k(x, 3)))(normal(4, 9)).mlir_module()
    assert "top_k" in {node.op for node in import_stablehlo(composite).nodes}
    agree(lambda x: lax.top_k(x, 3), normal(4, 9))
    agree(lambda x: lax.top_k(x, 4), np.array([1, 5, 5, 2, 5, -1], np.int32))
    # XLA's order is total: -0 is below 0, a NaN with the sign bit below all others.
    agree(lambda x: lax.top_k(x, 8)[1],
          np.array([-0.0, 0, np.copysign(np.nan, -1), np.nan, -np.inf, np.inf, -1, 0], np.float32))


@pytest.mark.parametrize("dtype", [np.float32, jnp.bfloat16, np.float16])
def test_remainders_of_floats(dtype):
    with np.errstate(all="ignore"):
        x, y = (each.astype(dtype) for each in pairs(np.append(EDGES, [3e38, 12345.678])))
        wanted = np.fmod(x.astype(np.float32), y.astype(np.float32)).astype(dtype)
    graph = graph_of(lax.rem, x, y)
    assert "remainder" not in {node.op for node in graph.nodes}
    with celosia.jit(lax.rem, strict=True) as on_chip:
        for [found] in (interpret(graph, [x, y]), [on_chip(x, y)]):
            found, exact = (each.astype(np.float32) for each in (found, wanted))
            np.testing.assert_array_equal(found, exact)
            numbers = ~np.isnan(exact)
            np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(exact[numbers]))
    agree(lambda x: (lax.rem(x[0, 0], x[0, 1]), jnp.mod(x, 0.5), x[:0] % 2), normal(2, 3))


@pytest.mark.parametrize("dtype", [np.float32, jnp.bfloat16])
def test_approximate_top_k_misses_none(dtype):
    x = RNG.permutation(np.arange(-120, 120)).reshape(4, 20, 3).astype(dtype)
    agree(lambda x: (lax.approx_max_k(x, 2), lax.approx_min_k(x, 5, reduction_dimension=1),
                     lax.approx_max_k(x, 3, reduction_dimension=0, aggregate_to_topk=False)), x)


def test_case():
    def f(i, x):
        y = x * 2
        branches = [lambda x: x + y, lambda x: -x, lambda x: x * jnp.sum(y)]
        return lax.switch(i, branches, x), lax.cond(i > 0, lambda: y, lambda: x)

    for i in (-1, 0, 1, 2, 5):
        agree(f, np.int32(i), normal(3, 2))


def test_while():
    def f(x, w):
        scale = w.sum()

        def step(carry):
            i, x = carry
            return i + 1, jnp.tanh(x @ w) * scale + lax.fori_loop(
                0, i, lambda j, a: a + w[j % 3], jnp.zeros(3))

        return lax.while_loop(lambda carry: carry[0] < 4, step, (0, x))

    agree(f, normal(2, 3), normal(3, 3), rtol=1e-5, atol=1e-5)
    agree(lambda x, w: lax.scan(lambda c, a: (jnp.tanh(c @ w + a), c), x[0], x), normal(5, 4),
          normal(4, 4), rtol=1e-5)


def test_remat_keeps_its_barrier():
    def f(x):
        return jnp.sin(jnp.sin(x)).sum()

    x = normal(5)
    agree(jax.grad(jax.checkpoint(f)), x)
    assert "barrier" in {node.op for node in graph_of(jax.grad(jax.checkpoint(f)), x).nodes}


def test_sharding_on_one_device_is_nothing():
    mesh = jax.make_mesh((1,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec

    def f(x):
        return jax.shard_map(lambda x: lax.psum(x, "x") + lax.all_gather(x, "x").sum()
                             + lax.axis_index("x"), mesh=mesh, in_specs=spec("x"),
                             out_specs=spec("x"), check_vma=False)(x)

    x = normal(4)
    agree(f, x)
    assert {node.op for node in graph_of(f, x).nodes} >= {"add", "reduce"}
