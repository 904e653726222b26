// Cells of the iCE40 UltraPlus that the tops of boards use, for simulation; see ecp5.v.

module SB_PLL40_PAD #(
  parameter FEEDBACK_PATH = "SIMPLE",
  parameter [3:0] DIVR = 0, parameter [6:0] DIVF = 0, parameter [2:0] DIVQ = 0,
  parameter [2:0] FILTER_RANGE = 0
) (
  input PACKAGEPIN, RESETB, BYPASS,
  output PLLOUTGLOBAL, LOCK
);
  reg [5:0] cycles = 0;
  assign PLLOUTGLOBAL = PACKAGEPIN;
  assign LOCK = &cycles;
  always @(posedge PACKAGEPIN) if (!LOCK) cycles <= cycles + 1;
endmodule

module SB_SPRAM256KA(
  input CLOCK, CHIPSELECT, WREN, STANDBY, SLEEP, POWEROFF,
  input [13:0] ADDRESS,
  input [15:0] DATAIN,
  input [3:0] MASKWREN,
  output reg [15:0] DATAOUT
);
  reg [15:0] words [0:16383];
  wire [15:0] mask = {{4{MASKWREN[3]}}, {4{MASKWREN[2]}}, {4{MASKWREN[1]}}, {4{MASKWREN[0]}}};
  // POWEROFF is low-active. What it shows after a write is not defined.
  always @(posedge CLOCK) if (CHIPSELECT && POWEROFF && !STANDBY && !SLEEP) begin
    if (WREN) words[ADDRESS] <= (words[ADDRESS] & ~mask) | (DATAIN & mask);
    DATAOUT <= WREN ? ~words[ADDRESS] : words[ADDRESS];
  end
endmodule

// As its parameters are in the matrix engine: two signed products of 8 x 8 bits, with registers at
// the operands (B keeps its value on BHOLD) and at the products.
module SB_MAC16 #(
  parameter [0:0] A_REG = 0, B_REG = 0, C_REG = 0, D_REG = 0,
  parameter [0:0] TOP_8x8_MULT_REG = 0, BOT_8x8_MULT_REG = 0,
  parameter [0:0] PIPELINE_16x16_MULT_REG1 = 0, PIPELINE_16x16_MULT_REG2 = 0,
  parameter [1:0] TOPOUTPUT_SELECT = 0, BOTOUTPUT_SELECT = 0,
  parameter [0:0] MODE_8x8 = 0, A_SIGNED = 0, B_SIGNED = 0
) (
  input CLK, CE,
  input [15:0] A, B, C, D,
  input AHOLD, BHOLD, CHOLD, DHOLD, IRSTTOP, IRSTBOT, ORSTTOP, ORSTBOT, OLOADTOP, OLOADBOT,
  input ADDSUBTOP, ADDSUBBOT, OHOLDTOP, OHOLDBOT, CI, ACCUMCI, SIGNEXTIN,
  output [31:0] O
);
  reg signed [15:0] a, b;
  reg signed [15:0] top, bottom;
  assign O = {top, bottom};
  initial if (!(A_REG && B_REG && TOP_8x8_MULT_REG && BOT_8x8_MULT_REG && MODE_8x8 && A_SIGNED
                && B_SIGNED && TOPOUTPUT_SELECT == 2 && BOTOUTPUT_SELECT == 2))
    $fatal(1, "SB_MAC16: only registered signed products of 8 x 8 bits are modelled");
  always @(posedge CLK) if (CE) begin
    if (!AHOLD) a <= A;
    if (!BHOLD) b <= B;
    top <= $signed(a[15:8]) * $signed(b[15:8]);
    bottom <= $signed(a[7:0]) * $signed(b[7:0]);
  end
endmodule
