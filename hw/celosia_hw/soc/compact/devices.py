"""Devices of the sequencer: the host's wire, time, a light, the pins of a flash memory."""

from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.arch.link import LinkConfig
from celosia_hw.memory.ram import Ram
from celosia_hw.soc.compact.boot import CHIP_SELECT_N, CLOCK, MOSI
from celosia_hw.soc.compact.memory_map import DeviceRegister
from celosia_hw.soc.link.uart import UartReceiver, UartTransmitter

__all__ = ["Devices"]


class Devices(wiring.Component):
    """Registers: see :class:`~celosia_hw.soc.compact.memory_map.DeviceRegister`.

    Bytes from the host are kept in block RAM, twice ``buffer_bytes`` of the link (a request may be
    twice as long on the wire); one for which there is no room is dropped, and its frame with it.

    Parameters
    ----------
    flash
        There are pins of a flash memory.

    Members
    -------
    word : In(3), read : In(1), write : In(1), data : In(32), found : Out(32)
        What is read is there in the next cycle. Reads of ``UART_RECEIVE`` are at least three
        cycles apart.
    rx : In(1), tx : Out(1)
        The wire, high when idle.
    fault : Out(1)
        The light.
    flash_cs_n, flash_clk, flash_mosi : Out(1), flash_miso : In(1)
        With ``flash``.
    """

    word: Signal
    read: Signal
    write: Signal
    data: Signal
    found: Signal
    rx: Signal
    tx: Signal
    fault: Signal
    flash_cs_n: Signal
    flash_clk: Signal
    flash_mosi: Signal
    flash_miso: Signal

    def __init__(self, link: LinkConfig, *, flash: bool = False):
        self._link, self._flash = link, flash
        pins: dict[str, Any] = {
            "flash_cs_n": Out(1, init=1),  # type: ignore[call-arg]
            "flash_clk": Out(1), "flash_mosi": Out(1), "flash_miso": In(1)}
        super().__init__({
            "word": In(3), "read": In(1), "write": In(1), "data": In(32), "found": Out(32),
            "rx": In(1, init=1), "tx": Out(1, init=1),  # type: ignore[call-arg]
            "fault": Out(1), **(pins if flash else {}),
        })

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        m.submodules.receiver = receiver = UartReceiver(self._link)
        m.submodules.transmitter = transmitter = UartTransmitter(self._link)
        m.d.comb += [receiver.line.eq(self.rx), self.tx.eq(transmitter.line)]

        depth = 2 * self._link.buffer_bytes
        m.submodules.bytes = received = Ram(8, depth)
        head, tail, full = Signal(range(depth)), Signal(range(depth)), Signal()
        none, byte = Signal(2, init=3), Signal(8)
        m.d.comb += [
            full.eq((tail + 1)[:len(tail)] == head),
            received.write_en.eq(receiver.valid & ~full), received.write_addr.eq(tail),
            received.write_data.eq(receiver.data),
            received.read_en.eq(1), received.read_addr.eq(head),
        ]
        # Two cycles late, as the byte in the register behind the memory is.
        m.d.sync += [none.eq(Cat(head == tail, none)), byte.eq(received.read_data)]
        with m.If(receiver.valid & ~full):
            m.d.sync += tail.eq(tail + 1)

        sending = Signal()
        m.d.comb += transmitter.i.valid.eq(sending)
        with m.If(transmitter.i.ready):
            m.d.sync += sending.eq(0)

        cycles, upper = Signal(64), Signal(32)
        m.d.sync += cycles.eq(cycles + 1)

        with m.If(self.read):
            with m.Switch(self.word):
                with m.Case(DeviceRegister.UART_RECEIVE):
                    m.d.sync += self.found.eq(Cat(byte, none[1].replicate(24)))
                    with m.If(~none[1]):
                        m.d.sync += head.eq(head + 1)
                with m.Case(DeviceRegister.UART_SEND):
                    m.d.sync += self.found.eq(sending)
                with m.Case(DeviceRegister.CYCLES_LOW):
                    m.d.sync += [self.found.eq(cycles[:32]), upper.eq(cycles[32:])]
                with m.Case(DeviceRegister.CYCLES_HIGH):
                    m.d.sync += self.found.eq(upper)
                if self._flash:
                    with m.Case(DeviceRegister.FLASH):
                        m.d.sync += self.found.eq(self.flash_miso)
        with m.If(self.write):
            with m.Switch(self.word):
                with m.Case(DeviceRegister.UART_SEND):
                    m.d.sync += [transmitter.i.payload.eq(self.data), sending.eq(1)]
                with m.Case(DeviceRegister.LIGHTS):
                    m.d.sync += self.fault.eq(self.fault | self.data[0])
                if self._flash:
                    with m.Case(DeviceRegister.FLASH):
                        m.d.sync += [
                            self.flash_cs_n.eq(self.data[CHIP_SELECT_N.bit_length() - 1]),
                            self.flash_clk.eq(self.data[CLOCK.bit_length() - 1]),
                            self.flash_mosi.eq(self.data[MOSI.bit_length() - 1]),
                        ]
        return m
