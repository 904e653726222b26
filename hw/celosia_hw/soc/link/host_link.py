"""The host link, from the pins of a UART to the buses of a chip."""

from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.link import LinkConfig
from celosia_hw.bus.axi import AxiLiteSignature, AxiReadSignature, AxiWriteSignature
from celosia_hw.soc.link.bridge import LinkBridge
from celosia_hw.soc.link.deframer import Deframer
from celosia_hw.soc.link.framer import Framer, body_layout
from celosia_hw.soc.link.requests import RequestStore
from celosia_hw.soc.link.uart_rx import UartReceiver
from celosia_hw.soc.link.uart_tx import UartTransmitter
from celosia_hw.stream import Queue

__all__ = ["MODULE_NAME", "HostLink"]

#: Verilog module of the link.
MODULE_NAME = "celosia_link"


class HostLink(wiring.Component):
    """Gives a host at the other end of a serial wire the registers, the external memory and the
    interrupt of a chip; the protocol is `celosia.arch.link`.

    The memory ports are a manager of their own beside the chip's: one burst in flight when writing,
    two when reading, of 64 bytes at most (or a beat, where that is longer).

    Members
    -------
    rx : In(1), tx : Out(1)
        The wire; high when idle.
    irq : In(1)
    axil : Out(AxiLiteSignature)
    read : Out(AxiReadSignature), write : Out(AxiWriteSignature)
    """

    rx: Signal
    tx: Signal
    irq: Signal
    axil: Any
    read: Any
    write: Any

    def __init__(self, config: TpuConfig, link: LinkConfig):
        self._config, self._link = config, link
        super().__init__({
            "rx": In(1, init=1),  # type: ignore[call-arg]
            "tx": Out(1, init=1),  # type: ignore[call-arg]
            "irq": In(1),
            "axil": Out(AxiLiteSignature()), "read": Out(AxiReadSignature(config.bus_bytes)),
            "write": Out(AxiWriteSignature(config.bus_bytes)),
        })

    def elaborate(self, platform: Any):  # noqa: D102
        m = Module()
        m.submodules.receiver = receiver = UartReceiver(self._link)
        m.submodules.deframer = deframer = Deframer()
        m.submodules.requests = requests = RequestStore(self._link)
        m.submodules.bridge = bridge = LinkBridge(self._config, self._link)
        # Of two, so that no path leads from the wire's side back into the bridge.
        m.submodules.replies = replies = Queue(body_layout(), 2)
        m.submodules.framer = framer = Framer()
        m.submodules.transmitter = transmitter = UartTransmitter(self._link)
        m.d.comb += [
            receiver.line.eq(self.rx), self.tx.eq(transmitter.line),
            deframer.valid.eq(receiver.valid), deframer.data.eq(receiver.data),
            requests.push.eq(deframer.push), requests.byte.eq(deframer.byte),
            requests.keep.eq(deframer.keep), requests.drop.eq(deframer.drop),
            bridge.length.eq(requests.length), bridge.lost.eq(requests.lost),
            bridge.empty.eq(requests.empty), bridge.irq.eq(self.irq),
        ]
        wiring.connect(m, requests.o, bridge.i)
        wiring.connect(m, bridge.o, replies.i)
        wiring.connect(m, replies.o, framer.i)
        wiring.connect(m, framer.o, transmitter.i)
        for name in ("axil", "read", "write"):
            wiring.connect(m, getattr(bridge, name), wiring.flipped(getattr(self, name)))
        return m
