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
