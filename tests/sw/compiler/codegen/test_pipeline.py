"""When the body of an overlapped loop gets loops of its own: by what the port of loads hides."""

from types import SimpleNamespace
from typing import Any

import pytest

from celosia.arch.isa import Unit
from celosia.compiler.codegen import pipeline


@pytest.fixture
def shorter(monkeypatch):
    """Return the bodies of two turns of operations: rolled ones, or the operations as they are.

    An operation is its unit and cycles. The port takes four cycles for an instruction.
    """
    def call(ops, *, ibuf=4, depth=3, shapes=("a", "a")):
        rolled = iter(shapes)
        monkeypatch.setattr(pipeline, "roll", lambda body, left: [
            SimpleNamespace(shape=next(rolled), body=body, left=left)])
        made: Any = object.__new__(pipeline._Pipeline)
        made._config, made._depth = SimpleNamespace(ibuf=ibuf, bus_bytes=8), depth
        made._costs = lambda op: SimpleNamespace(unit=op[0], occupied=op[1])
        later = [(unit, cycles + 1) for unit, cycles in ops]
        now, then = made._shorter(ops, later)
        if now == ops:
            assert then == later
            return None
        assert [each[0].body for each in (now, then)] == [ops, later]
        assert now[0].left == then[0].left
        return now[0].left

    return call


def body(load, vector, count=5):
    return [(Unit.LOAD, load), *[(Unit.VPU, vector)] * (count - 1)]


@pytest.mark.parametrize(("load", "vector", "rolled"), [
    # The port is busy for 0.7 of the others' cycles, or more: 15 cycles an operation are enough.
    (50, 20, True), (35, 10, True), (34, 10, False), (50, 25, True),
    # It is not: 32.
    (10, 25, False), (49, 25, False), (12, 37, True), (11, 37, False)])
def test_long_operations_hide_the_instructions_of_a_loop(shorter, load, vector, rolled):
    assert shorter(body(load, vector)) == (1 if rolled else None)


@pytest.mark.parametrize(("options", "left"), [
    ({}, 1), ({"ibuf": 5}, None), ({"depth": 2}, None), ({"depth": 4}, 2),
    ({"shapes": ("a", "b")}, None)])
def test_what_fits_the_buffer_or_is_no_loop_stays(shorter, options, left):
    assert shorter(body(50, 40), **options) == left
