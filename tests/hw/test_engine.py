"""The simulator of the tests against Amaranth's own, on one circuit and the same testbenches."""

import random

import amaranth.sim
import pytest
from amaranth.hdl import (
    C,
    Cat,
    ClockDomain,
    ClockSignal,
    Elaboratable,
    Module,
    Mux,
    Print,
    Signal,
    signed,
)
from amaranth.hdl._ir import DriverConflict
from amaranth.lib import data
from amaranth.lib.memory import Memory
from amaranth.sim import BrokenTrigger

from celosia.arch.vector import VectorOp
from hw.engine import Simulator


class Circuit(Elaboratable):
    """Signed and unsigned sums in two modules, parts of one signal from each, a memory, and a
    clock that the circuit makes.
    """

    def __init__(self):
        self.a, self.b = Signal(8), Signal(signed(8))
        self.view = Signal(data.StructLayout({"op": VectorOp, "x": 5, "y": signed(3)}))
        self.write, self.step = Signal(), Signal()
        self.parts, self.sum = Signal(12), Signal(signed(10))
        self.kept, self.read, self.steps = Signal(signed(9)), Signal(8), Signal(4)
        self.pulses = Signal(8)
        self.others = Signal(7), Signal(signed(5))
        self.seen = [self.parts, self.sum, self.kept, self.read, self.steps, self.pulses]

    def elaborate(self, platform):
        m = Module()
        m.submodules.inner = inner = Module()
        m.submodules.memory = memory = Memory(shape=8, depth=16, init=range(16))
        port, reader = memory.write_port(), memory.read_port()
        m.d.comb += [port.addr.eq(self.a), port.data.eq(self.b), port.en.eq(self.write),
                     reader.addr.eq(self.b), self.read.eq(reader.data),
                     self.sum.eq(self.b + Mux(self.a[0], self.view.y, -self.kept)),
                     self.parts[:5].eq(self.view.x ^ self.a)]
        inner.d.comb += self.parts[5:].eq(Cat(self.a[3:], self.kept[:2]))
        inner.d.sync += self.kept.eq(self.kept + self.sum)
        with m.If(self.view.op == VectorOp.SELECT):
            m.d.sync += self.pulses.eq(self.pulses + 1)
        m.domains.made = made = ClockDomain(reset_less=True)
        m.d.comb += ClockSignal("made").eq(self.step)
        m.d.made += self.steps.eq(self.steps + self.a[0])
        assert made.clk is not None
        return m


def run(kind, watched: bool) -> list:
    """Return what the testbenches see: of the circuit after each of their sets, at each tick."""
    dut, rng, seen = Circuit(), random.Random(7), []

    async def main(ctx):
        more = random.Random(8)
        for cycle in range(60):
            for signal, value in ((dut.a, rng.getrandbits(8)), (dut.b, rng.randrange(-128, 128)),
                                  (dut.a, rng.getrandbits(8)), (dut.write, rng.random() < 0.5)):
                ctx.set(signal, value)
                if rng.random() < 0.3:
                    seen.append([ctx.get(each) for each in dut.seen])
            ctx.set(dut.view, {"op": rng.choice(list(VectorOp)), "x": rng.getrandbits(5)})
            ctx.set(dut.view.y, rng.randrange(-4, 4))
            for _ in range(rng.randrange(3)):
                ctx.set(dut.step, 1)
                ctx.set(dut.step, 0)
            for signal in dut.others:  # more bits than it has
                ctx.set(signal, more.randrange(-1000, 1000))
                seen.append(ctx.get(signal))
            parts = (dut.view.x, dut.view.y, dut.sum[2:7], dut.sum[3:].as_signed(),
                     dut.parts[8:][1:], dut.kept[:4].as_signed(), dut.sum + dut.a)
            seen.append([ctx.get(each) for each in parts])
            seen.append((await ctx.tick().sample(dut.sum, dut.view, dut.view.op, *parts), cycle))
        seen.append(await ctx.tick().sample(dut.kept).until(dut.pulses[0] | (dut.pulses > 3)))
        seen.append(await ctx.tick().sample(dut.kept).repeat(3))

    async def monitor(ctx):
        async for values in ctx.tick().sample(*dut.seen):
            seen.append(values)
            if watched:
                seen.append(await ctx.changed(dut.parts))

    simulator = kind(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(monitor, background=True)
    simulator.add_testbench(main)
    simulator.run()
    first = list(seen)
    rng.seed(7)
    seen.clear()
    simulator.reset()
    simulator.run()
    assert seen == first
    return seen


@pytest.mark.parametrize("watched", [False, True])
def test_testbenches_see_what_they_see_in_amaranths_own(watched):
    wanted = run(amaranth.sim.Simulator, watched)
    assert len(wanted) > 150
    assert run(Simulator, watched) == wanted


def random_expression(rng, leaves, depth=3):
    """Return a value of any operators, of both signednesses, parts of a whole and of none."""
    if not depth:
        return rng.choice(leaves)
    x, y = (random_expression(rng, leaves, depth - 1) for _ in range(2))
    start, stop = sorted(rng.randrange(len(x) + 1) for _ in range(2))
    return rng.choice([
        x + y, x - y, x * y, x // y, x % y, x & y, x | y, x ^ y, ~x, -x, x == y, x < y, x >= y,
        x << 1, x << 0, x >> 1, x >> 0, x << y.as_unsigned()[:2], x >> y.as_unsigned()[:3],
        x[:], x[start:stop], x[:stop], x.as_unsigned(), (x[:] + 0).as_signed(), Cat(x, y, C(-3, 3)),
        Mux(x, y, -2), x.bool(), x.any(), x.all(), x.xor(), x.as_unsigned().bit_select(y[:2], 3),
        x.as_unsigned().word_select(y[:1], 2)])[:24]


@pytest.mark.parametrize("seed", range(4))
def test_expressions_are_worth_what_they_are_in_amaranths_own(seed):
    rng = random.Random(seed)
    leaves = [Signal(5), Signal(signed(5)), Signal(), Signal(signed(1)), Signal(signed(12)),
              C(1), C(-1), C(-9, 8), C(0, 3)]
    m, outputs = Module(), []
    m.submodules.inner = inner = Module()  # which drives the upper bits of some
    for _ in range(120):
        value = random_expression(rng, leaves)
        shape = rng.choice((value.shape(), signed(len(value) + 2), 4, signed(3)))
        outputs.append(Signal(shape))
        cut = rng.choice((None, None, 1, len(outputs[-1]) - 1))
        m.d.comb += outputs[-1][:cut].eq(value)
        inner.d.comb += [] if cut is None else outputs[-1][cut:].eq(value >> 1)
    values = [[rng.getrandbits(12) for _ in leaves[:5]] for _ in range(20)]
    seen = []

    async def testbench(ctx):
        for each in values:
            for signal, value in zip(leaves, each, strict=False):
                ctx.set(signal, value)
            seen.append([ctx.get(output) for output in outputs])

    for kind in (amaranth.sim.Simulator, Simulator):
        simulator = kind(m)
        simulator.add_testbench(testbench)
        simulator.run()
    assert seen[:len(values)] == seen[len(values):]
    assert len(set(map(tuple, seen))) == len(values)


def test_a_signal_of_the_circuit_is_not_set():
    async def testbench(ctx):
        ctx.set(dut.sum, 1)

    dut = Circuit()
    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(testbench)
    with pytest.raises(DriverConflict, match="must be driven by testbenches alone"):
        simulator.run()


def test_signals_set_one_after_another_make_each_step_of_a_clock():
    m, clock, count = Module(), Signal(), Signal(8)
    m.domains.made = made = ClockDomain(reset_less=True)
    made.clk = clock
    m.d.made += count.eq(count + 1)

    async def testbench(ctx):
        for _ in range(5):
            ctx.set(clock, 1)
            ctx.set(clock, 0)
        assert ctx.get(count) == 5

    simulator = Simulator(m)
    simulator.add_testbench(testbench)
    simulator.run()


def test_what_is_set_behind_its_back_the_circuit_sets_again(capsys):
    """Although nothing that it reads has changed; and what it prints, it prints at each edge."""
    def run(kind):
        m, given, kept, other = Module(), Signal(4, init=3), Signal(4), Signal(4)
        m.submodules.memory = memory = Memory(shape=4, depth=2, init=[1, 2])
        write, read = memory.write_port(), memory.read_port()
        m.d.comb += [write.data.eq(given), write.en.eq(1)]
        m.d.sync += [kept.eq(given), other.eq(other), Print("edge")]
        seen = []

        async def testbench(ctx):
            for cycle in range(12):
                if cycle % 3 == 1:
                    ctx.set(kept, 9)
                    ctx.set(other, cycle)
                    ctx.set(memory.data[0], 7)
                if cycle == 8:
                    ctx.set(given, 5)
                seen.append([ctx.get(each) for each in (kept, other, read.data, memory.data[0])])
                seen.append(await ctx.tick().sample(kept, memory.data[1], read.data))

        simulator = kind(m)
        simulator.add_clock(1e-6)
        simulator.add_testbench(testbench)
        simulator.run()
        return seen, capsys.readouterr().out

    wanted = run(amaranth.sim.Simulator)
    assert wanted[1].count("edge") == 12
    assert run(Simulator) == wanted


def test_a_testbench_that_misses_an_edge_is_told():
    m, count = Module(), Signal(4)
    m.d.sync += count.eq(count + 1)

    async def testbench(ctx):
        async for _ in ctx.tick():
            await ctx.tick()

    for kind in (amaranth.sim.Simulator, Simulator):
        simulator = kind(m)
        simulator.add_clock(1e-6)
        simulator.add_testbench(testbench)
        with pytest.raises(BrokenTrigger):
            simulator.run()
