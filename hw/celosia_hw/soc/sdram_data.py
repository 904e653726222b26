"""The way of data between the beats of a bus and the words of an SDRAM."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.config import TpuConfig
from celosia.arch.words import ceil_div
from celosia_hw.bus.axi import OKAY, read_layout, write_layout
from celosia_hw.stream import Queue

__all__ = ["ReadData", "WriteData"]

_WORD_BITS = 16


class WriteData(wiring.Component):
    """Beats of W, word by word.

    A beat waits while the one before it is shifted out; beats come every other cycle at most, which
    is as fast as words of two bytes leave.

    Members
    -------
    w : In(stream)
    ready : Out(1)
        There is a word.
    data : Out(16), strb : Out(2)
        The word.
    shift : In(1), ends : In(1)
        It is taken; it is the last of its beat.
    """

    w: Any
    ready: Signal
    data: Signal
    strb: Signal
    shift: Signal
    ends: Signal

    def __init__(self, config: TpuConfig):
        super().__init__({
            "w": In(stream.Signature(write_layout(config.bus_bytes))),
            "ready": Out(1), "data": Out(_WORD_BITS), "strb": Out(2), "shift": In(1),
            "ends": In(1),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        waits = Signal()
        beat = Signal.like(self.w.payload, reset_less=True)
        words = Signal.like(beat.data, reset_less=True)
        strobes = Signal.like(beat.strb, reset_less=True)
        m.d.comb += [self.w.ready.eq(~waits), self.data.eq(words), self.strb.eq(strobes)]
        with m.If(~waits):
            m.d.sync += [waits.eq(self.w.valid), beat.eq(self.w.payload)]
        with m.If(self.shift):
            m.d.sync += [words.eq(words[_WORD_BITS:]), strobes.eq(strobes[2:])]
        with m.If(~self.ready | self.shift & self.ends):
            m.d.sync += [self.ready.eq(waits), words.eq(beat.data), strobes.eq(beat.strb)]
            with m.If(waits):
                m.d.sync += waits.eq(0)
        return m


class ReadData(wiring.Component):
    """Words that come back some cycles after their command, as beats of R.

    Beats wait in a queue; ``room`` promises that the beat which is asked for finds a place in it.

    Parameters
    ----------
    config
    latency
        ``dq`` has a word in so many cycles after its ``issue``, less one: it is in a register then.

    Members
    -------
    issue : In(1)
        A word is asked for.
    begins, ends, last, id : In(1)
        It is the first, the last of its beat; the beat is the last of its burst; the burst's ID.
    room : Out(1)
        A beat may begin. Not true of the beat that begins in the cycle before.
    dq : In(16)
    r : Out(stream)
    """

    issue: Signal
    begins: Signal
    ends: Signal
    last: Signal
    id: Signal
    room: Signal
    dq: Signal
    r: Any

    def __init__(self, config: TpuConfig, latency: int):
        self._latency = latency
        self._words = config.bus_bytes // 2
        # A beat is counted from its first word until it leaves the queue.
        need = ceil_div(latency + 4, self._words) + 1
        self._depth = max(4, 1 << (need - 1).bit_length())
        super().__init__({
            "issue": In(1), "begins": In(1), "ends": In(1), "last": In(1), "id": In(1),
            "room": Out(1, init=1),  # type: ignore[call-arg]
            "dq": In(_WORD_BITS),
            "r": Out(stream.Signature(read_layout(config.bus_bytes))),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        bits = _WORD_BITS * self._words
        layout = data.StructLayout({"data": bits, "last": 1, "id": 1})
        m.submodules.queue = queue = Queue(layout, self._depth)
        token = data.StructLayout({"last": 1, "id": 1})
        flight = Signal(self._latency)  # a beat is complete
        tokens = [Signal(token, name=f"token_{k}", reset_less=True) for k in range(self._latency)]
        word = Signal(_WORD_BITS, reset_less=True)
        words = Signal(bits - _WORD_BITS, reset_less=True)
        whole = Cat(words, word)
        m.d.sync += [
            flight.eq(Cat(self.issue & self.ends, flight)),
            tokens[0].last.eq(self.last), tokens[0].id.eq(self.id),
            *(after.eq(before) for before, after in zip(tokens, tokens[1:], strict=False)),
            word.eq(self.dq), words.eq(whole[_WORD_BITS:]),
        ]
        m.d.comb += [
            queue.i.valid.eq(flight[-1]), queue.i.payload.data.eq(whole),
            queue.i.payload.last.eq(tokens[-1].last), queue.i.payload.id.eq(tokens[-1].id),
            self.r.valid.eq(queue.o.valid), queue.o.ready.eq(self.r.ready),
            self.r.payload.data.eq(queue.o.payload.data), self.r.payload.resp.eq(OKAY),
            self.r.payload.last.eq(queue.o.payload.last), self.r.payload.id.eq(queue.o.payload.id),
        ]
        used = Signal(range(self._depth + 1))
        after = Signal.like(used)
        m.d.comb += after.eq(used + (self.issue & self.begins) - (self.r.valid & self.r.ready))
        m.d.sync += [used.eq(after), self.room.eq(after != self._depth)]
        return m
