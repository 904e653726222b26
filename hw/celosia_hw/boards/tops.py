"""Verilog of the top modules: clock, reset and pads of each family around the system."""

from collections.abc import Callable

from celosia_hw.boards.platform_pins import PinGroup
from celosia_hw.boards.pll import Pll
from celosia_hw.soc.sdram_pads import PHASES
from celosia_hw.soc.system import MODULE_NAME

__all__ = ["top_module"]


def _mhz(hz: float) -> str:
    return f"{hz / 1e6:.6f}".rstrip("0").rstrip(".")


def _ecp5_clock(pll: Pll, phase: int) -> str:
    # The lock is of the feedback, which is the first output itself, and that has phase 0. A phase
    # is counted in cycles of the VCO, and in eighths of one.
    begin = pll.output - 1
    whole, eighths = divmod(phase * pll.output * 8 // PHASES, 8)
    second = (f""", .CLKOS_ENABLE("ENABLED"), .CLKOS_DIV({pll.output}),
  .CLKOS_CPHASE({begin + whole}), .CLKOS_FPHASE({eighths})""" if phase else "")
    return f"""\
(* FREQUENCY_PIN_CLKI="{_mhz(pll.clock_hz)}", FREQUENCY_PIN_CLKOP="{_mhz(pll.freq_hz)}",
   ICP_CURRENT="12", LPF_RESISTOR="8", MFG_ENABLE_FILTEROPAMP="1", MFG_GMCREF_SEL="2" *)
EHXPLLL #(
  .PLLRST_ENA("DISABLED"), .INTFB_WAKE("DISABLED"), .STDBY_ENABLE("DISABLED"),
  .DPHASE_SOURCE("DISABLED"), .OUTDIVIDER_MUXA("DIVA"), .OUTDIVIDER_MUXB("DIVB"),
  .OUTDIVIDER_MUXC("DIVC"), .OUTDIVIDER_MUXD("DIVD"), .CLKI_DIV({pll.input}),
  .CLKFB_DIV({pll.feedback}), .CLKOP_ENABLE("ENABLED"), .CLKOP_DIV({pll.output}),
  .CLKOP_CPHASE({begin}), .CLKOP_FPHASE(0), .FEEDBK_PATH("CLKOP"){second}
) pll (
  .RST(1'b0), .STDBY(1'b0), .CLKI(clk), .CLKOP(clk_sys), .CLKFB(clk_sys), .PHASESEL0(1'b0),
  .PHASESEL1(1'b0), .PHASEDIR(1'b1), .PHASESTEP(1'b1), .PHASELOADREG(1'b1), .PLLWAKESYNC(1'b0),
  .ENCLKOP(1'b0), .LOCK(locked){", .CLKOS(clk_sdram), .ENCLKOS(1'b0)" if phase else ""}
);
"""


def _gowin_clock(pll: Pll, device: str) -> str:
    return f"""\
rPLL #(
  .FCLKIN("{_mhz(pll.clock_hz)}"), .DEVICE("{device}"), .IDIV_SEL({pll.input - 1}),
  .FBDIV_SEL({pll.feedback - 1}), .ODIV_SEL({pll.output}), .DYN_IDIV_SEL("false"),
  .DYN_FBDIV_SEL("false"), .DYN_ODIV_SEL("false"), .DYN_DA_EN("false"), .DYN_SDIV_SEL(2),
  .PSDA_SEL("0000"), .DUTYDA_SEL("1000"), .CLKFB_SEL("internal"), .CLKOUT_BYPASS("false"),
  .CLKOUTP_BYPASS("false"), .CLKOUTD_BYPASS("false")
) pll (
  .CLKIN(clk), .CLKFB(1'b0), .CLKOUT(clk_sys), .LOCK(locked), .RESET(1'b0), .RESET_P(1'b0),
  .FBDSEL(6'b0), .IDSEL(6'b0), .ODSEL(6'b0), .PSDA(4'b0), .DUTYDA(4'b0), .FDLY(4'b0)
);
"""


def _xilinx7_clock(pll: Pll) -> str:
    return f"""\
wire clk_feedback, clk_made;
PLLE2_BASE #(
  .CLKIN1_PERIOD({1e9 / pll.clock_hz:.3f}), .DIVCLK_DIVIDE({pll.input}),
  .CLKFBOUT_MULT({pll.feedback}), .CLKOUT0_DIVIDE({pll.output})
) pll (
  .CLKIN1(clk), .CLKFBOUT(clk_feedback), .CLKFBIN(clk_feedback), .CLKOUT0(clk_made),
  .LOCKED(locked), .PWRDWN(1'b0), .RST(1'b0)
);
BUFG buffer(.I(clk_made), .O(clk_sys));
"""


_RESET = """\
// Reset until the clock has been good for 256 cycles.
reg [1:0] good = 2'b00;
reg [8:0] settled = 9'd0;
reg rst = 1'b1;
always @(posedge clk_sys) begin
  good <= {good[0], locked};
  if (!good[1]) begin
    settled <= 9'd0;
    rst <= 1'b1;
  end else begin
    if (!settled[8]) settled <= settled + 9'd1;
    rst <= !settled[8];
  end
end
"""


def _flip_flop(kind: str, name: str, clear: str, d: str, q: str) -> str:
    """A flip-flop in an I/O cell of an ECP5, never cleared."""
    return (f"{kind} #(.GSR(\"DISABLED\")) {name}(.{clear}(1'b0), .D({d}), .SP(1'b1), "
            f".SCLK(clk_sys), .Q({q}));\n")


def _ecp5_sdram(group: PinGroup) -> str:
    """Pads of one group of an SDRAM's pins: flip-flops in the I/O cells, and a clock."""
    name, width = group.port, len(group.names)
    if name == "sdram_clk":
        return ("// Rises where the other pins are stable, by the phase of the clock.\n"
                "ODDRX1F sdram_clk_pad(.SCLK(clk_sdram), .RST(1'b0), .D0(1'b1), .D1(1'b0), "
                ".Q(sdram_clk));\n")
    lines = []
    for bit in range(width):
        index = f"[{bit}]" if width > 1 else ""
        pad = f"{name}_pad{bit}"
        if name == "sdram_dq":
            flip_flops = (("OFS1P3BX", "t", "PD", "~dq_oe", f"{pad}_t"),
                          ("OFS1P3DX", "o", "CD", f"dq_o{index}", f"{pad}_o"),
                          ("IFS1P3DX", "i", "CD", f"{pad}_i", f"dq_i{index}"))
            lines += [
                f"wire {pad}_i, {pad}_o, {pad}_t;\n",
                *(_flip_flop(kind, f"{pad}_{part}_ff", clear, d, q)
                  for kind, part, clear, d, q in flip_flops),
                f"BB {pad}(.I({pad}_o), .T({pad}_t), .O({pad}_i), .B({name}{index}));\n"]
        else:
            inner = name.removeprefix("sdram_")
            kind, clear = ("BX", "PD") if name.endswith("_n") or inner == "dqm" else ("DX", "CD")
            lines.append(_flip_flop(f"OFS1P3{kind}", pad, clear, f"{inner}{index}",
                                    f"{name}{index}"))
    return "".join(lines)


#: Members of the system and widths, beside the pins that are the same on every board.
_SDRAM_WIRES = (("cke", 1), ("cs_n", 1), ("ras_n", 1), ("cas_n", 1), ("we_n", 1), ("ba", 2),
                ("a", 13), ("dqm", 2), ("dq_o", 16), ("dq_oe", 1), ("dq_i", 16))


def _range(width: int) -> str:
    return f"[{width - 1}:0] " if width > 1 else ""


def top_module(family: str, device: str, pll: Pll, pins: tuple[PinGroup, ...],
               phase: int = 0) -> str:
    """Verilog of the module ``top``, whose ports are ``pins``.

    ``phase``: of the clock of an SDRAM, in parts of a cycle (`PHASES`); 0: there is none.
    """
    directions = {"i": "input", "o": "output", "io": "inout"}
    ports = ",\n".join(f"  {directions[pin.direction]} wire {_range(len(pin.names))}{pin.port}"
                       for pin in pins)
    clocks: dict[str, Callable[[], str]] = {
        "ecp5": lambda: _ecp5_clock(pll, phase),
        "gowin": lambda: _gowin_clock(pll, device), "xilinx7": lambda: _xilinx7_clock(pll)}
    wires = "clk_sys, clk_sdram, locked" if phase else "clk_sys, locked"
    text = [f"module top(\n{ports}\n);\nwire {wires};\n", clocks[family](), _RESET,
            "wire heartbeat, fault, busy;\n"]
    connections = ["clk", "rst", "rx", "tx", "heartbeat", "fault", "busy"]
    nets = {"clk": "clk_sys"}
    sdram = [pin for pin in pins if pin.port.startswith("sdram_")]
    if sdram:
        text += [f"wire {_range(width)}{name};\n" for name, width in _SDRAM_WIRES]
        connections += [name for name, _ in _SDRAM_WIRES]
        text += [_ecp5_sdram(pin) for pin in sdram]
    for pin in pins:
        if pin.port.startswith("led_"):
            light = pin.port.removeprefix("led_")
            text.append(f"assign {pin.port} = {'~' if pin.invert else ''}{light};\n")
        elif pin.port.startswith("high_"):
            text.append(f"assign {pin.port} = 1'b1;\n")
    wires = ",\n".join(f"  .{name}({nets.get(name, name)})" for name in connections)
    return "".join([*text, f"{MODULE_NAME} system(\n{wires}\n);\nendmodule\n"])
