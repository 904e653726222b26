"""Memories that the sequencer has for itself: 32 bits wide, bytes written one by one."""

from collections.abc import Sequence

from amaranth.hdl import Cat, ClockSignal, Const, Instance, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

__all__ = ["SPRAM_WORDS", "BlockMemory", "SpramMemory"]

#: Words of 32 bits of two SB_SPRAM256KA.
SPRAM_WORDS = 1 << 14

#: ``no_rw_check`` spares what would compare addresses: block RAMs of many chips do not read the old
#: word where one is written.
_LANE = """\
module {name}(clk, addr, read, write, data, found);
  input clk, read, write;
  input [{high}:0] addr;
  input [7:0] data;
  output reg [7:0] found;
  (* no_rw_check *) reg [7:0] words [0:{last}];
{init}  always @(posedge clk) begin
    if (write) words[addr] <= data;
    if (read) found <= words[addr];
  end
endmodule
"""


class _WordMemory(wiring.Component):
    """What both have in common."""

    addr: Signal
    read: Signal
    strobes: Signal
    data: Signal
    found: Signal

    def __init__(self, depth: int, init: Sequence[int]):
        self._depth, self._init, self._bits = depth, init, ceil_log2(depth)
        super().__init__({
            "addr": In(self._bits), "read": In(1), "strobes": In(4), "data": In(32),
            "found": Out(32),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        if hasattr(platform, "add_file"):
            self._emit(m, platform)
            return m
        m.submodules.memory = memory = Memory(shape=32, depth=self._depth, init=self._init)
        write, read = memory.write_port(granularity=8), memory.read_port()
        m.d.comb += [
            write.addr.eq(self.addr), write.en.eq(self.strobes), write.data.eq(self.data),
            read.addr.eq(self.addr), read.en.eq(self.read), self.found.eq(read.data),
        ]
        return m

    def _emit(self, m: Module, platform) -> None:
        raise NotImplementedError


class BlockMemory(_WordMemory):
    """Block RAM of ``depth`` words that begins, at power-up, with those of ``init``; not reset.

    ``found`` is the word at ``addr`` of the last cycle with ``read``; undefined if it was written
    in that cycle.

    Parameters
    ----------
    name
        Of the Verilog modules; memories that differ must have different ones.

    Members
    -------
    addr : In, read : In(1), strobes : In(4), data : In(32), found : Out(32)
    """

    def __init__(self, depth: int, init: Sequence[int] = (), *, name: str):
        if len(init) > depth:
            raise ValueError(f"init must be of {depth} words at most, not {len(init)}")
        self._name = name
        super().__init__(depth, init)

    def _emit(self, m: Module, platform) -> None:
        for lane in range(4):
            module = f"celosia_{self._name}_{lane}"
            init = "".join(f"    words[{row}] = 8'h{word >> 8 * lane & 255:02x};\n"
                           for row, word in enumerate(self._init))
            platform.add_file(f"{module}.v", _LANE.format(
                name=module, high=self._bits - 1, last=self._depth - 1,
                init=f"  initial begin\n{init}  end\n" if init else ""))
            m.submodules[f"lane{lane}"] = Instance(
                module, i_clk=ClockSignal(), i_addr=self.addr, i_read=self.read,
                i_write=self.strobes[lane], i_data=self.data.word_select(lane, 8),
                o_found=self.found.word_select(lane, 8))


class SpramMemory(_WordMemory):
    """Two SB_SPRAM256KA of an iCE40UP, `SPRAM_WORDS` words; undefined at power-up.

    ``found`` is the word at ``addr`` of the last cycle with ``read``, up to the next with
    ``strobes``; there is only one of both in a cycle.

    Members
    -------
    addr : In(14), read : In(1), strobes : In(4), data : In(32), found : Out(32)
    """

    def __init__(self) -> None:
        super().__init__(SPRAM_WORDS, ())

    def _emit(self, m: Module, platform) -> None:
        for half in range(2):
            low, high = self.strobes[2 * half], self.strobes[2 * half + 1]
            m.submodules[f"spram{half}"] = Instance(
                "SB_SPRAM256KA", i_CLOCK=ClockSignal(), i_ADDRESS=self.addr,
                i_DATAIN=self.data.word_select(half, 16), i_MASKWREN=Cat(low, low, high, high),
                i_WREN=low | high, i_CHIPSELECT=self.read | low | high, i_STANDBY=Const(0),
                i_SLEEP=Const(0), i_POWEROFF=Const(1), o_DATAOUT=self.found.word_select(half, 16))
