"""Bytes as they are written, and the picture of memory as it fills."""

import re
from types import SimpleNamespace

import pytest

from celosia.arch.registers import MOST_MEMORY
from celosia.cli.debug.oom import _bytes, _filling


@pytest.mark.parametrize(("text", "nbytes"), [
    ("1", 1), ("4096", 4096), ("64K", 65536), ("64k", 65536), ("32M", 33554432), ("3g", 3 << 30),
    (str(MOST_MEMORY), MOST_MEMORY), (f"{MOST_MEMORY >> 10}K", MOST_MEMORY)])
def test_bytes_are_said_with_a_unit_or_without(text, nbytes):
    assert _bytes(text) == nbytes


@pytest.mark.parametrize("text", ["", "0", "0K", "K", "-1", "1.5M", "1T", "1KM", "4G", "x",
                                  str(MOST_MEMORY + 1)])
def test_what_are_no_bytes(text):
    with pytest.raises(ValueError, match=re.escape(
            f"--memory must be bytes from 1 to {MOST_MEMORY}, as 67108864 or 64M, not {text!r}")):
        _bytes(text)


def filling(*needed, limit=1000):
    lines = _filling(SimpleNamespace(limit=limit, history=[
        (f"net.py:{i}" if i else "", nbytes) for i, nbytes in enumerate(needed)])).splitlines()
    assert lines[0] == "bytes that are needed at once, from the beginning to the end of a run:"
    return lines[1:]


def test_each_piece_of_work_has_a_bar():
    """24 characters are the most; what is more than there is, is marked."""
    assert filling(100, 1200, 1000, 1001) == [
        "             100  ##",
        "           1,200  ########################  over  net.py:1",
        "           1,000  ####################            net.py:2",
        "           1,001  ####################      over  net.py:3"]


@pytest.mark.parametrize(("count", "shown"), [
    (1, [0]), (12, list(range(12))), (13, [1, 3, 5, 7, 9, 11, 12]), (25, [2, 5, 8, 11, 14, 17, 20,
                                                                         23, 24])])
def test_of_much_work_bars_are_the_highest_of_some(count, shown):
    assert [int(line.split()[0].replace(",", "")) - 1 for line in filling(*range(1, count + 1))
            ] == shown
