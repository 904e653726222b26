"""On-chip memory of many ports, made of banks that have one read and one write port each."""

from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch.config import BANKS
from celosia_hw.memory.ports import ReadPort, ReadPortSignature, WritePort, WritePortSignature
from celosia_hw.memory.ram import Ram

__all__ = ["BankedMemory"]


class _Asked(NamedTuple):
    """What a port asks for in a cycle: of which bank a row and a part of it, and what is written;
    whether it is refused.
    """

    name: str
    port: Any
    banks: Signal
    row: Signal
    part: Signal
    data: Signal
    refused: Signal


class BankedMemory(wiring.Component):
    """Rows interleaved over banks by the low bits of the row address.

    Every bank grants one read and one write a cycle, to the requesting port of the lowest index;
    ports that ask for different banks are granted together. A request that is refused is kept, and
    made again in each cycle until it is granted: meanwhile its port is not ``ready``. So ``ready``
    and ``granted`` come out of flip-flops, and nothing that a port asks for reaches another one in
    the same cycle.

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
    narrow
        Names of the ports that read or write one part of a row at a time, each with how many parts
        a row has: the same power of two for all. The low bits of their addresses say which, the
        others the row.
    knowing
        Names of ports, as of the members, whose requester sees for itself in which cycles a port of
        lower index asks for the same bank: such a request is refused, and not kept. They are always
        ``ready``.
    banks
        A power of two.

    Members
    -------
    read_NAME : In(ReadPortSignature(row_bits, width))
    write_NAME : In(WritePortSignature(row_bits, width))
        Those of narrow ports are of addresses so much longer, and of words so much shorter.
    conflicts : Out(StructLayout)
        A bit for each port, of its name: a request of it was refused in the cycle before.
    """

    conflicts: data.View

    def __init__(self, rows: int, row_bits: int, width: int, readers: Sequence[str],
                 writers: Sequence[str], *, narrow: Mapping[str, int] | None = None,
                 knowing: Collection[str] = (), banks: int = BANKS):
        if rows <= 0 or rows % banks:
            raise ValueError(f"rows must be a positive multiple of {banks}, not {rows!r}")
        ports = {f"{kind}_{name}" for kind, names in (("read", readers), ("write", writers))
                 for name in names}
        if not ports.issuperset(knowing):
            raise ValueError(f"knowing must name ports ({', '.join(sorted(ports))}), not "
                             f"{', '.join(sorted(set(knowing) - ports))}")
        if not isinstance(row_bits, int) or 1 << row_bits < rows:
            raise ValueError(f"row_bits must be enough for {rows} rows, not {row_bits!r}")
        narrow = narrow or {}
        parts = max(narrow.values(), default=1)
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
        self._knowing = frozenset(knowing)
        self._reads, self._writes = reads, writes
        #: The ports, in order of priority.
        self.read: list[ReadPort] = [getattr(self, name) for name in reads]
        self.write: list[WritePort] = [getattr(self, name) for name in writes]

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        reads, writes = ([self._ask(m, name) for name in names]
                         for names in (self._reads, self._writes))
        for group in (reads, writes):
            for index, asked in enumerate(group):
                self._refuse(m, asked, group[:index])
        banks = [self._make_bank(m, bank, reads, writes) for bank in range(self._banks)]
        if self._banks == 1:
            self._share(m, *banks[0])
            return m
        # Two banks and their selects fill a 4-input table in front of a register; a third table
        # for the four of them, behind the registers, goes into what uses the row.
        for index, asked in enumerate(reads):
            port = asked.port
            halves = []
            for first in range(0, self._banks, 2):
                half = Signal(len(port.data), name=f"row{index}_{first}", reset_less=True)
                terms = []
                for bank in range(first, min(first + 2, self._banks)):
                    source = Signal(name=f"source{index}_{bank}")
                    m.d.sync += source.eq(asked.banks[bank] & ~asked.refused)
                    row, came = banks[bank]
                    words = self._words(port, row, came)
                    terms.append(words & source.replicate(len(words)))
                m.d.sync += half.eq(reduce(or_, terms))
                halves.append(half)
            m.d.comb += port.data.eq(reduce(or_, halves))
        return m

    def _ask(self, m: Module, name: str) -> _Asked:
        """Return what a port asks for in a cycle: what is kept of it, or what comes."""
        port = getattr(self, name)
        part, row = self._part(port), self._row(port)
        bank, row = row[:self._bank_bits], row[self._bank_bits:]
        asked = _Asked(name, port, Signal(self._banks, name=f"{name}_banks"),
                       Signal(len(row), name=f"{name}_row"), Signal(len(part), name=f"{name}_part"),
                       Signal(len(port.data), name=f"{name}_data"), Signal(name=f"{name}_refused"))
        comes = [(asked.banks, Cat(port.valid & (bank == k if self._banks > 1 else 1)
                                   for k in range(self._banks))),
                 (asked.row, row), (asked.part, part)]
        if name in self._writes:
            comes.append((asked.data, port.data))
        kept = self.conflicts[name]
        if name in {self._reads[0], self._writes[0]} | self._knowing:  # nothing to be kept
            m.d.comb += [*(wire.eq(value) for wire, value in comes), port.ready.eq(1)]
            return asked
        m.d.comb += port.ready.eq(~kept)
        for wire, value in comes:
            keeps = Signal.like(wire, name=f"{wire.name}_kept", reset_less=True)
            m.d.sync += keeps.eq(wire)
            m.d.comb += wire.eq(Mux(kept, keeps, value))
        return asked

    def _refuse(self, m: Module, asked: _Asked, above: Sequence[_Asked]) -> None:
        """Refuse what a port asks for where one of those above asks for the same bank."""
        port = asked.port
        m.d.comb += asked.refused.eq(
            Cat(asked.banks & other.banks for other in above).any() if above else 0)
        m.d.sync += [self.conflicts[asked.name].eq(asked.refused),
                     port.granted.eq(asked.banks.any() & ~asked.refused)]

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

    def _make_bank(self, m: Module, bank: int, reads: Sequence[_Asked],
                   writes: Sequence[_Asked]) -> tuple[Value, Value]:
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
        for group, name in ((reads, "read"), (writes, "write")):
            address = Signal(len(rams[0].read_addr), name=f"{name}_addr{bank}")
            enable = Signal(parts, name=f"{name}_en{bank}")
            data = Signal(self._width, name=f"{name}_data{bank}")
            # Any port will do for the address while none asks.
            for asked in reversed(group):
                chosen = [address.eq(asked.row)]
                if name == "write":
                    chosen.append(data.eq(asked.data.replicate(self._width // len(asked.data))))
                elif self._narrow(asked.port):
                    chosen.append(part_read.eq(asked.part))
                with m.If(1 if asked is group[-1] else asked.banks[bank]):
                    m.d.comb += chosen
            if name == "read" and parts > 1:  # who asks is known late, so all is read all the time
                m.d.comb += enable.eq((1 << parts) - 1)
            else:
                for asked in reversed(group):
                    wanted = 1 << asked.part if self._narrow(asked.port) else (1 << parts) - 1
                    with m.If(asked.banks[bank]):
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
