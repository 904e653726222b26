// Cells of Gowin's FPGAs that the tops of boards use, for simulation; see ecp5.v.

module rPLL #(
  parameter FCLKIN = "27", DEVICE = "", DYN_IDIV_SEL = "false", DYN_FBDIV_SEL = "false",
  DYN_ODIV_SEL = "false", DYN_DA_EN = "false", PSDA_SEL = "0000", DUTYDA_SEL = "1000",
  CLKFB_SEL = "internal", CLKOUT_BYPASS = "false", CLKOUTP_BYPASS = "false",
  CLKOUTD_BYPASS = "false",
  parameter integer IDIV_SEL = 0, FBDIV_SEL = 0, ODIV_SEL = 8, DYN_SDIV_SEL = 2
) (
  input CLKIN, CLKFB, RESET, RESET_P,
  input [5:0] FBDSEL, IDSEL, ODSEL,
  input [3:0] PSDA, DUTYDA, FDLY,
  output CLKOUT, LOCK
);
  reg [5:0] cycles = 0;
  assign CLKOUT = CLKIN;
  assign LOCK = &cycles;
  always @(posedge CLKIN) if (!LOCK) cycles <= cycles + 1;
endmodule
