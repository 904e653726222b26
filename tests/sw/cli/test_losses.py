"""What ``celosia debug nan`` says that formats lose."""

import pytest

from celosia.cli.debug.losses import text
from celosia.graph import Source
from celosia.model.losses import Losses


def source(number):
    return Source("net.py", number).said(f"op{number}")


def test_nothing_was_lost():
    assert text({source(1): Losses(of=1000), "": Losses(of=24)}, "core") == [
        "on core, of 1,024 elements none were lost"]


def test_the_worst_come_first():
    found = {source(1): Losses(20, flushed=9), source(2): Losses(30, clamped=1, flushed=2),
             source(3): Losses(40, clamped=1, flushed=3), "": Losses(50, overflowed=1),
             source(5): Losses(60, clamped=2), source(6): Losses(70)}
    assert text(found, "nano") == [
        "on nano, of 270 elements 1 overflowed, 4 were clamped to int8, 14 became 0",
        "  nobody noted what unknown source: 1 overflowed, of 50",
        "  op5 net.py:5: 2 were clamped to int8, of 60",
        "  op3 net.py:3: 1 were clamped to int8, 3 became 0, of 40",
        "  op2 net.py:2: 1 were clamped to int8, 2 became 0, of 30",
        "  op1 net.py:1: 9 became 0, of 20"]


@pytest.mark.parametrize(("count", "more"), [
    (7, []), (8, []), (9, ["  and 1 operation more"]), (12, ["  and 4 operations more"])])
def test_the_rest_is_counted(count, more):
    lines = text({source(i): Losses(5, flushed=1) for i in range(count)}, "core")
    assert [line for line in lines[1:] if " became " not in line] == more
    assert len(lines) == 1 + min(count, 8) + len(more)
