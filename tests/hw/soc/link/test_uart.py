"""Receiver and transmitter at their line: every divider, skewed clocks, spikes, broken bytes."""

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring

from celosia.arch.link import LinkConfig
from celosia_hw.soc.link.uart import UartReceiver, UartTransmitter
from hw.engine import Simulator


def link_of(clocks_per_bit: float) -> LinkConfig:
    return LinkConfig(int(clocks_per_bit * 1_000_000))


def simulate(component, bench) -> None:
    """Run a testbench of a component."""
    sim = Simulator(component)
    sim.add_clock(1e-6)
    sim.add_testbench(bench)
    sim.run()


def levels(data: list[int], bit: float, phase: float, stop: int = 1) -> list[tuple[float, int]]:
    """Return when the line takes which level for bytes that follow each other without a gap."""
    at, edges = 20 + phase, []
    for byte in data:
        for i in range(10):
            edges.append((at, (byte << 1 | stop << 9) >> i & 1))
            at += bit
    return [*edges, (at, 1)]


def receive(link: LinkConfig, edges: list[tuple[float, int]],
            spikes: tuple[int, ...] = ()) -> list[int]:
    """Return the bytes that a receiver hears; the line is wrong in the cycles of ``spikes``."""
    receiver, heard = UartReceiver(link), []

    async def bench(ctx):
        waiting, level = list(reversed(edges)), 1
        for cycle in range(int(edges[-1][0]) + 20 * 4):
            while waiting and waiting[-1][0] <= cycle:
                level = waiting.pop()[1]
            ctx.set(receiver.line, level ^ (cycle in spikes))
            _, _, valid, byte = await ctx.tick().sample(receiver.valid, receiver.data)
            if valid:
                heard.append(byte)

    simulate(receiver, bench)
    return heard


@pytest.mark.parametrize(("clocks", "skew"), [
    (4, 0.015), (4, -0.015), (4.7, -0.015), (5.3, 0.015), (8, 0.03), (8, -0.03), (8.33, -0.03),
    (16.5, 0.03), (16.5, -0.03)])
def test_receiver_hears_a_skewed_sender(clocks, skew):
    link = link_of(clocks)
    data = np.random.default_rng(1).integers(0, 256, 60).tolist()
    for phase in (0.01, 0.5):
        edges = levels(data, link.period / link.unit * (1 + skew), phase)
        assert receive(link, edges) == data


def test_spikes_of_a_cycle_are_not_seen():
    link = link_of(8)
    edges = levels([0x55, 0x00, 0xFF], 8, 0)
    assert receive(link, edges, (3, 10, 17, 21, 40, 77, 150, 190, 265, 290)) == [0x55, 0x00, 0xFF]


def test_a_line_is_high_before_anything_drives_it():
    receiver, heard = UartReceiver(link_of(8)), []

    async def bench(ctx):
        # A start bit is the first that is put on it.
        for level in (None, 0, 1, 0, 1, 0, 0, 1, 0, 1, 1, 1):
            if level is not None:
                ctx.set(receiver.line, level)
            for _ in range(8):
                _, _, valid, byte = await ctx.tick().sample(receiver.valid, receiver.data)
                if valid:
                    heard.append(byte)

    simulate(receiver, bench)
    assert heard == [0xA5]


@pytest.mark.parametrize("clocks", [8.0625, 9.4375, 13.9375, 16])
@pytest.mark.parametrize("bit", [0, 1, 5, 7, 8])
def test_a_bit_is_what_the_line_is_in_its_middle(clocks, bit):
    """To half a cycle. A line rises once, around bits 0 (that which starts a byte) to 8."""
    link = link_of(clocks)
    middle = round(20 + (bit + 0.5) * link.period / link.unit)
    before = [] if bit == 0 else [0x1FF << (bit - 1) & 0xFF]
    after = [0xFF << bit & 0xFF]
    for rises, heard in ((middle, before), (middle + 1, after)):
        edges = [(20, 0), (rises, 1), (20 + 12 * clocks, 1)]
        assert receive(link, edges) == heard, rises


def test_short_start_bit_is_none():
    assert receive(link_of(16), [(20, 0), (26, 1), (100, 1)]) == []


def test_byte_without_a_stop_bit_is_dropped():
    link = link_of(8)
    broken = levels([0x5A], 8, 0, stop=0)
    after = [(at + 200, level) for at, level in levels([0xA5], 8, 0)]
    assert receive(link, [*broken, *after]) == [0xA5]


class Loop(wiring.Component):
    """A transmitter whose line is a receiver's."""

    def __init__(self, link: LinkConfig):
        super().__init__({})
        self.transmitter, self.receiver = UartTransmitter(link), UartReceiver(link)

    def elaborate(self, platform):
        m = Module()
        m.submodules.transmitter, m.submodules.receiver = self.transmitter, self.receiver
        m.d.comb += self.receiver.line.eq(self.transmitter.line)
        return m


@pytest.mark.parametrize("clocks", [4, 4.9, 8, 8.3333, 25])
def test_transmitter_is_heard_and_keeps_the_line_busy(clocks):
    link = link_of(clocks)
    loop, heard, starts = Loop(link), [], []
    data = np.random.default_rng(2).integers(0, 256, 40).tolist()

    async def send(ctx):
        ctx.set(loop.transmitter.i.valid, 1)
        for byte in data:
            ctx.set(loop.transmitter.i.payload, byte)
            await ctx.tick().until(loop.transmitter.i.ready)
        ctx.set(loop.transmitter.i.valid, 0)

    async def hear(ctx):
        cycle = 0
        while len(heard) < len(data):
            _, _, valid, byte = await ctx.tick().sample(loop.receiver.valid, loop.receiver.data)
            if valid:
                heard.append(byte)
                starts.append(cycle)
            cycle += 1

    sim = Simulator(loop)
    sim.add_clock(1e-6)
    sim.add_testbench(send)
    sim.add_testbench(hear)
    sim.run_until(len(data) * clocks * 12e-6)
    assert heard == data
    bits = 10 * (len(data) - 1)
    assert starts[-1] - starts[0] == pytest.approx(bits * link.period / link.unit, abs=2)


def test_line_is_high_until_the_first_byte():
    transmitter = UartTransmitter(link_of(4))

    async def bench(ctx):
        for _ in range(20):
            _, _, line = await ctx.tick().sample(transmitter.line)
            assert line == 1

    simulate(transmitter, bench)
