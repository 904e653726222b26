"""RowReader and RowWriter beside memories that refuse at random."""

import random
from dataclasses import replace

import numpy as np
import pytest

from celosia.arch.vector import Dst, Src
from celosia_hw.memory.beats import RowKind
from celosia_hw.memory.ports import READ_LATENCY
from celosia_hw.memory.reader import RowReader
from celosia_hw.memory.writer import RowWriter
from hw.engine import Simulator
from hw.keeper import Keeper
from hw.vpu_bench import BOTH, INT8, WIDE_INT8
from hw.vpu_vectors import Operand, widen

ZERO = RowKind.ZERO.value
SRC_OF_KIND = {Dst.ACC: Src.ACC, Dst.UB_I8: Src.UB_I8, Dst.UB_BF16: Src.UB_BF16}
PATTERNS = [(1, 1), (0.5, 1), (1, 0.4), (0.6, 0.6)]


def pack(words, bits):
    return sum(int(word) << (bits * i) for i, word in enumerate(words))


def words_of(value, config):
    return [value >> (32 * i) & 0xFFFFFFFF for i in range(config.dim)]


def memories(config):
    rng = np.random.default_rng(3)
    return {"ub": rng.integers(0, 1 << config.lane_bits, (config.ub_rows, config.dim), np.uint32),
            "acc": rng.integers(0, 1 << 32, (config.acc_rows, config.dim), np.uint32)}


def random_walks(config, count):
    rng = random.Random(4)
    walks = []
    for _ in range(count):
        counts = rng.choice([(rng.randint(1, 9), 1, 1), (1, 1, 1), (2, 3, 2)])
        strides = rng.choice([None, (2, 4, 9), (0, 1, 0)])
        kind = rng.choice([*(d for d in Dst if config.bf16 or d != Dst.UB_BF16), ZERO])
        walks.append((counts, Operand(kind, rng.randrange(32), strides)))
    return walks


def read(config, walks, grants, takes, seed=0):
    """Rows that the reader gives, and the cycle in which each was taken.

    The tag of a walk is its number. A row is its words, its tag and whether it is the last.
    """
    reader, rng = RowReader(config, 8), random.Random(seed)
    contents = memories(config)
    taken = []

    async def commands(ctx):
        for tag, (counts, operand) in enumerate(walks):
            s0, s1, s2 = operand.strides or (0, 0, 0)
            ctx.set(reader.i.payload, {
                "kind": operand.kind, "tag": tag,
                "stream": {"base": operand.base, "linear": operand.strides is None,
                           "s0": s0, "s1": s1, "s2": s2},
                "counts": dict(zip(("n0", "n1", "n2"), counts, strict=True))})
            ctx.set(reader.i.valid, 1)
            await ctx.tick().until(reader.i.ready)
        ctx.set(reader.i.valid, 0)

    async def memory(ctx, port, rows, bits):
        cycle, due, keeper = 0, {}, Keeper(port, lambda: rng.random() >= grants)
        ctx.set(port.ready, 1)
        while True:
            # Data is there in one cycle only.
            ctx.set(port.data, due.pop(cycle, 0))
            _, _, valid, ready, addr = await ctx.tick().sample(port.valid, port.ready, port.addr)
            granted = keeper.answer(ctx, addr if valid and ready else None)
            if granted is not None:
                due[cycle + READ_LATENCY] = pack(rows[granted], bits)
            cycle += 1

    async def consumer(ctx):
        wanted = sum(c[0] * c[1] * c[2] for c, _ in walks)
        cycle, held = 0, None
        while len(taken) < wanted:
            ctx.set(reader.o.ready, rng.random() < takes)
            _, _, valid, ready, payload = await ctx.tick().sample(
                reader.o.valid, reader.o.ready, reader.o.payload.as_value())
            if held is not None:
                assert valid
                assert payload == held
            held = payload if valid and not ready else None
            if valid and ready:
                above = payload >> 32 * config.dim
                taken.append((cycle, (words_of(payload, config), above & 0xFF, above >> 8)))
            cycle += 1
            assert cycle < 20 * wanted + 100

    simulator = Simulator(reader)
    simulator.add_clock(1e-6)
    simulator.add_testbench(commands, background=True)
    for name, port, bits in (("ub", reader.ub, config.lane_bits), ("acc", reader.acc, 32)):
        async def run(ctx, name=name, port=port, bits=bits):
            await memory(ctx, port, contents[name], bits)
        simulator.add_testbench(run, background=True)
    simulator.add_testbench(consumer)
    simulator.run()
    return taken


@pytest.mark.parametrize(("grants", "takes"), PATTERNS)
@pytest.mark.parametrize("config", [INT8, BOTH], ids=lambda c: c.name)
def test_reader_gives_the_rows_in_order(config, grants, takes):
    walks = random_walks(config, 25)
    contents = memories(config)
    expected = []
    for tag, (counts, operand) in enumerate(walks):
        rows = np.zeros((operand.stream(counts).length, config.dim), np.uint32)
        if operand.kind != ZERO:
            source = contents["acc" if operand.kind == Dst.ACC else "ub"]
            rows = widen(SRC_OF_KIND[operand.kind], source[operand.stream(counts).index()])
        expected += [(words, tag, i == len(rows)) for i, words in enumerate(rows.tolist(), 1)]
    assert [row for _, row in read(config, walks, grants, takes)] == expected


def test_reader_gives_a_row_a_cycle_over_commands_too():
    walks = [((8, 1, 1), Operand(Dst.ACC, 0)), ((1, 1, 1), Operand(Dst.UB_I8, 3)),
             ((4, 4, 4), Operand(Dst.UB_I8, 0, (1, 4, 8)))]
    cycles = [cycle for cycle, _ in read(INT8, walks, 1, 1)]
    # A cycle lies between rows of one memory and of the other.
    assert cycles == [*range(cycles[0], cycles[0] + 8),
                      *range(cycles[0] + 9, cycles[0] + 9 + 1 + 64)]


def test_reader_catches_up_after_backpressure():
    cycles = [cycle for cycle, _ in read(INT8, [((64, 1, 1), Operand(Dst.ACC, 0))], 1, 0.8)]
    # A consumer that takes 4 rows in 5 cycles is never kept waiting.
    assert cycles[-1] - cycles[0] + 1 <= 64 / 0.8 * 1.15


#: Chips whose rows are two and four beats, the last one of one bank.
FOLDED = [replace(WIDE_INT8, lanes=lanes, banks=banks) for lanes, banks in ((2, 4), (1, 4), (1, 1))]


@pytest.mark.parametrize("whole", [0, 1])
@pytest.mark.parametrize("config", FOLDED, ids=lambda c: f"{c.lanes}-lanes-{c.banks}-banks")
def test_beats_of_a_row_come_together_where_they_are_to(config, whole):
    """The row's first result may be written to it as soon as its first beat is taken, so by then
    all of it has been read, however long the memory refuses the rest.
    """
    reader, rng, fold, rows = RowReader(config, 8), random.Random(6), config.fold, 12
    granted, taken = [], []

    async def command(ctx):
        ctx.set(reader.i.payload, {
            "kind": Dst.UB_I8, "tag": 3, "stream": {"base": 5, "linear": 1},
            "counts": {"n0": rows, "n1": 1, "n2": 1},
            "beats": {"first": 1, "same": whole, "whole": whole, "more": fold - 1}})
        ctx.set(reader.i.valid, 1)
        await ctx.tick().until(reader.i.ready)
        ctx.set(reader.i.valid, 0)

    async def memory(ctx):
        cycle, keeper = 0, Keeper(reader.ub, lambda: rng.random() >= 0.2)
        ctx.set(reader.ub.ready, 1)
        ctx.set(reader.acc.ready, 1)
        while True:
            _, _, valid, ready, addr = await ctx.tick().sample(
                reader.ub.valid, reader.ub.ready, reader.ub.addr)
            found = keeper.answer(ctx, addr if valid and ready else None)
            if found is not None:
                granted.append((cycle, found))
            cycle += 1

    async def consumer(ctx):
        cycle = 0
        while len(taken) < rows * fold:
            ctx.set(reader.o.ready, rng.random() < 0.8)
            _, _, valid, ready, last = await ctx.tick().sample(
                reader.o.valid, reader.o.ready, reader.o.payload.last)
            if valid and ready:
                taken.append((cycle, last))
            cycle += 1
            assert cycle < 40 * rows * fold

    simulator = Simulator(reader)
    simulator.add_clock(1e-6)
    for process in (command, memory):
        simulator.add_testbench(process, background=True)
    simulator.add_testbench(consumer)
    simulator.run()
    assert [addr for _, addr in granted] == [
        (5 + row) * fold + (1 if whole else (1 + beat) % fold)
        for row in range(rows) for beat in range(fold)]
    assert [last for _, last in taken] == [0] * (rows * fold - 1) + [1]
    early = [taken[row * fold][0] < granted[row * fold + fold - 1][0] + READ_LATENCY
             for row in range(rows)]
    assert any(early) != whole


@pytest.mark.parametrize(("grants", "offers"), PATTERNS)
@pytest.mark.parametrize("config", [INT8, BOTH], ids=lambda c: c.name)
@pytest.mark.parametrize("depth", [2, 8])
def test_writer_writes_in_order(config, grants, offers, depth):
    writer, rng = RowWriter(config, depth), random.Random(5)
    sent = [(rng.random() < 0.5, rng.random() < 0.3, rng.random() < 0.2, rng.random() < 0.3,
             rng.randrange(config.acc_rows), [rng.getrandbits(32) for _ in range(config.dim)])
            for _ in range(80)]
    lane = (1 << config.lane_bits) - 1
    expected = [(acc, row, words if acc else [w & lane for w in words])
                for acc, _, skip, _, row, words in sent if not skip]
    found, cycles = [], []

    async def producer(ctx):
        for acc, last, skip, error, row, words in sent:
            while rng.random() > offers:
                await ctx.tick()
            ctx.set(writer.i.payload, {"acc": acc, "last": last, "skip": skip, "error": error,
                                       "row": row, "words": words})
            ctx.set(writer.i.valid, 1)
            await ctx.tick().until(writer.i.ready)
            ctx.set(writer.i.valid, 0)

    async def memory(ctx):
        cycle = 0
        ports, banks = (writer.acc, writer.ub), config.banks
        while len(cycles) < len(sent):
            first = {"valid": rng.random() >= grants, "row": rng.randrange(4)}
            ctx.set(writer.first, first)
            _, _, done, error, written, refused, *fields = await ctx.tick().sample(
                writer.done, writer.error, writer.freed, writer.refused,
                *(field for port in ports for field in (port.valid, port.addr, port.data)))
            before = bool(cycles) and cycles[-1] == cycle - 1
            assert done == (before and sent[len(cycles) - 1][1])
            assert not done or error == sent[len(cycles) - 1][3]
            asked = [fields[0], fields[3]]
            assert sum(asked) <= 1
            for acc, (valid, addr, value) in zip((True, False), (fields[:3], fields[3:]),
                                                 strict=True):
                # The accumulators refuse what meets the port that comes first.
                meets = acc and first["valid"] and first["row"] % banks == addr % banks
                if valid and not meets:
                    bits = 32 if acc else config.lane_bits
                    found.append((acc, addr, [value >> (bits * i) & ((1 << bits) - 1)
                                              for i in range(config.dim)]))
                    assert not sent[len(cycles)][2]
                    cycles.append(cycle)
            if written and not any(asked):
                assert sent[len(cycles)][2]
                cycles.append(cycle)
            assert written == (bool(cycles) and cycles[-1] == cycle)
            assert refused == (sum(asked) == 1 and not written)
            cycle += 1
            assert cycle < 2000

    simulator = Simulator(writer)
    simulator.add_clock(1e-6)
    simulator.add_testbench(producer, background=True)
    simulator.add_testbench(memory)
    simulator.run()
    assert found == expected
    if grants == offers == 1:
        assert cycles[-1] - cycles[0] + 1 == len(sent)
