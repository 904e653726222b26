"""The words of a burst's piece, one by one."""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia_hw.soc.sdram_bursts import piece_layout
from celosia_hw.soc.sdram_timing import SdramTiming

__all__ = ["PieceWalk"]


class PieceWalk(wiring.Component):
    """Holds a piece and goes through its words, a word in each cycle of ``step``.

    Members
    -------
    next : In(piece_layout), take : In(1)
        The piece that is walked from the next cycle on; with the last ``step`` of one, or later.
    step : In(1)
    piece : Out(piece_layout)
        Its ``beat`` and ``left`` are those of the word.
    word : Out
        Place of the word in its beat.
    ends_beat, ends : Out(1)
        The word is the last of its beat; of the piece.
    """

    next: Any
    take: Signal
    step: Signal
    piece: Any
    word: Signal
    ends_beat: Signal
    ends: Signal

    def __init__(self, config: TpuConfig, timing: SdramTiming):
        layout = piece_layout(config, timing)
        super().__init__({
            "next": In(layout), "take": In(1), "step": In(1), "piece": Out(layout),
            "word": Out(exact_log2(config.bus_bytes // 2)), "ends_beat": Out(1), "ends": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        piece = Signal.like(self.piece, reset_less=True)
        last = Signal(reset_less=True)  # piece.left == 0
        m.d.comb += [self.piece.eq(piece), self.ends_beat.eq(self.word.all()),
                     self.ends.eq(self.ends_beat & last)]
        with m.If(self.step):
            m.d.sync += self.word.eq(self.word + 1)
            with m.If(self.ends_beat):
                m.d.sync += [piece.beat.eq(piece.beat + 1), piece.left.eq(piece.left - 1),
                             last.eq(piece.left == 1)]
        with m.If(self.take):
            m.d.sync += [piece.eq(self.next), last.eq(self.next.left == 0)]
        return m
