"""Checker and dispatcher against the model, on instructions at the edge of what is legal."""

import functools
import itertools
import operator
import random
from collections import Counter

import pytest
from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.lib import wiring

from celosia.arch.commands import DST_MEM, SRC_MEM, unpack
from celosia.arch.config import TpuConfig
from celosia.arch.encoding import encode, insn
from celosia.arch.faults import Fault
from celosia.arch.isa import NUM_STRIDES, DmaFormat, Mem, Unit
from celosia.arch.vector import operand_names
from celosia.model.checks import Stop, check
from celosia.model.decode import decode_checked
from celosia_hw.scalar.check import Checker
from celosia_hw.scalar.conflicts import READ_SPANS
from celosia_hw.scalar.dispatch import Dispatcher
from hw.scalar.vectors import random_vector
from hw.simulation import World

CONFIG = TpuConfig("tiny", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=32, bus_bytes=8,
                   window=4, ibuf=16)
TOP = 0xFFFFFFFF
WINDOWS = ((0x8000, 0x80FF), (1, 0), (TOP - 0xFF, TOP), (0, 0x3F))


class Pair(wiring.Component):
    """A checker and a dispatcher, with a reset."""

    def __init__(self):
        super().__init__({})
        self.checker, self.dispatcher, self.reset = Checker(CONFIG), Dispatcher(CONFIG), Signal()

    def elaborate(self, platform):
        checker, dispatcher = self.checker, self.dispatcher
        m = Module()
        m.submodules += ResetInserter(self.reset)(checker), ResetInserter(self.reset)(dispatcher)
        m.d.comb += [
            *(getattr(dispatcher, name).eq(getattr(checker, name))
              for name in ("word", "word_valid", "part", "part_index", "part_valid")),
            dispatcher.unit.eq(checker.entry.payload.unit), checker.entry.ready.eq(1),
            dispatcher.push.eq(checker.entry.valid),
        ]
        return m


@functools.cache
def world() -> World:
    """The pair, made once."""
    return World(Pair())


class Bench:
    """A checker with stride registers, and a dispatcher, given one instruction after another."""

    def __init__(self, strides):
        self.strides = strides
        pair = world().component
        self.dut, self.dispatcher, self.reset = pair.checker, pair.dispatcher, pair.reset

    def run(self, instructions, body):
        """Call ``body(ctx, instruction, cycles, entry)`` when each is through, or has faulted."""
        dut, dispatcher = self.dut, self.dispatcher

        async def bench(ctx):
            for window, (base, last) in zip(dut.windows, WINDOWS, strict=True):
                ctx.set(window, {"base": base, "last": last})
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
                while not ctx.get(dut.entry.valid) and not ctx.get(dut.fault.cause):
                    await ctx.tick()
                    cycles += 1
                    assert cycles < 40
                entry = ctx.get(dut.entry.payload)
                if ctx.get(dut.entry.valid):
                    await ctx.tick().repeat(3)
                    assert not ctx.get(dispatcher.valid)
                    await ctx.tick()
                    assert ctx.get(dispatcher.valid) == 1 << instruction.instruction.unit
                else:
                    await ctx.tick().repeat(4)  # a fault is held
                body(ctx, instruction, cycles, entry)

        world().run(bench)


def checked(instruction, values, strides):
    """What the model makes of it: command, fault, FAULT_ADDR."""
    decoded = decode_checked(CONFIG, encode(instruction))
    assert decoded.fault == Fault.NONE
    try:
        command = unpack(decoded.opcode, decoded.fields, values, strides)
        check(CONFIG, command, WINDOWS)
        return command, Fault.NONE, 0
    except Stop as stop:
        return None, stop.fault, stop.addr


def agreed(ctx, dut, instruction, strides, seen):
    """Compare what fails with the model, and count it; return the instruction as text, its values,
    and the command if there is one.
    """
    text = str(instruction.fields) + str(instruction.operands)
    values = [operand.value for operand in instruction.operands]
    command, fault, addr = checked(instruction, values, strides)
    seen[fault] += 1
    assert ctx.get(dut.fault.cause) == fault, text
    if command is None:
        assert (ctx.get(dut.fault.addr), ctx.get(dut.fault.pc)) == (addr, 7), text
    return text, values, command


def span(value):
    return (value.mem, value.low, value.high) if value.used else None


def rows(base, counts, steps):
    """The rows of a walk, where there are not many."""
    places = itertools.product(*(range(min(count, 4)) for count in reversed(counts)))
    return [base + sum(map(operator.mul, reversed(place), steps)) for place in places]


def same(sent, stream):
    """What a unit is sent is a stream."""
    counts, linear = stream.counts, (1, *itertools.accumulate(stream.counts, operator.mul))
    steps = linear if sent.linear else (sent.s0, sent.s1, sent.s2)
    wanted = linear if stream.strides is None else stream.strides
    assert rows(sent.base, counts, steps) == rows(stream.base, counts, wanted)


def test_vectors_as_the_model_has_them():
    rng = random.Random(0)
    strides = [(0, 0, 0)] + [tuple(rng.randrange(5) for _ in range(3))
                             for _ in range(NUM_STRIDES - 1)]
    bench = Bench(strides)
    dut = bench.dut
    seen = Counter()

    def compare(ctx, instruction, cycles, entry):
        text, values, command = agreed(ctx, dut, instruction, strides, seen)
        if command is None:
            return
        assert entry.unit == Unit.VPU
        dst = command.dst
        assert span(entry.first) == (DST_MEM[command.kind], dst.base, dst.last), text
        sources = dict(zip(operand_names(command.op, command.post), command.sources, strict=True))
        wanted = {name: (SRC_MEM[source.kind], source.stream.base, source.stream.last)
                  for name, source in sources.items() if source.stream is not None}
        reads = [span(entry.reads[i]) for i in range(READ_SPANS)]
        assert reads == [wanted.get(name) for name in "abc"], text
        sent = ctx.get(bench.dispatcher.command_vpu)
        for name in ("op", "post", "dst_kind", "a_kind", "b_kind", "c_kind", "reduce",
                     "reduce_op"):
            assert sent[name] == instruction.fields[name]
        assert (sent.counts.n0, sent.counts.n1, sent.counts.n2) == command.counts
        same(sent.dst, command.dst)
        for name, source in sources.items():
            assert sent[f"{name}_value"] == values["abc".index(name) + 1]
            if source.stream is not None:
                same(sent[name], source.stream)
            if source.lane is not None:
                assert sent[f"{name}_lane"] == source.lane

    bench.run([random_vector(CONFIG, rng) for _ in range(700)], compare)
    assert set(seen) == {Fault.NONE, Fault.ILLEGAL_COUNT, Fault.UB_RANGE, Fault.ACC_RANGE,
                         Fault.INDEX_RANGE, Fault.OVERLAP}
    assert seen[Fault.NONE] > 150, seen


def matmul(fields, values, strides):
    """A matmul: changes of one that is legal, and the values of its operands, in their order."""
    operands = {"acc": 0, "acts": 0, "w": 0, "n0": 1, "n1": 1, "n2": 1, "wrows": CONFIG.dim}
    return insn("matmul", **operands | fields | values | strides)


def random_matmul(rng, strides):
    """A matmul near the edge of what is legal."""
    n0, n1, n2 = (rng.choice((1, 1, 2, 3, 5)) for _ in range(3))
    wrows = rng.choice((1, 2, CONFIG.dim))
    x = {name: rng.randrange(NUM_STRIDES) for name in ("xacc", "xacts", "xw")}
    places = {}
    for name, rows, counts in (("acc", CONFIG.acc_rows, (n0, n1, n2)),
                               ("acts", CONFIG.ub_rows, (n0, n1, n2)),
                               ("w", CONFIG.ub_rows, (wrows, 1, 1))):
        register = x[f"x{name}"]
        span = (sum((count - 1) * step for count, step in zip(
            counts, strides[register], strict=True)) if register else n0 * n1 * n2 - 1
            if name != "w" else wrows - 1)
        places[name] = max(rows - 1 - span, 0) + rng.choice((0, 0, 0, 0, 0, 0, 1, -1, 1 << 20))
    if rng.random() < 0.1:
        wrows = rng.choice((0, CONFIG.dim + 1, 2 * CONFIG.dim, 3 << 16, 1 << 31))
    if rng.random() < 0.1:
        n0, n1, n2 = rng.choice(((0, n1, n2), (n0, 0, n2), (n0, n1, 0), (1, 1, 1 << 16)))
    wload = int(rng.random() < 0.8)
    if not wload:  # the decoder takes nothing else
        wrows = places["w"] = x["xw"] = 0
    return matmul({"fmt": rng.randrange(2), "accumulate": rng.randrange(2), "wload": wload,
                   "transpose": wload and rng.randrange(2)},
                  {**{name: max(place, 0) for name, place in places.items()},
                   "n0": n0, "n1": n1, "n2": n2, "wrows": wrows}, x)


def test_matmuls_as_the_model_has_them():
    rng = random.Random(1)
    strides = [(0, 0, 0)] + [tuple(rng.randrange(4) for _ in range(3))
                             for _ in range(NUM_STRIDES - 1)]
    bench, seen = Bench(strides), Counter()
    dut = bench.dut

    def compare(ctx, instruction, _cycles, entry):
        text, values, command = agreed(ctx, dut, instruction, strides, seen)
        if command is None:
            return
        assert entry.unit == Unit.MXU
        assert span(entry.first) == (Mem.ACC, command.acc.base, command.acc.last), text
        reads = [span(entry.reads[i]) for i in range(READ_SPANS)]
        weights = command.weights
        assert [each for each in reads if each is not None] == [
            (Mem.UB, stream.base, stream.last) for stream in (command.acts, weights)
            if stream is not None], text
        sent = ctx.get(bench.dispatcher.command_mxu)
        for name in ("fmt", "accumulate", "wload", "transpose"):
            assert sent[name] == instruction.fields[name]
        assert (sent.counts.n0, sent.counts.n1, sent.counts.n2) == command.counts
        same(sent.acc, command.acc)
        same(sent.acts, command.acts)
        if weights is not None:
            step = 1 if weights.strides is None else weights.strides[0]
            assert (sent.w_base, sent.w_step, sent.wrows) == (
                weights.base, step, weights.counts[0]), text

    bench.run([random_matmul(rng, strides) for _ in range(140)], compare)
    assert set(seen) == {Fault.NONE, Fault.ILLEGAL_COUNT, Fault.UB_RANGE, Fault.ACC_RANGE}
    assert seen[Fault.NONE] > 50, seen


#: Changes of a legal matmul, and what comes of each.
MATMULS = [
    ({}, Fault.NONE),
    *(({name: 0}, Fault.ILLEGAL_COUNT) for name in ("n0", "n1", "n2", "wrows")),
    ({"n2": 1 << 16}, Fault.ILLEGAL_COUNT), ({"n2": 1 << 31}, Fault.ILLEGAL_COUNT),
    ({"n2": 3}, Fault.NONE), ({"wrows": CONFIG.dim - 1}, Fault.NONE),
    *(({"wrows": wrows}, Fault.ILLEGAL_COUNT)
      for wrows in (5, 6, 7, *(1 << bit for bit in range(3, 32)))),
    ({"wrows": 0, "wload": 0}, Fault.NONE),
    *(change for name, rows, cause in (
        ("acc", CONFIG.acc_rows, Fault.ACC_RANGE), ("acts", CONFIG.ub_rows, Fault.UB_RANGE))
      for change in (({name: rows - 1}, Fault.NONE), ({name: rows}, cause),
                     ({name: 2 * rows}, cause), ({name: 1 << 31}, cause),
                     ({name: rows - 2, "n0": 2}, Fault.NONE),
                     ({name: rows - 1, "n0": 2}, cause), ({name: rows - 1, "n1": 2}, cause),
                     ({name: rows - 1, "n2": 2}, cause))),
    ({"w": CONFIG.ub_rows - CONFIG.dim}, Fault.NONE),
    ({"w": CONFIG.ub_rows - CONFIG.dim + 1}, Fault.UB_RANGE),
    ({"w": CONFIG.ub_rows - 1, "wrows": 1}, Fault.NONE),
    ({"w": CONFIG.ub_rows, "wrows": 1}, Fault.UB_RANGE),
    # The first one that fails, in the order of the operands.
    ({"n0": 0, "acc": 1 << 20, "acts": 1 << 20}, Fault.ILLEGAL_COUNT),
    ({"acts": 1 << 20, "acc": 1 << 20}, Fault.ACC_RANGE),
]


def test_matmuls_at_the_edges():
    bench, found = Bench([(0, 0, 0)] * NUM_STRIDES), []
    instructions = [
        matmul({name: changes[name] for name in changes if name == "wload"},
               {name: changes[name] for name in changes if name != "wload"}, {})
        for changes, _ in MATMULS]
    bench.run(instructions, lambda ctx, *_: found.append(ctx.get(bench.dut.fault.cause)))
    assert [(changes, Fault(cause)) for (changes, _), cause in zip(
        MATMULS, found, strict=True)] == MATMULS


def random_transfer(rng):
    """A load or a store near the edge of a window, of a memory, or of the address space."""
    fmt, mem = rng.choice(list(DmaFormat)), rng.choice(list(Mem))
    size = fmt.nbytes
    rows, cols = (rng.choice((1, 1, 2, 3, 5, 9)) for _ in range(2))
    length = cols * size
    pitch = rng.choice((0, length, length, 16, 64, size * rng.randrange(20)))
    if rng.random() < 0.2:  # so long that its end is near address zero again
        pitch = rng.choice((1 << 31, TOP + 1 - size, TOP + 1 - 64, (1 << 32) // rows, 1 << 30))
    if rng.random() < 0.05:
        cols = 0xFFFF
    end = (rows - 1) * pitch + cols * size  # behind the first byte
    base, last = rng.choice(WINDOWS)
    addr = rng.choice((base, last + 1 - end, base + rng.randrange(64), TOP + 1 - end, 0, TOP))
    addr = (addr + size * rng.choice((0, 0, 0, -1, 1))) & TOP
    if rng.random() < 0.9:
        addr, pitch = addr & -size, pitch & TOP & -size
    if rng.random() < 0.03:
        rows, cols = rng.choice(((0, cols), (rows, 0)))
    steps = [rng.choice((0, 1, 2, 3)), rng.choice((0, 1, rows))]
    if rng.random() < 0.05:
        steps[rng.randrange(2)] = 0xFFFF
    memory = CONFIG.acc_rows if mem == Mem.ACC else CONFIG.ub_rows
    span = (rows - 1) * steps[0] + (-(-cols // CONFIG.dim) - 1) * steps[1]
    row = (rng.randrange(memory) if rng.random() < 0.4
           else memory - 1 - span + rng.choice((0, 0, 1))) & TOP
    return insn(rng.choice(("load", "store")), mem=mem, fmt=fmt, row=row, addr=addr,
                shape=rows | cols << 16, pitch=pitch & TOP, steps=steps[0] | steps[1] << 16)


def compare_transfer(bench, strides, seen):
    """What :meth:`Bench.run` calls to compare a transfer with the model's."""
    dut = bench.dut

    def compare(ctx, instruction, _cycles, entry):
        text, values, command = agreed(ctx, dut, instruction, strides, seen)
        if command is None:
            return
        chip = command.chip(CONFIG.dim)
        assert entry.unit == instruction.instruction.unit
        assert (entry.low, entry.high) == (command.addr, command.end - 1), text
        assert span(entry.first) == (command.mem, chip.base, chip.last), text
        unit = instruction.instruction.unit.name.lower()
        sent = ctx.get(getattr(bench.dispatcher, f"command_{unit}"))
        row, addr, shape, pitch, steps = values
        wanted = {"row": row, "addr": addr, "rows": shape & 0xFFFF, "cols": shape >> 16,
                  "pitch": pitch, "row_step": steps & 0xFFFF, "group_step": steps >> 16}
        assert {name: int(sent[name]) for name in wanted} == wanted, text
        assert (sent.mem, sent.fmt) == (command.mem, command.fmt), text
    return compare


def test_transfers_as_the_model_has_them():
    rng = random.Random(3)
    strides = [(0, 0, 0)] * NUM_STRIDES
    bench, seen = Bench(strides), Counter()
    bench.run([random_transfer(rng) for _ in range(600)], compare_transfer(bench, strides, seen))
    assert set(seen) == {Fault.NONE, Fault.ILLEGAL_COUNT, Fault.MISALIGNED, Fault.UB_RANGE,
                         Fault.ACC_RANGE, Fault.WINDOW}
    assert seen[Fault.NONE] > 150, seen


#: addr, rows, cols, pitch of transfers of bytes.
EDGES = {
    (0x8000, 4, 64, 64): Fault.NONE,
    (0x8000, 4, 65, 64): Fault.WINDOW,  # the last byte is the one behind the window
    (0x7FFF, 1, 4, 0): Fault.WINDOW,
    (TOP, 1, 1, 0): Fault.NONE,  # the last byte of all
    (TOP, 1, 2, 0): Fault.WINDOW,  # ends at address 0, which is in a window
    (TOP, 2, 1, 2): Fault.WINDOW,
    (TOP, 2, 0xFFFF, 0): Fault.WINDOW,  # ends at 0xFFFD
    (0x8000, 2, 1, TOP): Fault.WINDOW,  # ends at 0x7FFF
    (0x8000, 3, 1, 1 << 31): Fault.WINDOW,  # ends where it began
    (0, 0xFFFF, 1, TOP): Fault.WINDOW,
    (0x20, 0xFFFF, 1, 0): Fault.NONE,
}


def test_transfers_at_the_edges_of_windows():
    """The whole of one has to lie in one window, in exact arithmetic."""
    strides = [(0, 0, 0)] * NUM_STRIDES
    transfers = [insn("store", mem="acc", fmt="i8", row=0, addr=addr, rows=rows, cols=cols,
                      pitch=pitch, row_step=0, group_step=0) for addr, rows, cols, pitch in EDGES]
    bench, found = Bench(strides), []
    same = compare_transfer(bench, strides, Counter())

    def compare(ctx, *rest):
        same(ctx, *rest)
        found.append(ctx.get(bench.dut.fault.cause))

    bench.run(transfers, compare)
    assert dict(zip(EDGES, found, strict=True)) == EDGES


#: Changes of a vector instruction whose source is its destination, and what comes of it.
IN_PLACE = [
    ({}, Fault.NONE),
    ({"xdst": 1, "xa": 1}, Fault.NONE),
    ({"xdst": 2, "xa": 2}, Fault.OVERLAP),  # s0 = 0
    ({"xdst": 2, "xa": 2, "n0": 1}, Fault.OVERLAP),
    ({"xa": 1}, Fault.OVERLAP),
    ({"xdst": 1, "xa": 3}, Fault.NONE),  # s1 and s2 do not matter
    ({"xdst": 1, "xa": 1, "n1": 2}, Fault.OVERLAP),
    ({"xdst": 1, "xa": 1, "n2": 2}, Fault.OVERLAP),
    ({"xdst": 1, "xa": 1, "a": 11}, Fault.OVERLAP),
    ({"xdst": 1, "xa": 1, "reduce": "lanes"}, Fault.NONE),
    ({"xdst": 1, "xa": 1, "reduce": "rows"}, Fault.OVERLAP),
]


def test_what_may_be_in_place():
    strides = [(0, 0, 0), (2, 0, 0), (0, 1, 1), (2, 9, 9)] + [(0, 0, 0)] * 4
    instructions = [
        insn("vector", **({"dst": 10, "dst_kind": "acc", "a": 10, "a_kind": "acc", "n0": 4}
                          | fields)) for fields, _ in IN_PLACE]
    for instruction, (_, fault) in zip(instructions, IN_PLACE, strict=True):
        values = [operand.value for operand in instruction.operands]
        assert checked(instruction, values, strides)[1] == fault
    bench, found = Bench(strides), []
    bench.run(instructions, lambda ctx, *_: found.append(ctx.get(bench.dut.fault.cause)))
    assert found == [fault for _, fault in IN_PLACE]


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
