"""Between the first reader and the lanes: transposes and turns rows."""

from amaranth.hdl import Module, Mux
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia_hw.memory.reader import row_layout, words_layout
from celosia_hw.vpu.moves import MoveTarget, rotate, tag_layout
from celosia_hw.vpu.transpose import Transposer

__all__ = ["Mover", "moved_layout"]


def moved_layout(config: TpuConfig) -> data.StructLayout:
    """A row on its way to the lanes, and its tag's ``bad``."""
    return data.StructLayout({"words": words_layout(config), "bad": 1})


class Mover(wiring.Component):
    """Hands rows on in order, after what their tag says.

    Rows pass, turned by their ``lane``, in the same cycle. Rows to be transposed come in tiles of
    D; a tile's first row leaves two cycles after its last one has come, and a row behind a tile
    waits until that has left. Throughput: a row a cycle, but for D + 1 cycles before the first tile
    of a run.

    Members
    -------
    i : In(stream of row_layout)
    o : Out(stream of moved_layout)
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "i": In(stream.Signature(row_layout(config, tag_layout(config)))),
            "o": Out(stream.Signature(moved_layout(config))),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.transposer = tiles = Transposer(self._config)
        row, tag = self.i.payload, self.i.payload.tag
        tiled = tag.move == MoveTarget.TRANSPOSE
        # One rotator for the rows that are to be turned and for those that go into a tile.
        amount = Mux(tiled, tiles.i_turn, tag.lane)
        turned = rotate(m, row.words.as_value(), amount, "turned")
        columns = rotate(m, tiles.o.payload.as_value(), tiles.o_turn, "column")
        m.d.comb += [
            tiles.i.valid.eq(self.i.valid & tiled),
            tiles.i.payload.as_value().eq(turned),
            self.o.valid.eq(tiles.o.valid | (self.i.valid & ~tiled & tiles.empty)),
            self.o.payload.words.as_value().eq(Mux(tiles.o.valid, columns, turned)),
            self.o.payload.bad.eq(tag.bad & ~tiles.o.valid),
            tiles.o.ready.eq(self.o.ready),
            self.i.ready.eq(Mux(tiled, tiles.i.ready, self.o.ready & tiles.empty)),
        ]
        return m
