"""A block RAM with one read and one write port."""

from amaranth.hdl import ClockSignal, Instance, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from celosia_hw.emit import Emission

__all__ = ["Ram"]

#: The form that synthesis tools infer as block RAM. Written by hand, because Amaranth writes every
#: row's initial value: hundreds of megabytes for the largest chips. Without ``no_rw_check`` yosys
#: adds a register and a bypass as wide as the word, so that a word can be read as it was while it
#: is written; block RAMs of many chips cannot do that. In simulation such a read gives wrong bits.
_VERILOG = """\
module celosia_ram(clk, write_en, write_addr, write_data, read_en, read_addr, read_data);
  parameter WIDTH = 8;
  parameter DEPTH = 4;
  parameter ADDRESS = 2;
  input clk, write_en, read_en;
  input [ADDRESS-1:0] write_addr, read_addr;
  input [WIDTH-1:0] write_data;
  output reg [WIDTH-1:0] read_data;
  (* no_rw_check *) reg [WIDTH-1:0] words [0:DEPTH-1];
  integer row;
  initial for (row = 0; row < DEPTH; row = row + 1) words[row] = {WIDTH{1'b0}};
  always @(posedge clk) begin
    if (write_en) words[write_addr] <= write_data;
    if (read_en) read_data <= words[read_addr];
`ifdef VERILATOR
    if (read_en && write_en && read_addr == write_addr) read_data <= ~words[read_addr];
`endif
  end
endmodule
"""


class Ram(wiring.Component):
    """``depth`` words of ``width`` bits, zero at power-up; not reset.

    ``read_data`` is the word at ``read_addr`` of the last cycle with ``read_en``; undefined if that
    word was written in that cycle.

    Members
    -------
    write_en : In(1), write_addr, write_data : In
    read_en : In(1), read_addr : In, read_data : Out(width)
    """

    write_en: Signal
    write_addr: Signal
    write_data: Signal
    read_en: Signal
    read_addr: Signal
    read_data: Signal

    def __init__(self, width: int, depth: int):
        self._width, self._depth, self._bits = width, depth, max(1, ceil_log2(depth))
        super().__init__({
            "write_en": In(1), "write_addr": In(self._bits), "write_data": In(width),
            "read_en": In(1), "read_addr": In(self._bits), "read_data": Out(width),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        if isinstance(platform, Emission):
            platform.texts["celosia_ram"] = _VERILOG
            m.submodules.ram = Instance(
                "celosia_ram", p_WIDTH=self._width, p_DEPTH=self._depth, p_ADDRESS=self._bits,
                i_clk=ClockSignal(), i_write_en=self.write_en, i_write_addr=self.write_addr,
                i_write_data=self.write_data, i_read_en=self.read_en, i_read_addr=self.read_addr,
                o_read_data=self.read_data)
            return m
        m.submodules.ram = ram = Memory(shape=self._width, depth=self._depth, init=[])
        write, read = ram.write_port(), ram.read_port()  # not transparent
        m.d.comb += [
            write.en.eq(self.write_en), write.addr.eq(self.write_addr),
            write.data.eq(self.write_data), read.en.eq(self.read_en),
            read.addr.eq(self.read_addr), self.read_data.eq(read.data),
        ]
        return m
