"""Tables of builds, to the letter, of reports that are made up."""

import pytest

from celosia.cli.fpga.report import _percent, columns, table


def report(*speeds, preset="nano", array=4):
    return {"title": "A board", "preset": preset, "array": array, "freq_mhz": 27 * 13 / 7,
            "command": f"celosia fpga build a --preset {preset}",
            "seeds": [{"fmax_mhz": each} for each in speeds],
            "resources": {name: {"used": used, "percent": percent} for name, used, percent in (
                ("luts", 12345, 51.4), ("flip_flops", 999, 2.5), ("multipliers", 4, 100.0),
                ("block_rams", 0, 0.0))}}


def test_a_line_of_a_board_has_its_slowest_and_fastest_seed():
    head, rule, *rows = table([report(60.04, 55.26, 58), report(55.25), report()]).splitlines()
    assert head == ("| board | chip | clock, MHz | Fmax, MHz (seeds) | LUTs | flip-flops "
                    "| DSP blocks | block RAMs | GMAC/s | command |")
    assert rule == "|---|---|---:|---:|---:|---:|---:|---:|---:|---|"
    used = "12,345 (51%) | 999 (2%) | 4 (100%) | 0 (0%)"
    # 16 products a cycle at the slowest.
    assert rows == [
        f"| A board | `nano` | 50.14 | {fmax} | {used} | {gmacs} "
        f"| `celosia fpga build a --preset nano` |" for fmax, gmacs in (
            ("55.3..60.0 (3)", "0.88"), ("55.2 (1)", "0.88"), ("(not routed)", ""))]


def test_cells_are_below_each_other():
    """The first column is set to the left, numbers to the right; lines end with what is there."""
    assert columns([("", "used", "of"), ("LUTs", "9", "24,000"), ("block RAMs", "1,000", "")]) == [
        "             used      of",
        "LUTs            9  24,000",
        "block RAMs  1,000"]


@pytest.mark.parametrize(("used", "have", "percent"), [
    (0, 0, 0), (5, 0, 0), (1, 3, 33.3), (2, 3, 66.7), (3, 3, 100), (4, 3, 133.3)])
def test_parts_are_in_per_cent(used, have, percent):
    assert _percent(used, have) == percent
