"""What synthesis is told: comparisons are proven equal to Verilog's own, products are registered in
their DSP blocks.
"""

import itertools

from celosia.cli.fpga.families import REGISTERED_PRODUCT, family
from celosia.cli.fpga.maps import COMPARE, FILES, PRODUCTS
from celosia.cli.fpga.netlist import read
from celosia.cli.fpga.tools import find, run
from celosia_hw.boards import board

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


def test_a_product_is_registered_in_its_block(tmp_path):
    """Of three: one that goes into a register, one that is used before it, one of other numbers."""
    (tmp_path / "top.v").write_text("""
module top(input clk, enable, input signed [7:0] a, b, input [18:0] s, output reg [18:0] y,
           output reg signed [15:0] bare, output signed [15:0] seen, output reg [15:0] wide);
  reg signed [7:0] act = 0, weight = 0;
  reg signed [15:0] product = 16'd0;
  assign seen = b * act;
  always @(posedge clk) begin
    act <= a;
    if (enable) weight <= b;
    product <= $signed(act) * $signed(weight);
    y <= s + {{3{product[15]}}, product};
    bare <= seen;
    wide <= {1'b0, a} * {1'b0, b};
  end
endmodule
""")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    ulx3s = board("ulx3s")
    ecp5 = family(ulx3s)
    script = "; ".join(("read_verilog -sv top.v", "hierarchy -top top", "proc", "flatten",
                        "opt_expr", *PRODUCTS, ecp5.synth(ulx3s), "write_json netlist.json"))
    run(find("yosys"), ["-q", "-l", "log", "-p", script], tmp_path, "log", own_log=True)
    netlist = read(tmp_path / "netlist.json", ecp5)
    kinds = netlist.kinds()
    assert (kinds[REGISTERED_PRODUCT], kinds["MULT18X18D"]) == (1, 2)
    assert netlist.total()["multipliers"] == 3
    assert kinds["TRELLIS_FF"] == 8 + 8 + 19 + 16 + 16
    assert "unprocessed" not in (tmp_path / "log").read_text()
