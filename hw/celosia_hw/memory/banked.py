"""On-chip memory of many ports, made of banks that have one read and one write port each."""

from collections.abc import Sequence
from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import BANKS
from celosia_hw.memory.ports import ReadPort, ReadPortSignature, WritePort, WritePortSignature
from celosia_hw.memory.ram import Ram

__all__ = ["BankedMemory"]

BANK_BITS = exact_log2(BANKS)


class BankedMemory(wiring.Component):
    """Rows interleaved over ``BANKS`` banks by the low bits of the row address.

    Every bank grants one read and one write a cycle, to the requesting port of the lowest index;
    ports that ask for different banks are granted together. ``ready`` depends combinationally on
    the requests of the ports of lower index and never on the port's own ``valid``.

    A read granted in cycle t gives its row during t + READ_LATENCY, and zeros in all cycles in
    which no row is due; a write granted in cycle t is seen by reads granted from t + 1 on. What a
    read gives in cycle t of the row that is written in cycle t is undefined: the scoreboard and the
    units keep the two apart. Throughput: a row a cycle on each port while no port of lower index
    asks for the same bank. Rows are zero when the chip powers up and outlive a reset.

    Row r is word r // BANKS of the RAM ``bank{r % BANKS}``.

    Parameters
    ----------
    rows
        Rows; a multiple of ``BANKS``. What an access to an address beyond them does is undefined.
    row_bits
        Bits of the ports' addresses.
    width
        Bits of a row.
    readers, writers
        Names of the read and of the write ports in order of priority, first those that must not
        wait.

    Members
    -------
    read_NAME : In(ReadPortSignature(row_bits, width))
    write_NAME : In(WritePortSignature(row_bits, width))
    conflicts : Out(StructLayout)
        A bit for each port, of its name: it asked in this cycle and was refused.
    """

    conflicts: data.View

    def __init__(self, rows: int, row_bits: int, width: int, readers: Sequence[str],
                 writers: Sequence[str]):
        if rows <= 0 or rows % BANKS:
            raise ValueError(f"rows must be a positive multiple of {BANKS}, not {rows!r}")
        if not isinstance(row_bits, int) or 1 << row_bits < rows:
            raise ValueError(f"row_bits must be enough for {rows} rows, not {row_bits!r}")
        self._rows, self._width = rows, width
        reads, writes = ([f"{kind}_{name}" for name in names]
                         for kind, names in (("read", readers), ("write", writers)))
        super().__init__({
            **{name: In(ReadPortSignature(row_bits, width)) for name in reads},
            **{name: In(WritePortSignature(row_bits, width)) for name in writes},
            "conflicts": Out(data.StructLayout(dict.fromkeys([*reads, *writes], 1))),
        })
        #: The ports, in order of priority.
        self.read: list[ReadPort] = [getattr(self, name) for name in reads]
        self.write: list[WritePort] = [getattr(self, name) for name in writes]

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        ports = [*self.read, *self.write]
        for group in (self.read, self.write):
            for index, port in enumerate(group):
                taken = [above.valid & (above.addr[:BANK_BITS] == port.addr[:BANK_BITS])
                         for above in group[:index]]
                m.d.comb += port.ready.eq(~Cat(taken).any() if taken else 1)
        m.d.comb += self.conflicts.as_value().eq(Cat(port.valid & ~port.ready for port in ports))

        rams = []
        for bank in range(BANKS):
            ram = Ram(self._width, self._rows // BANKS)
            m.submodules[f"bank{bank}"] = ram
            rams.append(ram)
            for group, enable, address in ((self.read, ram.read_en, ram.read_addr),
                                           (self.write, ram.write_en, ram.write_addr)):
                asked = [port.valid & (port.addr[:BANK_BITS] == bank) for port in group]
                m.d.comb += enable.eq(Cat(asked).any())
                chosen = group[-1]  # any port will do while none asks
                m.d.comb += address.eq(chosen.addr[BANK_BITS:])
                if group is self.write:
                    m.d.comb += ram.write_data.eq(chosen.data)
                for port, asks in reversed(list(zip(group[:-1], asked[:-1], strict=True))):
                    with m.If(asks):
                        m.d.comb += address.eq(port.addr[BANK_BITS:])
                        if group is self.write:
                            m.d.comb += ram.write_data.eq(port.data)

        # Two banks and their selects fill a 4-input table in front of a register; a third table
        # for the four of them, behind the registers, goes into what uses the row.
        for index, port in enumerate(self.read):
            granted = port.valid & port.ready
            halves = []
            for first in range(0, BANKS, 2):
                half = Signal(self._width, name=f"row{index}_{first}", reset_less=True)
                terms = []
                for bank in range(first, min(first + 2, BANKS)):
                    source = Signal(name=f"source{index}_{bank}")
                    m.d.sync += source.eq(granted & (port.addr[:BANK_BITS] == bank))
                    terms.append(rams[bank].read_data & source.replicate(self._width))
                m.d.sync += half.eq(reduce(or_, terms))
                halves.append(half)
            m.d.comb += port.data.eq(reduce(or_, halves))
        return m
