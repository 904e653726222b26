"""Checker and dispatcher against the model, on vector instructions at the edge of what is legal."""

import random
from collections import Counter

import pytest
from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.sim import Simulator

from celosia.arch.config import TpuConfig
from celosia.arch.encoding import encode, insn
from celosia.arch.faults import Fault
from celosia.arch.isa import NUM_STRIDES, Unit
from celosia.model.checks import Stop, check
from celosia.model.commands import DST_MEM, SRC_MEM
from celosia.model.decode import decode_checked
from celosia_hw.scalar.check import Checker
from celosia_hw.scalar.dispatch import Dispatcher
from celosia_hw.scalar.scoreboard import READ_SPANS
from hw.scalar.vectors import random_vector

CONFIG = TpuConfig("tiny", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=32, bus_bytes=8,
                   window=4, ibuf=16)


class Bench:
    """A checker with stride registers, and a dispatcher, given one instruction after another."""

    def __init__(self, strides):
        self.strides = strides
        self.dut, self.reset = Checker(CONFIG), Signal()
        self.dispatcher = Dispatcher(CONFIG)

    def run(self, instructions, body):
        """Call ``body(ctx, instruction, cycles, ticket)`` when each is through, or has faulted."""
        dut, dispatcher = self.dut, self.dispatcher
        m = Module()
        m.submodules += dut, dispatcher
        m.d.comb += [
            *(getattr(dispatcher, name).eq(getattr(dut, name))
              for name in ("word", "word_valid", "part", "part_index", "part_valid")),
            dispatcher.unit.eq(dut.ticket.payload.unit), dut.ticket.ready.eq(1),
            dispatcher.push.eq(dut.ticket.valid),
        ]

        async def bench(ctx):
            for instruction in instructions:
                ctx.set(self.reset, 1)
                await ctx.tick()
                ctx.set(self.reset, 0)
                for i, (s0, s1, s2) in enumerate(self.strides[1:], 1):
                    ctx.set(dut.stride_write, 1)
                    ctx.set(dut.stride_index, i)
                    ctx.set(dut.stride, {"s0": s0, "s1": s1, "s2": s2})
                    await ctx.tick()
                ctx.set(dut.stride_write, 0)
                ctx.set(dut.i.payload.word.as_value(),
                        int.from_bytes(encode(instruction), "little"))
                ctx.set(dut.i.payload.pc, 7)
                ctx.set(dut.i.valid, 1)
                await ctx.tick()
                ctx.set(dut.i.valid, 0)
                cycles = 1  # with that of taking it
                while not ctx.get(dut.ticket.valid) and not ctx.get(dut.fault):
                    await ctx.tick()
                    cycles += 1
                    assert cycles < 40
                ticket = ctx.get(dut.ticket.payload)
                if ctx.get(dut.ticket.valid):
                    await ctx.tick().repeat(3)
                    assert not ctx.get(dispatcher.valid)
                    await ctx.tick()
                    assert ctx.get(dispatcher.valid) == 1 << Unit.VPU
                body(ctx, instruction, cycles, ticket)

        sim = Simulator(ResetInserter(self.reset)(m))
        sim.add_clock(1e-6)
        sim.add_testbench(bench)
        sim.run()


def checked(instruction, values, strides):
    """What the model makes of it: command, fault, FAULT_ADDR."""
    decoded = decode_checked(CONFIG, encode(instruction))
    assert decoded.fault == Fault.NONE
    try:
        return check(CONFIG, decoded, values, strides, []), Fault.NONE, 0
    except Stop as stop:
        return None, stop.fault, stop.addr


def span(value):
    return (value.mem, value.low, value.high) if value.used else None


@pytest.mark.parametrize("seed", range(2))
def test_vectors_as_the_model_has_them(seed):
    rng = random.Random(seed)
    strides = [(0, 0, 0)] + [tuple(rng.randrange(5) for _ in range(3))
                             for _ in range(NUM_STRIDES - 1)]
    bench = Bench(strides)
    dut = bench.dut
    seen = Counter()

    def compare(ctx, instruction, cycles, ticket):
        text = str(instruction.fields) + str(instruction.operands)
        values = [operand.value for operand in instruction.operands]
        command, fault, addr = checked(instruction, values, strides)
        seen[fault] += 1
        assert ctx.get(dut.fault) == fault, text
        if command is None:
            assert (ctx.get(dut.fault_addr), ctx.get(dut.fault_pc)) == (addr, 7), text
            return
        assert ticket.unit == Unit.VPU
        dst = command.dst
        assert span(ticket.first) == (DST_MEM[command.kind], dst.base, dst.last), text
        wanted = [(SRC_MEM[source.kind], source.stream.base, source.stream.last)
                  if source.stream is not None else None for source in command.sources]
        reads = [span(ticket.reads[i]) for i in range(READ_SPANS)]
        assert reads == wanted + [None] * (READ_SPANS - len(wanted)), text
        sent = ctx.get(bench.dispatcher.command_vpu)
        for name in ("op", "post", "dst_kind", "reduce", "reduce_op"):
            assert sent[name] == instruction.fields[name]
        assert sent.dst.base == command.dst.base
        for name, value, source in zip("abc", values[1:4], command.sources, strict=False):
            assert sent[f"{name}_value"] == value
            if source.stream is not None:
                assert sent[name].base == source.stream.base
            if source.lane is not None:
                assert sent[f"{name}_lane"] == source.lane

    bench.run([random_vector(CONFIG, rng) for _ in range(700)], compare)
    assert set(seen) == {Fault.NONE, Fault.ILLEGAL_COUNT, Fault.UB_RANGE, Fault.ACC_RANGE,
                         Fault.INDEX_RANGE, Fault.OVERLAP}
    assert seen[Fault.NONE] > 150, seen


@pytest.mark.parametrize(("fields", "cycles"), [
    ({"a_kind": "acc", "n0": 4}, 7),
    ({"a_kind": "acc", "b_kind": "acc", "op": "iadd", "n0": 4}, 8),
    ({"a_kind": "acc", "n0": 2, "n1": 2, "n2": 2}, 13),
    ({"a_kind": "acc_lane", "n0": 4}, 7),
    ({"a_kind": "acc", "n0": 4, "reduce": "rows"}, 7),
])
def test_cycles(fields, cycles):
    took = []
    Bench([(0, 0, 0)] * NUM_STRIDES).run(
        [insn("vector", dst=40, dst_kind="ub_i8", **fields)],
        lambda _ctx, _instruction, count, _ticket: took.append(count))
    assert took == [cycles]
