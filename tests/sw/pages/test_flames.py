"""Stacks that py-spy wrote, as pictures and as shares of modules."""

import re

import pytest
from pages.flames import by_module, flame, stacks

RAW = """\
0x7f12 (libc.so.6);<module> (run.py:1);run (celosia/driver/device.py:301) 30
<module> (run.py:1);run (celosia/driver/device.py:301);celosia_run (chip.so);Chip::cycle (chip.so);room_7_mxu__DOT__array__DOT__grid (chip.so) 50
<module> (run.py:1);run (celosia/driver/device.py:301);celosia_run (chip.so);room_9_vpu__DOT__p__024220 (chip.so);memcpy (libc.so.6) 15
<module> (run.py:1);run (celosia/driver/device.py:301);celosia_run (chip.so) 5
<module> (run.py:1);_find_and_load (<frozen importlib._bootstrap>:1176);_load_unlocked (<frozen importlib._bootstrap>:690);PyEval (libpython3.11.so.1.0);site (site.py:3) 4
"""  # noqa: E501 - as it is written


def test_frames_are_functions_and_modules_of_the_chip():
    assert stacks(RAW) == {
        ("run (device.py)",): 30,
        ("run (device.py)", "RTL", "mxu", "array", "grid"): 50,
        ("run (device.py)", "RTL", "vpu", "p", "memcpy"): 15,
        ("run (device.py)", "RTL", "simulator"): 5,
        ("import", "site (site.py)"): 4}


def test_shares_are_of_what_the_chip_is_simulated_in():
    assert by_module(stacks(RAW)) == [("mxu.array", 50 / 70), ("vpu.p", 15 / 70),
                                      ("simulator", 5 / 70)]
    assert by_module({("run (device.py)",): 3}) == []


def test_a_frame_is_as_wide_as_its_samples_and_lies_on_its_caller():
    drawn = re.findall(r"<title>([^<]*)</title><rect x=\"([\d.]+)\" y=\"(\d+)\" "
                       r"width=\"([\d.]+)\"", flame(stacks(RAW), "a & b"))
    found = {name: (float(x), int(y), float(width)) for name, x, y, width in drawn}
    base, rtl = found["run (device.py): 96.2%"], found["RTL: 67.3%"]
    array = found["mxu: 48.1%"]
    assert base[0] + base[2] + .5 == 960  # behind what was imported
    assert rtl[2] == pytest.approx(960 * 70 / 104 - .5, abs=.1)
    assert base[1] > rtl[1] > array[1]
    assert rtl[0] <= array[0] <= rtl[0] + rtl[2]


def test_what_is_narrow_is_left_out():
    drawn = flame({("main", "wide"): 999, ("main", "narrow"): 1}, "title")
    assert "wide" in drawn
    assert "narrow" not in drawn
