"""Random programs, legal and faulty, to run on two implementations of the ISA and compare.

A legal program halts without a fault whatever its data are: the generator knows the value of
every register and stride that an operand is taken from, and keeps every stream inside small
regions of the two memories, so that the units collide often.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Imm, Insn, Reg, encode, insn
from celosia.arch.isa import DmaFormat, Dst, MatmulFormat, Mem, Post, Src, VectorOp
from celosia.model import Machine, Memory
from celosia.model.machine import RunResult

__all__ = ["RandomProgram", "random_faulting_program", "random_program"]

#: Where the program and its data lie.
PROGRAM_ADDR = 0x1000_0000
DATA_ADDR = 0x2000_0000
DATA_BYTES = 1 << 16
_MASK = 0xFFFFFFFF
_Value = Imm | Reg
_Strides = tuple[int, int, int]


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
        Bytes at ``data_addr``; the windows cover them and nothing else that matters.
    expected
        What a fault program does on the model; None for a legal program.
    """

    config: TpuConfig
    seed: int
    code: bytes
    insns: tuple[Insn, ...]
    image: bytes
    windows: tuple[tuple[int, int], ...]
    program_addr: int = PROGRAM_ADDR
    data_addr: int = DATA_ADDR
    expected: RunResult | None = None

    @property
    def length(self) -> int:
        """Number of instructions."""
        return len(self.code) // isa.INSTRUCTION_BYTES

    def load(self, memory: Memory) -> None:
        """Write code and data."""
        memory.write(self.program_addr, self.code)
        memory.write(self.data_addr, self.image)


class _Label:
    """An instruction index that is known later; encoded as its number in ``_Builder.labels``."""

    def __init__(self) -> None:
        self.index = -1


class _Builder:
    """Emits instructions and knows what registers and strides hold."""

    def __init__(self, config: TpuConfig, seed: int):
        self.config = config
        self.rng = random.Random(f"{seed}/{config.fingerprint}")
        self.insns: list[tuple[str, dict[str, int | Reg | _Label]]] = []
        self.known: dict[int, int] = {}
        self.strides: dict[int, _Strides] = {}
        self.pinned: set[int] = set()
        self.loaded = False
        self.depth = 0
        self.runs = 1  # how often the code here runs
        rng, dim = self.rng, config.dim
        #: Rows that streams may touch, in the unified buffer and in the accumulators.
        self.regions = {}
        for mem, rows in ((Mem.UB, config.ub_rows), (Mem.ACC, config.acc_rows)):
            size = min(rng.choice((12, 24, 48, 3 * dim)), rows)
            base = rng.choice((0, rows - size, rng.randrange(rows - size + 1)))
            self.regions[mem] = (base, base + size)
        self.hot = [DATA_ADDR + rng.randrange(1, 15) * 4096 - rng.randrange(64) for _ in range(3)]

    def emit(self, mnemonic: str, **values: int | Reg | _Label) -> None:
        self.insns.append((mnemonic, values))

    def place(self, label: _Label) -> None:
        label.index = len(self.insns)

    def finish(self) -> tuple[Insn, ...]:
        out = []
        for mnemonic, values in self.insns:
            out.append(insn(mnemonic, **{
                name: value.index if isinstance(value, _Label) else value
                for name, value in values.items()}))
        return tuple(out)

    # Registers

    def register(self) -> int:
        return self.rng.choice([r for r in range(isa.NUM_REGISTERS) if r not in self.pinned])

    def value(self, value: int, chance: float = 0.25) -> int | Reg:
        """Return an operand that is ``value``: immediate, or a register computed here."""
        rng = self.rng
        if rng.random() > chance:
            return value
        same = [r for r, held in self.known.items() if held == value]
        if same and rng.random() < 0.5:
            return Reg(rng.choice(same))
        rd = self.register()
        if self.known and rng.random() < 0.8:
            a = rng.choice(list(self.known))
            held = self.known[a]
            operation, b = rng.choice((
                ("add", value - held), ("sub", held - value), ("xor", held ^ value)))
            self.emit(operation, rd=rd, a=Reg(a), b=b & _MASK)
        elif value % 2 == 0 and rng.random() < 0.3:
            shift = (value & -value).bit_length() - 1 if value else 5
            self.emit("shl", rd=rd, a=value >> shift, b=shift)
        elif rng.random() < 0.3:
            self.emit("mul", rd=rd, a=value, b=1)
        else:
            self.emit("mov", rd=rd, a=value)
        self.known[rd] = value
        return Reg(rd)

    def noise(self) -> None:
        """Emit a scalar instruction whose result is known to the generator."""
        rng = self.rng
        name = rng.choice(("mov", "add", "sub", "mul", "and", "or", "xor", "shl", "shr", "sar",
                           "slt", "sltu"))
        rd = self.register()

        def pick() -> tuple[int | Reg, int]:
            if self.known and rng.random() < 0.6:
                number = rng.choice(list(self.known))
                return Reg(number), self.known[number]
            value = rng.choice((0, 1, _MASK, 1 << 31, rng.getrandbits(32), rng.randrange(64)))
            return value, value

        (a, x), (b, y) = pick(), pick()
        if name == "mov":
            self.emit("mov", rd=rd, a=a)
            self.known[rd] = x
            return
        self.emit(name, rd=rd, a=a, b=b)
        sx, sy = (v - (1 << 32) if v >> 31 else v for v in (x, y))
        self.known[rd] = {
            "add": x + y, "sub": x - y, "mul": x * y, "and": x & y, "or": x | y, "xor": x ^ y,
            "shl": x << (y & 31), "shr": x >> (y & 31), "sar": sx >> (y & 31),
            "slt": int(sx < sy), "sltu": int(x < y)}[name] & _MASK

    @contextmanager
    def block(self, pins: set[int], runs: int, forget: bool) -> Iterator[None]:
        """Code that runs ``runs`` times, perhaps not at all; with ``forget`` more than once, so
        that nothing that it changes is known at its start.
        """
        known, strides, loaded = dict(self.known), dict(self.strides), self.loaded
        before_pins, before_runs = self.pinned, self.runs
        self.pinned = self.pinned | pins
        self.runs *= max(runs, 1)
        if forget:
            self.known, self.strides = {}, {}
        start = len(self.insns)
        self.depth += 1
        yield
        self.depth -= 1
        self.pinned, self.runs, self.loaded = before_pins, before_runs, loaded
        changed = {values["rd"] for _, values in self.insns[start:] if "rd" in values}
        self.known = {r: v for r, v in known.items() if r not in changed}
        changed = {values["x"] for _, values in self.insns[start:] if "x" in values}
        self.strides = {x: v for x, v in strides.items() if x not in changed}

    # Streams

    def stride(self, wanted: _Strides) -> int:
        """Return a stride register that holds ``wanted``."""
        same = [x for x, held in self.strides.items() if held == wanted]
        if same:
            return self.rng.choice(same)
        x = self.rng.randrange(1, isa.NUM_STRIDES)
        s0, s1, s2 = wanted
        high = self.rng.choice((0, 0, 0x10000 * self.rng.getrandbits(16)))
        self.emit("stride", x=x, s0=self.value(s0 + high), s1=self.value(s1), s2=self.value(s2))
        self.strides[x] = wanted
        return x

    def stream(self, counts: _Strides, region: tuple[int, int], flat: bool = False,
               linear: bool | None = None) -> tuple[int, int, int]:
        """Return base, stride register and last row of a stream inside a region."""
        rng, (low, high) = self.rng, region
        total = counts[0] * counts[1] * counts[2]
        if linear is None:
            linear = rng.random() < 0.4
        if linear and total <= high - low:
            base = rng.randrange(low, high - total + 1)
            return base, 0, base + total - 1
        room = high - low - 1
        wanted = []
        for count in counts:
            most = room // (count - 1) if count > 1 else 9
            step = min(rng.choice((0, 1, 1, 1, 2, 3, counts[0], self.config.dim)), most)
            if flat:
                step = max(step, min(1, most))
            wanted.append(step)
            room -= (count - 1) * step
        span = high - low - 1 - room
        base = rng.randrange(low, high - span)
        s0, s1, s2 = wanted
        return base, self.stride((s0, s1, s2)), base + span

    def counts(self, limit: int) -> _Strides:
        rng = self.rng
        n0 = rng.choice((1, 1, 2, 3, 4, 5, 7, 8, 9, limit, rng.randrange(1, limit + 1)))
        n0 = min(n0, limit)
        n1 = rng.choice((1, 1, 1, 2, 3)) if n0 * 3 <= limit else 1
        n2 = rng.choice((1, 1, 1, 2)) if n0 * n1 * 2 <= limit else 1
        return n0, n1, n2

    def limit(self) -> int:
        return max(4, 2 * self.config.dim // self.runs)

    # Tensor instructions

    def dma(self, store: bool) -> None:
        rng, config, dim = self.rng, self.config, self.config.dim
        mem = rng.choice((Mem.UB, Mem.ACC))
        formats = [f for f in DmaFormat if
                   (config.int8 if f == DmaFormat.I8 else
                    config.bf16 or (f == DmaFormat.W32 and mem == Mem.ACC))]
        if not formats:
            formats, mem = [DmaFormat.W32], Mem.ACC
        fmt = rng.choice(formats)
        size = {DmaFormat.I8: 1, DmaFormat.BF16: 2, DmaFormat.W32: 4}[fmt]
        low, high = self.regions[mem]
        rows = rng.choice((1, 1, 2, 3, rng.randrange(1, 9)))
        groups = rng.choice((1, 1, 1, 2, 3)) if dim <= 32 else rng.choice((1, 1, 1, 2))
        cols = rng.choice((groups * dim, rng.randrange((groups - 1) * dim + 1, groups * dim + 1)))
        room = high - low - 1
        row_step = min(rng.choice((0, 1, 1, 1, groups, 2)), room // max(rows - 1, 1))
        room -= (rows - 1) * row_step
        group_step = min(rng.choice((0, 1, 1, rows, 3)), room // max(groups - 1, 1))
        room -= (groups - 1) * group_step
        row = rng.randrange(low, low + room + 1)
        length = cols * size
        pitch = rng.choice((length, length, 0, size * rng.randrange(cols + 1),
                            length + size * rng.randrange(9), -(-length // 64) * 64))
        span = (rows - 1) * pitch + length
        addr = rng.choice((rng.choice(self.hot), rng.randrange(DATA_ADDR, DATA_ADDR + DATA_BYTES)))
        addr = max(DATA_ADDR, min(addr, DATA_ADDR + DATA_BYTES - span)) & -size
        values: dict[str, int | Reg] = {
            "row": self.value(row), "addr": self.value(addr), "pitch": self.value(pitch)}
        for name, word in (("shape", rows | cols << 16), ("steps", row_step | group_step << 16)):
            values[name] = self.value(word)
        self.emit("store" if store else "load", mem=mem, fmt=fmt, **values)

    def matmul(self) -> None:
        rng, config = self.rng, self.config
        fmt = rng.choice([f for f, has in zip(MatmulFormat, (config.int8, config.bf16),
                                              strict=True) if has])
        counts = self.counts(self.limit())
        wload = not self.loaded or rng.random() < 0.7
        acc, xacc, _ = self.stream(counts, self.regions[Mem.ACC])
        acts, xacts, _ = self.stream(counts, self.regions[Mem.UB])
        values: dict[str, int | Reg] = {}
        low, high = self.regions[Mem.UB]
        xw = 0
        if wload:
            wrows = min(rng.choice((config.dim, rng.randrange(1, config.dim + 1))), high - low)
            w, xw, _ = self.stream((wrows, 1, 1), (low, high))
            values = {"w": self.value(w), "wrows": self.value(wrows), "xw": xw,
                      "transpose": rng.getrandbits(1)}
            self.loaded = True
        # A later stride instruction may have replaced the register of an earlier stream.
        if not self._hold(counts, (acc, xacc, Mem.ACC), (acts, xacts, Mem.UB)):
            return
        if wload and not self._hold((config.dim, 1, 1), (low, xw, Mem.UB), size=1):
            return
        self.emit("matmul", fmt=fmt, accumulate=rng.getrandbits(1), wload=int(wload), xacc=xacc,
                  xacts=xacts, acc=self.value(acc), acts=self.value(acts),
                  counts=self.value(counts[0] | counts[1] << 16), n2=self.value(counts[2]),
                  **values)
