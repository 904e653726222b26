"""Memories that the sequencer and the matrix engine share: unified buffer and accumulators."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2, exact_log2

from celosia.arch.config import TpuConfig
from celosia_hw.memory.ram import Ram
from celosia_hw.soc.compact.memories import SPRAM_WORDS, SpramMemory

__all__ = ["SPRAM_HALF", "Accumulators", "SharedMemory", "UnifiedBuffer"]

#: With SPRAM, the unified buffer is in the upper half of what holds the external memory too.
SPRAM_HALF = 2 * SPRAM_WORDS


class _RowMemory(wiring.Component):
    """What these have in common: what they are asked for, and what they give, goes into a register,
    for they are spread over the FPGA, and block RAM is slow.
    """

    addr: Signal
    strobes: Signal
    data: Signal
    found: Signal

    def __init__(self, config: TpuConfig, **members):
        self._config = config
        super().__init__({"addr": In(30), "strobes": In(4), "data": In(32), "found": Out(32),
                          **members})

    @staticmethod
    def _late(m: Module, value, name: str) -> Signal:
        late = Signal(len(value), name=name)
        m.d.sync += late.eq(value)
        return late


class _Buffer(_RowMemory):
    """The engine's side of a memory with the unified buffer."""

    ub_read: Signal
    ub_row: Signal
    ub_data: Signal

    def __init__(self, config: TpuConfig, **members):
        super().__init__(config, **members, **{
            "ub_read": In(1), "ub_row": In(ceil_log2(config.ub_rows)),
            "ub_data": Out(config.ub_row_bits)})

    def _give(self, m: Module, words) -> None:
        """Give the engine its row of what its address gives."""
        half = Signal(2)
        m.d.sync += half.eq(Cat(self.ub_row[0], half))
        m.d.comb += self.ub_data.eq(
            words.word_select(half[1], 16) if self._config.ub_row_bits == 16 else words)


class UnifiedBuffer(_Buffer):
    """The unified buffer in block RAM: lanes of bytes.

    A word comes three cycles after its address, and a row for the engine two cycles: that has a
    register for it. What is written is there after two cycles.

    Parameters
    ----------
    config
        Rows are of 2, 4 or 8 bytes.

    Members
    -------
    addr : In(30), strobes : In(4), data : In(32), found : Out(32)
        The sequencer's: of a word, which bytes of it are written.
    ub_read : In(1), ub_row : In, ub_data : Out
        The engine's, which goes before.
    """

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        row_bytes = self._config.ub_row_bits // 8
        # Words of a row lie beside each other, or rows are parts of a word.
        beside = max(1, row_bytes // 4)
        low, rows = exact_log2(beside), exact_log2(max(1, 4 // row_bytes))
        own = self.addr[low:]
        read_addr = self._late(m, Mux(self.ub_read, self.ub_row[rows:], own), "read_addr")
        write_addr, data = self._late(m, own, "write_addr"), self._late(m, self.data, "write_data")
        words = []
        for k in range(beside):
            here = self.addr[:low] == k
            put = self._late(m, self.strobes & here.replicate(4), f"put{k}")
            lanes = []
            for lane in range(4):
                ram = Ram(8, self._config.ub_bytes // (4 * beside))
                m.submodules[f"lane{4 * k + lane}"] = ram
                m.d.comb += [
                    ram.write_en.eq(put[lane]), ram.write_addr.eq(write_addr),
                    ram.write_data.eq(data.word_select(lane, 8)), ram.read_en.eq(1),
                    ram.read_addr.eq(read_addr),
                ]
                lanes.append(ram.read_data)
            words.append(Cat(*lanes))
        self._give(m, Cat(*words))
        kept = [self._late(m, word, f"found{k}") for k, word in enumerate(words)]
        m.d.comb += self.found.eq(_selected(m, self.addr[:low], kept))
        return m


class SharedMemory(_Buffer):
    """The unified buffer and the external memory in SPRAM, as of `UnifiedBuffer`.

    Members
    -------
    external : In(1)
        ``addr`` is of the external memory. Otherwise members are those of `UnifiedBuffer`.
    """

    external: Signal

    def __init__(self, config: TpuConfig, memory_bytes: int):
        self._memory_bytes = memory_bytes
        super().__init__(config, external=In(1))

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        low = exact_log2(4 // self._config.dim)  # rows of a word
        upper, bits = ceil_log2(SPRAM_WORDS // 2), exact_log2(self._memory_bytes // 4)
        own = Cat(self.addr[:bits], self.addr[bits:upper] & ~self.external.replicate(upper - bits))
        row = Cat(self.ub_row[low:], Const(0, upper))[:upper]
        put = self._late(m, self.strobes, "put")
        m.submodules.memory = memory = SpramMemory()
        m.d.comb += [
            memory.addr.eq(self._late(
                m, Mux(self.ub_read, Cat(row, 1), Cat(own, ~self.external)), "addr_late")),
            memory.strobes.eq(put), memory.read.eq(~put.any()),
            memory.data.eq(self._late(m, self.data, "write_data")),
        ]
        m.d.sync += self.found.eq(memory.found)
        self._give(m, memory.found)
        return m


class Accumulators(_RowMemory):
    """The accumulators in block RAM: a memory for each lane.

    A word comes three cycles after its address, to the engine too; what is written by it is there
    after a cycle, what is written by the sequencer after two.

    Members
    -------
    addr : In(30), strobes : In(4), data : In(32), found : Out(32)
        The sequencer's; a word is written where any of ``strobes`` is.
    acc_read, acc_read_row, acc_data, acc_write, acc_write_row, acc_sums
        The engine's, which goes before, of each lane.
    """

    acc_read: Sequence[Signal]
    acc_read_row: Sequence[Signal]
    acc_data: Sequence[Signal]
    acc_write: Sequence[Signal]
    acc_write_row: Sequence[Signal]
    acc_sums: Sequence[Signal]

    def __init__(self, config: TpuConfig):
        bits = ceil_log2(config.acc_rows)
        super().__init__(config, **{name: member.array(config.dim) for name, member in {
            "acc_read": In(1), "acc_read_row": In(bits), "acc_data": Out(32),
            "acc_write": In(1), "acc_write_row": In(bits), "acc_sums": In(32)}.items()})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        dim, low = self._config.dim, exact_log2(self._config.dim)
        addr, data = self._late(m, self.addr[low:], "addr_late"), self._late(
            m, self.data, "write_data")
        words = []
        for k in range(dim):
            put = self._late(m, self.strobes.any() & (self.addr[:low] == k), f"put{k}")
            m.submodules[f"lane{k}"] = ram = Ram(32, self._config.acc_rows)
            m.d.comb += [
                ram.read_en.eq(1),
                ram.read_addr.eq(self._late(
                    m, Mux(self.acc_read[k], self.acc_read_row[k], self.addr[low:]),
                    f"read_addr{k}")),
                ram.write_en.eq(self.acc_write[k] | put),
                ram.write_addr.eq(Mux(self.acc_write[k], self.acc_write_row[k], addr)),
                ram.write_data.eq(Mux(self.acc_write[k], self.acc_sums[k], data)),
                self.acc_data[k].eq(self._late(m, ram.read_data, f"found{k}")),
            ]
            words.append(self.acc_data[k])
        m.d.comb += self.found.eq(_selected(m, self.addr[:low], words))
        return m


def _selected(m: Module, number, words):
    """One of ``words`` by what ``number`` was three cycles before."""
    if len(words) == 1:
        return words[0]
    chosen = number
    for k in range(3):
        before, chosen = chosen, Signal(len(number), name=f"chosen{k}")
        m.d.sync += chosen.eq(before)
    result = Signal(32)
    for k, word in enumerate(words):
        with m.If(chosen == k):
            m.d.comb += result.eq(word)
    return result
