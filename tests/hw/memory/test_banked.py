# amaranth: UnusedElaboratable=no
# (components that refuse their parameters are never elaborated)
import random

import pytest
from amaranth.hdl import ResetInserter, Signal

from celosia.arch.config import BANKS
from celosia_hw.memory.banked import BankedMemory
from celosia_hw.memory.ports import READ_LATENCY
from hw.engine import Simulator


def simulate(memory, testbench):
    simulator = Simulator(memory)
    simulator.add_clock(1e-6)
    simulator.add_testbench(testbench)
    simulator.run()


def granted(ports, banks):
    """Model of the priority: a port wins unless one above it asks for the same bank."""
    out = []
    for index, (valid, addr) in enumerate(ports):
        above = [a % banks for v, a in ports[:index] if v]
        out.append(bool(valid) and addr % banks not in above)
    return out


@pytest.mark.parametrize("busy", [0.3, 0.7, 1.0])
@pytest.mark.parametrize(("readers", "writers", "banks"), [
    (3, 2, BANKS), (1, 1, BANKS), (2, 4, BANKS), (3, 2, 2), (3, 2, 1)])
def test_random_traffic_on_all_ports(busy, readers, writers, banks):
    rows = 24
    memory = BankedMemory(rows, 6, 12, *([f"p{i}" for i in range(count)]
                                         for count in (readers, writers)), banks=banks)
    rng = random.Random(f"{busy} {readers} {banks}")
    contents = [0] * rows
    refusals = grants = collisions = refused = 0

    async def main(ctx):
        nonlocal refusals, grants, collisions, refused
        wanted = [[] for _ in memory.read]  # (cycle, row) on their way
        for cycle in range(500):
            reads, writes = [], []
            for ports, requests in ((memory.read, reads), (memory.write, writes)):
                for port in ports:
                    request = rng.random() < busy, rng.randrange(rows)
                    ctx.set(port.valid, request[0])
                    ctx.set(port.addr, request[1])
                    requests.append(request)
            data = [rng.getrandbits(12) for _ in writes]
            for port, value in zip(memory.write, data, strict=True):
                ctx.set(port.data, value)

            wins = granted(reads, banks) + granted(writes, banks)
            assert ctx.get(memory.conflicts.as_value()) == refused  # in the cycle before
            refused = 0
            for index, (port, request) in enumerate(zip([*memory.read, *memory.write],
                                                        reads + writes, strict=True)):
                assert (ctx.get(port.ready) and request[0]) == wins[index]
                refused |= (request[0] and not wins[index]) << index
            refusals += refused.bit_count()
            for port, expected in zip(memory.read, wanted, strict=True):
                while expected and expected[0][0] <= cycle:
                    when, value = expected.pop(0)
                    assert when == cycle
                    assert ctx.get(port.data) == value
            for index, (_, row) in enumerate(reads):
                if wins[index]:
                    wanted[index].append((cycle + READ_LATENCY, contents[row]))
                    grants += 1
                    collisions += any(win and at == row for win, (_, at) in
                                      zip(wins[readers:], writes, strict=True))
            for win, (_, row), value in zip(wins[readers:], writes, data, strict=True):
                if win:
                    contents[row] = value
            await ctx.tick()

    simulate(memory, main)
    assert grants > 100
    assert collisions > 0
    assert refusals > 0 or (readers, writers) == (1, 1)


@pytest.mark.parametrize(("parts", "banks"), [(2, BANKS), (4, BANKS), (4, 2), (4, 1)])
def test_narrow_ports_have_a_part_of_a_row(parts, banks):
    """Against a plain array: two wide and two narrow ports each way, none of them in its way."""
    rows, width = 16, 16
    names = ["wide", "narrow", "slim"]
    memory = BankedMemory(rows, 4, width, names, names, parts=parts, narrow=("narrow", "slim"),
                          banks=banks)
    rng, bits = random.Random(parts), width // parts
    contents = [[0] * parts for _ in range(rows)]

    async def main(ctx):
        due = {}  # by cycle and port
        for cycle in range(400):
            reading, writes = [], []
            for kind, ports in (("read", memory.read), ("write", memory.write)):
                for index, port in enumerate(ports):
                    row, part = rng.randrange(rows), rng.randrange(parts)
                    ctx.set(port.valid, rng.random() < 0.6)
                    ctx.set(port.addr, row * parts + part if index else row)
                    places = [(row, part)] if index else [(row, k) for k in range(parts)]
                    if kind == "write":
                        value = rng.getrandbits(len(port.data))
                        ctx.set(port.data, value)
                        writes.append((port, places, value))
                    else:
                        reading.append((index, port, places))
            for index, port, places in reading:
                found = ctx.get(port.data)
                # A single bank goes on giving what was read.
                assert found == due.pop((cycle, index), found if banks == 1 else 0)
                if ctx.get(port.valid) and ctx.get(port.ready):
                    due[cycle + READ_LATENCY, index] = sum(
                        contents[row][part] << bits * k for k, (row, part) in enumerate(places))
            for port, places, value in writes:
                if ctx.get(port.valid) and ctx.get(port.ready):
                    for k, (row, part) in enumerate(places):
                        contents[row][part] = value >> bits * k & (1 << bits) - 1
            await ctx.tick()
        assert any(map(any, contents))

    simulate(memory, main)


def test_ports_and_their_conflicts_have_names():
    memory = BankedMemory(8, 3, 4, ["first", "second"], ["only"])

    async def main(ctx):
        for port in (memory.read_first, memory.read_second, memory.write_only):
            ctx.set(port.valid, 1)
        await ctx.tick()
        found = {name: ctx.get(memory.conflicts[name])
                 for name in memory.conflicts.shape().members}
        assert found == {"read_first": 0, "read_second": 1, "write_only": 0}

    simulate(memory, main)


def test_ready_does_not_wait_for_valid():
    memory = BankedMemory(8, 3, 4, ["in"], ["out"])

    async def main(ctx):
        assert ctx.get(memory.read[0].ready)
        assert ctx.get(memory.write[0].ready)

    simulate(memory, main)


def test_rows_outlive_a_reset():
    memory = BankedMemory(8, 3, 4, ["in"], ["out"])


    reset = Signal()

    async def main(ctx):
        ctx.set(memory.write[0].addr, 5)
        ctx.set(memory.write[0].data, 9)
        ctx.set(memory.write[0].valid, 1)
        await ctx.tick()
        ctx.set(memory.write[0].valid, 0)
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        ctx.set(memory.read[0].addr, 5)
        ctx.set(memory.read[0].valid, 1)
        await ctx.tick().repeat(READ_LATENCY)
        assert ctx.get(memory.read[0].data) == 9

    simulate(ResetInserter(reset)(memory), main)


@pytest.mark.parametrize("rows", [0, -4, 6])
def test_rows_must_fill_the_banks(rows):
    with pytest.raises(ValueError, match=f"^rows must be a positive multiple of 4, not {rows}$"):
        BankedMemory(rows, 8, 8, ["in"], ["out"])


def test_addresses_must_reach_every_row():
    with pytest.raises(ValueError, match="^row_bits must be enough for 16 rows, not 3$"):
        BankedMemory(16, 3, 8, ["in"], ["out"])
