"""Comparisons as synthesis makes them, against Verilog's own: proven equal."""

import itertools

from celosia.cli.fpga.compare import COMPARE
from celosia.cli.fpga.tools import find, run

WIDTHS = (4, 5, 13, 32)
#: Both unsigned, both signed, one of each.
KINDS = ("uv", "st", "us")


def compare(name):
    """A module with every comparison of two numbers of some widths, signed or not."""
    inputs, outputs = [], []
    for bits in WIDTHS:
        inputs += [f"input [{bits - 1}:0] u{bits}, v{bits}",
                   f"input signed [{bits - 1}:0] s{bits}, t{bits}"]
    for (kind, other), relation in itertools.product(KINDS, ("<", "<=", ">", ">=")):
        outputs += [f"{kind}{a} {relation} {other}{b}"
                    for a, b in itertools.product(WIDTHS, WIDTHS)]
        outputs += [f"{kind}{bits} {relation} 13" for bits in WIDTHS]
    return (f"module {name}({', '.join(inputs)}, output [{len(outputs) - 1}:0] y);\n"
            f"assign y = {{{', '.join(outputs)}}};\nendmodule\n")


def test_every_comparison_is_proven(tmp_path):
    (tmp_path / "both.v").write_text(compare("plain") + compare("mapped"))
    (tmp_path / "map.v").write_text(COMPARE)
    kept = len(KINDS) * (len(WIDTHS) + 1)  # with constants, and of the least bits
    script = "; ".join((
        "read_verilog -sv both.v", "proc", "opt_expr", "techmap -map map.v mapped",
        "select -assert-any mapped/t:$sub", f"select -assert-count {kept} mapped/t:$lt",
        "miter -equiv -flatten -make_outputs plain mapped both",
        "sat -verify -prove trigger 0 both"))
    run(find("yosys"), ["-q", "-l", "log", "-p", script], tmp_path, "log", own_log=True)
    assert "SUCCESS" in (tmp_path / "log").read_text()
