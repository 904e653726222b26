"""The memory of the instruction fetch."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia.arch.registers import PROGRAM_ALIGN
from celosia_hw.bus.axi import read_layout
from celosia_hw.scalar.encoding import BLOCK, BLOCK_RAM_DEPTH, word_layout

__all__ = ["InstructionRing"]


class InstructionRing(wiring.Component):
    """``config.ibuf`` instructions, written by beats of blocks and read one by one.

    A word of the memory is one instruction, which several beats fill, or several. Latency of a
    read: a cycle.

    Members
    -------
    valid : In(1), beat : In(read_layout)
        The next beat of a block.
    store : In(1), block : In
        It is to be stored, at that block of the ring.
    failed : Out(1)
        With the last beat: it or one before it in the block was an error.
    pc : In, the low bits
        Read an instruction.
    word : Out(word_layout())
        The instruction at ``pc`` of the cycle before.
    """

    valid: Signal
    beat: data.View
    store: Signal
    block: Signal
    failed: Signal
    pc: Signal
    word: data.View

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({
            "valid": In(1), "beat": In(read_layout(config.bus_bytes)), "store": In(1),
            "block": In(range(config.ibuf // BLOCK)), "failed": Out(1),
            "pc": In(range(config.ibuf)),
            "word": Out(word_layout()),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        config, depth = self._config, self._config.ibuf
        width = max(config.bus_bytes, isa.INSTRUCTION_BYTES)
        beats_per_word = width // config.bus_bytes
        words_per_block = PROGRAM_ALIGN // width
        insns_per_word = width // isa.INSTRUCTION_BYTES
        m.submodules.ram = ram = memory.Memory(
            shape=8 * width, depth=max(BLOCK_RAM_DEPTH, depth // insns_per_word), init=[])
        write, read = ram.write_port(granularity=8 * config.bus_bytes), ram.read_port()
        number = Signal(range(PROGRAM_ALIGN // config.bus_bytes))  # of the beat in its block
        error = Signal()  # an earlier beat of this block was bad
        m.d.comb += [
            write.addr.eq((self.block << exact_log2(words_per_block))
                          | (number >> exact_log2(beats_per_word))),
            write.data.eq(self.beat.data.replicate(beats_per_word)),
            write.en.eq((self.valid & self.store) << number[:exact_log2(beats_per_word)]),
            self.failed.eq(error | (self.beat.resp != 0)),
            read.en.eq(1), read.addr.eq(self.pc[exact_log2(insns_per_word):exact_log2(depth)]),
        ]
        with m.If(self.valid):
            m.d.sync += [number.eq(Mux(self.beat.last, 0, number + 1)),
                         error.eq(~self.beat.last & self.failed)]
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
