"""The host's end of the line for Amaranth's simulator, and registers behind a link."""

from dataclasses import dataclass, field

import numpy as np

from celosia.arch.link import LinkConfig
from celosia.driver.errors import BusError
from celosia.driver.link.frames import FrameDecoder

__all__ = ["BIT", "CYCLES", "FAST", "LineDecoder", "Registers", "exchange", "levels",
           "serve_registers"]

#: Cycles of a bit: the fewest there may be.
BIT = 4
#: Cycles that a run of a link may take: a byte is on the line for 40 of them.
CYCLES = 200_000
#: A line that fast.
FAST = LinkConfig(BIT * 1_000_000)


def levels(data: bytes) -> list[int]:
    """Return the level of the line in each cycle in which bytes are sent without a gap."""
    return [(byte << 1 | 1 << 9) >> i & 1 for byte in data for i in range(10) for _ in range(BIT)]


class LineDecoder:
    """Bytes of a line that is looked at in every cycle."""

    def __init__(self):
        self._age = self._byte = 0

    def feed(self, level: int) -> bytes:
        """Take the level of a cycle; return the byte that ends with it, or none."""
        if self._age == 0 and level:
            return b""
        at, within = divmod(self._age, BIT)
        self._age += 1
        if within != BIT // 2:
            return b""
        if 1 <= at <= 8:
            self._byte |= level << (at - 1)
            return b""
        assert level == (at == 9), "start or stop bit"
        if at == 0:
            return b""
        done = bytes([self._byte])
        self._age = self._byte = 0
        return done


async def exchange(ctx, link, data: bytes, count: int = 1) -> list[bytes]:
    """Send bytes to a HostLink; return the bodies that come: ``count`` or more, until it is quiet
    behind them.
    """
    line, decoder, bodies, silence = LineDecoder(), FrameDecoder(), [], 0
    waiting, rx, tick = iter(levels(data)), link.rx, ctx.tick().sample(link.tx)
    while silence < (150 if len(bodies) >= count else 10_000):
        level = next(waiting, None)
        ctx.set(rx, 1 if level is None else level)
        _, _, heard = await tick
        silence = silence + 1 if heard and level is None else 0
        if byte := line.feed(heard):
            bodies += decoder.feed(byte)
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
    ready = ar.ready, aw.ready, w.ready
    tick = ctx.tick().sample(ar.valid, ar.ready, ar.payload, aw.valid, aw.ready, aw.payload,
                             w.valid, w.ready, w.payload.data, w.payload.strb)
    while True:
        for each in ready:
            ctx.set(each, rng.random() < 0.5)
        _, _, *seen = await tick
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
