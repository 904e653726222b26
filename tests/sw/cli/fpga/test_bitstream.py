"""A bitstream of each family, made by the programs that ``celosia[fpga]`` brings."""

import pytest

from celosia.arch.config import PRESETS
from celosia.cli.fpga.build import BuildResult, build
from celosia_hw.boards import board
from celosia_hw.boards import sources as module
from celosia_hw.boards.sources import sources
from celosia_hw.soc.system import MODULE_NAME

pytestmark = pytest.mark.extra(name="fpga")

#: In place of a chip: it has a product, a memory, carries and logic, and is routed in a minute.
SMALL = f"""\
module {MODULE_NAME}(input clk, input rst, input rx, output reg tx, output reg heartbeat,
                     output reg fault, output reg busy);
  reg [17:0] a, b;
  reg [35:0] product;
  reg [8:0] memory [0:2047];
  reg [8:0] word;
  always @(posedge clk) begin
    a <= rst ? 18'd1 : {{a[16:0], rx ^ a[17]}};
    b <= rst ? 18'd3 : b + a;
    product <= a * b;
    memory[a[10:0]] <= product[20:12];
    word <= memory[b[10:0]];
    tx <= ^word;
    heartbeat <= ^product;
    fault <= product[35:10] == b;
    busy <= (a > b) && word[3];
  end
endmodule
"""


def check(built: BuildResult) -> None:
    assert built.bitstream is not None
    assert built.bitstream.stat().st_size > 10_000
    assert built.best is not None
    assert not built.lacks
    assert built.fmax_mhz(built.best) > built.sources.freq_hz / 1e6


@pytest.mark.parametrize("name", ["ecp5evn", "tangprimer20k"])
def test_a_small_design_becomes_a_bitstream(tmp_path, monkeypatch, name):
    monkeypatch.setattr(module, "system_verilog", lambda config, system, **_: SMALL)
    built = build(sources(board(name), PRESETS["pico"]), tmp_path)
    check(built)
    total = built.netlist.total()
    assert (total["multipliers"], total["block_rams"]) == (1, 1)


@pytest.mark.slow
def test_the_smallest_chip_becomes_a_bitstream(tmp_path):
    check(build(sources(board("ulx3s"), PRESETS["pico"], 60_000_000), tmp_path))
