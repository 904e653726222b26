"""The unit tx of a port: rows become messages."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.ici import SHORT_FRAMES
from celosia.arch.registers import Activity
from celosia_hw.commands import (
    LINK_DOWN_BIT,
    UnitPort,
    UnitSignature,
    message_layout,
    tell_activity,
)
from celosia_hw.dma.pack import Packer
from celosia_hw.dma.rows import RowFetch
from celosia_hw.dma.split import rows_layout
from celosia_hw.ici.message import ROWS_BITS, first_word, message_rows, narrow, row_words
from celosia_hw.ici.sender import sent_word_layout
from celosia_hw.memory.ports import ReadPort, ReadPortSignature, row_bits
from celosia_hw.stream import Queue

__all__ = ["MessageSender"]


class MessageSender(wiring.Component):
    """Executes SEND.

    A message is a first word and its rows, converted as the store engine does; the next one follows
    without a pause, but for 2 to 4 cycles behind a short one. A word a cycle; the first one of an
    idle port's is offered 2 cycles after its command was taken. ``done`` comes in the cycle after
    the last word was taken.

    Where the link is down the oldest command reports an error; before it is ``up`` it waits.

    Parameters
    ----------
    number
        Of the port: the ``detail`` of an error.

    Members
    -------
    port : In(UnitSignature)
    o : Out(stream of sent_word_layout)
    ub, acc : Out(ReadPortSignature)
    up, down : In(1)
        As of `LinkLayer`.
    working : Out(1), tag : Out
        A message is under way, and its tag.
    """

    port: UnitPort
    o: stream.Interface
    ub: ReadPort
    acc: ReadPort
    up: Signal
    down: Signal
    working: Signal
    tag: Signal

    def __init__(self, config: TpuConfig, number: int):
        self._config, self._number = config, number
        bits = row_bits(config)
        super().__init__({
            "port": In(UnitSignature(message_layout(config), LINK_DOWN_BIT + 1)),
            "o": Out(stream.Signature(sent_word_layout(config))),
            "ub": Out(ReadPortSignature(bits, config.ub_row_bits)),
            "acc": Out(ReadPortSignature(bits, config.acc_row_bits)),
            "up": In(1), "down": In(1), "working": Out(1),
            "tag": Out(message_layout(config)["tag"].shape),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config = narrow(self._config)
        m.submodules.commands = commands = Queue(rows_layout(config), 2)
        m.submodules.fetch = fetch = RowFetch(config)
        m.submodules.packer = packer = Packer(config)
        wiring.connect(m, commands.o, fetch.i)
        wiring.connect(m, fetch.o, packer.i)
        wiring.connect(m, fetch.ub, wiring.flipped(self.ub))
        wiring.connect(m, fetch.acc, wiring.flipped(self.acc))

        command = self.port.command
        held, rows = Signal(message_layout(config), reset_less=True), Signal(ROWS_BITS)
        have, known, second, body = Signal(), Signal(), Signal(), Signal()
        size, here = Signal.like(self.o.payload.size), Signal.like(self.o.payload.size)
        taken, sent, finished, failing = Signal(), Signal(), Signal(), Signal()
        failed = Signal()
        tag = Signal.like(self.tag, name="sent_tag")
        word = first_word(held, rows)
        with m.Switch(held.fmt):
            for fmt, words in row_words(config).items():
                with m.Case(fmt):
                    # Longer messages have larger frames.
                    m.d.comb += here.eq(sum(
                        rows >= -(-most // words) for most in SHORT_FRAMES))
        m.d.comb += [
            command.ready.eq(~have & commands.i.ready),
            taken.eq(command.valid & command.ready), commands.i.valid.eq(taken),
            *message_rows(command.payload, commands.i.payload),
            self.o.valid.eq(Mux(body, packer.o.valid, known & self.up) & ~failed),
            self.o.payload.data.eq(Mux(body, packer.o.payload.data,
                                       Mux(second, rows[ROWS_BITS // 2:], word))),
            self.o.payload.last.eq(body & packer.o.payload.last),
            self.o.payload.size.eq(Mux(body, size, here)),
            packer.o.ready.eq(body & self.o.ready & ~failed),
            sent.eq(self.o.valid & self.o.ready),
            finished.eq(sent & body & packer.o.payload.last),
            failing.eq(self.down & (have | body) & ~finished & ~failed),
            self.port.detail.eq(self._number | 1 << LINK_DOWN_BIT),
            self.working.eq(have | body), self.tag.eq(Mux(body, tag, held.tag)),
        ]
        m.d.sync += [
            known.eq(have), rows.eq(held.n0 * held.n1),
            self.port.done.eq(finished | failing), self.port.error.eq(failing),
        ]
        with m.If(taken):
            m.d.sync += [held.eq(command.payload), have.eq(1)]
        with m.If(sent & ~body):
            m.d.sync += [size.eq(self.o.payload.size), tag.eq(held.tag)]
            with m.If(rows[ROWS_BITS // 2:].any() & ~second):
                m.d.sync += second.eq(1)
            with m.Else():
                m.d.sync += [second.eq(0), body.eq(1), have.eq(0), known.eq(0)]
        with m.If(finished):
            m.d.sync += body.eq(0)
        with m.If(failing):
            m.d.sync += failed.eq(1)

        tell_activity(m, self.port,
                      (sent, Activity.BUSY),
                      (fetch.refused, Activity.WAIT_MEMORY),
                      (self.o.valid | (known & ~body), Activity.WAIT_BUS),
                      (have | body, Activity.WAIT_UNIT))
        return m
