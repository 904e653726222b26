"""The link without its UART, for Amaranth's simulator: bytes in, frames out."""

from dataclasses import dataclass, field

import numpy as np
from amaranth.hdl import Module
from amaranth.lib import wiring

from celosia.arch.config import TpuConfig
from celosia.arch.link import LinkConfig
from celosia.driver.errors import BusError
from celosia.driver.link.frames import FrameDecoder
from celosia_hw.soc.link.bridge import LinkBridge
from celosia_hw.soc.link.deframer import Deframer
from celosia_hw.soc.link.framer import Framer
from celosia_hw.soc.link.requests import RequestStore

__all__ = ["ByteLink", "Registers", "serve_registers"]


class ByteLink(wiring.Component):
    """Everything of the link but the UART."""

    def __init__(self, config: TpuConfig, link: LinkConfig):
        super().__init__({})
        self.deframer, self.store = Deframer(), RequestStore(link)
        self.bridge, self.framer = LinkBridge(config, link), Framer()

    def elaborate(self, platform):
        m = Module()
        for name in ("deframer", "store", "bridge", "framer"):
            m.submodules[name] = getattr(self, name)
        m.d.comb += [
            self.store.push.eq(self.deframer.push), self.store.byte.eq(self.deframer.byte),
            self.store.keep.eq(self.deframer.keep), self.store.drop.eq(self.deframer.drop),
            self.bridge.length.eq(self.store.length), self.bridge.lost.eq(self.store.lost),
            self.bridge.empty.eq(self.store.empty),
        ]
        wiring.connect(m, self.store.o, self.bridge.i)
        wiring.connect(m, self.bridge.o, self.framer.i)
        return m

    async def exchange(self, ctx, data: bytes, quiet: int = 60) -> list[bytes]:
        """Send bytes, one a cycle; return the bodies that come until it is quiet."""
        decoder, bodies, silence, at = FrameDecoder(), [], 0, 0
        ctx.set(self.framer.o.ready, 1)
        while silence < quiet:
            ctx.set(self.deframer.valid, at < len(data))
            ctx.set(self.deframer.data, data[at] if at < len(data) else 0)
            at += 1
            _, _, valid, byte = await ctx.tick().sample(self.framer.o.valid, self.framer.o.payload)
            silence = 0 if valid or at < len(data) else silence + 1
            if valid:
                bodies += decoder.feed(bytes([byte]))
        assert not decoder.garbled
        return bodies


@dataclass
class Registers:
    """A register file with holes: offsets from 0x100 on answer with an error."""

    words: dict[int, int] = field(default_factory=dict)
    writes: list[tuple[int, int]] = field(default_factory=list)

    def read_register(self, offset: int) -> int:
        if offset >= 0x100:
            raise BusError
        return self.words.get(offset, 0)

    def write_register(self, offset: int, value: int) -> None:
        if offset >= 0x100:
            raise BusError
        self.writes.append((offset, value))
        self.words[offset] = value


async def serve_registers(ctx, axil, registers: Registers, rng: np.random.Generator):
    """Serve an AXI4-Lite manager for ever, with pauses."""
    ar, r, aw, w, b = axil.ar, axil.r, axil.aw, axil.w, axil.b
    address = data = None
    while True:
        for channel in (ar, aw, w):
            ctx.set(channel.ready, rng.random() < 0.5)
        _, _, *seen = await ctx.tick().sample(
            ar.valid, ar.ready, ar.payload, aw.valid, aw.ready, aw.payload,
            w.valid, w.ready, w.payload.data, w.payload.strb)
        if seen[0] and seen[1]:
            ctx.set(ar.ready, 0)
            try:
                ctx.set(r.payload, {"data": registers.read_register(seen[2]), "resp": 0})
            except BusError:
                ctx.set(r.payload, {"data": 0, "resp": 2})
            ctx.set(r.valid, 1)
            await ctx.tick().until(r.ready)
            ctx.set(r.valid, 0)
        if seen[3] and seen[4]:
            address = seen[5]
        if seen[6] and seen[7]:
            assert seen[9] == 0b1111
            data = seen[8]
        if address is not None and data is not None:
            for channel in (ar, aw, w):
                ctx.set(channel.ready, 0)
            try:
                registers.write_register(address, data)
                ctx.set(b.payload, 0)
            except BusError:
                ctx.set(b.payload, 2)
            address = data = None
            ctx.set(b.valid, 1)
            await ctx.tick().until(b.ready)
            ctx.set(b.valid, 0)
