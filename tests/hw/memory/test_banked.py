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


def granted(requests, banks):
    """Model of the priority: a request wins unless one above it is of the same bank."""
    out = []
    for index, request in enumerate(requests):
        above = [other[0] % banks for other in requests[:index] if other]
        out.append(bool(request) and request[0] % banks not in above)
    return out


class Traffic:
    """Random requests on the ports of one kind, some of which keep what is refused."""

    def __init__(self, ports, knowing, make):
        self.ports, self.knowing, self.make = ports, knowing, make
        self.kept, self.won = [None] * len(ports), [False] * len(ports)

    def ask(self, ctx):
        """Offer what may be asked for next; return what is asked for in this cycle."""
        asked = []
        for index, (port, kept) in enumerate(zip(self.ports, self.kept, strict=True)):
            request = self.make(index)
            ctx.set(port.valid, request is not None)
            if request:
                ctx.set(port.addr, request[0])
            if request and len(request) > 1:
                ctx.set(port.data, request[1])
            assert ctx.get(port.ready) == (kept is None)
            assert ctx.get(port.granted) == self.won[index]
            asked.append(kept or request)
        return asked

    def grant(self, asked, won):
        self.won = won
        self.kept = [None if wins or index in self.knowing else request
                     for index, (request, wins) in enumerate(zip(asked, won, strict=True))]


@pytest.mark.parametrize("busy", [0.3, 0.7, 1.0])
@pytest.mark.parametrize(("readers", "writers", "banks"), [
    (3, 2, BANKS), (1, 1, BANKS), (2, 4, BANKS), (3, 2, 2), (3, 2, 1)])
def test_random_traffic_on_all_ports(busy, readers, writers, banks):
    """What a port asks for is granted in its order, at once or as soon as no other port of lower
    index has the bank; a port that knows of it asks again by itself.
    """
    rows = 24
    memory = BankedMemory(rows, 6, 12, *([f"p{i}" for i in range(count)]
                                         for count in (readers, writers)), banks=banks,
                          knowing=[f"{kind}_p1" for kind, count in (
                              ("read", readers), ("write", writers)) if count > 1])
    rng = random.Random(f"{busy} {readers} {banks}")
    contents = [0] * rows
    refusals = grants = collisions = refused = 0

    def request(*more):
        return (rng.randrange(rows), *(make() for make in more)) if rng.random() < busy else None

    async def main(ctx):
        nonlocal refusals, grants, collisions, refused
        wanted = [[] for _ in memory.read]  # (cycle, row) on their way
        reads = Traffic(memory.read, {1}, lambda _: request())
        writes = Traffic(memory.write, {1}, lambda _: request(lambda: rng.getrandbits(12)))
        for cycle in range(1000):
            asked = [reads.ask(ctx), writes.ask(ctx)]
            won = [granted(each, banks) for each in asked]
            assert ctx.get(memory.conflicts.as_value()) == refused  # in the cycle before
            refused = sum((request is not None and not wins) << index for index, (request, wins)
                          in enumerate(zip(sum(asked, []), sum(won, []), strict=True)))
            refusals += refused.bit_count()
            for port, expected in zip(memory.read, wanted, strict=True):
                while expected and expected[0][0] <= cycle:
                    when, value = expected.pop(0)
                    assert when == cycle
                    assert ctx.get(port.data) == value
            written = [each for each, wins in zip(asked[1], won[1], strict=True) if wins]
            for index, (read, wins) in enumerate(zip(asked[0], won[0], strict=True)):
                if wins:
                    wanted[index].append((cycle + READ_LATENCY, contents[read[0]]))
                    grants += 1
                    collisions += any(row == read[0] for row, _ in written)
            for row, value in written:
                contents[row] = value
            reads.grant(asked[0], won[0])
            writes.grant(asked[1], won[1])
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
    memory = BankedMemory(rows, 4, width, names, names,
                          narrow={"narrow": parts, "slim": parts}, banks=banks)
    rng, bits = random.Random(parts), width // parts
    contents = [[0] * parts for _ in range(rows)]

    def request(ports, index):
        """Ask at random for a row of the first port, a part of one of the others."""
        if rng.random() >= 0.6:
            return None
        address = rng.randrange(rows * parts if index else rows)
        if ports is memory.read:
            return (address,)
        return address, rng.getrandbits(len(ports[index].data))

    def parts_of(index, address):
        return ([divmod(address, parts)] if index else [(address, k) for k in range(parts)])

    def rows_of(asked):
        return [each and (each[0] // parts if index else each[0],)
                for index, each in enumerate(asked)]

    async def main(ctx):
        due = {}  # by cycle and port
        reads = Traffic(memory.read, (), lambda index: request(memory.read, index))
        writes = Traffic(memory.write, (), lambda index: request(memory.write, index))
        for cycle in range(400):
            asked = [reads.ask(ctx), writes.ask(ctx)]
            won = [granted(rows_of(each), banks) for each in asked]
            for index, (port, read) in enumerate(zip(memory.read, asked[0], strict=True)):
                found = ctx.get(port.data)
                # A single bank goes on giving what was read.
                assert found == due.pop((cycle, index), found if banks == 1 else 0)
                if won[0][index]:
                    due[cycle + READ_LATENCY, index] = sum(
                        contents[row][part] << bits * k
                        for k, (row, part) in enumerate(parts_of(index, read[0])))
            for index, written in enumerate(asked[1]):
                if won[1][index]:
                    for k, (row, part) in enumerate(parts_of(index, written[0])):
                        contents[row][part] = written[1] >> bits * k & (1 << bits) - 1
            reads.grant(asked[0], won[0])
            writes.grant(asked[1], won[1])
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


def test_a_refused_write_is_made_again():
    memory = BankedMemory(8, 3, 4, ["in"], ["first", "second"])

    async def main(ctx):
        first, second = memory.write_first, memory.write_second
        for port, row, value in ((first, 1, 3), (second, 5, 9)):  # of one bank
            ctx.set(port.valid, 1)
            ctx.set(port.addr, row)
            ctx.set(port.data, value)
        await ctx.tick()
        ctx.set(second.valid, 0)
        ctx.set(second.data, 6)  # what came is kept
        for _ in range(3):
            assert (ctx.get(second.ready), ctx.get(second.granted)) == (0, 0)
            await ctx.tick()
        ctx.set(first.valid, 0)
        await ctx.tick()
        assert (ctx.get(second.ready), ctx.get(second.granted)) == (1, 1)
        ctx.set(memory.read_in.addr, 5)
        ctx.set(memory.read_in.valid, 1)
        await ctx.tick().repeat(READ_LATENCY)
        assert ctx.get(memory.read_in.data) == 9

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


def test_ports_that_know_must_be_there():
    with pytest.raises(ValueError, match=r"^knowing must name ports \(read_in, write_out\), not "
                                         "out$"):
        BankedMemory(8, 3, 8, ["in"], ["out"], knowing=("out",))
