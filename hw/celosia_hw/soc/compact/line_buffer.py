"""The sequencer's way to an SDRAM: a line that was read, and a word that is being written."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia_hw.bus.axi import AxiReadSignature, AxiWriteSignature

__all__ = ["LINE_WORDS", "LineBuffer"]

#: Words of a line: an instruction of a program.
LINE_WORDS = 8


class LineBuffer(wiring.Component):
    """Serves words from external memory behind AXI4, a line at a time.

    A word that is read brings its line with it, and may go in the cycle after it is there. A word
    that is written goes to the memory at once, and into the line where it lies in there; the next
    access to the memory waits until that is answered. The line is the only copy: nothing else
    writes to the memory.

    Cycles: 2 in the line; a word that is written 2, or more while the one before is under way. A
    line comes with the latency of the memory. Responses are not looked at: an SDRAM has no errors.

    Parameters
    ----------
    memory_bytes
        A power of two.

    Members
    -------
    addr : In, read : In(1), strobes : In(4), data : In(32), ready : Out(1)
        As of the `BusSignature` of the sequencer, ``addr`` within the memory.
    found : Out(32)
        The word, in the cycle after that with ``ready``.
    memory_read : Out(AxiReadSignature(4)), memory_write : Out(AxiWriteSignature(4))
    """

    addr: Signal
    read: Signal
    strobes: Signal
    data: Signal
    ready: Signal
    found: Signal
    memory_read: Any
    memory_write: Any

    def __init__(self, memory_bytes: int):
        super().__init__({
            "addr": In(exact_log2(memory_bytes) - 2), "read": In(1), "strobes": In(4),
            "data": In(32), "ready": Out(1), "found": Out(32),
            "memory_read": Out(AxiReadSignature(4)), "memory_write": Out(AxiWriteSignature(4)),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        ar, r = self.memory_read.ar, self.memory_read.r
        aw, w, b = self.memory_write.aw, self.memory_write.w, self.memory_write.b
        low = exact_log2(LINE_WORDS)
        word, line = self.addr[:low], self.addr[low:]
        m.submodules.line = memory = Memory(shape=32, depth=LINE_WORDS, init=[])
        write, read = memory.write_port(granularity=8), memory.read_port()

        # The line that is there, which words of it, and whether more of them come; the next one.
        tag, there, filling = Signal.like(line), Signal(LINE_WORDS), Signal()
        coming, known = Signal(low), Signal()
        # Of a cycle ago: it is the line of the request, its word is there.
        same, here, writing = Signal(), Signal(), Signal()
        m.d.comb += [
            read.addr.eq(word), read.en.eq(self.ready), self.found.eq(read.data),
            r.ready.eq(1), b.ready.eq(1),
            aw.payload.len.eq(0), w.payload.last.eq(1), ar.payload.len.eq(LINE_WORDS - 1),
        ]
        with m.If(r.valid):
            m.d.comb += [write.addr.eq(coming), write.en.eq(0b1111), write.data.eq(r.payload.data)]
            m.d.sync += [there.bit_select(coming, 1).eq(1), coming.eq(coming + 1)]
            with m.If(r.payload.last):
                m.d.sync += filling.eq(0)
        with m.Else():
            m.d.comb += [write.addr.eq(word), write.data.eq(self.data)]
        for channel in (ar, aw, w):
            with m.If(channel.ready):
                m.d.sync += channel.valid.eq(0)
        with m.If(b.valid):
            m.d.sync += writing.eq(0)

        m.d.sync += here.eq(there.bit_select(word, 1))
        with m.FSM():
            with m.State("COMPARE"):
                m.d.sync += same.eq(known & (line == tag))
                with m.If(self.read | self.strobes.any()):
                    m.next = "SERVE"
            with m.State("SERVE"):
                with m.If(self.read):
                    with m.If(same & here):
                        m.d.comb += self.ready.eq(1)
                    with m.Elif(~same & ~filling & ~writing):
                        m.d.sync += [
                            ar.valid.eq(1), ar.payload.addr.eq(Cat(0, 0, word & 0, line)),
                            tag.eq(line), there.eq(0), here.eq(0), coming.eq(0), filling.eq(1),
                            same.eq(1), known.eq(1),
                        ]
                with m.Elif(~filling & ~writing):
                    m.d.comb += [self.ready.eq(1),
                                 write.en.eq(self.strobes & (same & here).replicate(4))]
                    m.d.sync += [
                        aw.valid.eq(1), aw.payload.addr.eq(Cat(0, 0, self.addr)), w.valid.eq(1),
                        w.payload.data.eq(self.data), w.payload.strb.eq(self.strobes),
                        writing.eq(1),
                    ]
                with m.If(self.ready):
                    m.next = "COMPARE"
        return m
