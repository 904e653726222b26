"""A port: both units of it, and its end of the link."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.registers import LINK_COUNTERS, LINK_STATUS, Activity
from celosia_hw.commands import LINK_DOWN_BIT, UnitPort, UnitSignature, message_layout
from celosia_hw.ici.counts import LinkCounts, link_counts_layout
from celosia_hw.ici.layer import LinkLayer
from celosia_hw.ici.line import line_layout
from celosia_hw.ici.receive import MessageReceiver
from celosia_hw.ici.transmit import MessageSender
from celosia_hw.memory.ports import (
    ReadPort,
    ReadPortSignature,
    WritePort,
    WritePortSignature,
    row_bits,
)

__all__ = ["LinkPort"]


class LinkPort(wiring.Component):
    """Executes SEND and RECV of one port: `MessageSender`, `MessageReceiver`, `LinkLayer`.

    Parameters
    ----------
    number
        Of the port.

    Members
    -------
    port_tx, port_rx : In(UnitSignature)
    tx : Out(line_layout), rx : In(line_layout)
        The line, straight out of and into flip-flops.
    ub_send, acc_send, acc_join : Out(ReadPortSignature)
    ub_recv, acc_recv : Out(WritePortSignature)
    up : Out(1)
        A whole frame has come, and the link is not down.
    status : Out(32)
        Of LINK_STATUS.
    counts : Out(link_counts_layout())
    """

    port_tx: UnitPort
    port_rx: UnitPort
    tx: data.View
    rx: data.View
    ub_send: ReadPort
    acc_send: ReadPort
    acc_join: ReadPort
    ub_recv: WritePort
    acc_recv: WritePort
    up: Signal
    status: Signal
    counts: data.View

    def __init__(self, config: TpuConfig, number: int):
        self._config, self._number = config, number
        bits = row_bits(config)
        port = UnitSignature(message_layout(config), LINK_DOWN_BIT + 1)
        super().__init__({
            "port_tx": In(port), "port_rx": In(port),
            "tx": Out(line_layout(config)), "rx": In(line_layout(config)),
            "ub_send": Out(ReadPortSignature(bits, config.ub_row_bits)),
            "acc_send": Out(ReadPortSignature(bits, config.acc_row_bits)),
            "acc_join": Out(ReadPortSignature(bits, config.acc_row_bits)),
            "ub_recv": Out(WritePortSignature(bits, config.ub_row_bits)),
            "acc_recv": Out(WritePortSignature(bits, config.acc_row_bits)),
            "up": Out(1), "status": Out(32), "counts": Out(link_counts_layout()),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.layer = layer = LinkLayer(self._config)
        m.submodules.sender = sender = MessageSender(self._config, self._number)
        m.submodules.receiver = receiver = MessageReceiver(self._config, self._number)
        wiring.connect(m, sender.o, layer.i)
        wiring.connect(m, layer.o, receiver.i)
        for inner, name in ((sender.port, "port_tx"), (receiver.port, "port_rx"),
                            (sender.ub, "ub_send"), (sender.acc, "acc_send"),
                            (receiver.read, "acc_join"), (receiver.ub, "ub_recv"),
                            (receiver.acc, "acc_recv")):
            wiring.connect(m, inner, wiring.flipped(getattr(self, name)))
        m.d.comb += [
            self.tx.eq(layer.tx), layer.rx.eq(self.rx), self.up.eq(layer.up & ~layer.down),
            sender.up.eq(layer.up), sender.down.eq(layer.down), receiver.down.eq(layer.down),
        ]
        m.submodules.counts = counts = LinkCounts()
        events = {
            "sent": layer.sent, "resent": layer.resent, "received": layer.got,
            "garbled": layer.garbled, "tx_busy": sender.port.activity == Activity.BUSY,
            "rx_busy": receiver.port.activity == Activity.BUSY,
            "rx_wait": receiver.port.activity == Activity.WAIT_BUS,
        }
        values = {"up": self.up, "down": layer.down, "sending": sender.working,
                  "receiving": receiver.working, "send_tag": sender.tag, "recv_tag": receiver.tag}
        m.d.comb += [
            counts.events.eq(Cat(events[name] for name in LINK_COUNTERS)),
            self.counts.eq(counts.counts),
            *(self.status[first:first + bits].eq(values[name])
              for name, (first, bits) in LINK_STATUS.items()),
        ]
        return m
