"""One direction of a link, for Yosys's solver: whatever the line does, what comes out went in.

The frames are shorter than those of the chip, and a frame of which the line has garbled, lost or
made up a word has a wrong CRC. So what is shown is that the rest of the link is right if a CRC
finds every error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from amaranth.back import rtlil
from amaranth.hdl import Assert, Assume, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.ici import SEQUENCE_BITS, FrameFlag, WordKind
from celosia_hw.ici import receiver, sender
from celosia_hw.ici.line import head_layout, line_layout

__all__ = ["Line", "OneWay", "Recovery", "prove", "small"]

_COUNT_BITS = 8
_GARBLED = 1  # as the word of an END: no frame has it


@contextmanager
def small(beat: int = 8, resend: int = 32) -> Iterator[None]:
    """Frames of 4 words, 2 in short messages, and soon sent again."""
    def no_crc(m: Module, crc: Any, word: Any, *, name: str) -> Any:
        return crc

    sizes = {"FRAME_WORDS": 4, "WORD_BITS": 3, "crc_after": no_crc}
    with ExitStack() as stack:
        stack.enter_context(mock.patch.multiple(receiver, **sizes))
        stack.enter_context(mock.patch.multiple(
            sender, **sizes, SHORT_FRAMES={8: 2}, BEAT_CYCLES=beat, RESEND_CYCLES=resend))
        yield


class Line(wiring.Component):
    """A cycle, in which a word may become any other; then its frame's END is wrong.

    ``dirty``: that has happened since the last HEAD; ``bad``: what comes out is not what went in,
    or of such a frame. ``garbled``: what a wrong END has.
    """

    def __init__(self, config: TpuConfig):
        self.layout, self.garbled = line_layout(config), _GARBLED
        super().__init__({"i": In(self.layout), "o": Out(self.layout), "hurt": In(1),
                          "other": In(self.layout), "dirty": Out(1), "bad": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        word, out = Signal(self.layout), Signal(self.layout)
        begins = self.i.kind == WordKind.HEAD
        m.d.comb += [word.eq(Mux(self.hurt, self.other.as_value(), self.i.as_value())),
                     out.eq(word)]
        with m.If(self.hurt):
            m.d.sync += self.dirty.eq(1)
        with m.Elif(begins):
            m.d.sync += self.dirty.eq(0)
        with m.If((word.kind == WordKind.END) & (self.hurt | self.dirty)):
            m.d.comb += out.data.eq(self.garbled)
        m.d.sync += [self.o.eq(out), self.bad.eq(self.hurt | (self.dirty & ~begins))]
        return m


class OneWay(wiring.Component):
    """Words go from one end to the other; pins are what Yosys may choose in every cycle.

    By symmetry it is enough to follow one word, the ``watched``th, which is 1 where all others are
    0: nothing looks at the data.
    """

    def __init__(self, config: TpuConfig):
        self.config, lines = config, line_layout(config)
        super().__init__({
            "valid": In(1), "payload": In(sender.sent_word_layout(config)), "ready": In(1),
            "watched": In(_COUNT_BITS), "hurt": In(2), "other0": In(lines), "other1": In(lines)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        ends = [(sender.FrameSender(self.config), receiver.FrameReceiver(self.config))
                for _ in range(2)]
        lines = [Line(self.config) for _ in ends]
        for i, ((tx, rx), line) in enumerate(zip(ends, lines, strict=True)):
            m.submodules[f"tx{i}"], m.submodules[f"rx{i}"] = tx, rx
            m.submodules[f"line{i}"] = line
            m.d.comb += [tx.heard.eq(rx.heard), tx.told.eq(rx.told), line.i.eq(tx.line),
                         ends[1 - i][1].line.eq(line.o), line.hurt.eq(self.hurt[i]),
                         line.other.eq(getattr(self, f"other{i}"))]
        tx, rx = ends[0][0], ends[1][1]
        m.d.comb += [tx.i.valid.eq(self.valid), tx.i.payload.eq(self.payload),
                     rx.o.ready.eq(self.ready), ends[0][1].o.ready.eq(1)]
        self._asks(m, tx)
        self._claims(m, tx, rx)
        return m

    def _asks(self, m: Module, tx: sender.FrameSender) -> None:
        """Assume: what is offered stays, the watched word is always the same one."""
        begun, stays = Signal(), Signal()
        offered = self.payload.as_value()
        payload, watched = Signal.like(offered), Signal.like(self.watched)
        m.d.sync += [begun.eq(1), stays.eq(self.valid & ~tx.i.ready), payload.eq(offered),
                     watched.eq(self.watched)]
        with m.If(begun):
            m.d.comb += Assume(self.watched == watched)
        with m.If(stays):
            m.d.comb += [Assume(self.valid), Assume(offered == payload)]

    def _claims(self, m: Module, tx: sender.FrameSender, rx: receiver.FrameReceiver) -> None:
        given, taken = Signal(_COUNT_BITS), Signal(_COUNT_BITS)
        with m.If(tx.i.valid & tx.i.ready):
            m.d.sync += given.eq(given + 1)
            m.d.comb += Assume(self.payload.data == (given == self.watched))
        with m.If(rx.o.valid & rx.o.ready):
            m.d.sync += taken.eq(taken + 1)
            m.d.comb += [Assert(taken != given), Assert(rx.o.payload == (taken == self.watched))]
        # Credits are not overdrawn, the buffer is not overrun.
        head, ahead, held = Signal(head_layout()), Signal(SEQUENCE_BITS), Signal(SEQUENCE_BITS)
        m.d.comb += [head.eq(tx.line.data[:32]), ahead.eq(head.sequence - rx.told.freed),
                     held.eq(rx.told.expected - rx.told.freed),
                     Assert(held <= self.config.link_frames)]
        with m.If((tx.line.kind == WordKind.HEAD) & ((head.flags & FrameFlag.DATA) != 0)):
            m.d.comb += Assert((ahead < self.config.link_frames) | ahead[-1])


class Recovery(OneWay):
    """For so many cycles lines do what they like, and whoever gives or takes words, too; then all
    is well. So many cycles later all words are there that were given before.

    Data is left out: what comes out is what `OneWay` is about.
    """

    def __init__(self, config: TpuConfig, ill: int, well: int):
        self.ill, self.well = ill, well
        super().__init__(config)

    def _claims(self, m: Module, tx: sender.FrameSender, rx: receiver.FrameReceiver) -> None:
        end = self.ill + self.well
        now, given, owed, taken = Signal(range(end + 2)), *(Signal(_COUNT_BITS) for _ in range(3))
        with m.If(now <= end):
            m.d.sync += now.eq(now + 1)
        with m.If(tx.i.valid & tx.i.ready):
            m.d.sync += given.eq(given + 1)
        with m.If(rx.o.valid & rx.o.ready):
            m.d.sync += taken.eq(taken + 1)
        m.d.comb += [Assume(self.watched == 0), Assume(self.payload.data == 0)]
        with m.If(now >= self.ill):
            m.d.comb += [Assume(self.hurt == 0), Assume(self.valid), Assume(self.ready)]
        with m.If(now == self.ill):
            m.d.sync += owed.eq(given)
        with m.If(now == end):
            m.d.comb += Assert(taken >= owed)


_PREPARE = ("prep -top top", "flatten", "opt -full", "memory_nordff", "async2sync",
            "chformal -assume -early", "memory_map", "opt -full", "setundef -undriven -zero",
            "dffunmap", "opt -full")


def prove(component: wiring.Component, depth: int, folder: Path, *, forever: bool = False) -> str:
    """Look at every run of so many cycles; return what Yosys's solver says of it.

    With ``forever``, at every state that may follow so many right ones, too: at every run.
    """
    from pyosys import libyosys

    source, log = folder / "top.il", folder / "sat.log"
    source.write_text(rtlil.convert(component, name="top"))
    design = libyosys.Design()
    commands: Sequence[str] = (
        f"read_rtlil {source}", *_PREPARE,
        (f"tee -q -o {log} sat -prove-asserts -set-assumes -set-init-zero -seq 0 "
         f"{'' if forever else '-tempinduct-baseonly '}-tempinduct -maxsteps {depth}"))
    run: Callable[[str, Any], None] = libyosys.run_pass
    for command in commands:
        run(command, design)
    return log.read_text()
