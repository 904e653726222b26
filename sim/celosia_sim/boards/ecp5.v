// Cells of the ECP5 that the tops of boards use, for simulation.
//
// Clocks pass through the clock generator: who simulates drives the oscillator's pin as fast as the
// generator's output would be, and `shifted`, as its second output would rise and fall. What a cell has and no top uses is left out.

module EHXPLLL #(
  parameter PLLRST_ENA = "DISABLED", INTFB_WAKE = "DISABLED", STDBY_ENABLE = "DISABLED",
  DPHASE_SOURCE = "DISABLED", OUTDIVIDER_MUXA = "DIVA", OUTDIVIDER_MUXB = "DIVB",
  OUTDIVIDER_MUXC = "DIVC", OUTDIVIDER_MUXD = "DIVD", FEEDBK_PATH = "CLKOP",
  CLKOP_ENABLE = "ENABLED", CLKOS_ENABLE = "DISABLED",
  parameter integer CLKI_DIV = 1, CLKFB_DIV = 1, CLKOP_DIV = 8, CLKOP_CPHASE = 0, CLKOP_FPHASE = 0,
  CLKOS_DIV = 8, CLKOS_CPHASE = 0, CLKOS_FPHASE = 0
) (
  input RST, STDBY, CLKI, CLKFB, PHASESEL0, PHASESEL1, PHASEDIR, PHASESTEP, PHASELOADREG,
  PLLWAKESYNC, ENCLKOP, ENCLKOS,
  output CLKOP, CLKOS, LOCK
);
  reg shifted /*verilator public_flat_rw*/ = 0;
  assign CLKOS = shifted;
  reg [5:0] cycles = 0;
  assign CLKOP = CLKI;
  assign LOCK = &cycles;
  always @(posedge CLKI) if (!LOCK) cycles <= cycles + 1;
endmodule

module ODDRX1F #(parameter GSR = "ENABLED") (input SCLK, RST, D0, D1, output Q);
  reg high = 0, low = 0;
  always @(posedge SCLK) begin
    high <= D0 & ~RST;
    low <= D1 & ~RST;
  end
  assign Q = SCLK ? high : low;
endmodule

module OFS1P3BX #(parameter GSR = "ENABLED") (input PD, D, SP, SCLK, output reg Q);
  initial Q = 1;
  always @(posedge SCLK) if (PD) Q <= 1; else if (SP) Q <= D;
endmodule

module OFS1P3DX #(parameter GSR = "ENABLED") (input CD, D, SP, SCLK, output reg Q);
  initial Q = 0;
  always @(posedge SCLK) if (CD) Q <= 0; else if (SP) Q <= D;
endmodule

module IFS1P3DX #(parameter GSR = "ENABLED") (input CD, D, SP, SCLK, output reg Q);
  initial Q = 0;
  always @(posedge SCLK) if (CD) Q <= 0; else if (SP) Q <= D;
endmodule

module BB(input I, T, output O, inout B);
  assign B = T ? 1'bz : I;
  assign O = B;
endmodule
