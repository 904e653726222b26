"""Frames that the sender says it has sent, for the first time and again."""

from celosia.arch.config import TpuConfig
from celosia.arch.ici import RESEND_CYCLES
from celosia_hw.ici.sender import FrameSender
from hw.engine import Simulator

CONFIG = TpuConfig("linked", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=4,
                   ports=2)


def test_frames_are_counted_once_and_again():
    dut, log = FrameSender(CONFIG), []
    counts = [0, 0]  # frames that began, and those of them that were sent before

    async def count(ctx):
        while True:
            *_, sent, again = await ctx.tick().sample(dut.sent, dut.resent)
            counts[0] += sent
            counts[1] += sent & again

    async def wait(ctx, cycles):
        await ctx.tick().repeat(cycles)
        log.append(tuple(counts))
        counts[:] = [0, 0]

    async def hear(ctx, expected, again=0):
        ctx.set(dut.heard, {"valid": 1, "expected": expected, "freed": expected, "again": again})
        await ctx.tick()
        ctx.set(dut.heard.valid, 0)

    async def process(ctx):
        for number in range(3):
            for last in (0, 1):
                ctx.set(dut.i.payload, {"data": number, "last": last, "size": 0})
                ctx.set(dut.i.valid, 1)
                await ctx.tick().until(dut.i.ready)
            ctx.set(dut.i.valid, 0)
            await wait(ctx, 40)
        await hear(ctx, 0, again=1)
        await wait(ctx, 60)
        await hear(ctx, 1)
        await wait(ctx, 60)
        await wait(ctx, RESEND_CYCLES)  # nothing arrives
        await hear(ctx, 3)
        await wait(ctx, RESEND_CYCLES + 100)

    sim = Simulator(dut)
    sim.add_clock(1e-6)
    sim.add_testbench(count, background=True)
    sim.add_testbench(process)
    sim.run()
    assert log == [(1, 0)] * 3 + [(3, 3), (0, 0), (2, 2), (0, 0)]
