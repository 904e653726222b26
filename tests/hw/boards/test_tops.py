"""The top modules: clock generators by their parameters, pads, lights, and how all is connected."""

import re

import pytest

from celosia_hw.boards.platform_pins import PinGroup
from celosia_hw.boards.pll import Pll
from celosia_hw.boards.tops import top_module
from celosia_hw.soc.system import MODULE_NAME

FEW = (PinGroup("clk", "i", ("P6",), False, ()), PinGroup("rx", "i", ("A1",), False, ()),
       PinGroup("tx", "o", ("A2",), False, ()))
ECP5 = Pll("EHXPLLL", 25_000_000, 5, 16, 7, 560e6, 80e6)
GOWIN = Pll("rPLL", 27_000_000, 7, 13, 16, 802e6, 27e6 / 7 * 13)
XILINX = Pll("PLLE2_BASE", 100_000_000, 2, 21, 15, 1050e6, 70e6)


def parameters(text: str, primitive: str) -> dict[str, str]:
    """Return what is connected to the names of an instance, its parameters among them."""
    found = re.search(rf"^{primitive} .*?\n\);", text, re.M | re.S)
    assert found is not None
    return dict(re.findall(r"\.(\w+)\(([^()]*)\)", found[0]))


def some(text: str, primitive: str, names: str) -> dict[str, str]:
    found = parameters(text, primitive)
    return {name: found[name] for name in names.split()}


@pytest.mark.parametrize(("phase", "whole", "eighths"), [
    # Phases are parts of 7 cycles of the VCO, which are counted from the sixth one.
    (1, 6, 7), (4, 9, 4), (6, 11, 2), (7, 12, 1)])
def test_the_second_output_of_an_ecp5_has_the_phase(phase, whole, eighths):
    text = top_module("ecp5", "", ECP5, FEW, phase)
    assert some(text, "EHXPLLL", "CLKI_DIV CLKFB_DIV CLKOP_DIV CLKOP_CPHASE CLKOP_FPHASE") == {
        "CLKI_DIV": "5", "CLKFB_DIV": "16", "CLKOP_DIV": "7", "CLKOP_CPHASE": "6",
        "CLKOP_FPHASE": "0"}
    assert some(text, "EHXPLLL", "CLKOS_ENABLE CLKOS_DIV CLKOS_CPHASE CLKOS_FPHASE CLKOS") == {
        "CLKOS_ENABLE": '"ENABLED"', "CLKOS_DIV": "7", "CLKOS_CPHASE": str(whole),
        "CLKOS_FPHASE": str(eighths), "CLKOS": "clk_sdram"}
    assert "wire clk_sys, clk_sdram, locked;\n" in text


def test_an_ecp5_without_an_sdram_has_one_clock():
    text = top_module("ecp5", "", ECP5, FEW)
    assert not [name for name in parameters(text, "EHXPLLL") if "CLKOS" in name]
    assert 'FREQUENCY_PIN_CLKI="25", FREQUENCY_PIN_CLKOP="80"' in text
    assert "wire clk_sys, locked;\n" in text
    assert "clk_sdram" not in text


def test_dividers_of_gowin_are_one_less():
    text = top_module("gowin", "GW2A-18", GOWIN, FEW)
    assert some(text, "rPLL", "FCLKIN DEVICE IDIV_SEL FBDIV_SEL ODIV_SEL CLKIN CLKOUT LOCK") == {
        "FCLKIN": '"27"', "DEVICE": '"GW2A-18"', "IDIV_SEL": "6", "FBDIV_SEL": "12",
        "ODIV_SEL": "16", "CLKIN": "clk", "CLKOUT": "clk_sys", "LOCK": "locked"}


def test_the_period_of_xilinx_is_in_nanoseconds():
    text = top_module("xilinx7", "", XILINX, FEW)
    assert some(text, "PLLE2_BASE",
                "CLKIN1_PERIOD DIVCLK_DIVIDE CLKFBOUT_MULT CLKOUT0_DIVIDE") == {
        "CLKIN1_PERIOD": "10.000", "DIVCLK_DIVIDE": "2", "CLKFBOUT_MULT": "21",
        "CLKOUT0_DIVIDE": "15"}


def test_ports_lights_and_pins_that_stay_high():
    pins = (*FEW, PinGroup("led_heartbeat", "o", ("B1",), False, ()),
            PinGroup("led_fault", "o", ("B2",), True, ()),
            PinGroup("high_0", "o", ("C1",), False, ()),
            PinGroup("both", "io", ("D1", "D2", "D3"), False, ()))
    text = top_module("gowin", "GW2A-18", GOWIN, pins)
    assert text.startswith("""\
module top(
  input wire clk,
  input wire rx,
  output wire tx,
  output wire led_heartbeat,
  output wire led_fault,
  output wire high_0,
  inout wire [2:0] both
);
""")
    assert re.findall("^assign .*$", text, re.M) == [
        "assign led_heartbeat = heartbeat;", "assign led_fault = ~fault;", "assign high_0 = 1'b1;"]
    assert text.endswith(f"""\
{MODULE_NAME} system(
  .clk(clk_sys),
  .rst(rst),
  .rx(rx),
  .tx(tx),
  .heartbeat(heartbeat),
  .fault(fault),
  .busy(busy)
);
endmodule
""")


#: Pins of an SDRAM, and the flip-flops at each: kind, what they take and give.
PADS = {
    ("sdram_cs_n", ("A1",)): [("OFS1P3BX", "cs_n", "sdram_cs_n")],
    ("sdram_dqm", ("A1", "A2")): [("OFS1P3BX", "dqm[0]", "sdram_dqm[0]"),
                                  ("OFS1P3BX", "dqm[1]", "sdram_dqm[1]")],
    ("sdram_cke", ("A1",)): [("OFS1P3DX", "cke", "sdram_cke")],
    ("sdram_ba", ("A1", "A2")): [("OFS1P3DX", "ba[0]", "sdram_ba[0]"),
                                 ("OFS1P3DX", "ba[1]", "sdram_ba[1]")],
    ("sdram_dq", ("A1", "A2")): [
        each for bit in range(2) for each in (
            ("OFS1P3BX", "~dq_oe", f"sdram_dq_pad{bit}_t"),
            ("OFS1P3DX", f"dq_o[{bit}]", f"sdram_dq_pad{bit}_o"),
            ("IFS1P3DX", f"sdram_dq_pad{bit}_i", f"dq_i[{bit}]"))],
    ("sdram_clk", ("A1",)): [],
}


@pytest.mark.parametrize("pins", PADS, ids=lambda pins: pins[0])
def test_pads_of_an_sdram_are_flip_flops(pins):
    text = top_module("ecp5", "", ECP5, (*FEW, PinGroup(pins[0], "o", pins[1], False, ())), 6)
    found = re.findall(r"^([OI]FS1P3[BD]X) #\(\.GSR\(\"DISABLED\"\)\) (\w+)\(\.([PC]D)\(1'b0\), "
                       r"\.D\((.*?)\), \.SP\(1'b1\), \.SCLK\(clk_sys\), \.Q\((.*?)\)\);$", text,
                       re.M)
    assert [(kind, d, q) for kind, _, _, d, q in found] == PADS[pins]
    assert all(clear == ("PD" if kind == "OFS1P3BX" else "CD") for kind, _, clear, _, _ in found)
    assert len({name for _, name, *_ in found}) == len(found)
    buffers = re.findall(r"^BB (\w+)\(\.I\((\w+)\), \.T\((\w+)\), \.O\((\w+)\), \.B\((.*?)\)\);$",
                         text, re.M)
    assert buffers == [(pad, f"{pad}_o", f"{pad}_t", f"{pad}_i", f"sdram_dq[{bit}]")
                       for bit, pad in enumerate(("sdram_dq_pad0", "sdram_dq_pad1"))
                       if pins[0] == "sdram_dq"]
    assert text.count(".SCLK(clk_sdram)") == (pins[0] == "sdram_clk")
    for name, width in (("cke", 1), ("cs_n", 1), ("ras_n", 1), ("cas_n", 1), ("we_n", 1),
                        ("ba", 2), ("a", 13), ("dqm", 2), ("dq_o", 16), ("dq_oe", 1),
                        ("dq_i", 16)):
        bits = f"[{width - 1}:0] " if width > 1 else ""
        assert f"\nwire {bits}{name};\n" in text
        assert f"  .{name}({name})" in text
