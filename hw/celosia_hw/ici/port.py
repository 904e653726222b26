"""A port: both units of it, and its end of the link."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia_hw.commands import LINK_DOWN_BIT, UnitPort, UnitSignature, message_layout
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
            "up": Out(1),
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
        return m
