"""What synthesis is told: comparisons are proven equal to Verilog's own, products are registered in
their DSP blocks, memories are where they take least.
"""

import itertools
import json

from celosia.cli.fpga.families import REGISTERED_PRODUCT, family
from celosia.cli.fpga.maps import COMPARE, FILES, NARROW
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


def narrow(name):
    """A module with sums, differences and counts of few bits, and of more."""
    sums = [f"{a} {sign} {b}" for a, b in (("u2", "u3"), ("s4", "t3"), ("s2", "t3"), ("u9", "u4"))
            for sign in "+-"]
    outputs = [f"output [3:0] y{i}" for i in range(len(sums))]
    inputs = [f"input [{bits - 1}:0] u{bits}" for bits in (2, 3, 4, 9)]
    inputs += [f"input signed [{bits - 1}:0] {x}{bits}"
               for x, bits in (("s", 4), ("t", 3), ("s", 2))]
    made = "\n".join(f"assign y{i} = {each};" for i, each in enumerate(sums))
    ports = ", ".join((*inputs, *outputs, "output [3:0] more", "output [9:0] wide"))
    return (f"module {name}({ports});\n{made}\nassign more = u4 + 1;\nassign wide = u9 + u4;\n"
            "endmodule\n")


def test_sums_of_few_bits_are_proven(tmp_path):
    (tmp_path / "both.v").write_text(narrow("plain") + narrow("mapped"))
    (tmp_path / "narrow.v").write_text(NARROW)
    script = "; ".join((
        "read_verilog -sv both.v", "proc", "wreduce", "alumacc mapped",
        "techmap -map narrow.v mapped",
        "select -assert-count 1 mapped/t:$alu", "select -assert-none mapped/t:$add mapped/t:$sub",
        "miter -equiv -flatten -make_outputs plain mapped both",
        "sat -verify -prove trigger 0 both"))
    run(find("yosys"), ["-q", "-l", "log", "-p", script], tmp_path, "log", own_log=True)
    assert "SUCCESS" in (tmp_path / "log").read_text()


#: Of three products one goes into a register, one is used before it, one is of other numbers.
THREE = """
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
"""


def synthesised(folder, name, text=THREE):
    """Synthesise a design for a board."""
    (folder / "top.v").write_text(text)
    for file, text in FILES.items():
        (folder / file).write_text(text)
    kind = family(board(name))
    script = "; ".join(("read_verilog -sv top.v", "hierarchy -top top", "proc", "flatten",
                        *kind.told, kind.synth(board(name)), "write_json netlist.json"))
    run(find("yosys"), ["-q", "-l", "log", "-p", script], folder, "log", own_log=True)
    assert "unprocessed" not in (folder / "log").read_text()
    return read(folder / "netlist.json", kind)


def test_a_product_is_registered_in_its_block(tmp_path):
    netlist = synthesised(tmp_path, "ulx3s")
    kinds = netlist.kinds()
    assert (kinds[REGISTERED_PRODUCT], kinds["MULT18X18D"]) == (1, 2)
    assert netlist.total()["multipliers"] == 3
    cells = json.loads((tmp_path / "netlist.json").read_text())["modules"]["top"]["cells"].values()
    product, = (cell["connections"] for cell in cells if "REG_OUTPUT_CLK" in cell["parameters"])
    # What no register of the block uses is not tied: nextpnr would lead a wire to it.
    assert {port for port, bits in product.items() if port.startswith(("CLK", "CE", "RST"))
            and bits != ["x"]} == {"CLK0", "CE0", "RST0"}
    assert kinds["TRELLIS_FF"] == 8 + 8 + 19 + 16 + 16


def test_a_product_is_registered_in_its_block_of_a_gowin(tmp_path):
    netlist = synthesised(tmp_path, "tangprimer20k")
    cells = json.loads((tmp_path / "netlist.json").read_text())["modules"]["top"]["cells"].values()
    products = [cell for cell in cells if cell["type"] == "MULT9X9"]
    registered = [cell for cell in products if int(cell["parameters"].get("OUT_REG", "0"), 2)]
    assert (len(registered), len(products)) == (1, 3)
    assert registered[0]["connections"]["CE"] != registered[0]["connections"]["RESET"]
    assert netlist.total()["flip_flops"] == 8 + 8 + 19 + 16 + 16


def test_memories_of_a_gowin_are_where_they_take_least(tmp_path):
    """A wide one that is read into a register is a block RAM, a shallow one that is not a small
    RAM, and what is read while it is written costs no flip-flops.
    """
    text = """
module top(input clk, we, input [5:0] wa, ra, input [31:0] d, output reg [31:0] q,
           input [1:0] sa, output [3:0] s);
  reg [31:0] wide [0:63];
  reg [3:0] shallow [0:3];
  assign s = shallow[sa];
  always @(posedge clk) begin
    q <= wide[ra];
    if (we) wide[wa] <= d;
    if (we) shallow[wa[1:0]] <= d[3:0];
  end
endmodule
"""
    kinds = synthesised(tmp_path, "tangprimer20k", text).kinds()
    assert {kind: kinds[kind] for kind in ("SDPX9B", "RAM16SDP4")} == {
        "SDPX9B": 1, "RAM16SDP4": 1}
    assert not any(kind.startswith("DFF") for kind in kinds)
