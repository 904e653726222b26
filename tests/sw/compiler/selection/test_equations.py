"""What rules make of a term: exactly this; None where they leave it."""

import math

import pytest

from celosia.arch.vector import VectorOp as Op
from celosia.compiler.kernels.terms import Extent, recording, step
from celosia.compiler.selection.always import ALWAYS, is_mask
from celosia.compiler.selection.notation import (
    both,
    clamp_f,
    clamp_i,
    complement,
    div,
    either,
    fma,
    fmulc,
    imax,
    imin,
    maximum,
    minimum,
    recip,
    relu_f,
    relu_i,
    select,
    square,
    total,
)
from celosia.compiler.selection.pool import Pool, uses_of
from celosia.compiler.selection.products import (
    factors_of,
    opposite,
    product,
    scaled_product,
    taken_in,
)
from celosia.compiler.selection.rules import FAST_RULES, FUSE, MERGED
from celosia.compiler.selection.sums import collected, common

INF, NAN = math.inf, math.nan
#: What terms are made of: x, y, z have all elements, r one a row, s and t one a lane, u is single.
EXTENTS = {"x": Extent.FULL, "y": Extent.FULL, "z": Extent.FULL, "r": Extent.ROWS,
           "s": Extent.LANES, "t": Extent.LANES, "u": Extent.SCALAR}


class Known:
    """The operands by name, in a pool."""

    def __init__(self, panels=1):
        self.pool = Pool(panels)
        for name, extent in EXTENTS.items():
            setattr(self, name, self.pool.read(name, extent))


def check(rule, before, after, panels=1, again=None):
    """Assert what a rule makes of ``before``, of which ``again`` is used once more."""
    known = Known(panels)
    with recording(known.pool):
        term = before(known)
        rest = [] if again is None else [again(known)]
        found = rule(known.pool, term, uses_of([term, *rest]))
        wanted = after and after(known)
    assert found is wanted


ORDERED = [
    # Nothing to do, or nothing that may be done.
    (lambda k: k.x * k.y, None), (lambda k: k.x * 2.0, None), (lambda k: k.x * 1e-39, None),
    (lambda k: (k.x * 2.0**100) * 2.0**100, None), (lambda k: (k.x * 2.0**-70) * 2.0**-60, None),
    (lambda k: (k.x * INF) * 2.0, None),
    # Numbers are one number.
    (lambda k: (k.x * 2.0) * 4.0, lambda k: k.x * 8.0),
    (lambda k: (k.x * 2.0) * 0.5, lambda k: k.x),
    (lambda k: (k.x * 2.0) * -0.5, lambda k: -k.x),
    (lambda k: (k.x * -2.0) * 0.5, lambda k: -k.x),
    (lambda k: (k.x * 2.0) * (k.y * 4.0), lambda k: (k.x * k.y) * 8.0),
    (lambda k: -k.x * k.y, lambda k: -(k.x * k.y)),
    (lambda k: -k.x * (k.y * 2.0), lambda k: (k.x * k.y) * -2.0),
    (lambda k: (k.x * 2.0**100) * 2.0**-100, lambda k: k.x),
    # What is less comes last, what is one element a row before it.
    (lambda k: (k.x * k.u) * k.y, lambda k: (k.x * k.y) * k.u),
    (lambda k: (k.x * k.s) * k.y, lambda k: (k.x * k.y) * k.s),
    (lambda k: (k.x * k.s) * (k.y * k.t), lambda k: (k.x * k.y) * (k.s * k.t)),
    (lambda k: (k.x * k.s) * k.u, lambda k: k.x * (k.s * k.u)),
    (lambda k: (k.x * k.u) * 2.0, lambda k: k.x * (k.u * 2.0)),
    (lambda k: (k.x * k.s) * 2.0, lambda k: k.x * (k.s * 2.0)),
    (lambda k: (k.x * k.s) * -1.0, lambda k: -(k.x * k.s)),
    (lambda k: (k.x * k.r) * k.y, lambda k: (k.x * k.y) * k.r),
    (lambda k: (k.r * k.s) * k.u, lambda k: k.r * (k.s * k.u)),
    # Equal factors are squares.
    (lambda k: (k.x * k.y) * k.x, lambda k: k.y * square(k.x)),
    (lambda k: (k.x * k.y) * (k.x * k.y), lambda k: square(k.x * k.y)),
    (lambda k: (k.x * k.y) * (k.y * (k.x * 2.0)), lambda k: square(k.x * k.y) * 2.0),
    (lambda k: (k.x * k.z) * ((k.x * k.x) * k.y), lambda k: square(k.x) * (k.x * k.z * k.y)),
    (lambda k: (k.s * k.x) * k.s, lambda k: k.x * square(k.s)),
]


@pytest.mark.parametrize("number", range(len(ORDERED)))
def test_the_order_of_factors(number):
    check(product, *ORDERED[number])


@pytest.mark.parametrize("panels", [1, 2])
def test_a_number_goes_to_what_is_one_element_a_row_where_that_is_less_work(panels):
    check(product, lambda k: (k.x * k.u) * k.r, panels=panels, after=(
        (lambda k: (k.x * k.r) * k.u) if panels == 1 else lambda k: k.x * (k.r * k.u)))
    check(product, lambda k: (k.x * k.u) * recip(k.r), lambda k: k.x * (recip(k.r) * k.u),
          panels=panels)
    check(product, lambda k: (k.x * k.s) * k.r, lambda k: (k.x * k.r) * k.s, panels=panels)


def test_an_inverse_that_is_used_again_takes_no_number():
    check(product, lambda k: (k.x * k.u) * recip(k.r), lambda k: (k.x * recip(k.r)) * k.u,
          again=lambda k: recip(k.r))


@pytest.mark.parametrize(("before", "names", "number"), [
    (lambda k: k.x * k.y, "xy", 1), (lambda k: k.x * 3.0, "x", 3), (lambda k: -k.x * k.y, "xy", -1),
    (lambda k: (k.x * 3.0) * (-k.y * 2.0), "xy", -6),
    (lambda k: (k.x * (k.y * k.s)) * k.z, "xysz", 1), (lambda k: k.x * INF, "", None),
    (lambda k: k.x * NAN, "", None), (lambda k: k.x * 0.0, "", None),
    (lambda k: (k.x * 2.0**127) * 2.0, "x", None), (lambda k: (k.x * 2.0**-126) * 0.5, "x", None),
    (lambda k: (k.x * 2.0**-126) * 2.0**127, "x", 2)])
def test_the_factors_of_a_product(before, names, number):
    known = Known()
    with recording(known.pool):
        term = before(known)
    factors, found = factors_of(term, uses_of([term]))
    assert sorted(each.source for each in factors) == sorted(names)
    assert found == number


def test_products_that_are_used_again_are_factors_themselves():
    check(product, lambda k: (k.x * 2.0) * (k.y * 4.0), lambda k: ((k.x * 2.0) * k.y) * 4.0,
          again=lambda k: k.x * 2.0)
    # But one less than a stream, with a number in it, is computed again.
    check(product, lambda k: (k.u * 2.0) * (k.y * 4.0), lambda k: k.y * (k.u * 8.0),
          again=lambda k: k.u * 2.0)
    check(product, lambda k: (k.u * k.s) * (k.y * 4.0), lambda k: k.y * ((k.u * k.s) * 4.0),
          again=lambda k: k.u * k.s)


TAKEN_IN = [
    (lambda k: (k.x + 3.0) * 0.5, lambda k: fma(k.x, 0.5, 1.5)),
    (lambda k: (k.x + 3.0) * -0.5, lambda k: fma(k.x, -0.5, -1.5)),
    (lambda k: (k.x + 3.0) * 2.0**-10, lambda k: fma(k.x, 2.0**-10, 3 * 2.0**-10)),
    (lambda k: (k.x + 3.0) * 1.0, lambda k: fma(k.x, 1.0, 3.0)),
    (lambda k: (3.0 - k.x) * 0.5, lambda k: fma(k.x, -0.5, 1.5)),
    (lambda k: fma(k.x, 6.0, 3.0) * 0.5, lambda k: fma(k.x, 3.0, 1.5)),
    (lambda k: ((k.x + 3.0) * k.y) * 0.5, lambda k: fma(k.x, 0.5, 1.5) * k.y),
    (lambda k: (k.y * (k.s * (k.x + 3.0))) * 0.5, lambda k: (fma(k.x, 0.5, 1.5) * k.s) * k.y),
    (lambda k: (k.x + 3.0) * 2.0**-11, None), (lambda k: (k.x + 3.0) * 2.0, None),
    (lambda k: (k.x + 3.0) * 0.75, None), (lambda k: (k.x + k.s) * 0.5, None),
    (lambda k: (k.x - 3.0) * 0.5, None), (lambda k: (k.s - k.x) * 0.5, None),
    (lambda k: fma(k.x, k.s, 3.0) * 0.5, None), (lambda k: fma(k.x, 6.0, k.s) * 0.5, None),
    (lambda k: (k.x + 3.0) * k.s, None), (lambda k: square(k.x) * 0.5, None),
    (lambda k: (k.x * k.y) * 0.5, None), (lambda k: k.x * 0.5, None)]


@pytest.mark.parametrize("number", range(len(TAKEN_IN)))
def test_a_power_of_two_is_taken_in(number):
    check(taken_in, *TAKEN_IN[number])


def test_it_is_not_taken_into_functions_nor_into_what_is_used_again():
    known = Known()
    with recording(known.pool):
        inner = known.x + 3.0
        term = inner * 0.5
        assert taken_in(known.pool, term, uses_of([term, inner])) is None
        known.pool.fixed.add(inner)
        assert taken_in(known.pool, term, uses_of([term])) is None


SCALED = [
    (lambda k: (k.x + k.s) * k.t, lambda k: fma(k.x, k.t, k.s * k.t)),
    (lambda k: (k.x + 2.0) * 3.0, lambda k: fma(k.x, 3.0, 6.0)),
    (lambda k: (2.0 - k.x) * k.t, lambda k: fma(k.x, -k.t, k.t * 2.0)),
    (lambda k: (k.x - 2.0) * k.t, None), (lambda k: (k.s - k.x) * k.t, None),
    (lambda k: fma(k.x, k.s, k.u) * k.t, lambda k: fma(k.x, k.s * k.t, k.u * k.t)),
    (lambda k: fma(k.x, k.y, k.u) * k.t, None), (lambda k: fma(k.x, k.s, k.y) * k.t, None),
    (lambda k: fma(k.x + k.s, k.y, k.u) * k.t,
     lambda k: fma(k.y, fma(k.x, k.t, k.s * k.t), k.u * k.t)),
    (lambda k: fma(k.y, k.x + k.s, k.u) * k.t,
     lambda k: fma(k.y, fma(k.x, k.t, k.s * k.t), k.u * k.t)),
    (lambda k: ((k.x + k.s) * k.y) * k.t, lambda k: k.y * fma(k.x, k.t, k.s * k.t)),
    (lambda k: fma(k.x * k.y, k.s, k.x) * k.t, lambda k: k.x * fma(k.y, k.s * k.t, k.t)),
    (lambda k: fma(k.x * k.x, k.s, k.x) * k.t, lambda k: k.x * fma(k.x, k.s * k.t, k.t)),
    (lambda k: fma(k.x * k.y, k.s, k.z) * k.t, None),
    (lambda k: fma(k.x * k.y, k.z, k.x) * k.t, None),
    (lambda k: (k.x * k.s + k.y) * k.t, lambda k: (k.x * k.s) * k.t + k.y * k.t),
    (lambda k: (k.x + k.y) * k.t, None), (lambda k: (k.x * k.z + k.y) * k.t, None),
    (lambda k: (k.y - k.x * k.s) * k.t, lambda k: k.y * k.t - (k.x * k.s) * k.t),
    (lambda k: (k.x * k.s - k.y) * k.t, lambda k: (k.x * k.s) * k.t - k.y * k.t),
    (lambda k: (k.x * k.s - k.y) * 1.0, lambda k: (k.x * k.s) * 1.0 - k.y * 1.0),
    (lambda k: (k.x * k.s - k.y) * 1.5, None), (lambda k: (k.x * k.s - k.y) * -1.5, None),
    (lambda k: (k.x * k.s + k.y) * 1.5, lambda k: (k.x * k.s) * 1.5 + k.y * 1.5),
    (lambda k: (k.x * k.s - k.r) * k.t, None),
    (lambda k: (k.x * k.s + k.r) * k.t, lambda k: (k.x * k.s) * k.t + k.r * k.t),
    (lambda k: (k.x * k.s + k.u) * k.t, lambda k: fma(k.x * k.s, k.t, k.u * k.t)),
    (lambda k: (k.x + k.s) * k.y, None), (lambda k: (k.s + 1.0) * k.t, None),
    (lambda k: k.x * k.t, None)]


@pytest.mark.parametrize("number", range(len(SCALED)))
def test_sums_are_multiplied_term_by_term(number):
    check(scaled_product, *SCALED[number])


MINUS = [
    (lambda k: -((k.x + k.s) * k.y), lambda k: k.y * fma(k.x, -1.0, k.s * -1.0)),
    (lambda k: -(k.y * (2.0 - k.x)), lambda k: k.y * fma(k.x, 1.0, -2.0)),
    (lambda k: -(k.y * fma(k.x, k.s, k.u)), lambda k: k.y * fma(k.x, k.s * -1.0, k.u * -1.0)),
    (lambda k: -(k.x * k.y), None), (lambda k: -(k.x + k.s), None), (lambda k: -k.x, None)]


@pytest.mark.parametrize("number", range(len(MINUS)))
def test_minus_goes_into_a_factor(number):
    check(opposite, *MINUS[number])


COMMON = [
    (lambda k: k.x * k.y + k.x, lambda k: k.x * (k.y * 1.0 + 1.0)),
    (lambda k: k.x * k.y - k.x, lambda k: k.x * (k.y * 1.0 + -1.0)),
    (lambda k: k.x - k.x * k.y, lambda k: k.x * (k.y * -1.0 + 1.0)),
    (lambda k: (k.x * k.y) * 3.0 + k.x, lambda k: k.x * (k.y * 3.0 + 1.0)),
    (lambda k: k.x * 3.0 + k.y * k.x, lambda k: k.x * (k.y * 1.0 + 3.0)),
    (lambda k: k.x * 3.0 - k.y * (k.x * 2.0), lambda k: k.x * (k.y * -2.0 + 3.0)),
    (lambda k: (k.x * k.y) * k.z + k.x * k.y, lambda k: (k.x * k.y) * (k.z * 1.0 + 1.0)),
    (lambda k: (k.x * k.y) * k.s + k.x, lambda k: k.x * ((k.y * k.s) * 1.0 + 1.0)),
    (lambda k: k.x * k.y + k.x * k.z, None), (lambda k: k.x * k.s + k.x, None),
    (lambda k: k.s * k.x + k.s, None), (lambda k: k.x * k.y + k.z, None),
    (lambda k: k.x * 2.0 + k.x * 3.0, None), (lambda k: k.x * INF + k.x, None),
    # Two of three summands.
    (lambda k: (k.z + k.x) + k.x * k.y, lambda k: k.z + (k.x + k.x * k.y)),
    (lambda k: k.x * k.y + (k.x + k.z), lambda k: k.z + (k.x + k.x * k.y)),
    (lambda k: (k.z + k.x * k.y) + (k.x * k.y) * k.s,
     lambda k: k.z + (k.x * k.y + (k.x * k.y) * k.s)),
    (lambda k: (k.z + k.x) + k.y * k.s, None), (lambda k: (k.z + k.x) - k.x * k.y, None)]


@pytest.mark.parametrize("number", range(len(COMMON)))
def test_common_factors(number):
    check(common, *COMMON[number])


COLLECTED = [
    (lambda k: (k.x + k.s) + k.t, lambda k: k.x + (k.s + k.t)),
    (lambda k: k.t + (k.s + k.x), lambda k: k.x + (k.s + k.t)),
    (lambda k: (k.x + k.r) + k.u, lambda k: k.x + (k.r + k.u)),
    (lambda k: ((k.x + k.s) + k.y) + k.t, lambda k: (k.y + k.x) + (k.s + k.t)),
    (lambda k: (k.x + 2.0) + k.t, None), (lambda k: (k.x + k.s) + 2.0, None),
    (lambda k: (k.x + k.y) + k.t, None), (lambda k: (k.x + k.s) + k.y, None),
    (lambda k: (k.x - k.s) + k.t, None), (lambda k: k.x + k.t, None)]


@pytest.mark.parametrize("number", range(len(COLLECTED)))
def test_what_is_less_is_added_together(number):
    check(collected, *COLLECTED[number])


AGAIN = [
    (scaled_product, lambda k: (k.x + k.s) * k.t, lambda k: k.x + k.s),
    (scaled_product, lambda k: (k.x * k.s + k.y) * k.t, lambda k: k.x * k.s),
    (scaled_product, lambda k: fma(k.x + k.s, k.y, k.u) * k.t, lambda k: k.x + k.s),
    (scaled_product, lambda k: ((k.x + k.s) * k.y) * k.t, lambda k: k.x + k.s),
    (scaled_product, lambda k: fma(k.x * k.y, k.s, k.x) * k.t, lambda k: k.x * k.y),
    (opposite, lambda k: -((k.x + k.s) * k.y), lambda k: k.x + k.s),
    (opposite, lambda k: -((k.x + k.s) * k.y), lambda k: (k.x + k.s) * k.y),
    (common, lambda k: k.x * k.y + k.x, lambda k: k.x * k.y),
    (common, lambda k: (k.z + k.x) + k.x * k.y, lambda k: k.z + k.x),
    (collected, lambda k: (k.x + k.s) + k.t, lambda k: k.x + k.s),
    (collected, lambda k: ((k.x + k.s) + k.y) + k.t, lambda k: k.x + k.s)]


@pytest.mark.parametrize("number", range(len(AGAIN)))
def test_what_is_used_again_is_not_taken_apart(number):
    rule, before, again = AGAIN[number]
    check(rule, before, None, again=again)


@pytest.mark.parametrize(("make", "mask"), [
    (lambda k: step(Op.FLT, k.x, k.y), True), (lambda k: step(Op.ISFINITE, k.x), True),
    (lambda k: step(Op.FNE, k.x, k.y), True), (lambda k: step(Op.ILE, k.x, k.y), True),
    (lambda k: both(step(Op.FGT, k.x, k.y), step(Op.FGE, k.x, k.y)), True),
    (lambda k: either(step(Op.FLE, k.x, k.y), step(Op.FEQ, k.x, k.y)), True),
    (lambda k: step(Op.XOR, step(Op.IEQ, k.x, k.y), step(Op.IGT, k.x, k.y)), True),
    (lambda k: complement(step(Op.INE, k.x, k.y)), True),
    (lambda k: both(step(Op.FGT, k.x, k.y), k.x + k.y), False), (lambda k: k.x + k.y, False),
    (lambda k: relu_i(step(Op.FLT, k.x, k.y)), False), (lambda k: k.pool.word(0), False),
    (lambda k: select(step(Op.FLT, k.x, k.y), k.x, k.y), False)])
def test_masks_that_are_plain_to_see(make, mask):
    known = Known()
    with recording(known.pool):
        assert is_mask(make(known)) == mask


def test_masks_are_looked_for_in_eight_operations():
    known = Known()
    found = []
    with recording(known.pool):
        term = step(Op.FLT, known.x, known.y)
        for _ in range(9):
            found.append(is_mask(term))
            term = step(Op.XOR, term, term)
    assert found == [True] * 8 + [False]


RULES = {"always": ALWAYS, "merged": MERGED, "fast": FAST_RULES, "fuse": FUSE}
EQUATIONS = [
    # Clamps of floats: bounds that are bf16 and no NaN, and only where they change something.
    ("always", lambda k: maximum(k.x, 0.0), lambda k: relu_f(k.x)),
    ("always", lambda k: maximum(k.x + k.y, 1.0), lambda k: clamp_f(k.x + k.y, 0x3F80, 0x7F80)),
    ("always", lambda k: minimum(k.x + k.y, 1.0), lambda k: clamp_f(k.x + k.y, 0xFF80, 0x3F80)),
    ("always", lambda k: minimum(k.x + k.y, 0.1), None),
    ("always", lambda k: maximum(k.x + k.y, 0.1), None),
    ("always", lambda k: maximum(k.x + k.y, NAN), None),
    ("always", lambda k: minimum(k.x + k.y, NAN), None),
    ("always", lambda k: maximum(k.x, 1.0), None), ("always", lambda k: minimum(k.x, 1.0), None),
    ("always", lambda k: minimum(relu_f(k.x), 6.0), lambda k: clamp_f(k.x, 0, 0x40C0)),
    ("always", lambda k: minimum(relu_f(k.x), 0.0), lambda k: clamp_f(k.x, 0, 0)),
    ("always", lambda k: minimum(relu_f(k.x), INF), None),
    ("always", lambda k: minimum(relu_f(k.x), -1.0), None),
    ("always", lambda k: minimum(relu_f(k.x), 0.1), None),
    ("always", lambda k: maximum(relu_f(k.x), 1.0), lambda k: clamp_f(k.x, 0x3F80, 0x7F80)),
    ("always", lambda k: maximum(relu_f(k.x), INF), lambda k: clamp_f(k.x, 0x7F80, 0x7F80)),
    ("always", lambda k: maximum(relu_f(k.x), -1.0), None),
    ("always", lambda k: maximum(relu_f(k.x), 0.1), None),
    ("always", lambda k: maximum(clamp_f(k.x, 0xBF80, 0x4000), 1.0),
     lambda k: clamp_f(k.x, 0x3F80, 0x4000)),
    ("always", lambda k: maximum(clamp_f(k.x, 0xBF80, 0x4000), 2.0),
     lambda k: clamp_f(k.x, 0x4000, 0x4000)),
    ("always", lambda k: maximum(clamp_f(k.x, 0xBF80, 0x4000), 4.0), None),
    ("always", lambda k: maximum(clamp_f(k.x, 0xBF80, 0x4000), -1.0), None),
    ("always", lambda k: minimum(clamp_f(k.x, 0xBF80, 0x4000), 1.0),
     lambda k: clamp_f(k.x, 0xBF80, 0x3F80)),
    ("always", lambda k: minimum(clamp_f(k.x, 0xBF80, 0x4000), -1.0),
     lambda k: clamp_f(k.x, 0xBF80, 0xBF80)),
    ("always", lambda k: minimum(clamp_f(k.x, 0xBF80, 0x4000), 2.0), None),
    ("always", lambda k: minimum(clamp_f(k.x, 0xBF80, 0x4000), -2.0), None),
    ("always", lambda k: maximum(square(k.x), 1.0), None),
    # Clamps of integers: bounds of 16 bits, the lower one first.
    ("always", lambda k: imax(k.x, 0), lambda k: relu_i(k.x)),
    ("always", lambda k: imin(relu_i(k.x), 0x7FFF), lambda k: clamp_i(k.x, 0, 0x7FFF)),
    ("always", lambda k: imin(relu_i(k.x), 0), lambda k: clamp_i(k.x, 0, 0)),
    ("always", lambda k: imin(relu_i(k.x), 0x8000), None),
    ("always", lambda k: imin(relu_i(k.x), -1), None),
    ("always", lambda k: imax(imin(k.x, 5), -0x8000), lambda k: clamp_i(k.x, -0x8000, 5)),
    ("always", lambda k: imax(imin(k.x, 5), -0x8001), None),
    ("always", lambda k: imax(imin(k.x, 5), 5), lambda k: clamp_i(k.x, 5, 5)),
    ("always", lambda k: imax(imin(k.x, 5), 6), None),
    ("always", lambda k: imax(imin(k.x, 0x7FFF), -3), lambda k: clamp_i(k.x, -3, 0x7FFF)),
    ("always", lambda k: imax(imin(k.x, 0x8000), -3), None),
    ("always", lambda k: imin(imax(k.x, -3), 5), lambda k: clamp_i(k.x, -3, 5)),
    ("always", lambda k: imin(imax(k.x, -3), -4), None),
    ("always", lambda k: imin(imax(k.x, -0x8001), 5), None),
    # Choices and masks.
    ("always", lambda k: both(complement(step(Op.FLT, k.x, k.y)), k.z),
     lambda k: select(step(Op.FLT, k.x, k.y), 0, k.z)),
    ("always", lambda k: either(complement(step(Op.FLT, k.x, k.y)), k.z),
     lambda k: select(step(Op.FLT, k.x, k.y), k.z, -1)),
    ("always", lambda k: select(word_of(k, 0), k.x, k.y), lambda k: k.y),
    ("always", lambda k: select(word_of(k, 4), k.x, k.y), lambda k: k.x),
    ("always", lambda k: select(complement(k.z), k.x, k.y), lambda k: select(k.z, k.y, k.x)),
    ("always", lambda k: complement(step(Op.FLT, k.x, k.y)), None),
    ("always", lambda k: complement(step(Op.FEQ, k.x, k.y)), lambda k: step(Op.FNE, k.x, k.y)),
    *(("always", lambda k, a=a, b=b: complement(step(a, k.x, k.y)),
       lambda k, b=b: step(b, k.x, k.y))
      for a, b in ((Op.FNE, Op.FEQ), (Op.IEQ, Op.INE), (Op.INE, Op.IEQ), (Op.ILT, Op.IGE),
                   (Op.IGE, Op.ILT), (Op.IGT, Op.ILE), (Op.ILE, Op.IGT))),
    # Leaky units: from 0 on x, below it less.
    *((table, lambda k, op=op: select(step(op, k.x, 0.0), k.x, k.x * 0.25),
       lambda k: maximum(k.x, k.x * 0.25))
      for table in ("merged", "fast") for op in (Op.FGT, Op.FGE)),
    *((table, lambda k, c=c, d=d: select(step(Op.FGT, k.x, c), k.x, k.x * d), None)
      for table in ("merged", "fast")
      for c, d in ((1.0, 0.25), (0.0, 1.5), (0.0, -0.25), (-1.0, 0.25))),
    # A NaN that both ways give.
    ("merged", lambda k: select(step(Op.FNE, k.x, k.x), k.x, k.x + k.y), lambda k: k.x + k.y),
    ("merged", lambda k: select(step(Op.FNE, k.x, k.x), k.x, recip(square(k.x))),
     lambda k: recip(square(k.x))),
    ("merged", lambda k: select(step(Op.FNE, k.x, k.x), k.x, k.y), None),
    ("merged", lambda k: select(step(Op.FNE, k.x, k.x), k.y, k.x + k.y), None),
    ("merged", lambda k: select(step(Op.FNE, k.x, k.x), k.x, relu_i(k.x + k.y)), None),
    ("merged", lambda k: select(step(Op.FNE, k.x, k.x), k.x, step(Op.OR, k.x, k.y)), None),
    # Numbers, added and multiplied out: exactly, or where what is added is small.
    ("merged", lambda k: fma(k.x, 3.0, 1.5) + 2.0, lambda k: fma(k.x, 3.0, 3.5)),
    ("merged", lambda k: fma(k.x, 3.0, 2.0**24) + 1.0, None),
    ("fast", lambda k: fma(k.x, 3.0, 1.0) + 2.0**-30, lambda k: fma(k.x, 3.0, 1.0)),
    ("fast", lambda k: fma(k.x, 3.0, 1024.0) + 1024.0, lambda k: fma(k.x, 3.0, 2048.0)),
    ("fast", lambda k: fma(k.x, 3.0, 1.0) + 1025.0, None),
    ("fast", lambda k: fma(k.x, 3.0, -1025.0) + 1.0, None),
    ("merged", lambda k: fma(k.x, 3.0, INF) + 1.0, None),
    ("fast", lambda k: fma(k.x, 3.0, NAN) + 1.0, None),
    ("merged", lambda k: 2.0 - fma(k.x, 3.0, 0.5), lambda k: fma(k.x, -3.0, 1.5)),
    ("merged", lambda k: k.x - 2.0, lambda k: k.x + -2.0),
    ("merged", lambda k: k.x + k.x, lambda k: k.x * 2.0),
    ("merged", lambda k: k.s + k.s, None),
    ("merged", lambda k: -k.x - k.y, lambda k: -(k.x + k.y)),
    ("merged", lambda k: -k.s - k.y, None),
    ("merged", lambda k: fma(k.x, 1.0, 0.0), lambda k: k.x),
    ("merged", lambda k: fma(k.x, 1.0, k.y), lambda k: k.x + k.y),
    ("merged", lambda k: fma(k.x, -1.0, k.y), lambda k: k.y - k.x),
    ("merged", lambda k: fma(k.x, -1.0, 0.0), None),
    ("merged", lambda k: fma(k.x, -1.0, 2.0), lambda k: 2.0 - k.x),
    ("merged", lambda k: fma(-k.x, -k.y, k.z), lambda k: fma(k.x, k.y, k.z)),
    ("merged", lambda k: fma(-k.x, k.s, k.z), lambda k: fma(k.x, -k.s, k.z)),
    ("merged", lambda k: fma(-k.s, 2.0, k.z), lambda k: fma(k.s, -2.0, k.z)),
    ("merged", lambda k: fma(-k.s, k.t, k.z), None),
    ("merged", lambda k: fma(fma(k.x, 3.0, 2.0), 0.5, 1.0), lambda k: fma(k.x, 1.5, 2.0)),
    ("merged", lambda k: fma(fma(k.x, 0.1, 2.0), 0.3, 1.0), None),
    ("fast", lambda k: fma(fma(k.x, 0.5, 2.0), 0.25, 1.0), lambda k: fma(k.x, 0.125, 1.5)),
    ("merged", lambda k: fma(k.x * 3.0, 0.5, k.y), lambda k: fma(k.x, 1.5, k.y)),
    ("merged", lambda k: fma(k.x * 2.0**100, 2.0**100, k.y), None),
    ("merged", lambda k: fma(k.x + 3.0, 0.5, 1.0), lambda k: fma(k.x, 0.5, 2.5)),
    ("merged", lambda k: (k.x * 3.0) * 0.5, lambda k: k.x * 1.5),
    ("merged", lambda k: (k.x * 2.0**100) * 2.0**100, None),
    ("merged", lambda k: (k.x + k.y) * 1.0, lambda k: k.x + k.y),
    ("merged", lambda k: k.x * 1.0, None),
    # Roots of numbers, but not where the number has few bits and its root has not.
    ("merged", lambda k: square(k.x) * 4.0, lambda k: square(k.x * 2.0)),
    ("merged", lambda k: square(k.x) * 2.0, None),
    ("merged", lambda k: square(k.x) * 4095.0, None),
    ("merged", lambda k: square(k.x) * 4097.0, lambda k: square(k.x * 4097**0.5)),
    ("merged", lambda k: square(k.x) * -4.0, None), ("merged", lambda k: square(k.x) * 0.0, None),
    ("merged", lambda k: square(k.x) * INF, None),
    ("merged", lambda k: square(k.x + k.y) * 4.0, None),
    ("merged", lambda k: -(k.x - k.y), lambda k: k.y - k.x),
    ("merged", lambda k: -fma(k.x, k.s, k.t), lambda k: fma(k.x, -k.s, -k.t)),
    ("merged", lambda k: -(k.x + 2.0), lambda k: -2.0 - k.x),
    ("merged", lambda k: recip(recip(k.x)), lambda k: k.x),
    # What rounds otherwise, where that is allowed.
    ("merged", lambda k: (k.x + k.y) + 0.0, None),
    ("fast", lambda k: (k.x + k.y) + 0.0, lambda k: k.x + k.y),
    ("fast", lambda k: k.x + 0.0, None),
    ("fast", lambda k: k.x - (k.y + k.x * k.s), lambda k: k.x * (1.0 - k.s) - k.y),
    ("fast", lambda k: k.x + (k.y + k.x * k.s), lambda k: k.x * (k.s + 1.0) + k.y),
    ("fast", lambda k: k.s - (k.y + k.s * k.t), None),
    ("fast", lambda k: (k.x + k.y * k.s) + k.z, lambda k: (k.x + k.z) + k.y * k.s),
    ("fast", lambda k: (k.x + k.y * k.s) + k.z * k.t, None),
    ("fast", lambda k: select(step(Op.FLT, k.x, k.y), 1.0, 0.0) * k.z,
     lambda k: both(step(Op.FLT, k.x, k.y), k.z)),
    ("fast", lambda k: recip(k.x) * 4.0, lambda k: recip(k.x * 0.25)),
    ("fast", lambda k: recip(k.x) * 2.0**127, None), ("fast", lambda k: recip(k.x) * INF, None),
    ("fast", lambda k: recip(k.x + k.y) * 4.0, None),
    ("fast", lambda k: fma(k.x * k.s, k.t, k.y), lambda k: fma(k.x, k.s * k.t, k.y)),
    ("fast", lambda k: fma(k.s * k.u, k.t, k.y), None),
    ("fast", lambda k: recip(-k.x), lambda k: -recip(k.x)),
    ("fast", lambda k: recip(k.x * k.s), lambda k: recip(k.x) * recip(k.s)),
    ("fast", lambda k: recip(k.x * 2.0), None), ("fast", lambda k: recip(k.s * k.t), None),
    ("fast", lambda k: div(-k.x, k.y), lambda k: -div(k.x, k.y)),
    ("fast", lambda k: div(k.x * k.s, k.y), lambda k: div(k.x, k.y) * k.s),
    ("fast", lambda k: div(k.u * k.s, k.y), None),
    ("fast", lambda k: total(-k.x), lambda k: -total(k.x)),
    ("fast", lambda k: total((k.x + k.y) * k.r), lambda k: total(k.x + k.y) * k.r),
    ("fast", lambda k: total((k.x + k.y) * k.s), None), ("fast", lambda k: total(k.x * k.r), None),
    ("fast", lambda k: total((k.s + k.t) * k.r), None),
    # A sum takes in the product of more elements, of two streams at most.
    ("fuse", lambda k: k.x * k.s + k.r * k.t, lambda k: fma(k.x, k.s, k.r * k.t)),
    ("fuse", lambda k: k.x * k.y + k.z, None),
    ("fuse", lambda k: k.x * k.s + k.z, lambda k: fma(k.x, k.s, k.z)),
    ("fuse", lambda k: k.r * k.u + k.s, lambda k: fma(k.r, k.u, k.s)),
    ("fuse", lambda k: k.s * k.u + k.t, lambda k: fma(k.s, k.u, k.t)),
    ("fuse", lambda k: square(k.x) + k.y, None),
    ("fuse", lambda k: square(k.x) + k.s, lambda k: fma(k.x, k.x, k.s)),
    ("fuse", lambda k: square(k.x + k.y) + k.s, None),
    ("fuse", lambda k: k.x - k.y * k.s, lambda k: fma(k.y, -k.s, k.x)),
    ("fuse", lambda k: k.x - k.y * k.z, None),
    ("fuse", lambda k: k.s - k.x * k.y, lambda k: -fma(k.x, k.y, -k.s)),
    ("fuse", lambda k: k.s - square(k.x), lambda k: -fma(k.x, k.x, -k.s)),
    ("fuse", lambda k: k.x * k.y - k.s, lambda k: fma(k.x, k.y, -k.s)),
    ("fuse", lambda k: k.x * k.s - k.y, lambda k: -fma(k.x, -k.s, k.y)),
    ("fuse", lambda k: k.x * k.y - k.z, None),
    ("fuse", lambda k: k.x * (1.0 - k.y), lambda k: fmulc(k.x, k.y)),
    ("fuse", lambda k: k.x * (2.0 - k.y), None)]


def word_of(known, bits):
    return known.pool.word(bits)


@pytest.mark.parametrize("number", range(len(EQUATIONS)))
def test_equations(number):
    table, before, after = EQUATIONS[number]
    check(RULES[table], before, after)
