# amaranth: UnusedElaboratable=no
import pytest
from amaranth.hdl import Module, Signal

from celosia_hw.stream import Queue, SkidBuffer, delayed, outstanding
from hw.engine import Simulator
from hw.stream_bench import pass_through

RATES = [(1, 1), (0.3, 1), (1, 0.3), (0.5, 0.5)]


@pytest.mark.parametrize("depth", [1, 2, 8])
@pytest.mark.parametrize(("offer", "take"), RATES)
def test_queue_order_and_rate(depth, offer, take):
    most, cycles = pass_through(Queue(16, depth), offer, take)
    assert most <= depth
    if take < offer:
        assert most == depth
    if offer == take == 1:
        assert cycles == 101


@pytest.mark.parametrize("depth", [0, 3])
def test_depth_is_checked(depth):
    message = f"^depth must be a power of two, not {depth}$"
    with pytest.raises(ValueError, match=message):
        Queue(8, depth)


@pytest.mark.parametrize(("offer", "take"), [(1, 1), (0.3, 1), (1, 0.3), (0.5, 0.5)])
def test_skid_buffer_order_and_rate(offer, take):
    most, cycles = pass_through(SkidBuffer(16), offer, take)
    assert most <= 1
    if take < offer:
        assert most == 1
    if offer == take == 1:
        assert cycles == 100


def test_skid_buffer_that_holds_nothing_is_wires():
    skid = SkidBuffer(4, holds=False)

    async def bench(ctx):
        for valid, ready, word in ((1, 0, 5), (1, 1, 9), (0, 1, 2)):
            for signal, value in ((skid.i.valid, valid), (skid.o.ready, ready),
                                  (skid.i.payload, word)):
                ctx.set(signal, value)
            assert (ctx.get(skid.o.valid), ctx.get(skid.i.ready),
                    ctx.get(skid.o.payload)) == (valid, ready, word)

    simulator = Simulator(skid)
    simulator.add_testbench(bench)
    simulator.run()


def test_ready_is_out_of_a_flip_flop():
    m = Module()
    m.submodules.skid = skid = SkidBuffer(4)

    async def bench(ctx):
        ctx.set(skid.i.valid, 1)
        await ctx.tick()
        assert ctx.get(skid.i.ready) == 0
        ctx.set(skid.o.ready, 1)
        assert ctx.get(skid.i.ready) == 0
        await ctx.tick()
        assert ctx.get(skid.i.ready) == 1

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


def test_delays_and_counts_of_what_is_on_its_way():
    m = Module()
    begins, ends, value = Signal(2), Signal(), Signal(4)
    count = outstanding(m, begins, ends, 5, name="count")
    values = delayed(m, value, 3, name="value")
    assert values[0] is value
    assert (len(count), [each.name for each in values[1:]]) == (3, ["value1", "value2", "value3"])

    async def bench(ctx):
        given = [(2, 0, 9), (3, 0, 4), (0, 1, 7), (1, 1, 1), (0, 1, 0)]
        seen = []
        for begin, end, word in given:
            for signal, each in ((begins, begin), (ends, end), (value, word)):
                ctx.set(signal, each)
            seen.append((ctx.get(count), [ctx.get(each) for each in values]))
            await ctx.tick()
        assert seen == [(0, [9, 0, 0, 0]), (2, [4, 9, 0, 0]), (5, [7, 4, 9, 0]),
                        (4, [1, 7, 4, 9]), (4, [0, 1, 7, 4])]

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
