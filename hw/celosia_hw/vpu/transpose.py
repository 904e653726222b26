"""Transposition of tiles, a row a cycle."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from celosia.arch.config import TpuConfig
from celosia_hw.memory.ram import Ram
from celosia_hw.memory.reader import words_layout

__all__ = ["Transposer"]


class Transposer(wiring.Component):
    """Takes the rows of D x D tiles and gives their columns.

    Lane i of a tile's row r lies in RAM (i + r) mod D at address r: all words of a row are in
    different RAMs, and so are all words of a column. So each RAM has one port for writing and one
    for reading, and a row and a column differ from what goes in and out of the RAMs by a turn
    only. The user of the transposer turns them, with :func:`celosia_hw.vpu.moves.rotate`. The RAMs
    hold two tiles: one is filled while the other is emptied.

    Throughput: a row a cycle, over tiles that follow one another too. Latency: the first column is
    offered two cycles after the tile's last row was taken.

    Members
    -------
    i : In(stream of words_layout)
        Rows of a tile, in order, each turned by ``i_turn``.
    i_turn : Out
        How far the row that is taken next has to be turned.
    o : Out(stream of words_layout)
        Columns, in order, each still to be turned by ``o_turn``.
    o_turn : Out
    empty : Out(1)
        No row is inside.
    """

    i: stream.Interface
    i_turn: Signal
    o: stream.Interface
    o_turn: Signal
    empty: Signal

    def __init__(self, config: TpuConfig):
        self._dim, self._bits = config.dim, ceil_log2(config.dim)
        super().__init__({
            "i": In(stream.Signature(words_layout(config))), "i_turn": Out(self._bits),
            "o": Out(stream.Signature(words_layout(config))), "o_turn": Out(self._bits),
            "empty": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        bits, end = self._bits, self._dim - 1
        row, fill = Signal(bits), Signal()  # where the next row goes: its number, its tile
        column, drain = Signal(bits), Signal()
        full = [Signal(name=f"full{tile}") for tile in range(2)]
        write, read = Signal(), Signal()
        m.d.comb += [
            self.i.ready.eq(~Mux(fill, full[1], full[0])),
            write.eq(self.i.valid & self.i.ready),
            self.i_turn.eq(-row),
            read.eq(Mux(drain, full[1], full[0]) & (~self.o.valid | self.o.ready)),
            self.empty.eq(~full[0] & ~full[1] & (row == 0) & ~self.o.valid),
        ]
        with m.If(write):
            m.d.sync += [row.eq(row + 1), fill.eq(fill ^ (row == end))]
        with m.If(read):
            m.d.sync += [column.eq(column + 1), drain.eq(drain ^ (column == end)),
                         self.o_turn.eq(column), self.o.valid.eq(1)]
        with m.Elif(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        for tile, tile_full in enumerate(full):
            with m.If(write & (row == end) & (fill == tile)):
                m.d.sync += tile_full.eq(1)
            with m.Elif(read & (column == end) & (drain == tile)):
                m.d.sync += tile_full.eq(0)

        for k in range(self._dim):
            m.submodules[f"ram{k}"] = ram = Ram(32, 2 * self._dim)
            m.d.comb += [
                ram.write_en.eq(write), ram.write_addr.eq(Cat(row, fill)),
                ram.write_data.eq(self.i.payload[k]),
                ram.read_en.eq(read), ram.read_addr.eq(Cat((k - column)[:bits], drain)),
                self.o.payload[k].eq(ram.read_data),
            ]
        return m
