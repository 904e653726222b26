// Cells of AMD's 7 series that the tops of boards use, for simulation; see ecp5.v.

module PLLE2_BASE #(
  parameter real CLKIN1_PERIOD = 10.0,
  parameter integer DIVCLK_DIVIDE = 1, CLKFBOUT_MULT = 5, CLKOUT0_DIVIDE = 1
) (
  input CLKIN1, CLKFBIN, PWRDWN, RST,
  output CLKFBOUT, CLKOUT0, LOCKED
);
  reg [5:0] cycles = 0;
  assign CLKOUT0 = CLKIN1;
  assign CLKFBOUT = CLKIN1;
  assign LOCKED = &cycles;
  always @(posedge CLKIN1) if (!LOCKED) cycles <= cycles + 1;
endmodule

module BUFG(input I, output O);
  assign O = I;
endmodule
