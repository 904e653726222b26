"""What synthesis is told because Yosys does not find it by itself.

Each is a file for Yosys beside the design, and the commands that read it.

Comparisons: Yosys makes of most a carry chain and, behind it, a tree of LUTs that tells whether the
two numbers are equal, of five levels for 32 bits. A difference that is a bit longer has the answer
at the end of the chain. With constants, and of few bits, they are better off as they are.

Products of the array (ECP5, Gowin): they go into a register, and a DSP block has one, which Yosys
leaves empty. A register in the fabric is as far from its block as the placer likes. The registers
of products start at zero, as that of the block does.

Sums of few bits (Gowin): nextpnr puts a place before each carry chain, and one behind it where that
makes an even number. Tables alone do with as many, and take what is before and behind them along.

Memories (Gowin): Yosys takes a 16x4 RAM for 4 of what a block RAM is 128 of. nextpnr gives it a
tile, of eight tables and six flip-flops; a bit that is kept in a flip-flop takes tables, too.
"""

__all__ = ["COMPARE", "COMPARISONS", "FILES", "MEMORIES_GOWIN", "MULTIPLIER", "MULTIPLIER_GOWIN",
           "NARROW", "PRODUCT", "SMALL_RAM_GOWIN", "products"]

#: A map for Yosys's `techmap`: which of two numbers is larger is the carry of their difference.
COMPARE = """\
(* techmap_celltype = "$lt $le $gt $ge" *)
module compare(A, B, Y);
  parameter A_SIGNED = 0, B_SIGNED = 0, A_WIDTH = 1, B_WIDTH = 1, Y_WIDTH = 1;
  parameter _TECHMAP_CELLTYPE_ = "", _TECHMAP_CONSTMSK_A_ = 0, _TECHMAP_CONSTMSK_B_ = 0;
  input [A_WIDTH-1:0] A;
  input [B_WIDTH-1:0] B;
  output [Y_WIDTH-1:0] Y;
  localparam WIDTH = (A_WIDTH > B_WIDTH ? A_WIDTH : B_WIDTH) + 1;
  localparam SIGNED = A_SIGNED && B_SIGNED;
  localparam SWAPS = _TECHMAP_CELLTYPE_ == "$gt" || _TECHMAP_CELLTYPE_ == "$le";
  localparam TURNS = _TECHMAP_CELLTYPE_ == "$ge" || _TECHMAP_CELLTYPE_ == "$le";
  wire _TECHMAP_FAIL_ = &_TECHMAP_CONSTMSK_A_ || &_TECHMAP_CONSTMSK_B_ || WIDTH < 6;
  wire [WIDTH-1:0] a = {{WIDTH{SIGNED && A[A_WIDTH-1]}}, A};
  wire [WIDTH-1:0] b = {{WIDTH{SIGNED && B[B_WIDTH-1]}}, B};
  wire [WIDTH-1:0] less = SWAPS ? b - a : a - b;
  assign Y = less[WIDTH-1] ^ TURNS;
endmodule
"""

#: A pattern for Yosys's `extract`: a product of two int8 that goes into a register.
PRODUCT = """\
module registered_product(input clk, input signed [7:0] a, b, output reg signed [15:0] p);
  always @(posedge clk) p <= a * b;
endmodule
"""


def _bits(port: str, wire: str, count: int) -> str:
    return ", ".join(f".{port}{bit}({wire}[{bit}])" for bit in range(count))


#: What of an ECP5 that is.
MULTIPLIER = f"""\
module registered_product(input clk, input signed [7:0] a, b, output signed [15:0] p);
  wire [17:0] left = {{{{10{{a[7]}}}}, a}}, right = {{{{10{{b[7]}}}}, b}};
  MULT18X18D #(.REG_OUTPUT_CLK("CLK0"), .REG_OUTPUT_CE("CE0"), .REG_OUTPUT_RST("RST0"))
  _TECHMAP_REPLACE_ (
    .CLK0(clk), .CE0(1'b1), .RST0(1'b0),
    .SIGNEDA(1'b1), .SIGNEDB(1'b1), .SOURCEA(1'b0), .SOURCEB(1'b0),
    {_bits("A", "left", 18)},
    {_bits("B", "right", 18)},
    {", ".join(f".C{bit}(1'b0)" for bit in range(18))},
    {_bits("P", "p", 16)});
endmodule
"""

#: What of a Gowin that is.
MULTIPLIER_GOWIN = """\
module registered_product(input clk, input signed [7:0] a, b, output signed [15:0] p);
  MULT9X9 #(.OUT_REG(1'b1)) _TECHMAP_REPLACE_ (
    .CLK(clk), .CE(1'b1), .RESET(1'b0), .ASEL(1'b0), .BSEL(1'b0), .ASIGN(1'b1), .BSIGN(1'b1),
    .A({a[7], a}), .B({b[7], b}), .SIA(9'b0), .SIB(9'b0), .DOUT(p));
endmodule
"""

#: A map for Yosys's `techmap`: sums of few bits without a carry chain.
NARROW = """\
(* techmap_celltype = "$alu" *)
module narrow(A, B, CI, BI, X, Y, CO);
  parameter A_SIGNED = 0, B_SIGNED = 0, A_WIDTH = 1, B_WIDTH = 1, Y_WIDTH = 1;
  input [A_WIDTH-1:0] A;
  input [B_WIDTH-1:0] B;
  input CI, BI;
  output [Y_WIDTH-1:0] X, Y, CO;
  wire _TECHMAP_FAIL_ = Y_WIDTH > 4;
  wire [Y_WIDTH-1:0] a = {{Y_WIDTH{A_SIGNED && A[A_WIDTH-1]}}, A};
  wire [Y_WIDTH-1:0] b = {{Y_WIDTH{B_SIGNED && B[B_WIDTH-1]}}, B};
  wire [Y_WIDTH-1:0] turned = b ^ {Y_WIDTH{BI}};
  wire [Y_WIDTH:0] carry = {CO, CI};
  genvar i;
  generate for (i = 0; i < Y_WIDTH; i = i + 1) begin
    assign CO[i] = a[i] & turned[i] | carry[i] & (a[i] | turned[i]);
  end endgenerate
  assign X = a ^ turned;
  assign Y = X ^ carry[Y_WIDTH-1:0];
endmodule
"""

#: A 16x4 RAM of a Gowin for Yosys's `memory_libmap`, by what it costs.
SMALL_RAM_GOWIN = """\
ram distributed $__GOWIN_LUTRAM_ {
  abits 4;
  width 4;
  cost 16;
  widthscale;
  init no_undef;
  prune_rom;
  port sw "W" {
    clock posedge;
  }
  port ar "R" {
  }
}
"""

#: Every file by its name, and commands that read them.
FILES = {"compare.v": COMPARE, "narrow.v": NARROW, "product.v": PRODUCT, "multiplier.v": MULTIPLIER,
         "multiplier_gowin.v": MULTIPLIER_GOWIN, "small_ram_gowin.txt": SMALL_RAM_GOWIN}
COMPARISONS = ("opt_expr", "techmap -map compare.v")
#: In place of the step ``map_ram`` of `synth_gowin`.
MEMORIES_GOWIN = (
    "memory_libmap -logic-cost-ram 4 -lib small_ram_gowin.txt -lib +/gowin/brams.txt",
    "techmap -map +/gowin/lutrams_map.v -map +/gowin/brams_map.v")


def products(multiplier: str) -> tuple[str, ...]:
    """Return the commands for products, which that file is to make."""
    return ("wreduce t:$mul", "extract -map product.v",
            "setattr -unset init t:registered_product %x:+registered_product[p] w:* %i",
            f"techmap -map {multiplier}")
