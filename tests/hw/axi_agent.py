"""An AXI4 memory for Amaranth's simulator that also checks the manager's rules.

Add :meth:`AxiMemory.run` as a background testbench. Every rule that is broken raises
``AssertionError`` there, which fails the test.
"""

from collections import deque
from dataclasses import dataclass, field

import numpy as np
from amaranth.hdl import Signal

from celosia_hw.bus.axi import OKAY, PAGE_BYTES, SLVERR

__all__ = ["AxiMemory"]


@dataclass
class AxiMemory:
    """Byte-addressed memory behind the read and/or write channels of a manager.

    Responses come in the order of the requests, at the earliest ``latency`` cycles after them and
    at most one beat a cycle. ``busy`` is the chance that a channel pauses in a cycle. A burst that
    touches a byte of ``bad`` is answered with SLVERR (each beat by itself on reads).
    """

    bus_bytes: int
    size: int
    rng: np.random.Generator
    read: object = None
    write: object = None
    latency: int = 2
    busy: float = 0.0
    bad: set[int] = field(default_factory=set)
    #: A beat of W may be offered with its burst, before that is accepted; it is not taken then.
    early_data: bool = False
    #: A burst of W is accepted only once its data are offered.
    wants_data: bool = False
    data: np.ndarray = field(init=False)
    #: What happened: accepted bursts (addr, beats, id), cycles in which beats moved.
    reads: list[tuple[int, int, int]] = field(default_factory=list)
    writes: list[tuple[int, int, int]] = field(default_factory=list)
    read_cycles: list[int] = field(default_factory=list)
    write_cycles: list[int] = field(default_factory=list)
    #: Strobes of every beat, in order.
    strobes: list[int] = field(default_factory=list)
    cycle: int = 0
    #: Bursts whose last beat or response has not been taken.
    reads_open: int = 0
    writes_open: int = 0
    #: Beats of R that are asked for and have not moved, and the most there were.
    beats_open: int = 0
    most_beats_open: int = 0

    def __post_init__(self):
        self.data = self.rng.integers(0, 256, self.size, dtype=np.uint8)
        self.held = {}  # offered and not taken, by channel

    def _pause(self) -> bool:
        return self.busy > 0 and self.rng.random() < self.busy

    def _stable(self, name: str, valid: int, ready: int, payload) -> bool:
        """Check that what was offered stays; return whether it is transferred."""
        if name in self.held:
            assert valid, f"{name}: valid fell before ready"
            assert payload == self.held.pop(name), f"{name}: payload changed before ready"
        if valid and not ready:
            self.held[name] = payload
        return bool(valid and ready)

    def _check_burst(self, name: str, addr: int, beats: int) -> None:
        last = addr + beats * self.bus_bytes - 1
        assert addr % self.bus_bytes == 0, f"{name}: {addr:#x} is not aligned to the bus"
        assert addr // PAGE_BYTES == last // PAGE_BYTES, f"{name}: {addr:#x} crosses a page"

    def _is_bad(self, addr: int) -> bool:
        return not self.bad.isdisjoint(range(addr, addr + self.bus_bytes))

    async def run(self, ctx):
        """Serve the channels for ever."""
        read_queue, burst_queue, answer_queue = deque(), deque(), deque()
        offered = answer = None
        data_waits = False
        beats_done = 0  # of the burst that is being written
        unused = Signal()
        none = (unused, unused, unused)
        ar, r = (self.read.ar, self.read.r) if self.read is not None else (None, None)
        aw, w, b = (
            (self.write.aw, self.write.w, self.write.b) if self.write is not None
            else (None, None, None))

        def probe(channel, *fields):
            if channel is None:
                return (*none[:2], *(unused for _ in fields))
            return (channel.valid, channel.ready, *(getattr(channel.payload, f) for f in fields))

        # Whose names cost more than to set them.
        ar_ready, r_valid = (ar.ready, r.valid) if ar is not None else none[:2]
        aw_ready, w_ready, b_valid = ((aw.ready, w.ready, b.valid) if aw is not None else none)

        def drive():
            nonlocal offered, answer
            if ar is not None:
                ctx.set(ar_ready, not self._pause())
                if offered is None and read_queue and read_queue[0][0] <= self.cycle \
                        and not self._pause():
                    _, addr, last, ident = read_queue.popleft()
                    offered = {
                        "data": int.from_bytes(
                            self.data[addr:addr + self.bus_bytes].tobytes(), "little"),
                        "resp": SLVERR if self._is_bad(addr) else OKAY, "last": last, "id": ident,
                    }
                    ctx.set(r.payload, offered)
                ctx.set(r_valid, offered is not None)
            if aw is not None:
                ctx.set(aw_ready, not self._pause() and (data_waits or not self.wants_data))
                ctx.set(w_ready, not self._pause() and bool(burst_queue or not self.early_data))
                if answer is None and answer_queue and answer_queue[0][0] <= self.cycle \
                        and not self._pause():
                    answer = answer_queue.popleft()
                    ctx.set(b.payload, answer[1])
                ctx.set(b_valid, answer is not None)

        drive()
        async for _, _, *seen in ctx.tick().sample(
                *probe(ar, "addr", "len", "id"), *probe(r), *probe(aw, "addr", "len", "id"),
                *probe(w, "data", "strb", "last"),
                *((b.valid, b.ready) if b is not None else none[:2])):
            if self._stable("AR", seen[0], seen[1], seen[2:5]):
                addr, beats, ident = seen[2], seen[3] + 1, seen[4]
                self._check_burst("AR", addr, beats)
                self.reads.append((addr, beats, ident))
                self.reads_open += 1
                self.beats_open += beats
                self.most_beats_open = max(self.most_beats_open, self.beats_open)
                for i in range(beats):
                    read_queue.append((self.cycle + self.latency, addr + i * self.bus_bytes,
                                       i == beats - 1, ident))
            if seen[5] and seen[6]:
                self.read_cycles.append(self.cycle)
                self.reads_open -= offered["last"]
                self.beats_open -= 1
                offered = None
            if seen[12]:
                assert burst_queue or (self.early_data and seen[7]), "W: offered before its burst"
            data_waits = seen[12] and not seen[13] and not burst_queue
            if self._stable("W", seen[12], seen[13], seen[14:17]):
                addr, beats, bad = burst_queue[0]
                assert bool(seen[16]) == (beats_done == beats - 1), "W: last in the wrong place"
                self.write_cycles.append(self.cycle)
                self.strobes.append(seen[15])
                at = addr + beats_done * self.bus_bytes
                for k, byte in enumerate(int(seen[14]).to_bytes(self.bus_bytes, "little")):
                    if seen[15] >> k & 1:
                        self.data[at + k] = byte
                bad |= self._is_bad(at)
                burst_queue[0] = (addr, beats, bad)
                beats_done += 1
                if seen[16]:
                    burst_queue.popleft()
                    beats_done = 0
                    answer_queue.append((self.cycle + self.latency, SLVERR if bad else OKAY))
            if self._stable("AW", seen[7], seen[8], seen[9:12]):
                addr, beats = seen[9], seen[10] + 1
                self._check_burst("AW", addr, beats)
                self.writes.append((addr, beats, seen[11]))
                self.writes_open += 1
                burst_queue.append((addr, beats, False))
            if seen[17] and seen[18]:
                answer = None
                self.writes_open -= 1
            self.cycle += 1
            drive()
