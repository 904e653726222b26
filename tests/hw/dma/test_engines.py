import numpy as np
import pytest

from celosia.arch.config import BEATS_AHEAD, TpuConfig
from celosia.arch.isa import DmaFormat, Mem
from celosia.arch.registers import Activity
from hw.dma.dma_world import Command, World, random_commands


def config(bus: int, dim: int, int8: bool = True, bf16: bool = True, fold: int = 1,
           banks: int = 4) -> TpuConfig:
    return TpuConfig("test", dim=dim, int8=int8, bf16=bf16, ub_rows=128, acc_rows=64,
                     bus_bytes=bus, lanes=dim // fold, banks=banks)


#: Groups larger than the bus, equal to it and smaller, for each format; and two for boards.
CONFIGS = {
    "bus4": config(4, 4), "bus8": config(8, 4), "int8": config(8, 4, bf16=False),
    "bf16": config(16, 2, int8=False), "wide": config(32, 4), "tall": config(4, 16),
    "folded": config(8, 4, fold=2), "small": config(4, 4, bf16=False, fold=4, banks=1),
}


@pytest.mark.parametrize("kind", ["load", "store"])
@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("rough", [False, True])
def test_random_commands(kind, name, rough):
    chip = CONFIGS[name]
    commands = random_commands(chip, np.random.default_rng(7), 25)
    world = World(chip, kind, **(
        {"busy": 0.3, "refuse": 0.3, "gap": 0.2, "latency": 20} if rough else {}))
    world.run(commands)


@pytest.mark.parametrize("kind", ["load", "store"])
def test_slow_bus(kind):
    """Addresses wait longer than data take to come."""
    chip = CONFIGS["bus8"]
    World(chip, kind, busy=0.95).run(random_commands(chip, np.random.default_rng(9), 12))


@pytest.mark.parametrize("kind", ["load", "store"])
@pytest.mark.parametrize("latency", [1, 30])
def test_bus_errors_are_reported_with_their_command(kind, latency):
    commands = random_commands(CONFIGS["bus8"], np.random.default_rng(11), 100)
    bad = {min(command.bytes()) for command in commands[::20]}
    world = World(CONFIGS["bus8"], kind, bad=bad, latency=latency, busy=0.2)
    world.run(commands)
    errors = [error for _, error in world.done]
    assert 5 <= sum(errors) < 60


def rows_of(count: int, fmt: DmaFormat, addr: int, cols: int, pitch: int) -> Command:
    mem = Mem.ACC if fmt is DmaFormat.W32 else Mem.UB
    return Command(mem, fmt, 0, addr, count, cols, pitch)


#: Bus of 8 bytes, D = 4. The cycles that the beats or the on-chip rows take.
RATES = {
    "one row a beat": (rows_of(60, DmaFormat.I8, 64, 4, 8), 60),
    "two rows a beat": (rows_of(60, DmaFormat.I8, 64, 8, 8), 120),
    "a row in the middle of a beat": (rows_of(60, DmaFormat.I8, 66, 4, 24), 60),
    "a row across two beats": (rows_of(60, DmaFormat.I8, 70, 4, 8), 120),
    "a row is a beat": (rows_of(60, DmaFormat.BF16, 64, 4, 8), 60),
    "a row is two halves": (rows_of(60, DmaFormat.BF16, 66, 4, 8), 120),
    "two beats a row": (rows_of(60, DmaFormat.W32, 64, 4, 16), 120),
    "two beats and a half a row": (rows_of(60, DmaFormat.W32, 68, 4, 16), 180),
    "as many beats as units": (rows_of(20, DmaFormat.W32, 68, 21, 88), 220),
    "one long row": (rows_of(1, DmaFormat.W32, 64, 250, 0), 125),
}


@pytest.mark.parametrize("kind", ["load", "store"])
@pytest.mark.parametrize("case", RATES)
@pytest.mark.parametrize("name", ["bus8", "folded"])
def test_sustained_rate(kind, name, case):
    command, cycles = RATES[case]
    latency = 64
    world = World(CONFIGS[name], kind, latency=latency)
    world.run([command])
    # First address to first beat, and last beat to done.
    extra = {"load": 9, "store": 12 + (name == "folded")}[kind]
    assert world.done[0][0] - world.taken[0] <= cycles + latency + extra
    assert len(world.moved) == command.rows * -(-command.cols // 4)


@pytest.mark.parametrize("kind", ["load", "store"])
def test_short_commands_follow_one_another(kind):
    """Bursts of a command are asked for while the ones before are under way."""
    commands = [Command(Mem.UB, DmaFormat.BF16, i, 64 + 32 * i, 4, 4, 8) for i in range(30)]
    world = World(CONFIGS["bus8"], kind, latency=40)
    world.run(commands)
    assert world.done[-1][0] - world.taken[0] <= 4 * 30 + 40 + 12


def test_store_reads_ahead_of_responses():
    """Responses of one command do not hold up the next, of as many as the scoreboard holds."""
    count = CONFIGS["bus8"].window
    commands = [Command(Mem.UB, DmaFormat.BF16, i, 64 + 8 * i, 1, 4, 8) for i in range(count)]
    world = World(CONFIGS["bus8"], "store", latency=100)
    world.run(commands)
    assert world.done[-1][0] - world.taken[0] <= 2 * count + 100 + 12
    times = [cycle for cycle, _ in world.done]
    assert times == list(range(times[0], times[0] + 2 * count, 2))


@pytest.mark.parametrize("name", ["bus4", "small"])
def test_bursts_of_a_beat_wait_for_a_slow_memory(name):
    """More than there is room for, if the engine went on asking: none of their ends is lost."""
    commands = [Command(Mem.UB, DmaFormat.I8, 0, 64 + k, 100, 1 + k % 3, 64) for k in range(6)]
    World(CONFIGS[name], "load", latency=1500).run(commands)


def test_bursts_are_long():
    """A long row takes bursts of 64 beats, cut at multiples of their length."""
    world = World(CONFIGS["bus8"], "load")
    world.run([Command(Mem.ACC, DmaFormat.W32, 0, 0x1F8, 1, 250, 0, 0, 1)])
    assert world.memory.reads == [(0x1F8, 1, 0), (0x200, 64, 0), (0x400, 60, 0)]


def test_beats_are_asked_for_so_far_ahead_and_no_further():
    """One burst is offered, and one made, until the stall is heard."""
    world = World(CONFIGS["bus8"], "load", latency=200)
    world.run([rows_of(120, DmaFormat.I8, 64, 4, 8)] * 2)
    assert world.memory.most_beats_open == BEATS_AHEAD + 2


@pytest.mark.parametrize("kind", ["load", "store"])
def test_activity(kind):
    chip = CONFIGS["bus8"]
    command = rows_of(20, DmaFormat.BF16, 64, 4, 8)
    waiting = World(chip, kind, latency=50)
    waiting.run([command])
    assert waiting.activity.count(Activity.WAIT_BUS) >= 40
    assert waiting.activity.count(Activity.BUSY) >= 20
    refused = World(chip, kind, refuse=0.8)
    refused.run([command])
    assert refused.activity.count(Activity.WAIT_MEMORY) >= 20
    assert refused.activity[0] == Activity.IDLE
