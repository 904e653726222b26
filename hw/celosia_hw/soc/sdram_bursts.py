"""Bursts for an SDRAM, cut into pieces of one row and looked up among the open rows."""

from typing import Any

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import TpuConfig
from celosia_hw.bus.axi import OKAY, address_layout
from celosia_hw.soc.sdram_timing import SdramTiming

__all__ = ["Bursts", "piece_layout"]

#: Write bursts that may be unanswered.
_WRITES = 4


def piece_layout(config: TpuConfig, timing: SdramTiming) -> data.StructLayout:
    """A piece of a burst in one row: the first beat and the beats that follow it.

    ``final``: the burst ends with it.
    """
    beat_bits = timing.column_bits + 1 - exact_log2(config.bus_bytes)
    return data.StructLayout({
        "write": 1, "id": 1, "final": 1, "row": timing.row_bits, "bank": timing.bank_bits,
        "beat": beat_bits, "left": beat_bits,
    })


class Bursts(wiring.Component):
    """Takes a burst, read or written (in turns, where both wait), and offers it in pieces.

    A piece is offered from the third cycle after the one before it was taken, while its burst has
    more; or from the fourth after AR or AW. ``hit`` and ``is_open`` know of what the controller
    did until three cycles ago.

    Members
    -------
    ar, aw : In(address streams)
    b : Out(stream of responses)
    ready : Out(1), piece : Out(piece_layout), take : In(1)
        The next piece. ``take`` only when ``ready``.
    hit, is_open : Out(1)
        The piece's row is open; a row of its bank is open.
    done : In(1)
        The last word of a write burst is under way: answer.
    opened : In(1), bank : In, row : In
        ``row`` of ``bank`` is opened.
    close_all : In(1)
        All rows are closed.
    """

    ar: Any
    aw: Any
    b: Any
    ready: Signal
    piece: Any
    take: Signal
    hit: Signal
    is_open: Signal
    done: Signal
    opened: Signal
    bank: Signal
    row: Signal
    close_all: Signal

    def __init__(self, config: TpuConfig, timing: SdramTiming):
        self._timing = timing
        self._low = exact_log2(config.bus_bytes)
        self._layout = piece_layout(config, timing)
        address = stream.Signature(address_layout())
        super().__init__({
            "ar": In(address), "aw": In(address),
            "b": Out(stream.Signature(2)), "ready": Out(1), "piece": Out(self._layout),
            "take": In(1), "hit": Out(1), "is_open": Out(1), "done": In(1), "opened": In(1),
            "bank": In(timing.bank_bits), "row": In(timing.row_bits), "close_all": In(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        timing, piece = self._timing, self.piece
        beat_bits = len(piece.beat)

        # The burst that is cut: its place and the beats after the first.
        burst = Signal(self._layout, reset_less=True)
        more, held = Signal(8, reset_less=True), Signal()
        prefer_write, use_write = Signal(), Signal()
        unanswered, answers = Signal(range(_WRITES + 1)), Signal(range(_WRITES + 1))
        room = Signal()
        m.d.comb += [
            room.eq(unanswered != _WRITES),
            use_write.eq(self.aw.valid & room & (prefer_write | ~self.ar.valid)),
            self.aw.ready.eq(~held & use_write), self.ar.ready.eq(~held & ~use_write),
        ]
        taken_w = self.aw.valid & self.aw.ready
        chosen = Mux(use_write, self.aw.payload, self.ar.payload)
        address = Signal.like(self.ar.payload)
        m.d.comb += address.eq(chosen)
        place = address.addr[self._low:]
        with m.If(~held & (use_write | self.ar.valid)):
            m.d.sync += [
                held.eq(1), prefer_write.eq(~use_write), burst.write.eq(use_write),
                burst.id.eq(address.id), more.eq(address.len),
                burst.beat.eq(place[:beat_bits]),
                burst.bank.eq(place[beat_bits:beat_bits + timing.bank_bits]),
                burst.row.eq(place[beat_bits + timing.bank_bits:]),
            ]

        # The piece that is offered.
        valid, fits, load = Signal(), Signal(), Signal()
        rest = Signal(beat_bits)  # beats of the row after this one
        m.d.comb += [
            rest.eq(~burst.beat), fits.eq(more <= rest), load.eq(held & (~valid | self.take))]
        with m.If(self.take):
            m.d.sync += valid.eq(0)
        with m.If(load):
            m.d.sync += [
                valid.eq(1), piece.eq(burst), piece.final.eq(fits),
                piece.left.eq(Mux(fits, more, rest)),
                held.eq(~fits), burst.beat.eq(0), burst.bank.eq(burst.bank + 1),
                more.eq(more - rest - 1),
            ]

        # Two cycles look it up.
        banks = 1 << timing.bank_bits
        rows = Array(Signal(timing.row_bits, name=f"row_{i}", reset_less=True)
                     for i in range(banks))
        is_open = Signal(banks)
        found, found_open, looked = Signal(timing.row_bits), Signal(), Signal()
        m.d.sync += [
            found.eq(rows[piece.bank]), found_open.eq(is_open.bit_select(piece.bank, 1)),
            self.hit.eq(found_open & (found == piece.row)), self.is_open.eq(found_open),
            looked.eq(valid & ~self.take), self.ready.eq(looked & ~self.take),
        ]
        with m.If(self.opened):
            m.d.sync += [rows[self.bank].eq(self.row), is_open.bit_select(self.bank, 1).eq(1)]
        with m.If(self.close_all):
            m.d.sync += is_open.eq(0)

        answered = self.b.valid & self.b.ready
        m.d.comb += [self.b.valid.eq(answers != 0), self.b.payload.eq(OKAY)]
        m.d.sync += [unanswered.eq(unanswered + taken_w - answered),
                     answers.eq(answers + self.done - answered)]
        return m
