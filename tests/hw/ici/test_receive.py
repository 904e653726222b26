"""The unit that receives messages: what they must begin with, and what becomes of their rows."""

import functools
import itertools
import random
from typing import NamedTuple

import numpy as np
import pytest

from celosia.arch.config import TpuConfig
from celosia.arch.ici import message_head
from celosia.arch.isa import DmaFormat, Mem, RecvOp
from celosia.arch.vector import ReduceOp
from celosia.model.lanes import JOINS
from celosia_hw.commands import LINK_DOWN_BIT
from celosia_hw.ici.receive import MessageReceiver
from celosia_hw.memory.ports import READ_LATENCY
from hw.keeper import Keeper
from hw.simulation import World

CONFIG = TpuConfig("linked", dim=4, int8=True, bf16=False, ub_rows=64, acc_rows=64, bus_bytes=4,
                   ports=2)
#: A command: format, tag, and rows of both dimensions; 0x4000 * 0x1040 = 0x0410_0000.
LONG, SHORT = (DmaFormat.W32, 9, 0x4000, 0x1040), (DmaFormat.I8, 77, 3, 2)


def head(fmt, tag, n0, n1):
    return message_head(tag, fmt, n0 * n1)


@functools.cache
def world(config=CONFIG):
    """The unit of a configuration, made once."""
    return World(MessageReceiver(config, 3))


def taken(command, words):
    """Return how many words of a message are taken, and the error's detail where there is one."""
    dut, found = world().component, []
    fmt, tag, n0, n1 = command

    async def process(ctx):
        ctx.set(dut.port.command.payload, {"mem": 1, "fmt": fmt, "tag": tag, "linear": 1, "n0": n0,
                                           "n1": n1})
        ctx.set(dut.port.command.valid, 1)
        await ctx.tick().until(dut.port.command.ready)
        ctx.set(dut.port.command.valid, 0)
        count = 0
        for word in words:
            ctx.set(dut.i.payload, word)
            ctx.set(dut.i.valid, 1)
            for _ in range(12):
                *_, ready = await ctx.tick().sample(dut.i.ready)
                if ready:
                    count += 1
                    break
        found.append((count, ctx.get(dut.port.detail)))

    world().run(process)
    return found[0]


def test_long_messages_have_their_rows_in_two_words():
    assert [hex(word) for word in head(*LONG)] == ["0x6009", "0x410"]
    assert len(head(*SHORT)) == 1


@pytest.mark.parametrize("command", [LONG, SHORT])
def test_of_the_message_that_is_named_all_words_are_taken(command):
    words = [*head(*command), 5]
    assert taken(command, words) == (len(words), 0)


@pytest.mark.parametrize("bit", range(32))
@pytest.mark.parametrize("command", [LONG, SHORT])
def test_of_another_message_no_word_is_taken(command, bit):
    first, *rest = head(*command)
    count, detail = taken(command, [first ^ 1 << bit, *rest])
    assert (count, detail) == (0, (first ^ 1 << bit) & ~(1 << 14))


@pytest.mark.parametrize("bit", range(16))
def test_of_a_message_of_other_rows_one_word_is_taken(bit):
    first, second = head(*LONG)
    count, detail = taken(LONG, [first, second ^ 1 << bit])
    assert (count, detail) == (1, first & ~(1 << 14))


class Recv(NamedTuple):
    """A command, and the rows that come."""

    op: RecvOp
    mem: Mem
    fmt: DmaFormat
    tag: int
    rows: list[list[int]]
    row: int = 0
    n1: int = 1
    s0: int = 1
    s1: int = 0

    @property
    def places(self) -> list[int]:
        n0 = len(self.rows) // self.n1
        return [self.row + self.s0 * i + self.s1 * j for j in range(self.n1) for i in range(n0)]

    def words(self, config) -> list[int]:
        """Return the words of the message."""
        words = list(message_head(self.tag, self.fmt, len(self.rows)))
        bits = 8 * self.fmt.nbytes
        for row in self.rows:
            whole = sum((lane & (1 << bits) - 1) << bits * k for k, lane in enumerate(row))
            words += [whole >> at & (1 << 8 * config.link_bytes) - 1
                      for at in range(0, bits * len(row), 8 * config.link_bytes)]
        return words

    def carry_out(self, memories) -> None:
        memory = memories[self.mem]
        for place, row in zip(self.places, self.rows, strict=True):
            lanes = row
            if self.mem == Mem.ACC:
                lanes = [lane << 16 if self.fmt == DmaFormat.BF16 else lane & 0xFFFF_FFFF
                         for lane in row]
                if self.op != RecvOp.SET:
                    lanes = JOINS[ReduceOp(self.op - 1)](
                        np.array(lanes, np.uint32), np.array(memory[place], np.uint32)).tolist()
            memory[place] = lanes


class Run(NamedTuple):
    """What a run left, and what was to be seen."""

    memories: dict[Mem, list[list[int]]]
    done: list[int]  # cycles
    errors: list[tuple[int, int]]  # with their detail
    taken: list[int]  # cycles in which words were
    began: list[int]  # cycles in which commands were taken
    written: list[int]  # cycles in which rows were
    working: list[tuple[bool, int]]  # with the tag, by cycle
    activity: str


def start(config, seed):
    """Return what memories hold before a run."""
    rng = random.Random(seed)
    return {Mem.UB: [[rng.getrandbits(config.lane_bits) for _ in range(config.dim)]
                     for _ in range(config.ub_rows)],
            Mem.ACC: [[rng.getrandbits(32) for _ in range(config.dim)]
                      for _ in range(config.acc_rows)]}


def receive(commands, config=CONFIG, *, seed=1, come=1.0, grant=1.0, down=3000) -> Run:
    """Return what becomes of messages; words come, and ports grant, with these chances, and from a
    cycle on the link is down.
    """
    dut = world(config).component
    rng, memories = random.Random(seed), start(config, seed)
    run = Run(memories, [], [], [], [], [], [], "")
    told = []

    def lanes_of(mem):
        return config.lane_bits if mem == Mem.UB else 32

    def writing(mem, port):
        bits = lanes_of(mem)

        async def serve(ctx):
            cycle, keeper = 0, Keeper(port, lambda: rng.random() >= grant)
            ctx.set(port.ready, 1)
            while True:
                *_, valid, ready, row, word = await ctx.tick().sample(
                    port.valid, port.ready, port.addr, port.data)
                granted = keeper.answer(ctx, (row, word) if valid and ready else None)
                if granted:
                    row, word = granted
                    memories[mem][row] = [word >> bits * k & (1 << bits) - 1
                                          for k in range(config.dim)]
                    run.written.append(cycle)
                cycle += 1
        return serve

    async def reading(ctx):
        port, pipeline = dut.read, [0] * (READ_LATENCY - 1)
        keeper = Keeper(port, lambda: rng.random() >= grant)
        ctx.set(port.ready, 1)
        while True:
            *_, valid, ready, row = await ctx.tick().sample(port.valid, port.ready, port.addr)
            row = keeper.answer(ctx, row if valid and ready else None)
            pipeline.append(rng.getrandbits(32 * config.dim) if row is None else sum(
                lane << 32 * k for k, lane in enumerate(memories[Mem.ACC][row])))
            ctx.set(port.data, pipeline.pop(0))

    async def process(ctx):
        waiting = list(commands)
        words = [word for command in commands for word in command.words(config)]
        offered = idle = cycle = 0
        while idle < 4:
            ctx.set(dut.port.command.valid, bool(waiting))
            if waiting:
                each = waiting[0]
                ctx.set(dut.port.command.payload, {
                    "mem": each.mem, "fmt": each.fmt, "op": each.op, "tag": each.tag,
                    "row": each.row, "linear": 0, "s0": each.s0, "s1": each.s1,
                    "n0": len(each.rows) // each.n1, "n1": each.n1})
            ctx.set(dut.down, cycle >= down)
            offered = offered or (bool(words) and rng.random() < come and cycle < down)
            ctx.set(dut.i.valid, offered)
            if words:
                ctx.set(dut.i.payload, words[0])
            _, _, began, ready, done, error, working, tag, activity = await ctx.tick().sample(
                dut.port.command.ready, dut.i.ready, dut.port.done, dut.port.error, dut.working,
                dut.tag, dut.port.activity)
            if error:
                assert done
                run.errors.append((cycle, ctx.get(dut.port.detail)))
            if waiting and began:
                run.began.append(cycle)
                waiting.pop(0)
            if offered and ready:
                run.taken.append(cycle)
                words.pop(0)
                offered = False
            if done:
                run.done.append(cycle)
            run.working.append((bool(working), tag))
            told.append("_BDMLR"[activity])
            idle = idle + 1 if len(run.done) == len(commands) or run.errors else 0
            cycle += 1
            assert cycle < 4000, (run.done, len(words))
        assert run.errors or not words

    world(config).run(process, writing(Mem.UB, dut.ub), writing(Mem.ACC, dut.acc), reading)
    return run._replace(activity="".join(told))


def expected(commands, config=CONFIG, seed=1):
    memories = start(config, seed)
    for command in commands:
        command.carry_out(memories)
    return memories


#: A link of two words of 32 bits, and floating point.
WIDE = TpuConfig("wide", dim=4, int8=False, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=8,
                 link_bytes=8, ports=2)


def random_messages(config, rng, count):
    """Return messages of every kind, to few rows: many come again."""
    small = DmaFormat.I8 if config.int8 else DmaFormat.BF16
    commands = []
    for number in range(count):
        op = rng.choice([RecvOp.SET, *(op for op in RecvOp if config.bf16 or op <= RecvOp.OR)])
        mem = Mem.ACC if op != RecvOp.SET else rng.choice(list(Mem))
        fmt = small if mem == Mem.UB else rng.choice([small, DmaFormat.W32])
        n0, n1 = rng.choice([(1, 1), (2, 1), (5, 1), (3, 2), (1, 3)])

        # A byte becomes a word of the accumulators, with its sign.
        most = 1 << 8 * fmt.nbytes
        least = -most // 2 if (mem, fmt) == (Mem.ACC, DmaFormat.I8) else 0
        rows = [[rng.randrange(least, least + most) for _ in range(config.dim)]
                for _ in range(n0 * n1)]
        commands.append(Recv(op, mem, fmt, number, rows, rng.randrange(4), n1,
                             rng.choice([0, 1, 2]), rng.choice([0, 1, 5])))
    return commands


@pytest.mark.parametrize(("come", "grant"), [(1, 1), (.5, 1), (1, .4), (.7, .7)])
@pytest.mark.parametrize("config", [CONFIG, WIDE], ids=lambda config: config.name)
def test_rows_become_what_arrives_or_are_joined_with_it(config, come, grant):
    commands = random_messages(config, random.Random(int(10 * come + 100 * grant)), 16)
    run = receive(commands, config, come=come, grant=grant)
    assert run.memories == expected(commands, config)
    assert not run.errors
    # Done is said two cycles after the last row of each was written.
    rows = itertools.accumulate(len(command.rows) for command in commands)
    assert run.done == [run.written[number - 1] + 2 for number in rows]


SETS = [Recv(RecvOp.SET, mem, fmt, 7, [[1, 2, 3, 4]] * 6)
        for mem, fmt in ((Mem.ACC, DmaFormat.W32), (Mem.UB, DmaFormat.I8))]


def test_words_of_rows_that_are_set_come_without_a_pause_but_for_2_cycles_between_messages():
    run = receive(SETS)
    assert run.taken == [*range(2, 27), *range(29, 36)]
    assert run.began == [0, 27]
    assert run.written == [8 + 4 * n for n in range(6)] + [*range(32, 38)]
    assert run.done == [30, 39]


def test_a_row_is_joined_every_4_cycles():
    def run(fmt, s0):
        done = receive([Recv(RecvOp.SUM_I, Mem.ACC, fmt, 7, [[1, 2, 3, 4]] * 6, s0=s0)])
        return done.taken, done.written

    assert run(DmaFormat.W32, 1) == ([*range(2, 27)], [17 + 4 * n for n in range(6)])
    # Where rows are of fewer words than they have lanes words wait.
    assert run(DmaFormat.I8, 1) == ([*range(2, 6), 9, 13, 17], [14 + 4 * n for n in range(6)])
    # A row that comes again waits until the one before has been written.
    assert run(DmaFormat.W32, 0)[1] == [17 + 10 * n for n in range(6)]


def test_what_it_did_is_told_a_cycle_later():
    """Idle, busy, waiting for memory, for the link, for rows in itself."""
    assert receive(SETS).activity == "__R" + "B" * 25 + "R" + "B" * 10 + "RR__"
    assert receive(SETS, grant=.4).activity == (
        "__RBBBBBBBBBBBBBBMMMMMBBBBBBBBMMBBBRBBBBMRBBMBMBMMMBMBMRR__")
    assert receive(SETS[1:], come=.4).activity == "__RBLLBBBBBBBBRR__"
    join = Recv(RecvOp.SUM_I, Mem.ACC, DmaFormat.I8, 7, [[1, 2, 3, 4]] * 6)
    assert receive([join]).activity == "__RBBBBRRRBRRRBRRRBRRRBRRRBRRRRRRRRRRR__"


def test_it_works_from_a_command_to_the_last_word_and_tells_its_tag():
    commands = [Recv(RecvOp.SET, Mem.ACC, DmaFormat.W32, tag, [[1, 2, 3, 4]] * 2)
                for tag in (0x123, 0xFED)]
    run = receive(commands, come=.3)
    ends = [run.taken[8], run.taken[17]]
    for cycle, (working, tag) in enumerate(run.working):
        assert working == any(began < cycle <= end
                              for began, end in zip(run.began, ends, strict=True))
        if working:
            assert tag == (0x123 if cycle <= ends[0] else 0xFED)


@pytest.mark.parametrize(("down", "error"), [
    (0, 3), (1, 4), (2, 4), (3, 4), (5, 6), (10, 11), (25, 26), (26, 27)])
def test_where_the_link_goes_down_a_command_ends_with_an_error_that_names_the_port(down, error):
    run = receive(SETS[:1], down=down)
    assert run.errors == [(error, 3 | 1 << LINK_DOWN_BIT)]
    assert run.done == [error]
    assert run.taken == [*range(2, error - 1)]


def test_what_has_come_when_the_link_goes_down_is_received():
    run = receive(SETS[:1], down=27)
    assert (run.memories, run.errors) == (expected(SETS[:1]), [])
    # The command behind it is at fault, but ends behind it.
    down = receive(SETS, grant=.1).taken[24] + 1
    run = receive(SETS, down=down, grant=.1)
    assert run.memories == expected(SETS[:1])
    assert run.written[5] < run.done[0] < run.done[1] == run.errors[0][0]
