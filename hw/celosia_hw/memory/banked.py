"""On-chip memory of many ports, made of banks that have one read and one write port each."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
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

    A read granted in cycle t gives its row during t + READ_LATENCY; a write granted in cycle t is
    seen by reads granted from t + 1 on (a read in cycle t gives the old row). Throughput: a row
    a cycle on each port while no port of lower index asks for the same bank. Rows are zero when
    the chip powers up and outlive a reset.

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
        Number of read and of write ports.

    Members
    -------
    read : list of In(ReadPortSignature(row_bits, width))
    write : list of In(WritePortSignature(row_bits, width))
        In order of priority, first the ports that must not wait.
    conflicts : Out(readers + writers)
        A bit for each port, readers first: it asked in this cycle and was refused.
    """

    read: list[ReadPort]
    write: list[WritePort]
    conflicts: Signal

    def __init__(self, rows: int, row_bits: int, width: int, readers: int, writers: int):
        if rows <= 0 or rows % BANKS:
            raise ValueError(f"rows must be a positive multiple of {BANKS}, not {rows!r}")
        if not isinstance(row_bits, int) or 1 << row_bits < rows:
            raise ValueError(f"row_bits must be enough for {rows} rows, not {row_bits!r}")
        self._rows, self._width = rows, width
        super().__init__({
            "read": In(ReadPortSignature(row_bits, width)).array(readers),
            "write": In(WritePortSignature(row_bits, width)).array(writers),
            "conflicts": Out(readers + writers),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        ports = [*self.read, *self.write]
        for group in (self.read, self.write):
            for index, port in enumerate(group):
                taken = [above.valid & (above.addr[:BANK_BITS] == port.addr[:BANK_BITS])
                         for above in group[:index]]
                m.d.comb += port.ready.eq(~Cat(taken).any() if taken else 1)
        m.d.comb += self.conflicts.eq(Cat(port.valid & ~port.ready for port in ports))

        rows_read = []
        for bank in range(BANKS):
            ram = Ram(self._width, self._rows // BANKS)
            m.submodules[f"bank{bank}"] = ram
            rows_read.append(ram.read_data)
            for group, enable, address in ((self.read, ram.read_en, ram.read_addr),
                                           (self.write, ram.write_en, ram.write_addr)):
                asked = [port.valid & (port.addr[:BANK_BITS] == bank) for port in group]
                m.d.comb += enable.eq(Cat(asked).any())
                for port, here in reversed(list(zip(group, asked, strict=True))):
                    with m.If(here):
                        m.d.comb += address.eq(port.addr[BANK_BITS:])
                        if group is self.write:
                            m.d.comb += ram.write_data.eq(port.data)

        for index, port in enumerate(self.read):
            granted = Signal(name=f"granted{index}")
            source = Signal(BANK_BITS, name=f"source{index}", reset_less=True)
            row = Signal(self._width, name=f"row{index}", reset_less=True)
            m.d.sync += granted.eq(port.valid & port.ready)
            m.d.sync += source.eq(port.addr[:BANK_BITS])
            with m.If(granted):
                with m.Switch(source):
                    for bank, data in enumerate(rows_read):
                        with m.Case(bank):
                            m.d.sync += row.eq(data)
            m.d.comb += port.data.eq(row)
        return m
