"""Lint of the presets' Verilog, and that it can fail."""

from dataclasses import replace

import pytest

from celosia.arch.config import preset
from celosia_sim.lint import lint, lint_text

LATCH = """module celosia(input clk, input d, output reg q);
  always @* if (clk) q = d;
endmodule
"""
UNDRIVEN = "module celosia(input clk, output q);\n  wire x;\n  assign q = x & clk;\nendmodule\n"
LOOP = ("module celosia(input clk, output q);\n  wire x;\n  assign x = ~(x & clk);\n"
        "  assign q = x;\nendmodule\n")
SYNTAX = "module celosia(input clk;\nendmodule\n"


@pytest.mark.parametrize(("text", "rule"), [
    (LATCH, "LATCH"), (UNDRIVEN, "UNDRIVEN"), (LOOP, "UNOPTFLAT"), (SYNTAX, "ERROR"),
])
def test_mistakes_are_found(text, rule):
    findings = lint_text(text)
    assert rule in [finding.rule for finding in findings]
    assert str(findings[0]).startswith(f"{findings[0].rule}: celosia.v:")


SLOW = pytest.mark.slow


@pytest.mark.parametrize(("name", "simulation"), [
    ("nano", False), ("nano", True), ("core", True),
    # What these have more is what they simulate and are written from: other sizes.
    *(pytest.param(name, simulation, marks=SLOW) for name, simulation in (
        ("core", False), ("edge", False), ("edge", True), ("core4", False), ("core4", True))),
    # As instances, Verilator's own passes want more than 10 GB for 16,384 elements and do not end;
    # the text is that of the small ones but for the bounds of the loops that generate them.
    pytest.param("v2", True, marks=SLOW), pytest.param("v1", True, marks=SLOW),
])
def test_preset_is_clean(name, simulation):
    assert "\n".join(map(str, lint(preset(name), simulation=simulation))) == ""


def test_a_chip_with_ports_is_clean():
    config = replace(preset("nano"), ports=2)  # that of test_pod.py
    assert "\n".join(map(str, lint(config, simulation=True))) == ""
