"""Transposition of tiles, a row a cycle."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia_hw.memory.ram import Ram
from celosia_hw.memory.reader import words_layout

__all__ = ["Transposer"]


class Transposer(wiring.Component):
    """Takes the rows of D x D tiles and gives their columns.

    Rows and columns come in beats of W words, each of which is in a RAM of its own. Word i of beat
    k of a tile's row r lies in RAM (i + r) mod W at address (r, k): all words of a beat of a row
    are in different RAMs, and so are all words of a beat of a column. So each RAM has one port for
    writing and one for reading, and a beat differs from what goes in and out of the RAMs by a turn
    only. The user of the transposer turns it, with :func:`celosia_hw.vpu.moves.rotate`. The RAMs
    hold two tiles: one is filled while the other is emptied.

    Throughput: a beat a cycle, over tiles that follow one another too. Latency: the first column
    is offered two cycles after the tile's last beat was taken.

    Members
    -------
    i : In(stream of words_layout)
        Rows of a tile, in order, each beat turned by ``i_turn``.
    i_turn : Out
        How far the beat that is taken next has to be turned.
    o : Out(stream of words_layout)
        Columns, in order, each beat still to be turned by ``o_turn``.
    o_turn : Out
    empty : Out(1)
        Nothing is inside.
    """

    i: stream.Interface
    i_turn: Signal
    o: stream.Interface
    o_turn: Signal
    empty: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        bits = exact_log2(config.lanes)
        super().__init__({
            "i": In(stream.Signature(words_layout(config))), "i_turn": Out(bits),
            "o": Out(stream.Signature(words_layout(config))), "o_turn": Out(bits),
            "empty": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        beats, lane_bits = exact_log2(self._config.fold), len(self.i_turn)
        bits = beats + exact_log2(self._config.dim)  # of the number of a beat in its tile
        end = (1 << bits) - 1
        put, fill = Signal(bits), Signal()  # where the next beat goes: its number, its tile
        get, drain = Signal(bits), Signal()
        row, (column_beat, column) = put[beats:], (get[:beats], get[beats:])
        full = [Signal(name=f"full{tile}") for tile in range(2)]
        write, read = Signal(), Signal()
        m.d.comb += [
            self.i.ready.eq(~Mux(fill, full[1], full[0])),
            write.eq(self.i.valid & self.i.ready),
            self.i_turn.eq(-row),
            read.eq(Mux(drain, full[1], full[0]) & (~self.o.valid | self.o.ready)),
            self.empty.eq(~full[0] & ~full[1] & (put == 0) & ~self.o.valid),
        ]
        with m.If(write):
            m.d.sync += [put.eq(put + 1), fill.eq(fill ^ (put == end))]
        with m.If(read):
            m.d.sync += [get.eq(get + 1), drain.eq(drain ^ (get == end)),
                         self.o_turn.eq(column), self.o.valid.eq(1)]
        with m.Elif(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        for tile, tile_full in enumerate(full):
            with m.If(write & (put == end) & (fill == tile)):
                m.d.sync += tile_full.eq(1)
            with m.Elif(read & (get == end) & (drain == tile)):
                m.d.sync += tile_full.eq(0)

        for k in range(self._config.lanes):
            m.submodules[f"ram{k}"] = ram = Ram(32, 2 << bits)
            # The word of this RAM belongs to row (k - column) mod W of the rows of this beat.
            row_read = Cat((k - column)[:lane_bits], column_beat)
            m.d.comb += [
                ram.write_en.eq(write), ram.write_addr.eq(Cat(put, fill)),
                ram.write_data.eq(self.i.payload[k]), ram.read_en.eq(read),
                ram.read_addr.eq(Cat(column[lane_bits:], row_read, drain)),
                self.o.payload[k].eq(ram.read_data),
            ]
        return m
