"""Between the first reader and the lanes: transposes and turns rows."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia_hw.memory.reader import row_layout, words_layout
from celosia_hw.vpu.moves import MoveTarget, rotate, tag_layout
from celosia_hw.vpu.transpose import Transposer

__all__ = ["Mover", "moved_layout"]


def moved_layout(config: TpuConfig) -> data.StructLayout:
    """A beat on its way to the lanes, and its tag's ``bad``."""
    return data.StructLayout({"words": words_layout(config), "bad": 1})


class Mover(wiring.Component):
    """Hands rows on in order, beat by beat, after what their tag says.

    Beats pass, turned by their ``lane``, in the same cycle. Rows to be transposed come in tiles of
    D; a tile's first beat leaves two cycles after its last one has come, and a row behind a tile
    waits until that has left. Of ``ROTATE`` come the beats of a row and the first of them again:
    each leaves when the one behind it has come, and has the last ``lane`` words of that.
    Throughput: a beat a cycle, but for the beats of a tile and one cycle before the first tile of a
    run, and one before each row of ``ROTATE``.

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
        m.d.comb += tiles.i.payload.as_value().eq(turned)
        absorbs: Value = Const(0)
        if self._config.fold > 1:
            absorbs, turned = self._rotate(m, turned)
        m.d.comb += [
            tiles.i.valid.eq(self.i.valid & tiled),
            self.o.valid.eq(tiles.o.valid | (self.i.valid & ~tiled & ~absorbs & tiles.empty)),
            self.o.payload.words.as_value().eq(Mux(tiles.o.valid, columns, turned)),
            self.o.payload.bad.eq(tag.bad & ~tiles.o.valid),
            tiles.o.ready.eq(self.o.ready),
            self.i.ready.eq(Mux(tiled, tiles.i.ready, (absorbs | self.o.ready) & tiles.empty)),
        ]
        return m

    def _rotate(self, m: Module, turned: Value) -> tuple[Value, Value]:
        """Return whether the beat only waits for the one behind it, and what leaves else."""
        tag, before = self.i.payload.tag, Signal.like(turned, name="before", reset_less=True)
        number = Signal(range(self._config.fold + 1))  # of the beat in its row
        rotates = tag.move == MoveTarget.ROTATE
        with m.If(self.i.valid & self.i.ready & rotates):
            m.d.sync += [before.eq(turned),
                         number.eq(Mux(number == self._config.fold, 0, number + 1))]
        joined = Cat(Mux(rotates & (lane + tag.lane < self._config.lanes),
                         before.word_select(lane, 32), turned.word_select(lane, 32))
                     for lane in range(self._config.lanes))
        return rotates & (number == 0), joined
