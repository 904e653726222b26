"""Devices alone, where the system is too large to come to their limits."""

from types import SimpleNamespace

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring

from celosia.arch.link import LinkConfig
from celosia_hw.soc.compact.devices import Devices
from celosia_hw.soc.compact.memory_map import DeviceRegister
from celosia_hw.soc.link.uart import UartTransmitter
from hw.engine import Simulator

LINK = LinkConfig(4_000_000, 1_000_000)


class Wired(wiring.Component):
    """Devices behind a transmitter; they keep ``2 * buffer_bytes - 1`` bytes."""

    def __init__(self, buffer_bytes: int):
        super().__init__({})
        link = SimpleNamespace(period=LINK.period, unit=LINK.unit, buffer_bytes=buffer_bytes)
        self.devices, self.transmitter = Devices(link), UartTransmitter(LINK)

    def elaborate(self, platform):
        m = Module()
        m.submodules.devices, m.submodules.transmitter = self.devices, self.transmitter
        m.d.comb += self.devices.rx.eq(self.transmitter.line)
        return m


async def send(ctx, dut: Wired, data: bytes) -> None:
    stream = dut.transmitter.i
    for byte in data:
        ctx.set(stream.payload, byte)
        ctx.set(stream.valid, 1)
        await ctx.tick().until(stream.ready)
    ctx.set(stream.valid, 0)
    await ctx.tick().repeat(60)


async def read(ctx, devices: Devices, register: DeviceRegister) -> int:
    ctx.set(devices.word, register)
    ctx.set(devices.read, 1)
    await ctx.tick()
    ctx.set(devices.read, 0)
    found = ctx.get(devices.found)
    await ctx.tick().repeat(2)
    return found


def run(dut, bench) -> None:
    sim = Simulator(dut)
    sim.add_clock(1e-6)
    sim.add_testbench(bench)
    sim.run()


@pytest.mark.parametrize("count", [0, 1, 6, 7, 8, 20])
def test_bytes_without_room_are_dropped(count):
    dut = Wired(4)

    async def bench(ctx):
        for first in (0, 100):
            data = bytes(range(first, first + count))
            await send(ctx, dut, data)
            for byte in data[:7]:
                assert await read(ctx, dut.devices, DeviceRegister.UART_RECEIVE) == byte
            for _ in range(2):
                assert await read(ctx, dut.devices, DeviceRegister.UART_RECEIVE) >> 31

    run(dut, bench)


def test_byte_that_comes_while_it_is_asked_for_is_taken_once():
    for delay in range(30, 50):
        dut, heard = Wired(4), []

        async def bench(ctx, dut=dut, delay=delay, heard=heard):
            ctx.set(dut.transmitter.i.payload, 0xA5)
            ctx.set(dut.transmitter.i.valid, 1)
            await ctx.tick().until(dut.transmitter.i.ready)
            ctx.set(dut.transmitter.i.valid, 0)
            await ctx.tick().repeat(delay)
            for _ in range(8):
                heard.append(await read(ctx, dut.devices, DeviceRegister.UART_RECEIVE))

        run(dut, bench)
        assert [word for word in heard if not word >> 31] == [0xA5]


def test_upper_half_of_the_cycles_is_of_when_the_lower_was_read():
    dut = Devices(LINK)

    async def bench(ctx):
        for _ in range(3):
            low = await read(ctx, dut, DeviceRegister.CYCLES_LOW)
            await ctx.tick().repeat(5)
            assert await read(ctx, dut, DeviceRegister.CYCLES_HIGH) == 0
            assert await read(ctx, dut, DeviceRegister.CYCLES_LOW) - low == 3 + 5 + 3

    run(dut, bench)


def test_sender_is_busy_until_it_can_take_a_byte():
    dut = Devices(LINK)

    async def bench(ctx):
        busy = []
        for byte in b"\x55\x0f\xf0":
            ctx.set(dut.word, DeviceRegister.UART_SEND)
            ctx.set(dut.data, byte)
            ctx.set(dut.write, 1)
            await ctx.tick()
            ctx.set(dut.write, 0)
            waits = 0
            while await read(ctx, dut, DeviceRegister.UART_SEND):
                waits += 1
            busy.append(waits)
        # One goes to the wire in the next cycle, the next wait for it: 40 cycles a byte.
        assert busy[0] == 1
        assert all(10 <= waits <= 14 for waits in busy[1:])

    run(dut, bench)
