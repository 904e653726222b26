"""A byte lane of on-chip memory."""

from amaranth.hdl import ClockSignal, Instance, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

__all__ = ["LaneRam"]

#: ``no_rw_check`` spares what would compare addresses: Gowin's block RAM does not read the old word
#: where one is written.
_VERILOG = """\
module celosia_lane_ram(clk, write_en, write_addr, write_data, read_en, read_addr, read_data);
  parameter DEPTH = 4;
  parameter ADDRESS = 2;
  input clk, write_en, read_en;
  input [ADDRESS-1:0] write_addr, read_addr;
  input [7:0] write_data;
  output reg [7:0] read_data;
  (* no_rw_check *) reg [7:0] words [0:DEPTH-1];
  always @(posedge clk) begin
    if (write_en) words[write_addr] <= write_data;
    if (read_en) read_data <= words[read_addr];
  end
endmodule
"""


class LaneRam(wiring.Component):
    """``depth`` bytes with a read and a write port; not reset.

    ``read_data`` is the byte at ``read_addr`` of the last cycle with ``read_en``; if it was written
    in that cycle, undefined.

    Members
    -------
    write_en : In(1), write_addr : In, write_data : In(8)
    read_en : In(1), read_addr : In, read_data : Out(8)
    """

    write_en: Signal
    write_addr: Signal
    write_data: Signal
    read_en: Signal
    read_addr: Signal
    read_data: Signal

    def __init__(self, depth: int):
        self._depth, self._bits = depth, ceil_log2(depth)
        super().__init__({
            "write_en": In(1), "write_addr": In(self._bits), "write_data": In(8),
            "read_en": In(1), "read_addr": In(self._bits), "read_data": Out(8),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        if hasattr(platform, "add_file"):
            platform.add_file("celosia_lane_ram.v", _VERILOG)
            m.submodules.ram = Instance(
                "celosia_lane_ram", p_DEPTH=self._depth, p_ADDRESS=self._bits,
                i_clk=ClockSignal(), i_write_en=self.write_en, i_write_addr=self.write_addr,
                i_write_data=self.write_data, i_read_en=self.read_en, i_read_addr=self.read_addr,
                o_read_data=self.read_data)
            return m
        m.submodules.ram = ram = Memory(shape=8, depth=self._depth, init=[])
        write, read = ram.write_port(), ram.read_port()
        m.d.comb += [
            write.en.eq(self.write_en), write.addr.eq(self.write_addr),
            write.data.eq(self.write_data), read.en.eq(self.read_en),
            read.addr.eq(self.read_addr), self.read_data.eq(read.data),
        ]
        return m
