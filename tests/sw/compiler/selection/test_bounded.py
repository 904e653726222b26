"""The default: functions keep the bounds of docs/numerics.md, with shorter forms too."""

import numpy as np
import pytest
from attacks import LARGEST, SMALLEST, SPECIAL, binades, flushed, ulps, units, with_special
from clusters import full_steps, run
from pages.accuracy import kernels as sweeps
from test_fast import Maker, logistic

import celosia
from celosia.arch.vector import Post
from celosia.compiler import canonical
from celosia.compiler.selection.bounded import Bounded
from celosia.compiler.selection.uses import Uses
from celosia.graph import op, ops

SPACE = (192, 64)
F64 = np.float64


def made(b, inputs, *outputs):
    """Return (code, results, proofs) of a graph."""
    graph = canonical(b.graph(*outputs))
    bounded = Bounded(Uses(graph))
    code, got, _ = run(graph, inputs, b.space, bounded=bounded)
    return code, got, list(bounded.proofs.values())


def divided(n, d):
    """Return n / d of fp32 as it would be without rounding, flushed."""
    with np.errstate(all="ignore"):
        return flushed(flushed(n.astype(F64)) / np.asarray(d, np.float32).astype(F64))


def check_quotient(got, n, d, most=1.0):
    """Assert that a quotient is within its bound; zeros have the sign of the quotient."""
    want = divided(n, d)
    assert ulps(got, want).max() <= most
    zero = want == 0
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]))


@pytest.mark.parametrize("name", [case.name for case in sweeps.LIBRARY])
def test_functions_keep_their_bounds(name):
    """Rules may not undo the care that a kernel takes."""
    case = next(case for case in sweeps.LIBRARY if case.name == name)
    space = (128, 32)
    rng = np.random.default_rng(1)
    for sample in case.samples:
        inputs = [array.reshape(space) for array in sample(rng, space[0] * space[1])]
        b = Maker(space)
        xs = [b.read() for _ in inputs]
        y = (logistic(b, xs[0]) if name == "logistic" else
             op({"div": "divide"}.get(name, name), *xs))
        _, [got], _ = made(b, inputs, y)
        with np.errstate(all="ignore"):
            want = case.exact(*(x.astype(F64).reshape(-1) for x in inputs))
        error = sweeps.errors(got.view(np.uint32).reshape(-1), np.asarray(want, F64))
        assert error.max() <= case.bound


# Softmax

@pytest.mark.parametrize("columns", [1, 2, 3, 16, 17, 100, 1000])
def test_softmax(columns):
    space = (62, columns)
    rng = np.random.default_rng(columns)
    x = (rng.uniform(-87, 0, space) * rng.choice([1, 0.1, 0.01], space)).astype(np.float32)
    x[:8] = rng.uniform(-1e-3, 1e-3, (8, columns))
    x[8:12] = rng.choice([-LARGEST, LARGEST, 0], (4, columns))
    x[12:15] = np.float32([[np.inf], [-np.inf], [np.nan]])
    x[15, 0], x[16, 0], x[17, -1] = np.inf, -np.inf, np.nan
    x[18:21, 1:] = np.float32([[0], [-87.3], [-86.9]])
    x[18:21, 0] = 0
    b = Maker(space)
    wide = b.read()
    e = op("exp", b("subtract", wide, b.wide(b.rows(wide, "maximum"))))
    total = b.rows(e)
    code, [got, sums], proofs = made(b, [x], b("divide", e, b.wide(total)), total)
    with np.errstate(all="ignore"):
        exact = flushed(np.exp((x - x.max(1, keepdims=True)).astype(F64)))
        want = flushed(exact / sums.astype(F64)[:, np.newaxis])
    # exp: 4, division: 1.
    assert ulps(got, want).max() <= 5
    bad = np.isnan(want).any(1)
    assert bad[12:16].all()
    assert bad[17]
    assert not bad[18:].any()
    assert not proofs
    assert any(step.post is Post.DIV for step in code.steps)


@pytest.mark.parametrize("shaped", [
    lambda top: top[np.newaxis, :], lambda top: top.reshape(1, 16)])
def test_what_is_less_than_the_largest_of_other_rows_may_be_large(shaped):
    import jax
    import jax.numpy as jnp


    def f(x, z):
        return jnp.exp(z) / jnp.exp(x - shaped(jnp.max(x, axis=1)))

    x = np.full((16, 16), 88, np.float32)
    x[0] = 0
    z = np.full((16, 16), 80, np.float32)
    # Divisors are beyond 2**126, whose reciprocal is 0.
    with celosia.jit(f, cache=False) as compiled:
        np.testing.assert_allclose(compiled(x, z), jax.jit(f)(x, z), 2e-6)


# Hyperbolic tangents

EDGES = np.float32([0, -0.0, 9, -9, np.inf, -np.inf, np.nan, 1e-3, -1e-3, 0.5, -0.5, 9.01, -9.01,
                    LARGEST, -LARGEST, SMALLEST, -SMALLEST, 0.346, -0.346, 1e-8])


def angles():
    x = binades(SPACE, 1)
    x[:64] = np.random.default_rng(0).uniform(-10, 10, (64, 64))
    x[64:128] = np.random.default_rng(2).uniform(-1, 1, (64, 64))
    x[0, :len(EDGES)] = EDGES
    return x


@pytest.mark.parametrize("number", [0.5, -0.5, 0.75, 1.0, -1.0, 100.0])
@pytest.mark.parametrize("form", ["t + c", "t - c", "c - t"])
def test_sums_of_tanh(form, number):
    """As far off as 4 ULP of 1, the largest tanh, and a rounding allow."""
    x = angles()
    tanh = np.tanh(x.astype(F64))
    b = Maker(SPACE)
    t = op("tanh", b.read())
    y, want = {"t + c": (b("add", t, number), tanh + number),
               "t - c": (b("subtract", t, number), tanh - number),
               "c - t": (b("subtract", number, t), number - tanh)}[form]
    code, [got], proofs = made(b, [x], y)
    assert full_steps(code) == 3
    [proof] = proofs
    assert f"only sums with constants from {abs(number):g} on use it" in proof
    known = ~np.isnan(x)
    np.testing.assert_array_equal(np.isnan(got), ~known)
    assert (np.abs(got - want) <= 2.0**-22 + units(want) / 2)[known].all()


@pytest.mark.parametrize("name", ["add", "subtract"])
def test_multiples_of_tanh_in_sums(name):
    """x * t + x is off by 4 ULP of x and two roundings."""
    x = angles()
    wide = x.astype(F64)
    b = Maker(SPACE)
    read = b.read()
    y = b(name, b("multiply", read, op("tanh", read)), read)
    code, [got], proofs = made(b, [x], y)
    assert full_steps(code) == 5
    assert len(proofs) == 1
    with np.errstate(all="ignore"):
        part = wide * np.tanh(wide)
        want = part + (wide if name == "add" else -wide)
        most = np.abs(wide) * 2.0**-22 + units(part) / 2 + units(want) / 2 + SMALLEST
        good = np.isfinite(want) & (np.abs(want) < LARGEST)
        assert (np.abs(got - want) <= most)[good].all()
    # inf * 1 - inf is no number.
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))


@pytest.mark.parametrize("other", ["result", "multiply", "maximum", "row", "small"])
def test_tanh_of_another_use_is_long(other):
    x = angles()
    b = Maker(SPACE)
    read = b.read()
    t = op("tanh", read)
    more = {"result": lambda: t, "multiply": lambda: b("multiply", t, read),
            "maximum": lambda: b("maximum", t, 0.25), "small": lambda: b("add", t, 0.4375),
            "row": lambda: b("add", t, b.wide(b.rows(t, "maximum")))}[other]()
    code, [_, got], proofs = made(b, [x], b("add", t, 1.0), more)
    assert proofs == []
    assert full_steps(code) >= 11
    if other == "result":
        assert ulps(got, np.tanh(x.astype(F64))).max() <= 4


def test_every_result_of_a_barrier_is_a_use():
    """What one of them is must be known of all."""
    x = angles()
    b = Maker(SPACE)
    t = op("tanh", b.read())
    first, other = ops("barrier", t, t)
    _, [_, got], proofs = made(b, [x], b("add", first, 1.0), other)
    assert proofs == []
    assert ulps(got, np.tanh(x.astype(F64))).max() <= 4


# Sums of sums and products

SEVEN, THREE, TENTH, LITTLE = (float(np.float32(each)) for each in (0.7, 0.3, 0.1, 1e-8))


@pytest.mark.parametrize("make", [
    lambda x: (x - 3) * TENTH, lambda x: (x - SEVEN) * THREE, lambda x: (x + 1) * 0.5 + LITTLE,
    lambda x: 1 - 2 * x + LITTLE, lambda x: (2 * x - 1) * THREE + TENTH])
def test_what_cancels_keeps_its_digits(make):
    """Constants are joined where that is exact: a sum near 0 shows what they lost."""
    roots = np.float32([3, 0.7, -1, 0.5, 0.33333334])
    x = np.concatenate([np.nextafter(roots, np.float32(9)), roots, np.nextafter(roots, -roots)])
    with celosia.jit(make, cache=False) as compiled:
        got = compiled(x)
    with np.errstate(all="ignore"):
        each = np.array([make(number) for number in x])
    exact = np.array([make(F64(number)) for number in x])
    most = np.maximum(np.abs(each - exact), 2.0**-22 * np.abs(exact))
    assert (np.abs(got - exact) <= most).all()


def test_products_are_not_made_before_their_factors():
    """g * p * q + g is not g * (p * q + 1), which overflows earlier."""
    with celosia.jit(lambda g, p: g * p * p + g, cache=False) as compiled:
        g, p = np.float32([1e-30, -0.0, np.inf]), np.float32([1e25, 1e20, 0])
        np.testing.assert_allclose(compiled(g, p), [1e20, 0, np.nan], 1e-6)


def test_a_largest_element_of_other_shapes():
    """Its place cannot be told."""
    import jax
    import jax.numpy as jnp


    def f(x):
        m = jnp.broadcast_to(x.max(-1).reshape(6)[:, None], (6, 16)).reshape(2, 3, 16)
        e = jnp.exp(x - m)
        return e / e.sum(-1, keepdims=True)
    x = np.random.default_rng(0).normal(size=(2, 3, 16)).astype(np.float32)
    with celosia.jit(f, cache=False) as compiled:
        np.testing.assert_allclose(compiled(x), jax.nn.softmax(x), 1e-6)


# Steps of optimisers: c - s * a / (sqrt(v) + eps)

EPS = 1e-8


def step(c, s, a, v, eps=EPS):
    """Return what is made of fp32, what it should be, and how far off it may be."""
    b = Maker(SPACE)
    wide, rows, squares, rate = b.read(), b.read(), b.read(), b.read(())
    d = b("add", op("sqrt", squares), eps)
    y = b("subtract", wide, b("divide", b("multiply", rate, rows), d))
    code, [got], proofs = made(b, [c, a, v, np.float32(s)], y)
    assert full_steps(code) == 3
    [proof] = proofs
    assert "a sum takes that product in" in proof
    with np.errstate(all="ignore"):
        root = np.sqrt(v.astype(F64)) + F64(np.float32(eps))
        product = F64(np.float32(s)) * a.astype(F64)
        # As the graph has it, where that is special.
        product = np.where(np.abs(product) >= 2.0**128, np.copysign(np.inf, product), product)
        quotient = product / root
        want = c.astype(F64) - quotient
        # Product and sum of the root round, the root and the division are off by an ULP, and the
        # difference rounds.
        most = 3 * 2.0**-23 * np.abs(quotient) + units(want) / 2 + SMALLEST
    return got, want, most


def check_step(*arguments):
    got, want, most = step(*arguments)
    good = np.isfinite(want) & (np.abs(want) < LARGEST)
    with np.errstate(all="ignore"):
        assert (np.abs(got - want) <= most)[good].all()
        far = np.abs(want) >= 2.0**128
        np.testing.assert_array_equal(got[far], np.copysign(np.inf, want)[far])


def ordinary():
    rng = np.random.default_rng(5)
    c, a, v = (rng.normal(size=SPACE).astype(np.float32) for _ in range(3))
    return c, a, v * v


@pytest.mark.parametrize("eps", [EPS, 1e-3, 1.0])
def test_steps_of_ordinary_numbers(eps):
    c, a, v = ordinary()
    check_step(c, 1e-3, a, v, eps)
    check_step(c * np.float32(1e-8), -1e-3, a, v * np.float32(1e-12), eps)


@pytest.mark.parametrize("s", [0.0, 1e-3, 1.0])
def test_steps_of_special_numbers(s):
    v = np.float32([0, np.inf, LARGEST, SMALLEST, 1e-16, 1, 1e30, 1e-30])
    a = np.float32([0, -0.0, 1, SMALLEST, 1e-20, 1e20])
    c = np.float32([0, -0.0, 1.5, -1e-20, 1e20, LARGEST])
    v, a, c = (np.resize(x, SPACE) for x in np.meshgrid(v, a, c))
    check_step(c, s, a, v)


@pytest.mark.parametrize(("s", "a", "v", "found"), [
    (0.0, LARGEST, 0.0, np.nan), (1e-30, LARGEST, 0.0, -np.inf),
    (1e-3, 2.7589681e32, 1.8174361e-32, -np.inf), (1e30, 1e-20, LARGEST, 0.0)])
def test_a_rate_comes_last(s, a, v, found):
    """As docs/numerics.md says: a / d overflows, or is flushed, before the rate is seen."""
    got, _, _ = step(np.zeros(SPACE, np.float32), s,
                     *(np.full(SPACE, x, np.float32) for x in (a, v)))
    np.testing.assert_array_equal(got, found)


def test_steps_of_all_binades_where_the_divisor_is_at_least_1():
    check_step(binades(SPACE, 1), 1e-3, binades(SPACE, 2), np.abs(binades(SPACE, 3)), 1.0)


def test_no_step_where_the_root_is_infinite():
    c, a, v = ordinary()
    got, _, _ = step(c, 1e-3, a, np.full_like(v, np.inf))
    np.testing.assert_array_equal(got, c)


def test_the_inverse_of_a_root():
    x = with_special(np.abs(binades(SPACE, 3)))
    b = Maker(SPACE)
    _, [got], _ = made(b, [x], b("divide", 1.0, b("add", op("sqrt", b.read()), EPS)))
    with np.errstate(all="ignore"):
        want = flushed(1 / (np.sqrt(x.astype(F64)) + F64(np.float32(EPS))))
    # Root 1, sum 0.5, division 1, each relative to a result of another mantissa.
    assert ulps(got, want).max() <= 2 * (1 + 0.5) + 1
    assert got[x == np.inf].tolist() == [0.0]


# Quotients

NUMERATORS = with_special(binades(SPACE))
CONSTANTS = [3.0, -3.0, 7.0, 0.1, 1e-30, 1e30, 2.0**126, 2.0**-126, 3e38, 49.0, 10.0, 255.0, 1000.0,
             2.0**125 * 1.5, 2.0**126 * 1.01, 1 + 2.0**-23, 3e-38]


@pytest.mark.parametrize("number", CONSTANTS)
def test_division_by_constants(number):
    number = float(np.float32(number))
    b = Maker(SPACE)
    _, [got], _ = made(b, [NUMERATORS], b("divide", b.read(), number))
    want = divided(NUMERATORS, number)
    assert ulps(got, want).max() <= 1


@pytest.mark.parametrize("number", CONSTANTS)
def test_small_quotients_by_constants(number):
    number = float(np.float32(number))
    b = Maker(SPACE)
    n = with_special((binades(SPACE, 2, -23, 1) * 2.0**-100 * abs(number)).astype(np.float32))
    _, [got], _ = made(b, [n], b("divide", b.read(), number))
    check_quotient(got, n, number)


DIVISORS = np.float32([*SPECIAL, 3.3e38, 2.0**120, 2.0**91, 2.0**90, 2.0**89, 1e-30, -1e30, -7.0])


def quotients(extent):
    """Return all pairs of special numbers, and others, as numerators and divisors."""
    n = np.resize(np.concatenate([SPECIAL, binades((72,), 3)]), 96)
    d = np.concatenate([DIVISORS, binades((32,), 4)])
    if extent == "row":
        return np.repeat(n[:, np.newaxis], len(d), 1), d
    return np.repeat(n[np.newaxis], len(d), 0), d


def check_less(extent, check):
    """Divide by a row, a column, or scalars."""
    n, d = quotients(extent)
    if extent == "scalar":
        n = n[:2]
        b = Maker(n.shape)
        y = b("divide", b.read(), b.read(()))
        for number in d[::2]:
            check(made(b, [n, number], y)[1][0], n, number)
        return
    b = Maker(n.shape)
    y = b("divide", b.read(), b.read(d.shape))
    _, [got], _ = made(b, [n, d], y)
    check(got, n, d if extent == "row" else d[:, np.newaxis])


@pytest.mark.parametrize("extent", ["scalar", "column", "row"])
def test_division_by_what_has_fewer_elements(extent):
    def check(got, n, d):
        assert ulps(got, divided(n, d)).max() <= 1

    check_less(extent, check)


@pytest.mark.parametrize("extent", ["scalar", "column", "row"])
def test_zeros_over_what_has_fewer_elements_have_their_sign(extent):
    def check(got, n, d):
        zero = divided(n, d) == 0
        np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(divided(n, d)[zero]))

    check_less(extent, check)


@pytest.mark.parametrize("divisor", [-6.6293246163695585e-06, 5.842535055503858e+26, 7.0])
def test_small_quotients_by_a_scalar(divisor):
    divisor = np.float32(divisor)
    b = Maker(SPACE)
    n = (binades(SPACE, 2, -23, 1) * 2.0**-100 * abs(F64(divisor))).astype(np.float32)
    _, [got], _ = made(b, [n, divisor], b("divide", b.read(), b.read(())))
    assert ulps(got, divided(n, divisor)).max() <= 1


@pytest.mark.parametrize("extent", ["all", "scalar", "column", "row"])
@pytest.mark.parametrize("below", ["read", "sum", "sum of two", "root"])
def test_a_quotient_is_a_second_stage(extent, below):
    """Of what makes its divisor, where that leaves c free and no third stream is read."""
    shape = {"all": SPACE, "scalar": (), "column": SPACE[:1], "row": SPACE[1:]}[extent]
    b = Maker(SPACE)
    n, x = b.read(), b.read(shape)
    inputs = [binades(SPACE, 1), np.ones(shape, np.float32)]
    d, steps = x, 1
    if below == "sum":
        d = b("add", x, 1.5)
    elif below == "root":
        d, steps = op("sqrt", x), 1 + (extent == "all")
    elif below == "sum of two":
        d, steps = b("add", b.read(), x), 1 + (extent in ("all", "column"))
        inputs.append(binades(SPACE, 3))
    code, _, _ = made(b, inputs, b("divide", n, d))
    assert full_steps(code) == steps
    assert code.steps[-1].post is Post.DIV


def test_division_of_all_by_all():
    n, d = binades(SPACE, 8), binades(SPACE, 9)
    n[:len(SPECIAL), :len(SPECIAL)] = SPECIAL[:, np.newaxis]
    d[:len(SPECIAL), :len(SPECIAL)] = SPECIAL
    b = Maker(SPACE)
    _, [got], _ = made(b, [n, d], b("divide", b.read(), b.read()))
    check_quotient(got, n, d)


def test_division_as_jax_has_it():
    a, b = np.float32([3e38, 1e38, np.inf]), np.float32([2e38, 1e38, 3e38])
    with celosia.jit(lambda a, b: a / b, cache=False) as divide:
        assert divide(a, b).tolist() == [1.5, 1.0, np.inf]


@pytest.mark.parametrize("exponent", [*range(-8, 0), *range(1, 9)])
def test_powers(exponent):
    x = with_special(binades(SPACE))
    x[:128] = np.random.default_rng(1).uniform(1, 2, (128, 64))
    b = Maker(SPACE)
    _, [got], _ = made(b, [x], b("power", b.read(), float(exponent)))
    with np.errstate(all="ignore"):
        want = flushed(x.astype(F64)**exponent)
    assert ulps(got, want).max() <= 8
    zero = want == 0
    np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(want[zero]))
