"""What the tests of both DMA engines share: commands, their reference, and a run of an engine."""

import functools
from dataclasses import asdict, dataclass, field

import numpy as np

from celosia.arch import numerics
from celosia.arch.config import TpuConfig
from celosia.arch.isa import DmaFormat, Mem
from celosia.arch.registers import Activity
from celosia_hw.dma.load import LoadEngine
from celosia_hw.dma.store import StoreEngine
from celosia_hw.memory.ports import READ_LATENCY
from hw import simulation
from hw.axi_agent import AxiMemory
from hw.keeper import Keeper

__all__ = ["SIZE", "Command", "World", "legal_formats", "random_commands"]

#: Bytes of external memory.
SIZE = 1 << 15


@dataclass(frozen=True)
class Command:
    """A LOAD or STORE with resolved operands."""

    mem: Mem
    fmt: DmaFormat
    row: int
    addr: int
    rows: int
    cols: int
    pitch: int
    row_step: int = 1
    group_step: int = 0

    @property
    def size(self) -> int:
        return 1 << self.fmt

    def bytes(self) -> set[int]:
        return {self.addr + m * self.pitch + k
                for m in range(self.rows) for k in range(self.cols * self.size)}

    def places(self, dim: int):
        """Yield (on-chip row, external address, elements), in order."""
        for m in range(self.rows):
            for g in range(-(-self.cols // dim)):
                yield (self.row + m * self.row_step + g * self.group_step,
                       self.addr + m * self.pitch + g * dim * self.size,
                       min(dim, self.cols - g * dim))

    def beats(self, bus: int) -> int:
        """Return the beats that it takes."""
        total = 0
        for m in range(self.rows):
            first = self.addr + m * self.pitch
            total += (first + self.cols * self.size - 1) // bus - first // bus + 1
        return total


def to_lanes(raw: bytes, command: Command) -> np.ndarray:
    match command.mem, command.fmt:
        case _, DmaFormat.I8:
            return np.frombuffer(raw, np.int8).astype(np.int32).view(np.uint32)
        case Mem.UB, DmaFormat.BF16:
            return np.frombuffer(raw, np.uint16).astype(np.uint32)
        case Mem.ACC, DmaFormat.BF16:
            return numerics.bf16_to_f32(np.frombuffer(raw, np.uint16))
        case Mem.UB, _:
            return numerics.f32_to_bf16(np.frombuffer(raw, np.uint32)).astype(np.uint32)
        case _:
            return np.frombuffer(raw, np.uint32)


def from_lanes(lanes: np.ndarray, command: Command) -> bytes:
    match command.mem, command.fmt:
        case Mem.UB, DmaFormat.I8:
            return lanes.astype(np.uint8).tobytes()
        case Mem.ACC, DmaFormat.I8:
            return numerics.saturate_i8(lanes.view(np.int32)).tobytes()
        case Mem.UB, DmaFormat.BF16:
            return lanes.astype(np.uint16).tobytes()
        case Mem.ACC, DmaFormat.BF16:
            return numerics.f32_to_bf16(lanes).tobytes()
        case Mem.UB, _:
            return numerics.bf16_to_f32(lanes.astype(np.uint16)).tobytes()
        case _:
            return lanes.tobytes()


def legal_formats(config: TpuConfig) -> list[tuple[Mem, DmaFormat]]:
    there = {DmaFormat.I8: config.int8, DmaFormat.BF16: config.bf16, DmaFormat.W32: True}
    return [(mem, fmt) for mem in Mem for fmt in DmaFormat
            if there[fmt] and (config.bf16 or (mem, fmt) != (Mem.UB, DmaFormat.W32))]


def random_commands(config: TpuConfig, rng: np.random.Generator, count: int) -> list[Command]:
    """Make legal commands of all kinds, most of them short; some rows cross a page."""
    commands = []
    kinds = legal_formats(config)
    for i in range(count):
        mem, fmt = kinds[i % len(kinds)]
        size = 1 << fmt
        depth = config.ub_rows if mem is Mem.UB else config.acc_rows
        rows = int(rng.choice([1, 2, int(rng.integers(1, 12))]))
        cols = int(rng.choice([1, config.dim, int(rng.integers(1, 5 * config.dim))]))
        groups = -(-cols // config.dim)
        pitch = int(rng.choice([0, cols, cols + 1, config.bus_bytes // size * 4,
                                int(rng.integers(0, 64))])) * size
        page = int(rng.integers(1, SIZE // 4096 - 1)) * 4096
        addr = page - int(rng.integers(0, rows * pitch + cols * size)) // size * size
        row_step = int(rng.choice([1, groups, int(rng.integers(0, 6))]))
        group_step = int(rng.choice([0, 1, rows]))
        row_step = min(row_step, (depth - groups * group_step) // rows)
        last = (rows - 1) * row_step + (groups - 1) * group_step
        row = int(rng.integers(0, depth - last))
        commands.append(Command(mem, fmt, row, addr, rows, cols, pitch, row_step, group_step))
    return commands


def interesting_words(rng: np.random.Generator, shape) -> np.ndarray:
    """Make 32-bit patterns with small integers, NaNs, infinities, subnormals and ties."""
    words = rng.integers(0, 1 << 32, shape, dtype=np.uint32)
    small = rng.integers(-300, 300, shape).astype(np.int32).view(np.uint32)
    special = rng.choice(np.array([
        0, 0x80000000, 1, 0x807FFFFF, 0x007FFFFF, 0x7F800000, 0xFF800000, 0x7F800001, 0xFFC12345,
        0x7F7FFFFF, 0x3F808000, 0x3F818000, 0x3F80FFFF, 127, 128, 0xFFFFFF80, 0xFFFFFF7F,
        0x7FFFFFFF], np.uint32), shape)
    return np.choose(rng.integers(0, 3, shape), [words, small, special])


@functools.cache
def simulated(config: TpuConfig, kind: str) -> simulation.World:
    """The engine of a configuration, made once."""
    return simulation.World((LoadEngine if kind == "load" else StoreEngine)(config))


@dataclass
class World:
    """One engine between an external memory and on-chip memories."""

    config: TpuConfig
    kind: str
    seed: int = 1
    busy: float = 0.0
    refuse: float = 0.0
    latency: int = 2
    bad: set[int] = field(default_factory=set)
    gap: float = 0.0

    def __post_init__(self):
        rng = self.rng = np.random.default_rng(self.seed)
        self.engine = simulated(self.config, self.kind).component
        self.memory = AxiMemory(self.config.bus_bytes, SIZE, rng, latency=self.latency,
                                busy=self.busy, bad=self.bad,
                                **{"read" if self.kind == "load" else "write": self.engine.axi})
        words = self.memory.data.view(np.uint32)
        words[:] = interesting_words(rng, words.shape)
        dim, config = self.config.dim, self.config
        lane_mask = np.uint32((1 << config.lane_bits) - 1)
        self.rows = {
            Mem.UB: rng.integers(0, 1 << 32, (config.ub_rows, dim), dtype=np.uint32) & lane_mask,
            Mem.ACC: interesting_words(rng, (config.acc_rows, dim)),
        }
        self.expected_rows = {mem: rows.copy() for mem, rows in self.rows.items()}
        self.expected_data = self.memory.data.copy()
        self.done: list[tuple[int, int]] = []  # cycle, error
        self.taken: list[int] = []  # cycles in which commands were taken
        self.moved: list[int] = []  # cycles in which on-chip rows moved
        self.activity: list[Activity] = []
        self.bytes = 0

    def reference(self, commands: list[Command]) -> None:
        """Carry the commands out on the expected state."""
        lane_mask = np.uint32((1 << self.config.lane_bits) - 1)
        for command in commands:
            rows = self.expected_rows[command.mem]
            for row, addr, count in command.places(self.config.dim):
                at = slice(addr, addr + count * command.size)
                if self.kind == "load":
                    lanes = np.zeros(self.config.dim, np.uint32)
                    lanes[:count] = to_lanes(self.expected_data[at].tobytes(), command)
                    rows[row] = lanes & lane_mask if command.mem is Mem.UB else lanes
                else:
                    self.expected_data[at] = np.frombuffer(
                        from_lanes(rows[row, :count].copy(), command), np.uint8)

    def run(self, commands: list[Command], limit: int = 20000) -> None:
        """Run the commands; check memories, order of done, and errors against the reference."""
        simulated(self.config, self.kind).run(
            self._watch(len(commands), limit), self.memory.run,
            *(self._on_chip(mem) for mem in Mem), self._feed(commands))
        self.reference(commands)
        for mem in Mem:
            np.testing.assert_array_equal(self.rows[mem], self.expected_rows[mem])
        np.testing.assert_array_equal(self.memory.data, self.expected_data)
        bus = self.config.bus_bytes
        errors = []
        for command in commands:
            beats = {at // bus for at in command.bytes()}
            errors.append(int(any(at // bus in beats for at in self.bad)))
        assert [error for _, error in self.done] == errors
        assert self.bytes == sum(command.beats(bus) for command in commands) * bus

    def _on_chip(self, mem: Mem):
        port = self.engine.ub if mem is Mem.UB else self.engine.acc
        rows = self.rows[mem]
        bits = self.config.lane_bits if mem is Mem.UB else 32
        dim = rows.shape[1]

        def pack(lanes) -> int:
            return sum(int(lane) << bits * k for k, lane in enumerate(lanes))

        async def write(ctx):
            others = self.engine.before.ub if mem is Mem.UB else self.engine.before.acc
            others = [others[k] for k in range(others.shape().length)]
            banks, cycle = self.config.banks, 0
            tick = ctx.tick().sample(port.valid, port.addr, port.data)
            while True:
                # The engine sees what comes before it: rows of the bank of its own, and others.
                own, asked = ctx.get(port.addr), []
                for other in others:
                    meets = self.rng.random() < self.refuse / len(others)
                    row = (own + 4 * meets + (not meets)) % self.config.acc_rows
                    asks = meets or self.rng.random() < 0.3
                    asked += [row] * asks
                    ctx.set(other, {"valid": asks, "row": row})
                _, _, valid, addr, word = await tick
                if valid and all(row % banks != addr % banks for row in asked):
                    rows[addr] = [word >> bits * k & (1 << bits) - 1 for k in range(dim)]
                    self.moved.append(cycle)
                cycle += 1

        async def read(ctx):
            pipeline = [None] * READ_LATENCY
            cycle, port_ready, port_data = 0, port.ready, port.data
            keeper = Keeper(port, lambda: self.rng.random() < self.refuse)
            ctx.set(port_ready, 1)
            tick = ctx.tick().sample(port.valid, port_ready, port.addr)
            while True:
                _, _, valid, ready, addr = await tick
                granted = keeper.answer(ctx, addr if valid and ready else None)
                pipeline.append(None if granted is None else pack(rows[granted]))
                if granted is not None:
                    self.moved.append(cycle)
                word = pipeline.pop(1)
                ctx.set(port_data, pack(self.rng.integers(0, 1 << bits, dim))
                        if word is None else word)
                cycle += 1

        return write if self.kind == "load" else read

    def _feed(self, commands: list[Command]):
        port = self.engine.port.command

        async def feed(ctx):
            cycle = 0
            for command in commands:
                while self.rng.random() < self.gap:
                    await ctx.tick()
                    cycle += 1
                ctx.set(port.payload, {key: int(value) for key, value in asdict(command).items()})
                ctx.set(port.valid, 1)
                ready = 0
                while not ready:
                    _, _, ready = await ctx.tick().sample(port.ready)
                    cycle += 1
                self.taken.append(cycle - 1)
                ctx.set(port.valid, 0)

        return feed

    def _watch(self, count: int, limit: int):
        port, axi = self.engine.port, self.engine.axi
        beats = axi.r if isinstance(self.engine, LoadEngine) else axi.w

        async def watch(ctx):
            tick = ctx.tick().sample(port.done, port.error, port.activity,
                                     beats.valid & beats.ready)
            for cycle in range(limit):
                _, _, done, error, activity, moved = await tick
                if done:
                    self.done.append((cycle, error))
                    assert len(self.done) <= len([t for t in self.taken if t < cycle])
                else:
                    assert not error
                self.activity.append(Activity(activity))
                self.bytes += moved * self.config.bus_bytes
                if len(self.done) == count:
                    break
            assert len(self.done) == count, f"{len(self.done)} of {count} in {limit} cycles"
            for cycle in range(5):
                _, _, done, activity = await ctx.tick().sample(port.done, port.activity)
                assert not done
                assert not cycle or Activity(activity) is Activity.IDLE

        return watch
