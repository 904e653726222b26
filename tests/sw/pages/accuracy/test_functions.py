"""Functions of compiled programs stay within their stated bounds."""

import pytest
from pages.accuracy import GRAPH, JAX, jax_errors, measure

CASES = (*GRAPH, *JAX)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_function_holds_its_bound(case):
    worst = measure(case, 1 << 10, seed=1)
    assert worst.error <= case.bound, worst


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_function_holds_its_bound_densely(case):
    worst = measure(case, 1 << 18, seed=2)
    assert worst.error <= case.bound, worst


@pytest.mark.slow
@pytest.mark.parametrize("case", [case for case in CASES if case.jax and case.bound > 8],
                         ids=lambda case: case.name)
def test_where_a_bound_is_wide_jax_is_as_far_off(case):
    assert jax_errors(case, 1 << 16).error > case.bound / 2
