"""Limits of a server: what may be given, and what is where nothing is."""

import dataclasses
import math

import pytest

from celosia.driver.device import DEFAULT_TIMEOUT
from celosia.serve import Limits

WHOLE = ("batch", "queue", "body", "held", "connections", "sockets", "idle", "cycles")
SECONDS = {"timeout": 1e-3, "headers": 1e-3, "stall": 1e-3, "wait": 0.0}


def test_what_nobody_says_is_as_docs_serving_says():
    assert dataclasses.asdict(Limits()) == {
        "batch": None, "queue": 256, "body": 16 * 1024 * 1024, "held": None, "timeout": 30,
        "headers": 5, "stall": 10, "idle": 30, "connections": 16, "sockets": None, "wait": 0.002,
        "cycles": DEFAULT_TIMEOUT}


@pytest.mark.parametrize("name", WHOLE)
def test_numbers_are_from_1(name):
    assert getattr(Limits(**{name: 1}), name) == 1
    for wrong in (0, -1, 1.0, True, "1", *([None] if name not in ("batch", "held", "sockets")
                                           else [])):
        with pytest.raises(ValueError, match=f"^limit of {name} must be an integer of at least 1, "
                                             f"not {wrong!r}$"):
            Limits(**{name: wrong})


@pytest.mark.parametrize(("name", "least"), SECONDS.items())
def test_seconds_are_finite_and_from_the_least(name, least):
    for right in (least, 1, 1e9):
        assert getattr(Limits(**{name: right}), name) == right
    for wrong in (math.nextafter(least, -1), math.inf, math.nan, True, "1", None):
        with pytest.raises(ValueError, match=f"^limit of {name} must be at least {least:g} "
                                             f"seconds, not {wrong!r}$"):
            Limits(**{name: wrong})


@pytest.mark.parametrize(("limits", "most"), [
    (Limits(), 512), (Limits(queue=1), 512), (Limits(queue=257), 514), (Limits(queue=600), 1200),
    (Limits(sockets=5), 5), (Limits(queue=600, sockets=5), 5)])
def test_connections_are_two_for_each_request_at_least_512(limits, most):
    assert limits.open_connections == most
