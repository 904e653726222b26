"""Both directions of a link at one end: words of messages in and out, whatever the line does."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia_hw.ici.line import line_layout
from celosia_hw.ici.receiver import FrameReceiver
from celosia_hw.ici.sender import FrameSender, sent_word_layout

__all__ = ["LinkLayer"]


class LinkLayer(wiring.Component):
    """`FrameSender` and `FrameReceiver`: what goes in at one end comes out at the other, once and
    in its order.

    Members
    -------
    i : In(stream of sent_word_layout), o : Out(stream)
        Words to and from the other chip.
    tx : Out(line_layout), rx : In(line_layout)
        The line.
    up : Out(1)
        A whole frame has come since the reset.
    down, got, garbled : Out(1)
        As of `FrameReceiver`.
    sent, resent : Out(1)
        As of `FrameSender`.
    """

    i: stream.Interface
    o: stream.Interface
    tx: data.View
    rx: data.View
    up: Signal
    down: Signal
    got: Signal
    garbled: Signal
    sent: Signal
    resent: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "i": In(stream.Signature(sent_word_layout(config))),
            "o": Out(stream.Signature(8 * config.link_bytes)),
            "tx": Out(line_layout(config)), "rx": In(line_layout(config)), "up": Out(1),
            "down": Out(1), "got": Out(1), "garbled": Out(1), "sent": Out(1), "resent": Out(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.sender = sender = FrameSender(self._config)
        m.submodules.receiver = receiver = FrameReceiver(self._config)
        wiring.connect(m, wiring.flipped(self.i), sender.i)
        wiring.connect(m, receiver.o, wiring.flipped(self.o))
        m.d.comb += [
            sender.heard.eq(receiver.heard), sender.told.eq(receiver.told),
            self.tx.eq(sender.line), receiver.line.eq(self.rx), self.down.eq(receiver.down),
            self.got.eq(receiver.got), self.garbled.eq(receiver.garbled),
            self.sent.eq(sender.sent), self.resent.eq(sender.resent),
        ]
        with m.If(receiver.heard.valid):
            m.d.sync += self.up.eq(1)
        return m
