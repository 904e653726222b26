"""How synthesis compares numbers: by the carry of their difference.

Yosys makes of most comparisons a carry chain and, behind it, a tree of LUTs that tells whether the
two are equal, of five levels for 32 bits. A difference that is a bit longer has the answer at the
end of the chain. Comparisons with constants, and of few bits, are better off as they are.
"""

__all__ = ["COMPARE"]

#: A map for Yosys's `techmap`.
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
