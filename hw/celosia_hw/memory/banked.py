"""On-chip memory of many ports, made of banks that have one read and one write port each."""

from collections.abc import Collection, Sequence
from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import BANKS
from celosia_hw.memory.ports import ReadPort, ReadPortSignature, WritePort, WritePortSignature
from celosia_hw.memory.ram import Ram

__all__ = ["BankedMemory"]


class BankedMemory(wiring.Component):
    """Rows interleaved over banks by the low bits of the row address.

    Every bank grants one read and one write a cycle, to the requesting port of the lowest index;
    ports that ask for different banks are granted together. ``ready`` depends combinationally on
    the requests of the ports of lower index and never on the port's own ``valid``.

    A read granted in cycle t gives its row during t + READ_LATENCY, and zeros in all cycles in
    which no row is due; a single bank gives what any port reads then. A write granted in cycle t is
    seen by reads granted from t + 1 on. What a read gives in cycle t of the row that is written in
    cycle t is undefined: the scoreboard and the units keep the two apart. Throughput: a row a cycle
    on each port while no port of lower index asks for the same bank. Rows are zero when the chip
    powers up and outlive a reset.

    Row r is word r // banks of the RAM ``bank{r % banks}``; with narrow ports, of the RAMs
    ``part{k}`` of that bank, each of which has a part of the row.

    Parameters
    ----------
    rows
        Rows; a multiple of ``banks``. What an access to an address beyond them does is undefined.
    row_bits
        Bits of the ports' addresses.
    width
        Bits of a row.
    readers, writers
        Names of the read and of the write ports in order of priority, first those that must not
        wait.
    parts
        Parts of a row, a power of two.
    narrow
        Names of the ports that read or write one part at a time. The low bits of their addresses
        say which, the others the row.
    banks
        A power of two.

    Members
    -------
    read_NAME : In(ReadPortSignature(row_bits, width))
    write_NAME : In(WritePortSignature(row_bits, width))
        Those of narrow ports are of addresses so much longer, and of words so much shorter.
    conflicts : Out(StructLayout)
        A bit for each port, of its name: it asked in the cycle before and was refused.
    """

    conflicts: data.View

    def __init__(self, rows: int, row_bits: int, width: int, readers: Sequence[str],
                 writers: Sequence[str], *, parts: int = 1, narrow: Collection[str] = (),
                 banks: int = BANKS):
        if rows <= 0 or rows % banks:
            raise ValueError(f"rows must be a positive multiple of {banks}, not {rows!r}")
        if not isinstance(row_bits, int) or 1 << row_bits < rows:
            raise ValueError(f"row_bits must be enough for {rows} rows, not {row_bits!r}")
        self._rows, self._width, self._parts = rows, width, parts
        self._part_bits = exact_log2(parts)
        self._banks, self._bank_bits = banks, exact_log2(banks)
        reads, writes = ([f"{kind}_{name}" for name in names]
                         for kind, names in (("read", readers), ("write", writers)))
        sizes = {name: (row_bits + self._part_bits, width // parts)
                 if name.partition("_")[2] in narrow else (row_bits, width)
                 for name in (*reads, *writes)}
        super().__init__({
            **{name: In(ReadPortSignature(*sizes[name])) for name in reads},
            **{name: In(WritePortSignature(*sizes[name])) for name in writes},
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
                taken = [above.valid & self._meet(above, port) for above in group[:index]]
                m.d.comb += port.ready.eq(~Cat(taken).any() if taken else 1)
        m.d.sync += self.conflicts.as_value().eq(Cat(port.valid & ~port.ready for port in ports))

        banks = [self._make_bank(m, bank) for bank in range(self._banks)]
        if self._banks == 1:
            self._share(m, *banks[0])
            return m
        # Two banks and their selects fill a 4-input table in front of a register; a third table
        # for the four of them, behind the registers, goes into what uses the row.
        for index, port in enumerate(self.read):
            granted = port.valid & port.ready
            halves = []
            for first in range(0, self._banks, 2):
                half = Signal(len(port.data), name=f"row{index}_{first}", reset_less=True)
                terms = []
                for bank in range(first, min(first + 2, self._banks)):
                    source = Signal(name=f"source{index}_{bank}")
                    m.d.sync += source.eq(granted & self._in(port, bank))
                    row, came = banks[bank]
                    words = self._words(port, row, came)
                    terms.append(words & source.replicate(len(words)))
                m.d.sync += half.eq(reduce(or_, terms))
                halves.append(half)
            m.d.comb += port.data.eq(reduce(or_, halves))
        return m

    def _share(self, m: Module, row: Value, came: Value) -> None:
        """Give all ports the row that came last, out of registers that they share."""
        held, part = (Signal.like(value, name=name, reset_less=True)
                      for name, value in (("held", row), ("part_held", came)))
        m.d.sync += [held.eq(row), part.eq(came)]
        m.d.comb += [port.data.eq(self._words(port, held, part)) for port in self.read]

    def _words(self, port: ReadPort, row: Value, part: Value) -> Value:
        return row.word_select(part, len(port.data)) if self._narrow(port) else row

    def _narrow(self, port: ReadPort | WritePort) -> bool:
        return len(port.data) < self._width

    def _part(self, port: ReadPort | WritePort) -> Value:
        return port.addr[:self._part_bits * self._narrow(port)]

    def _row(self, port: ReadPort | WritePort) -> Value:
        return port.addr[self._part_bits * self._narrow(port):]

    def _bank(self, port: ReadPort | WritePort) -> Value:
        return self._row(port)[:self._bank_bits]

    def _in(self, port: ReadPort | WritePort, bank: int) -> Value:
        return self._bank(port) == bank if self._banks > 1 else Const(1)

    def _meet(self, one: ReadPort | WritePort, other: ReadPort | WritePort) -> Value:
        return self._bank(one) == self._bank(other) if self._banks > 1 else Const(1)

    def _make_bank(self, m: Module, bank: int) -> tuple[Value, Value]:
        """Make a bank; return the row that it was asked for last, and which part of it."""
        parts, width = self._parts, self._width // self._parts
        rams = [Ram(width, self._rows // self._banks) for _ in range(parts)]
        if parts == 1:
            m.submodules[f"bank{bank}"] = rams[0]
        else:
            m.submodules[f"bank{bank}"] = inside = Module()
            for part, ram in enumerate(rams):
                inside.submodules[f"part{part}"] = ram
        part_read = Signal(self._part_bits, name=f"part_read{bank}")
        for group, name in ((self.read, "read"), (self.write, "write")):
            address = Signal(len(rams[0].read_addr), name=f"{name}_addr{bank}")
            enable = Signal(parts, name=f"{name}_en{bank}")
            data = Signal(self._width, name=f"{name}_data{bank}")
            asked = [port.valid & self._in(port, bank) for port in group]
            # Any port will do for the address while none asks.
            for port, asks in reversed(list(zip(group, (*asked[:-1], 1), strict=True))):
                chosen = [address.eq(self._row(port)[self._bank_bits:])]
                if name == "write":
                    chosen.append(data.eq(port.data.replicate(self._width // len(port.data))))
                elif self._narrow(port):
                    chosen.append(part_read.eq(self._part(port)))
                with m.If(asks):
                    m.d.comb += chosen
            if name == "read" and parts > 1:  # who asks is known late, so all is read all the time
                m.d.comb += enable.eq((1 << parts) - 1)
            else:
                for port, asks in reversed(list(zip(group, asked, strict=True))):
                    wanted = 1 << self._part(port) if self._narrow(port) else (1 << parts) - 1
                    with m.If(asks):
                        m.d.comb += enable.eq(wanted)
            for part, ram in enumerate(rams):
                piece = data.word_select(part, width)
                m.d.comb += ([ram.read_en.eq(enable[part]), ram.read_addr.eq(address)]
                             if name == "read" else
                             [ram.write_en.eq(enable[part]), ram.write_addr.eq(address),
                              ram.write_data.eq(piece)])
        came = Signal.like(part_read, name=f"part_came{bank}", reset_less=True)
        m.d.sync += came.eq(part_read)
        return Cat(ram.read_data for ram in rams), came
