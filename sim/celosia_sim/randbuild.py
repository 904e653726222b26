"""Builds random programs whose every operand is known to be legal."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Insn, Reg, insn
from celosia.arch.isa import Mem
from celosia.arch.words import WORD_MASK
from celosia.model import Memory, ModelResult, PlainMachine

__all__ = ["DATA_ADDR", "DATA_BYTES", "PROGRAM_ADDR", "Counts", "Label", "ProgramBuilder",
           "RandomProgram", "RowRegion"]

#: Where the program and its data lie; the data at times where memory ends.
PROGRAM_ADDR = 0x0010_0000
DATA_ADDR = 0x0020_0000
DATA_BYTES = 1 << 16

Counts = tuple[int, int, int]
#: First row and the row behind the last.
RowRegion = tuple[int, int]


@dataclass(frozen=True)
class RandomProgram:
    """A program with what it finds in memory.

    Attributes
    ----------
    code
        Encoded instructions, for address ``program_addr``.
    insns
        The same as objects; empty where ``code`` was mutated.
    image
        Bytes at ``data_addr``.
    windows
        First and last byte of the four DMA windows.
    expected
        How a faulty program ends on the model; None for a legal program.
    errors
        First and last byte of what answers with a bus error.
    """

    config: TpuConfig
    seed: int
    code: bytes
    insns: tuple[Insn, ...]
    image: bytes
    windows: tuple[tuple[int, int], ...]
    program_addr: int = PROGRAM_ADDR
    data_addr: int = DATA_ADDR
    expected: ModelResult | None = None
    errors: tuple[tuple[int, int], ...] = ()

    @property
    def length(self) -> int:
        """Number of instructions."""
        return len(self.code) // isa.INSTRUCTION_BYTES

    def load(self, memory: Memory) -> None:
        """Write code and data."""
        memory.write(self.program_addr, self.code)
        memory.write(self.data_addr, self.image)

    def run(self, machine: PlainMachine, max_instructions: int = 10_000) -> ModelResult:
        """Load the program into the memory of a model and run it there."""
        self.load(machine.memory)
        with self.failing(machine.memory):
            return machine.run(self.program_addr, self.length, self.windows,
                               max_instructions=max_instructions)

    @contextmanager
    def failing(self, memory: Memory) -> Iterator[None]:
        """Let a model's memory answer with the program's bus errors."""
        for first, last in self.errors:
            memory.fail(first, last - first + 1)
        yield
        if self.errors:
            memory.heal()


class Label:
    """An instruction index that is known when the program is complete."""

    def __init__(self) -> None:
        self.index = -1


OperandValue = int | Reg | Label


class ProgramBuilder:
    """Emits instructions and keeps account of what registers and strides hold.

    Parameters
    ----------
    config
        The chip.
    rng
        Every choice comes from it.
    data
        Where the data lie.

    Attributes
    ----------
    regions
        Rows of each memory that streams may touch.
    runs
        How often the code that is emitted now runs, at most.
    """

    def __init__(self, config: TpuConfig, rng: random.Random, data: int = DATA_ADDR):
        self.config, self.rng, self.data = config, rng, data
        self.runs = 1
        self.depth = 0
        self.loaded = False
        self._insns: list[tuple[str, dict[str, OperandValue]]] = []
        self._known: dict[int, int] = {}
        self._strides: dict[int, Counts] = {}
        self._pinned: frozenset[int] = frozenset()
        #: Registers and strides that operands of the instruction in the making use.
        self._used_registers: set[int] = set()
        self._used_strides: set[int] = set()
        self.regions: dict[Mem, RowRegion] = {}
        for mem, rows in ((Mem.UB, config.ub_rows), (Mem.ACC, config.acc_rows)):
            size = min(rng.choice((12, 24, 48, max(12, 3 * config.dim), max(12, 6 * config.dim))),
                       rows)
            base = rng.choice((0, rows - size, rng.randrange(rows - size + 1)))
            self.regions[mem] = (base, base + size)

    def __len__(self) -> int:
        return len(self._insns)

    def emit(self, mnemonic: str, **values: OperandValue) -> None:
        """Append an instruction; arguments as of ``encoding.insn``, labels for indices."""
        self._insns.append((mnemonic, values))
        if isa.BY_MNEMONIC[mnemonic].unit != isa.Unit.SCALAR:
            self._used_registers.clear()
            self._used_strides.clear()

    def place(self, label: Label) -> None:
        """Set a label to the next instruction."""
        label.index = len(self._insns)

    def finish(self) -> tuple[Insn, ...]:
        """Return the instructions."""
        return tuple(
            insn(mnemonic, **{name: value.index if isinstance(value, Label) else value
                              for name, value in values.items()})
            for mnemonic, values in self._insns)

    def register(self) -> int:
        """Return a register that may be overwritten."""
        taken = self._pinned | self._used_registers
        return self.rng.choice([r for r in range(isa.NUM_REGISTERS) if r not in taken])

    def value(self, value: int, chance: float = 0.15) -> int | Reg:
        """Return an operand that is ``value``: an immediate, or a register that holds it."""
        if self.rng.random() >= chance:
            return value
        same = [r for r, held in self._known.items() if held == value]
        number = self.rng.choice(same) if same and self.rng.random() < 0.5 else self._make(value)
        self._used_registers.add(number)
        return Reg(number)

    def target(self, label: Label) -> OperandValue:
        """Return an operand that is the index of a label."""
        if self.rng.random() < 0.7:
            return label
        rd = self.register()
        self.emit("mov", rd=rd, a=label)
        self._known.pop(rd, None)
        self._used_registers.add(rd)
        return Reg(rd)

    def _make(self, value: int) -> int:
        rng, rd = self.rng, self.register()
        if self._known and rng.random() < 0.8:
            a = rng.choice(list(self._known))
            held = self._known[a]
            name, b = rng.choice((("add", value - held), ("sub", held - value),
                                  ("xor", held ^ value)))
            self.emit(name, rd=rd, a=Reg(a), b=b & WORD_MASK)
        elif value and value % 2 == 0 and rng.random() < 0.4:
            shift = (value & -value).bit_length() - 1
            self.emit("shl", rd=rd, a=value >> shift, b=shift)
        elif rng.random() < 0.4:
            self.emit("mul", rd=rd, a=value, b=1)
        else:
            self.emit("mov", rd=rd, a=value)
        self._known[rd] = value
        return rd

    def noise(self) -> None:
        """Emit a scalar instruction; its result may come to use in :meth:`value`."""
        rng = self.rng
        name = rng.choice(("mov", "add", "sub", "mul", "and", "or", "xor", "shl", "shr", "sar",
                           "slt", "sltu"))
        rd = self.register()
        (a, x), (b, y) = self.pick(), self.pick()
        if name == "mov":
            self.emit("mov", rd=rd, a=a)
            self._known[rd] = x
            return
        self.emit(name, rd=rd, a=a, b=b)
        sx, sy = (v - (1 << 32) if v >> 31 else v for v in (x, y))
        self._known[rd] = {
            "add": x + y, "sub": x - y, "mul": x * y, "and": x & y, "or": x | y, "xor": x ^ y,
            "shl": x << (y & 31), "shr": x >> (y & 31), "sar": sx >> (y & 31),
            "slt": int(sx < sy), "sltu": int(x < y)}[name] & WORD_MASK

    def pick(self) -> tuple[int | Reg, int]:
        """Return some operand, and what it is."""
        rng = self.rng
        if self._known and rng.random() < 0.6:
            number = rng.choice(list(self._known))
            return Reg(number), self._known[number]
        value = rng.choice((0, 1, WORD_MASK, 1 << 31, rng.getrandbits(32), rng.randrange(64)))
        return value, value

    @contextmanager
    def block(self, runs: int, pins: frozenset[int] = frozenset()) -> Iterator[None]:
        """Code that runs up to ``runs`` times and does not overwrite the registers ``pins``."""
        known, strides, loaded = dict(self._known), dict(self._strides), self.loaded
        before = self._pinned, self.runs
        self._pinned |= pins
        self.runs *= max(runs, 1)
        if runs > 1:  # what the body changes is not known at its start
            self._known, self._strides = {}, {}
        start = len(self._insns)
        self.depth += 1
        yield
        self.depth -= 1
        self._pinned, self.runs = before
        self.loaded = loaded
        body = self._insns[start:]
        changed = {values["rd"] for _, values in body if "rd" in values} | pins
        self._known = {r: value for r, value in known.items() if r not in changed}
        changed = {values["x"] for _, values in body if "x" in values}
        self._strides = {x: value for x, value in strides.items() if x not in changed}

    def _stride(self, wanted: Counts) -> int:
        rng = self.rng
        same = [x for x, held in self._strides.items() if held == wanted]
        x = rng.choice(same) if same else rng.choice(
            [x for x in range(1, isa.NUM_STRIDES) if x not in self._used_strides])
        if not same:
            high = rng.choice((0, 0, rng.getrandbits(16) << 16))  # the chip drops it
            s0, s1, s2 = wanted
            self.emit("stride", x=x, s0=self.value(s0 | high), s1=self.value(s1),
                      s2=self.value(s2))
            self._strides[x] = wanted
        self._used_strides.add(x)
        return x

    def counts(self) -> Counts:
        """Return counts of a stream, fewer the deeper in loops."""
        rng, limit = self.rng, max(4, 2 * self.config.dim // self.runs)
        if self.runs == 1 and rng.random() < 0.1:
            limit *= 2
        n0 = min(limit, rng.choice((1, 1, 2, 3, 4, 5, 7, 8, 9, limit, rng.randrange(1, limit + 1))))
        n1 = rng.choice((1, 1, 1, 2, 3, rng.randrange(1, limit // n0 + 1))) if (
            n0 * 3 <= limit) else 1
        n2 = rng.choice((1, 1, 1, 2, rng.randrange(1, limit // (n0 * n1) + 1))) if (
            n0 * n1 * 2 <= limit) else 1
        return n0, n1, n2

    def stream(self, counts: Counts, region: RowRegion) -> tuple[int, int]:
        """Return base and stride register of a stream inside a region."""
        rng, (low, high) = self.rng, region
        total = counts[0] * counts[1] * counts[2]
        if rng.random() < 0.5 and total <= high - low:
            return rng.randrange(low, high - total + 1), 0
        room = high - low - 1
        steps = []
        for count in counts:
            step = rng.choice((0, 1, 1, 1, 2, 3, counts[0], self.config.dim))
            if count > 1:
                step = min(step, room // (count - 1))
                room -= (count - 1) * step
            elif rng.random() < 0.1:  # no row is a step away, not even one backwards
                step = rng.choice((0xFFFF, 0x10000 - self.config.dim, 0x8000, rng.getrandbits(16)))
            steps.append(step)
        return rng.randrange(low, low + room + 1), self._stride((steps[0], steps[1], steps[2]))
