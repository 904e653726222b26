import pytest

from celosia.compiler.kernels.terms import Extent, recording
from celosia.compiler.selection.matching import (
    Rule,
    Rules,
    apart,
    free,
    made,
    merging,
    once,
    shared,
)
from celosia.compiler.selection.notation import fma, square
from celosia.compiler.selection.pool import Pool, uses_of


@pytest.fixture
def pool():
    return Pool()


def read(pool, name, extent=Extent.FULL):
    return pool.read(name, extent)


def found(pool, rule, term, *others):
    """The names of what the variables of a rule stand for, each time that it matches."""
    return [tuple(value.source for value in values)
            for values in rule.matches(pool, term, uses_of([term, *others]))]


def test_operands_match_in_either_order(pool):
    x, y = read(pool, "x"), read(pool, "y")
    rule = Rule("r", lambda a, b: a + b, lambda a, b: a)
    with recording(pool):
        assert found(pool, rule, x + y) == [("x", "y"), ("y", "x")]
        assert found(pool, rule, x + x) == [("x", "x")]
        assert found(pool, rule, x - y) == []
        rule = Rule("r", lambda a, b: a - b, lambda a, b: a)
        assert found(pool, rule, x - y) == [("x", "y")]


def test_orders_of_parts_are_all_tried(pool):
    x, y, z = (read(pool, name) for name in "xyz")
    rule = Rule("r", lambda a, b, w: (a * b) + (a * w), lambda a, b, w: a * (b + w))
    with recording(pool):
        assert found(pool, rule, (x * y) + (z * x)) == [("x", "y", "z"), ("x", "z", "y")]
        assert found(pool, rule, (x * y) + (z * z)) == []


def test_of_a_sum_of_products_the_last_summand_stays(pool):
    x, y, z = (read(pool, name) for name in "xyz")
    rule = Rule("r", lambda a, b, w: fma(a, b, w), lambda a, b, w: a)
    with recording(pool):
        assert found(pool, rule, fma(x, y, z)) == [("x", "y", "z"), ("y", "x", "z")]


def test_names_say_what_variables_are(pool):
    x, s = read(pool, "x"), read(pool, "s", Extent.LANES)
    with recording(pool):
        small = Rule("r", lambda a, s: a * s, lambda a, s: a)
        number = Rule("r", lambda a, c: a * c, lambda a, c: a)
        assert found(pool, small, x * s) == [("x", "s")]
        assert found(pool, small, x * 2.0) == [("x", None)]
        assert found(pool, number, x * 2.0) == [("x", None)]
        assert found(pool, number, x * s) == []


def test_numbers_in_patterns_are_those_bits(pool):
    x = read(pool, "x")
    rule = Rule("r", lambda a: a * 2.0, lambda a: a + a)
    with recording(pool):
        assert found(pool, rule, x * 2.0) == [("x",)]
        assert found(pool, rule, x * -2.0) == []


def test_marks(pool):
    x, y = read(pool, "x"), read(pool, "y")
    with recording(pool):
        inner = x + y
        outer = square(inner)

    def matches(mark, *others):
        return bool(found(pool, Rule("r", lambda a: square(mark(a)), lambda a: a), outer, *others))

    assert matches(once)
    assert not matches(once, inner)
    assert matches(shared, inner)
    assert not matches(shared)
    assert matches(merging)
    assert not matches(merging, inner)
    assert matches(apart, inner)
    assert not matches(apart)
    assert matches(made)
    assert matches(free)
    pool.fixed.add(inner)
    assert not matches(free)


def test_what_is_read_is_not_made(pool):
    x = read(pool, "x")
    with recording(pool):
        assert not found(pool, Rule("r", lambda a: square(made(a)), lambda a: a), square(x))


def test_equations_may_not_hold(pool):
    """Then the next way to match is tried, and after it the next rule."""
    x, y = read(pool, "x"), read(pool, "y")
    with recording(pool):
        term = x + y
        only_y = Rule("only y", lambda a, b: a + b, lambda a, b: a if a is y else None)
        never = Rule("never", lambda a, b: a + b, lambda a, b: None)
    uses = uses_of([term])
    assert only_y(pool, term, uses) is y
    assert never(pool, term, uses) is None
    assert Rules(never, only_y)(pool, term, uses) is y
    assert Rules(never)(pool, term, uses) is None
    assert Rules()(pool, term, uses) is None


def test_the_first_rule_that_applies_is_taken(pool):
    x, y = read(pool, "x"), read(pool, "y")
    with recording(pool):
        term = x - y
    rules = Rules(Rule("first", lambda a, b: a - b, lambda a, b: a),
                  Rule("second", lambda a, b: a - b, lambda a, b: b))
    assert rules(pool, term, uses_of([term])) is x


def test_conditions(pool):
    x, y = read(pool, "x"), read(pool, "y")
    rule = Rule("r", lambda a, b: a + b, lambda a, b: a, where=lambda a, b: b is x)
    with recording(pool):
        assert found(pool, rule, x + y) == [("y", "x")]


def test_searches_are_given_the_term(pool):
    x = read(pool, "x")
    with recording(pool):
        term = x + 1.0
    rule = Rule("r", lambda a, b: a + b, search=lambda pool, term, uses: term.args[0])
    assert rule(pool, term, uses_of([term])) is x
