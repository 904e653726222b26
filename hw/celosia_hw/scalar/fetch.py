"""Instruction fetch: a buffer of consecutive instructions that runs ahead of execution."""

from typing import Any

from amaranth.hdl import Const, Module, Mux, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia.arch.registers import PROGRAM_ALIGN
from celosia_hw.bus.axi import FETCH_ID, AxiReadSignature
from celosia_hw.scalar.encoding import BLOCK, PC_BITS, word_layout

__all__ = ["InstructionFetch"]


class InstructionFetch(wiring.Component):
    """Keeps instructions ``[oldest, arrived)`` of the program in a ring of ``config.ibuf``.

    Blocks of 4 instructions are requested while they fit without evicting anything from ``keep``
    on, several at once, so that straight code does not see the latency of memory, and a loop whose
    start is ``keep`` and which fits is fetched once. A ``pc`` outside the ring restarts the fetch
    there; blocks on their way are dropped as they arrive.

    Latency: ``word`` holds instruction ``pc`` in the cycle after one with ``hit``.

    Members
    -------
    start : In(1)
        Begin a run: forget everything.
    run : In(1)
        Fetch at all.
    program, length : In(32)
        Byte address, a multiple of PROGRAM_ALIGN, and instructions of the program.
    pc : In(32)
        Instruction wanted next. Must be below ``length`` where ``run`` is set.
    keep : In(32)
        First instruction not to evict; ignored where it would keep ``pc`` from being fetched.
    hit : Out(1)
        ``pc`` is in the ring.
    failed : Out(1)
        ``pc`` cannot be fetched: the memory answered with an error.
    word : Out(word_layout())
    axi : Out(AxiReadSignature)
    """

    start: Signal
    run: Signal
    program: Signal
    length: Signal
    pc: Signal
    keep: Signal
    hit: Signal
    failed: Signal
    word: data.View
    axi: Any

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "start": In(1), "run": In(1), "program": In(32), "length": In(32),
            "pc": In(PC_BITS), "keep": In(PC_BITS), "hit": Out(1), "failed": Out(1),
            "word": Out(word_layout()), "axi": Out(AxiReadSignature(config.bus_bytes)),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config, depth = self._config, self._config.ibuf
        block_bits = exact_log2(BLOCK)

        # Indices of blocks: oldest that the ring holds since the restart, next to be requested,
        # next to arrive. PC_BITS + 1 bits, so that sums do not wrap.
        bits = PC_BITS - block_bits + 1
        first, requested, arrived = Signal(bits), Signal(bits), Signal(bits)
        blocks = depth // BLOCK
        pc_block, keep_block = self.pc >> block_bits, self.keep >> block_bits
        stale = Signal(range(2 * blocks + 1))  # blocks on their way that nobody wants any more
        error = Signal()

        in_ring = Signal()
        m.d.comb += [
            in_ring.eq((pc_block >= first) & (pc_block + blocks >= requested)),
            self.hit.eq(in_ring & (pc_block < arrived)),
            self.failed.eq(in_ring & (pc_block >= arrived) & error),
        ]
        restart = Signal()
        m.d.comb += restart.eq(self.run & ~self.start & (~in_ring | (pc_block > requested)))

        # Requests. An offered burst stays as it is until it is taken, whatever the host writes.
        offered, address = Signal(), Signal(32, reset_less=True)
        wanted = Signal()
        room = (requested + 1 <= keep_block + blocks) | (pc_block >= requested)
        in_program = (requested << block_bits) < self.length
        m.d.comb += wanted.eq(self.run & ~self.start & ~restart & ~error & in_program & room
                              & (stale + (requested - arrived) < 2 * blocks)
                              & (~offered | self.axi.ar.ready))
        beats = PROGRAM_ALIGN // config.bus_bytes
        m.d.comb += [
            self.axi.ar.valid.eq(offered),
            self.axi.ar.payload.addr.eq(address),
            self.axi.ar.payload.len.eq(beats - 1),
            self.axi.ar.payload.id.eq(FETCH_ID),
        ]
        with m.If(self.axi.ar.ready):
            m.d.sync += offered.eq(0)
        with m.If(wanted):
            m.d.sync += [
                offered.eq(1), requested.eq(requested + 1),
                address.eq(self.program + (requested << exact_log2(PROGRAM_ALIGN))),
            ]

        # Arrivals: a memory word is a beat, or as many beats as make an instruction.
        width = max(config.bus_bytes, isa.INSTRUCTION_BYTES)
        beats_per_word = width // config.bus_bytes
        words_per_block = PROGRAM_ALIGN // width
        insns_per_word = width // isa.INSTRUCTION_BYTES
        m.submodules.ram = ram = memory.Memory(
            shape=8 * width, depth=depth // insns_per_word, init=[])
        write, read = ram.write_port(), ram.read_port()
        beat = Signal(range(beats))
        m.d.comb += self.axi.r.ready.eq(1)
        if beats_per_word > 1:
            low = Signal(8 * (width - config.bus_bytes), reset_less=True)
            whole = (self.axi.r.payload.data << len(low)) | low
            with m.If(self.axi.r.valid):
                m.d.sync += low.eq(whole >> 8 * config.bus_bytes)
            last_of_word = beat[:exact_log2(beats_per_word)] == beats_per_word - 1
        else:
            whole, last_of_word = self.axi.r.payload.data, Const(1)
        word_index = beat >> exact_log2(beats_per_word)
        m.d.comb += [
            write.addr.eq((arrived << exact_log2(words_per_block)) | word_index),
            write.data.eq(whole),
            write.en.eq(self.axi.r.valid & last_of_word & (stale == 0)),
        ]
        drop, take = Signal(), Signal()
        bad = Signal()  # an earlier beat of this block was bad
        failed = bad | (self.axi.r.payload.resp != 0)
        last = self.axi.r.valid & self.axi.r.payload.last
        m.d.comb += [drop.eq(last & (stale != 0)), take.eq(last & (stale == 0))]
        with m.If(self.axi.r.valid):
            m.d.sync += [beat.eq(Mux(last, 0, beat + 1)), bad.eq(~last & failed)]
        with m.If(take):
            with m.If(failed | error):
                m.d.sync += error.eq(1)
            with m.Else():
                m.d.sync += arrived.eq(arrived + 1)
        m.d.sync += stale.eq(stale - drop)
        # After an error the ring waits for a restart, and what is on its way is not stale but lost.
        lost = Signal(range(2 * blocks + 1))
        with m.If(take & (failed | error)):
            m.d.sync += lost.eq(lost + 1)

        with m.If(restart | self.start):
            target = Mux(self.start, 0, pc_block)
            on_the_way = requested - arrived - lost - take
            m.d.sync += [
                first.eq(target), requested.eq(target), arrived.eq(target), error.eq(0),
                lost.eq(0), stale.eq(stale - drop + on_the_way),
            ]

        # Execution side.
        m.d.comb += [
            read.en.eq(1),
            read.addr.eq((self.pc >> exact_log2(insns_per_word))[:len(read.addr)]),
        ]
        if insns_per_word > 1:
            which = Signal(exact_log2(insns_per_word))
            m.d.sync += which.eq(self.pc)
            words = data.View(data.ArrayLayout(word_layout(), insns_per_word), read.data)
            with m.Switch(which):
                for i in range(insns_per_word):
                    with m.Case(i):
                        m.d.comb += self.word.eq(words[i])
        else:
            m.d.comb += self.word.eq(read.data)
        return m
