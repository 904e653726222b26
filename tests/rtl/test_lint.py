"""Lint of the presets' Verilog, and that it can fail."""

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


@pytest.mark.parametrize("name", [
    "nano", "edge", "core",
    pytest.param("v2", marks=pytest.mark.slow), pytest.param("v1", marks=pytest.mark.slow),
])
@pytest.mark.parametrize("simulation", [False, True], ids=["synthesis", "simulation"])
def test_preset_is_clean(name, simulation):
    assert "\n".join(map(str, lint(preset(name), simulation=simulation))) == ""
