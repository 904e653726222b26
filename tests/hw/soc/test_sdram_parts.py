"""Parts of the SDRAM's controller by themselves: times, bursts in pieces, power-up and refresh."""

import dataclasses
from collections import deque

import pytest

from celosia.arch.config import preset
from celosia_hw.soc.sdram_bursts import Bursts
from celosia_hw.soc.sdram_timers import CommandTimers, SdramCommand
from celosia_hw.soc.sdram_timing import SdramCycles, SdramTiming
from celosia_hw.soc.sdram_upkeep import Upkeep
from hw.simulation import World

FEWEST = SdramCycles(power_up=2, activate_to_column=2, activate_to_precharge=2, precharge=2,
                     refresh=2, mode=3, write_recovery=2, interval=100, cas=2)
MORE = SdramCycles(power_up=100, activate_to_column=5, activate_to_precharge=9, precharge=4,
                   refresh=11, mode=3, write_recovery=6, interval=30, cas=3)


def allowed(world, commands, cycles):
    """Return cycles in which not any command, not PRECHARGE, not WRITE may be given."""
    dut, found = world.component, ([], [], [])

    async def process(ctx):
        for cycle in range(cycles):
            ctx.set(dut.command, commands.get(cycle, SdramCommand.NOP))
            _, _, *free = await ctx.tick().sample(dut.free, dut.may_close, dut.may_write)
            for each, may in zip(found, free, strict=True):
                if not may:
                    each.append(cycle)

    world.run(process)
    return found


@pytest.mark.parametrize("cycles", [FEWEST, MORE])
def test_commands_wait_for_those_before_them(cycles):
    world = World(CommandTimers(cycles))
    waits = {  # cycles from a command to the first in which it holds nothing any more
        SdramCommand.PRECHARGE: (cycles.precharge, 1, 1),
        SdramCommand.REFRESH: (cycles.refresh, 1, 1),
        SdramCommand.MODE: (cycles.mode, 1, 1),
        # The column comes a cycle after the first in which any command may.
        SdramCommand.ACTIVATE: (cycles.activate_to_column - 1, cycles.activate_to_precharge, 1),
        SdramCommand.WRITE: (1, cycles.write_recovery, 1),
        SdramCommand.READ: (1, 1, cycles.cas + 2),
        SdramCommand.NOP: (1, 1, 1)}
    for command, ends in waits.items():
        assert allowed(world, {3: command}, 30) == tuple(
            [*range(4, 3 + end)] for end in ends), command
    # The last one counts.
    assert allowed(world, {3: SdramCommand.WRITE, 4: SdramCommand.WRITE}, 30)[1] == [
        *range(4, 4 + cycles.write_recovery)]
    assert allowed(world, {3: SdramCommand.READ, 5: SdramCommand.READ}, 30)[2] == [
        *range(4, 5 + cycles.cas + 2)]
    assert allowed(world, {3: SdramCommand.ACTIVATE, 4: SdramCommand.WRITE}, 30)[1] == [
        *range(4, max(3 + cycles.activate_to_precharge, 4 + cycles.write_recovery))]


@pytest.mark.parametrize("cycles", [FEWEST, MORE])
def test_power_up_is_a_pause_eight_refreshes_and_the_mode(cycles):
    dut, found = Upkeep(cycles), []

    async def process(ctx):
        ctx.set(dut.may_close, 1)
        up = began = False
        for cycle in range(1500):
            ctx.set(dut.free, cycle % 3 == 0)
            # From power-up on it has the device each time a refresh is due.
            ctx.set(dut.begin, began)
            _, _, due, command, closes, sets, done, is_up = await ctx.tick().sample(
                dut.due, dut.command, dut.closes, dut.sets, dut.done, dut.up)
            if command != SdramCommand.NOP:
                found.append((cycle, SdramCommand(command), bool(done)))
                assert cycle % 3 == 0
                assert is_up == up
            assert (closes, sets) == (command == SdramCommand.PRECHARGE,
                                      command == SdramCommand.MODE)
            assert not done or command != SdramCommand.NOP
            up = up or command == SdramCommand.MODE
            began = up and due and not began and command == SdramCommand.NOP

    World(dut).run(process)
    first = [(command, done) for _, command, done in found[:10]]
    assert first == [(SdramCommand.PRECHARGE, False), *[(SdramCommand.REFRESH, False)] * 8,
                     (SdramCommand.MODE, True)]
    assert found[0][0] >= cycles.power_up
    assert found[0][0] <= cycles.power_up + 2 * cycles.interval + 3
    assert [at for at, *_ in found[:10]] == [found[0][0] + 3 * n for n in range(10)]
    rest = [(command, done) for _, command, done in found[10:]]
    assert rest[:4] == [(SdramCommand.PRECHARGE, False), (SdramCommand.REFRESH, True)] * 2
    # One refresh an interval, from the reset on.
    refreshes = [at for at, command, _ in found[10:] if command == SdramCommand.REFRESH]
    gaps = [after - before for before, after in zip(refreshes, refreshes[1:], strict=False)]
    assert all(abs(gap - cycles.interval) <= 3 for gap in gaps)
    assert len(gaps) >= 1200 // cycles.interval - 2


def test_rows_are_closed_when_they_may_be():
    dut, found = Upkeep(FEWEST), []

    async def process(ctx):
        for cycle in range(600):
            ctx.set(dut.free, cycle != 305)
            ctx.set(dut.may_close, cycle > 303)
            _, _, command = await ctx.tick().sample(dut.command)
            if command != SdramCommand.NOP:
                found.append((cycle, command))

    World(dut).run(process)
    assert found[:3] == [(304, SdramCommand.PRECHARGE), (306, SdramCommand.REFRESH),
                         (307, SdramCommand.REFRESH)]


#: Rows of 64 bytes; no burst goes from one of the last bank to the next one: they end at a page.
TIMING = SdramTiming(row_bits=6, column_bits=5, bank_bits=2)
BUS = 4
CHIP = dataclasses.replace(preset("nano"), bus_bytes=BUS)


def cut(write, name, address, length):
    """Return the pieces of a burst: write, ID, ends it, row, bank, beat, beats behind it."""
    pieces, beat, left = [], address // BUS, length
    per_row = 64 // BUS
    while True:
        row, bank, at = beat // per_row // 4, beat // per_row % 4, beat % per_row
        now = min(left, per_row - 1 - at)
        pieces.append((write, name, now == left, row, bank, at, now))
        if now == left:
            return pieces
        beat, left = beat + now + 1, left - now - 1


def pieces(reads, writes, cycles=400, *, take=lambda cycle: True, answer=lambda cycle: True,
           wait=0):
    """Return pieces that are offered, with the cycles in which they are taken; and cycles of
    commands that are taken and of answers. ``done`` is told so many cycles after the last piece.
    """
    dut = Bursts(CHIP, TIMING)
    found, taken, answered = [], [], []

    async def process(ctx):
        waiting = {dut.ar: deque(reads), dut.aw: deque(writes)}
        last = deque([False] * (wait + 1))
        for cycle in range(cycles):
            for channel, bursts in waiting.items():
                ctx.set(channel.valid, bool(bursts))
                if bursts:
                    name, address, length = bursts[0]
                    ctx.set(channel.payload, {"addr": address, "len": length, "id": name})
            ctx.set(dut.b.ready, answer(cycle))
            ctx.set(dut.take, takes := take(cycle) and bool(ctx.get(dut.ready)))
            ctx.set(dut.done, last.popleft())
            _, _, piece, b, *ready = await ctx.tick().sample(
                dut.piece, dut.b.valid, dut.ar.ready, dut.aw.ready)
            for (channel, bursts), is_ready in zip(waiting.items(), ready, strict=True):
                if bursts and is_ready:
                    taken.append((cycle, "rw"[channel is dut.aw]))
                    bursts.popleft()
            if takes:
                found.append((cycle, tuple(int(piece[name]) for name in (
                    "write", "id", "final", "row", "bank", "beat", "left"))))
            last.append(bool(takes and piece.write and piece.final))
            if b and answer(cycle):
                answered.append(cycle)

    World(dut).run(process)
    return found, taken, answered


#: Name, address, beats - 1: of one beat, a row, two rows, rows and banks, from the middle.
BURSTS = [(0, 0, 0), (1, 60, 0), (0, 0, 15), (1, 4, 15), (0, 8, 14), (1, 0x3C, 1), (0, 0x180, 31),
          (1, 0x3204, 46), (0, 0x3FC0, 15), (1, 0x80, 20), (0, 0x2700, 63)]


@pytest.mark.parametrize("often", [1, 5])
def test_a_burst_is_cut_where_rows_end(often):
    def taken(reads, writes):
        found, _, answered = pieces(reads, writes, take=lambda cycle: cycle % often == 0)
        return [piece for _, piece in found], len(answered)

    assert taken(BURSTS, []) == ([piece for burst in BURSTS for piece in cut(0, *burst)], 0)
    assert taken([], BURSTS) == ([piece for burst in BURSTS for piece in cut(1, *burst)],
                                 len(BURSTS))


def test_reads_and_writes_take_turns_and_a_piece_is_offered_after_so_many_cycles():
    two = [(0, 0x78, 3), (0, 0x40, 1)]  # of two pieces, and of one
    found, taken, _ = pieces(two * 2, [(1, 0, 0)] * 3)
    assert [(kind, cycle) for cycle, kind in taken] == [
        ("r", 0), ("w", 5), ("r", 8), ("w", 11), ("r", 14), ("w", 20), ("r", 23)]
    # Four cycles after AR, three after the piece before it.
    assert [cycle for cycle, _ in found] == [4, 7, 10, 13, 16, 19, 22, 25, 28]
    assert [piece[0] for _, piece in found] == [0, 0, 1, 0, 1, 0, 0, 1, 0]


def test_so_many_writes_may_be_unanswered():
    writes = [(0, 0, 0)] * 7
    _, taken, answered = pieces([], writes, answer=lambda cycle: cycle >= 100)
    assert len([cycle for cycle, _ in taken if cycle < 100]) == 4
    assert (len(taken), len(answered)) == (7, 7)
    # Reads go on.
    _, taken, _ = pieces([(1, 0, 0)] * 5, writes, answer=lambda cycle: cycle >= 200)
    before = [kind for cycle, kind in taken if cycle < 200]
    assert "".join(before) == "rwrwrwrwr"


def test_rows_that_are_open_are_found():
    """What was opened three cycles ago, of each bank one row, until all are closed."""
    dut, found = Bursts(CHIP, TIMING), []

    async def process(ctx):
        async def look(address):
            ctx.set(dut.ar.payload, {"addr": address, "len": 0, "id": 0})
            ctx.set(dut.ar.valid, 1)
            await ctx.tick().until(dut.ar.ready)
            ctx.set(dut.ar.valid, 0)
            await ctx.tick().until(dut.ready)
            found.append((bool(ctx.get(dut.hit)), bool(ctx.get(dut.is_open))))
            ctx.set(dut.take, 1)
            await ctx.tick()
            ctx.set(dut.take, 0)

        async def opens(bank, row):
            ctx.set(dut.bank, bank)
            ctx.set(dut.row, row)
            ctx.set(dut.opened, 1)
            await ctx.tick()
            ctx.set(dut.opened, 0)
            ctx.set(dut.bank, bank ^ 1)

        places = [(bank, row) for bank in range(4) for row in (3, 4)]

        async def every():
            for bank, row in places:
                await look(row << 8 | bank << 6)

        await every()
        for bank in (1, 2):
            await opens(bank, 2 + bank)
        await every()
        await opens(1, 4)
        await every()
        ctx.set(dut.close_all, 1)
        await ctx.tick()
        ctx.set(dut.close_all, 0)
        await every()

    World(dut).run(process)
    none, other, hit = (False, False), (False, True), (True, True)
    assert found[:8] == found[24:] == [none] * 8
    assert found[8:16] == [none, none, hit, other, other, hit, none, none]
    assert found[16:24] == [none, none, other, hit, other, hit, none, none]
