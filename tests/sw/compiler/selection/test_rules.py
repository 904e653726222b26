"""Each rule alone: it applies, both sides mean the same bits, and it stays where it must."""

import itertools
from dataclasses import dataclass

import numpy as np
import pytest

from celosia.arch.vector import VectorOp as Op
from celosia.compiler.kernels.terms import Extent, Leaf, recording, step
from celosia.compiler.selection.always import ALWAYS
from celosia.compiler.selection.matching import Rule, is_merging, is_shared, is_single
from celosia.compiler.selection.notation import clamp_f, fma, relu_f
from celosia.compiler.selection.pool import Pool, uses_of, walk
from celosia.compiler.selection.rules import FAST_RULES, FIXED, FUSE, MERGED, is_fusable
from celosia.graph import DType
from celosia.model.lanes import PLAIN

TABLES = {"always": ALWAYS, "fixed": FIXED, "merged": MERGED, "fast": FAST_RULES, "fuse": FUSE}
RULES = [pytest.param(name, rule, id=f"{name}: {rule.name}")
         for name, table in TABLES.items() for rule in table.rules]
PATTERNS = [each for each in RULES if each.values[1].search is None]
SEARCHES = [each for each in RULES if each.values[1].search is not None]
ROWS, LANES = 6, 16
SHAPES = {Extent.FULL: (ROWS, LANES), Extent.ROWS: (ROWS, 1), Extent.LANES: (1, LANES),
          Extent.SCALAR: (1, 1)}
#: Most operands for which a rule is tried, and of these where it applies.
TRIED, APPLIED = 4000, 25
NUMBERS = (2.0, 0.5, 0.0, 1.0, -1.0, -0.25, 4.0)
INTEGERS = (5, -7, 0, 100, 40000)
#: Those of which maxima and minima are no clamps.
OTHERS = (0.1, np.nan)
#: The names of rules that move a NaN, and the operands that they are about.
ABOUT_NAN = {"NaN that stays": lambda x: (x, x + x, -x)}


@dataclass(frozen=True)
class Source:
    """What a cluster reads."""

    name: str
    dtype: DType = DType.F32


def variables(pool):
    """Terms of all extents, and of what rules ask for."""
    full = pool.read(Source("full"), Extent.FULL)
    other = pool.read(Source("other"), Extent.FULL)
    rows, lanes, one = (pool.read(Source(each.name), each)
                        for each in (Extent.ROWS, Extent.LANES, Extent.SCALAR))
    with recording(pool):
        doubled, part = full + full, full * lanes
        clamped, least = clamp_f(rows, 0xBF80, 0x4080), relu_f(other)
        mask = step(Op.FLT, full, other)
    return {"any": (full, doubled, rows, lanes, one, other, part, least, clamped,
                    pool.fp32(0.0)),
            "less": (lanes, one, pool.fp32(2.0)), "mask": (mask,), "no mask": (full,)}


def instances(rule):
    """Yield a pool, and what the pattern of a rule is of terms that its variables may be."""
    pool = Pool()
    known = variables(pool)
    whole = rule.root.op in (Op.IMAX, Op.IMIN)
    floats = NUMBERS + OTHERS * (rule.root.op in (Op.FMAX, Op.FMIN))
    numbers = map(pool.word, INTEGERS) if whole else map(pool.fp32, floats)
    kinds = dict.fromkeys("cde", tuple(numbers)) | dict.fromkeys("st", known["less"])
    kinds["m"] = known["mask"] + (known["no mask"] if rule.where else ())
    tried = itertools.product(*(kinds.get(name[0], known["any"]) for name in rule.names))
    with recording(pool):
        if rule.name in ABOUT_NAN:
            tried = itertools.chain([ABOUT_NAN[rule.name](known["any"][0])], tried)
        made = [rule.pattern(*values) for values in itertools.islice(tried, TRIED)]
    for term in made:
        yield pool, term


def parts_of(term):
    """What instructions make inside of a term."""
    return [part for part in walk([term]) if part.args and part is not term]


def uses_for(rule, term, *more):
    """How often terms are used: those inside once, if the rule does not ask for more."""
    again = parts_of(term) if any(is_shared in checks for checks in rule.marks.values()) else ()
    return uses_of([term, *again, *more])


def data_of(table, rule):
    """Powers of two, of which all sums and products are exact, or numbers of all kinds."""
    rng = np.random.default_rng(len(rule.name))

    def numbers(shape):
        if rule.root.op in (Op.IMAX, Op.IMIN):
            return rng.integers(-200, 200, shape, dtype=np.int32).view(np.uint32)
        found = 2.0**rng.integers(-2, 4, shape) * rng.choice([-1, 1], shape)
        if table in ("always", "fixed") or rule.name in ABOUT_NAN:
            special = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1.7, 1e38, -1e-38], shape)
            found = np.where(rng.random(shape) < 0.5, special, found)
        return found.astype(np.float32).view(np.uint32)

    return {Source(name): numbers(SHAPES[extent]) for name, extent in (
        ("full", Extent.FULL), ("other", Extent.FULL), ("ROWS", Extent.ROWS),
        ("LANES", Extent.LANES), ("SCALAR", Extent.SCALAR))}


def words_of(term, data):
    """What a term is, on the lanes of the model."""
    known = {}
    for each in walk([term]):
        if each.op is Leaf.READ:
            known[each] = data[each.source]
        elif each.is_word:
            known[each] = np.full((1, 1), each.param, np.uint32)
        else:
            words = PLAIN.compute(each.first, each.post, [known[arg] for arg in each.args],
                                  each.param)
            if each.reduce:
                words = np.broadcast_to(words, (len(words), LANES))
                words = PLAIN.join_lanes(each.reduce_op, np.ascontiguousarray(words))[:, None]
            known[each] = words
    return np.broadcast_to(known[term], (ROWS, LANES))


def check_same(table, rule, term, result):
    """Both mean the same bits; but for which NaN, and for rules that round, the sign of a zero."""
    data = data_of(table, rule)
    with np.errstate(all="ignore"):
        want, got = words_of(term, data), words_of(result, data)
    floats = rule.root.op not in (Op.IMAX, Op.IMIN)
    if floats and table not in ("always", "fixed"):
        np.testing.assert_array_equal(got.view(np.float32), want.view(np.float32))
        return
    nan = np.isnan(want.view(np.float32)) & np.isnan(got.view(np.float32)) & floats
    np.testing.assert_array_equal(np.where(nan, 0, got), np.where(nan, 0, want))


@pytest.mark.parametrize("table", TABLES)
def test_rules_have_names_of_their_own(table):
    names = [rule.name for rule in TABLES[table].rules]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(("table", "rule"), PATTERNS)
def test_both_sides_are_the_same(table, rule):
    applied = 0
    for pool, term in instances(rule):
        result = rule(pool, term, uses_for(rule, term))
        if result is None:
            continue
        check_same(table, rule, term, result)
        assert rule(pool, result, uses_of([result])) is not term, "the rule undoes what it does"
        applied += 1
        if applied == APPLIED:
            break
    assert applied


@pytest.mark.parametrize(("table", "rule"), [
    each for each in PATTERNS if each.values[1].where is not None])
def test_rules_stay_where_their_condition_does_not_hold(table, rule):
    everywhere = Rule(rule.name, rule.pattern, rule.equation)
    for pool, term in instances(rule):
        uses = uses_for(rule, term)
        if rule(pool, term, uses) is None and list(everywhere.matches(pool, term, uses)):
            return
    pytest.fail("the condition holds wherever the pattern matches")


@pytest.mark.parametrize(("table", "rule"), PATTERNS)
def test_rules_stay_where_a_part_is_used_again(table, rule):
    """That is so for each part that must be used once, and for no other."""
    marked = sum(not checks.isdisjoint({is_single, is_merging, is_fusable})
                 for checks in map(set, rule.marks.values()))
    applying = ((pool, term) for pool, term in instances(rule)
                if rule(pool, term, uses_for(rule, term)) is not None)
    assert marked == max(sum(rule(pool, term, uses_for(rule, term, part)) is None
                             for part in parts_of(term))
                         for pool, term in itertools.islice(applying, 4 * APPLIED))


@pytest.mark.parametrize(("table", "rule"), SEARCHES)
def test_searches(table, rule):
    """Of each way of a rule that is no pattern an example, and the same with all its parts used
    again.
    """
    for number, example in enumerate(EXAMPLES[rule.name]):
        pool = Pool()
        known = variables(pool)
        with recording(pool):
            term = example(known["any"][0], known["any"][5], *known["less"][:2])
        result = rule(pool, term, uses_of([term]))
        assert result is not None, number
        assert result is not term, number
        check_same(table, rule, term, result)
        assert rule(pool, term, uses_of([term, *parts_of(term)])) is None, number


#: Operands: x and y have all elements, s one for each lane, t is a single one.
EXAMPLES = {
    "half of a sum": (
        lambda x, y, s, t: (x + 2.0) * 0.5, lambda x, y, s, t: (2.0 - x) * 0.5,
        lambda x, y, s, t: fma(x, 3.0, 2.0) * -0.25, lambda x, y, s, t: (x + 2.0) * y * 0.5,
        lambda x, y, s, t: y * (x + 2.0) * 0.5),
    "common factor of a sum": (
        lambda x, y, s, t: x * y + x, lambda x, y, s, t: x + x * y,
        lambda x, y, s, t: x * x + x),
    "common factor of a difference": (
        lambda x, y, s, t: x * y - x, lambda x, y, s, t: x - x * y),
    "what is less, together": (
        lambda x, y, s, t: (x + s) + t, lambda x, y, s, t: t + (s + x),
        lambda x, y, s, t: ((x + s) + y) + t),
    "factor of a sum": (
        lambda x, y, s, t: (x + s) * t, lambda x, y, s, t: t * (s + x),
        lambda x, y, s, t: (2.0 - x) * t, lambda x, y, s, t: fma(x, s, t) * t,
        lambda x, y, s, t: fma(x + s, y, t) * t, lambda x, y, s, t: fma(y, x + s, t) * t,
        lambda x, y, s, t: ((x + s) * y) * t, lambda x, y, s, t: (y * (x + s)) * t,
        lambda x, y, s, t: fma(x * y, s, x) * t, lambda x, y, s, t: fma(x * y, s, y) * t,
        lambda x, y, s, t: fma(x * x, s, x) * t, lambda x, y, s, t: (x * s + y) * t,
        lambda x, y, s, t: (y - x * s) * t),
    "order of factors": (
        lambda x, y, s, t: (x * t) * y, lambda x, y, s, t: (x * 2.0) * (y * 4.0),
        lambda x, y, s, t: (x * s) * (y * t), lambda x, y, s, t: (x * y) * x,
        lambda x, y, s, t: (x * t) * s),
    "minus into a factor": (
        lambda x, y, s, t: -((x + s) * y), lambda x, y, s, t: -(y * (x + s))),
}


def test_searches_have_examples():
    assert set(EXAMPLES) == {each.values[1].name for each in SEARCHES}


def test_what_is_less_is_looked_for_in_three_sums():
    [rule] = [each.values[1] for each in SEARCHES
              if each.values[1].name == "what is less, together"]
    found = []
    for deep in range(5):
        pool = Pool()
        known = variables(pool)
        with recording(pool):
            term = known["any"][0] + known["less"][0]
            for _ in range(deep):
                term = term + known["any"][5]
            term = term + known["less"][1]
        found.append(rule(pool, term, uses_of([term])) is not None)
    assert found == [True, True, True, False, False]
