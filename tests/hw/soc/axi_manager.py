"""A manager of a memory bus with random bursts, for Amaranth's simulator."""

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from celosia_hw.bus.axi import DECERR, OKAY, PAGE_BYTES

__all__ = ["AxiManager"]


@dataclass
class AxiManager:
    """Writes and reads bytes of its own range of addresses and checks what comes back.

    ``base`` to ``base + size`` is only this manager's. Reads of what is being written wait for the
    answer. Add `addresses`, `data`, `answers` and `beats` as background testbenches; ``done`` tells
    when all bursts are answered.
    """

    bus_bytes: int
    read: object
    write: object
    base: int
    size: int
    bursts: int
    rng: np.random.Generator
    longest: int = 16
    busy: float = 0.3
    #: Addresses from here on are beyond the memory.
    limit: int = 1 << 32
    ids: tuple[int, ...] = (0, 1)
    content: np.ndarray = field(init=False)

    def __post_init__(self):
        self.content = np.zeros(self.size, dtype=np.uint8)
        self.known = np.zeros(self.size, dtype=bool)
        self.expected, self.unanswered, self.owed = deque(), deque(), deque()
        self.reads = self.writes = self.answered = 0

    @property
    def done(self) -> bool:
        """Every burst was made and answered."""
        return self.answered == self.bursts

    def _pause(self) -> bool:
        return self.rng.random() < self.busy

    def _burst(self) -> tuple[int, int]:
        beats = int(self.rng.integers(1, self.longest + 1))
        at = self.base + int(self.rng.integers(0, self.size // self.bus_bytes)) * self.bus_bytes
        room = min(PAGE_BYTES - at % PAGE_BYTES, self.base + self.size - at) // self.bus_bytes
        return at, min(beats, room)

    async def addresses(self, ctx):
        """Offer bursts, a read or a write at a time on each channel."""
        for _ in range(self.bursts):
            while self._pause():
                await ctx.tick()
            at, beats = self._burst()
            is_write = bool(self.rng.integers(2))
            span = range(at, at + beats * self.bus_bytes)
            # Nothing in flight may touch the bytes: reads and writes have no order.
            while any(s.start < span.stop and span.start < s.stop
                      for s in (*self.unanswered, *(e[0] for e in self.expected))):
                await ctx.tick()
            port = self.write.aw if is_write else self.read.ar
            ident = int(self.rng.choice(self.ids))
            if is_write:
                self.unanswered.append(span)
                self.owed.append((at, beats))
            else:
                self.expected.append((span, ident))
            ctx.set(port.payload, {"addr": at, "len": beats - 1, "id": ident})
            ctx.set(port.valid, 1)
            await ctx.tick().until(port.ready)
            ctx.set(port.valid, 0)

    async def data(self, ctx):
        """Send the beats of writes."""
        w = self.write.w
        while True:
            while not self.owed:
                await ctx.tick()
            at, beats = self.owed.popleft()
            for beat in range(beats):
                while self._pause():
                    await ctx.tick()
                data = self.rng.integers(0, 256, self.bus_bytes, dtype=np.uint8)
                strb = int(self.rng.integers(0, 1 << self.bus_bytes))
                if self.rng.integers(2):
                    strb = (1 << self.bus_bytes) - 1
                for k in range(self.bus_bytes):
                    place = at + beat * self.bus_bytes + k
                    if strb >> k & 1 and place < self.limit:
                        self.content[place - self.base] = data[k]
                        self.known[place - self.base] = True
                ctx.set(w.payload, {"data": int.from_bytes(data.tobytes(), "little"),
                                    "strb": strb, "last": beat == beats - 1})
                ctx.set(w.valid, 1)
                await ctx.tick().until(w.ready)
                ctx.set(w.valid, 0)

    async def answers(self, ctx):
        """Take the answers of writes."""
        b = self.write.b
        while True:
            ctx.set(b.ready, not self._pause())
            _, _, valid, ready, resp = await ctx.tick().sample(b.valid, b.ready, b.payload)
            if valid and ready:
                span = self.unanswered.popleft()
                assert resp == (DECERR if span.start >= self.limit else OKAY)
                self.writes += 1
                self.answered += 1

    async def beats(self, ctx):
        """Take the beats of reads and check them."""
        r, beat = self.read.r, 0
        while True:
            ctx.set(r.ready, not self._pause())
            _, _, valid, ready, seen = await ctx.tick().sample(r.valid, r.ready, r.payload)
            if not (valid and ready):
                continue
            span, ident = self.expected[0]
            at = span.start + beat * self.bus_bytes
            assert seen.id == ident
            beyond = at >= self.limit
            assert seen.resp == (DECERR if beyond else OKAY)
            place = slice(at - self.base, at - self.base + self.bus_bytes)
            got = np.frombuffer(int(seen.data).to_bytes(self.bus_bytes, "little"), np.uint8)
            if not beyond:
                same = (got == self.content[place]) | ~self.known[place]
                assert same.all(), f"{at:#x}: {got} instead of {self.content[place]}"
            beat += 1
            last = beat * self.bus_bytes == len(span)
            assert seen.last == last
            if last:
                self.expected.popleft()
                self.reads += 1
                self.answered += 1
                beat = 0

    def add_to(self, sim) -> None:
        """Add the testbenches to a simulator."""
        for part in (self.addresses, self.data, self.answers, self.beats):
            sim.add_testbench(part, background=True)
