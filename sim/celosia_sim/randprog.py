"""Random programs, legal and faulty, to run on two implementations of the ISA and compare.

A legal program halts without a fault whatever its data are. Its streams stay inside small regions
of the two memories, so that the units collide often.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import numpy as np

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Insn, Reg, encode
from celosia.arch.encoding import insn as make
from celosia.arch.faults import Fault
from celosia.arch.isa import DmaFormat, Dst, MatmulFormat, Mem, Post, Src
from celosia.arch.isa import VectorOp as Op
from celosia.model import Machine, Memory, RunResult
from celosia_sim.randbuild import Builder, Counts, Label, Region

__all__ = ["RandomProgram", "random_faulting_program", "random_program"]

#: Where the program and its data lie.
PROGRAM_ADDR = 0x0010_0000
DATA_ADDR = 0x0020_0000
DATA_BYTES = 1 << 16

_SIZES = {DmaFormat.I8: 1, DmaFormat.BF16: 2, DmaFormat.W32: 4}
_MEMS = {Src.ACC: Mem.ACC, Src.ACC_ROW: Mem.ACC, Src.UB_I8: Mem.UB, Src.UB_I8_ROW: Mem.UB,
         Src.UB_BF16: Mem.UB, Src.UB_BF16_ROW: Mem.UB}


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

    def run(self, machine: Machine, max_instructions: int = 10_000) -> RunResult:
        """Load the program into the memory of a model and run it there."""
        self.load(machine.memory)
        return machine.run(self.program_addr, self.length, self.windows,
                           max_instructions=max_instructions)


def random_program(config: TpuConfig, seed: int, size: int = 40) -> RandomProgram:
    """Return a legal program of about ``size`` instructions, the same for the same arguments.

    It begins by filling the regions that it uses, and ends by nothing: state is compared in the
    memories.
    """
    rng = random.Random(f"{seed}/{size}/{config.fingerprint}")
    generator = _Generator(config, rng)
    insns = generator.program(size)
    windows = [(DATA_ADDR, DATA_ADDR + DATA_BYTES - 1), (1, 0), (PROGRAM_ADDR - 64,
               PROGRAM_ADDR - 1), rng.choice(((1, 0), (DATA_ADDR, DATA_ADDR)))]
    rng.shuffle(windows)
    code = b"".join(encode(insn) for insn in insns)
    return RandomProgram(config, seed, code, insns, _image(rng), tuple(windows))


def _image(rng: random.Random) -> bytes:
    """Data: moderate bf16 numbers, plain bytes, or every kind of special value."""
    draw = np.random.default_rng(rng.getrandbits(64))
    halves = DATA_BYTES // 2
    kind = rng.choice(("bytes", "moderate", "moderate", "wild"))
    raw = draw.integers(0, 1 << 16, halves, dtype=np.uint16)
    if kind == "bytes":
        return raw.tobytes()
    spread = rng.choice((2, 8, 30)) if kind == "moderate" else 100
    exponent = draw.integers(127 - spread, 128 + spread, halves).astype(np.uint16)
    values = (raw & np.uint16(0x807F)) | exponent << np.uint16(7)
    values[draw.random(halves) < 0.1] &= np.uint16(0x8000)
    if kind == "wild":
        special = np.array([0x7F80, 0xFF80, 0x7FC0, 0xFFFF, 0x7F81, 0x7F7F, 0xFF7F, 0x0080, 0x8080,
                            0x007F, 0x807F, 0x0001, 0x3F80, 0xBF80], np.uint16)
        where = draw.random(halves) < 0.03
        values[where] = draw.choice(special, int(where.sum()))
    return values.astype("<u2").tobytes()


class _Generator(Builder):
    """Composes a program."""

    def __init__(self, config: TpuConfig, rng: random.Random):
        super().__init__(config, rng)
        #: Places in memory that transfers meet at, close before boundaries of 4 KiB.
        self.hot = [DATA_ADDR + rng.randrange(1, 15) * 4096 - rng.randrange(64)
                    for _ in range(3)]

    def program(self, size: int) -> tuple[Insn, ...]:
        for mem, (low, high) in self.regions.items():
            fmt = (DmaFormat.W32 if mem == Mem.ACC else
                   DmaFormat.BF16 if self.config.bf16 else DmaFormat.I8)
            length = self.config.dim * _SIZES[fmt]
            rows = min(high - low, DATA_BYTES // length)
            addr = DATA_ADDR + (0 if mem == Mem.UB else DATA_BYTES - rows * length)
            self.emit("load", mem=mem, fmt=fmt, row=low, addr=addr, rows=rows,
                      cols=self.config.dim, pitch=length)
        while len(self) < size:
            self.statement(size)
        self.emit("halt")
        return self.finish()

    def statement(self, size: int) -> None:
        choices = [self.load, self.store, self.matmul, self.matmul, self.vector, self.vector,
                   self.vector, self.noise]
        if len(self) + 8 < size and self.runs <= 6:
            if self.depth < isa.LOOP_DEPTH:
                choices += [lambda: self.loop(size)]
            choices += [lambda: self.skip(size), lambda: self.again(size)]
        if self.rng.random() < 0.05:
            self.emit(self.rng.choice(("fence", "nop")))
        self.rng.choice(choices)()

    def body(self, size: int) -> None:
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            self.statement(size)

    def loop(self, size: int) -> None:
        """Emit a counted loop, perhaps with a row that moves on in each round."""
        rng, count, end = self.rng, self.rng.choice((0, 1, 2, 3, 3, 4)), Label()
        moving = None
        if rng.random() < 0.5:
            moving = self.register()
            low, high = self.regions[Mem.ACC]
            first = rng.randrange(low, high - max(count, 1) + 1)
            self.emit("mov", rd=moving, a=first)
            self._known.pop(moving, None)
            self._used_registers.add(moving)
        self.emit("loop", count=self.value(count), end=self.target(end))
        with self.block(max(count, 2), frozenset() if moving is None else frozenset({moving})):
            self.body(size)
            if moving is not None:
                self.emit("vector", op=Op.IADD, dst_kind=Dst.ACC, a_kind=Src.ACC, b_kind=Src.SCALAR,
                          dst=Reg(moving), a=Reg(moving), b=self.value(rng.getrandbits(32)), n0=1)
                self.emit("add", rd=moving, a=Reg(moving), b=1)
                if rng.random() < 0.5:
                    self.matmul()
        self.place(end)

    def skip(self, size: int) -> None:
        """Emit a forward branch over a block."""
        end = Label()
        (a, _), (b, _) = self.pick(), self.pick()
        if self.rng.random() < 0.15:
            self.emit("jump", target=self.target(end))
        else:
            target = self.target(end)
            if target is not end:  # the register of the target may have been the operand
                a, b = 1, 2
            self.emit(self.rng.choice(("beq", "bne", "blt", "bge", "bltu", "bgeu")),
                      a=a, b=b, target=target)
        with self.block(1):
            self.body(size)
        self.place(end)

    def again(self, size: int) -> None:
        """Emit a loop that a branch closes."""
        rng, count, start, counter = self.rng, self.rng.choice((1, 2, 3)), Label(), self.register()
        name, first, step, last = rng.choice((
            ("bne", count, "sub", 0), ("bltu", 0, "add", count), ("blt", -count, "add", 0)))
        self.emit("mov", rd=counter, a=first)
        self._known.pop(counter, None)
        self.place(start)
        with self.block(max(count, 2), frozenset({counter})):
            self.body(size)
            target = self.target(start)
            self.emit(step, rd=counter, a=Reg(counter), b=1)
            self.emit(name, a=Reg(counter), b=last, target=target)

    def load(self) -> None:
        self.dma("load")

    def store(self) -> None:
        self.dma("store")

    def dma(self, mnemonic: str) -> None:
        rng, config, dim = self.rng, self.config, self.config.dim
        mem = rng.choice((Mem.UB, Mem.ACC))
        fmt = rng.choice([f for f in DmaFormat
                          if (config.int8 if f == DmaFormat.I8 else
                              config.bf16 or (f == DmaFormat.W32 and mem == Mem.ACC))])
        low, high = self.regions[mem]
        rows = rng.choice((1, 1, 2, 3, rng.randrange(1, 9)))
        groups = rng.choice((1, 1, 1, 2, 3) if dim <= 32 else (1, 1, 1, 2))
        cols = rng.choice((groups * dim, rng.randrange((groups - 1) * dim + 1, groups * dim + 1)))
        room = high - low - 1
        row_step = min(rng.choice((0, 1, 1, 1, groups, 2)), room // max(rows - 1, 1))
        room -= (rows - 1) * row_step
        group_step = min(rng.choice((0, 1, 1, rows, 3)), room // max(groups - 1, 1))
        room -= (groups - 1) * group_step
        size = _SIZES[fmt]
        length = cols * size
        pitch = rng.choice((length, length, length, length + size * rng.randrange(9), 0,
                            size * rng.randrange(cols + 1), -(-length // 64) * 64))
        span = (rows - 1) * pitch + length
        addr = rng.choice((rng.choice(self.hot), DATA_ADDR + rng.randrange(DATA_BYTES)))
        addr = max(DATA_ADDR, min(addr, DATA_ADDR + DATA_BYTES - span)) & -size
        self.emit(mnemonic, mem=mem, fmt=fmt, row=self.value(rng.randrange(low, low + room + 1)),
                  addr=self.value(addr), shape=self.value(rows | cols << 16),
                  pitch=self.value(pitch), steps=self.value(row_step | group_step << 16))

    def matmul(self) -> None:
        rng, config = self.rng, self.config
        fmt = rng.choice([f for f, has in ((MatmulFormat.INT8, config.int8),
                                           (MatmulFormat.BF16, config.bf16)) if has])
        counts = self.counts()
        acc, xacc = self.stream(counts, self.regions[Mem.ACC])
        acts, xacts = self.stream(counts, self.regions[Mem.UB])
        weights: dict[str, int | Reg] = {"wload": 0}
        if not self.loaded or rng.random() < 0.7:
            low, high = self.regions[Mem.UB]
            wrows = min(rng.choice((config.dim, rng.randrange(1, config.dim + 1))), high - low)
            w, xw = self.stream((wrows, 1, 1), (low, high))
            weights = {"w": self.value(w), "wrows": self.value(wrows), "xw": xw,
                       "transpose": rng.getrandbits(1)}
            self.loaded = True
        self.emit("matmul", fmt=fmt, accumulate=rng.getrandbits(1), xacc=xacc, xacts=xacts,
                  acc=self.value(acc), acts=self.value(acts), n2=self.value(counts[2]),
                  counts=self.value(counts[0] | counts[1] << 16), **weights)

    def vector(self) -> None:
        rng, config = self.rng, self.config
        op = rng.choice([o for o in Op if config.bf16 or o not in isa.FLOAT_OPS])
        posts = [p for p in Post if config.bf16 or p not in isa.FLOAT_POSTS]
        post = Post.NONE if op == Op.REQUANT else rng.choice([Post.NONE, *posts])
        dst_kind = rng.choice([Dst.ACC] + [Dst.UB_I8] * config.int8 + [Dst.UB_BF16] * config.bf16)
        kinds = [s for s in Src if s != Src.NONE
                 and (config.int8 or s not in (Src.UB_I8, Src.UB_I8_ROW))
                 and (config.bf16 or s not in (Src.UB_BF16, Src.UB_BF16_ROW))]
        flat = [s for s in kinds if s not in isa.STREAM_SRCS]
        taken = [rng.choice(kinds) for _ in range(isa.VECTOR_OPERANDS[op])]
        if all(kind in isa.STREAM_SRCS for kind in taken) and len(taken) == 3:
            taken[rng.randrange(3)] = rng.choice(flat)
        counts = self.counts()
        target = Mem.ACC if dst_kind == Dst.ACC else Mem.UB
        in_place = any(kind in isa.STREAM_SRCS and _MEMS[kind] == target for kind in taken)
        below, above = self._split(target, in_place)
        if in_place and rng.random() < 0.4:
            counts = (counts[0], 1, 1)
            below = above = self.regions[target]
        dst, xdst = self.stream(counts, below)
        step = 1 if xdst == 0 else self._strides[xdst][0]
        same = below == above and in_place
        if same and step == 0:
            below, above = self._split(target, True)
            dst, xdst = self.stream(counts, below)
            same = False
        fields: dict[str, int | Reg] = {"xdst": xdst, "dst": self.value(dst)}
        for name, kind in zip("abc", taken, strict=False):
            fields[f"{name}_kind"] = kind
            if kind == Src.SCALAR:
                fields[name] = self.value(rng.choice((
                    rng.getrandbits(32), rng.randrange(256), 0x3F800000, 0xBF000000,
                    rng.getrandbits(16) | rng.randrange(64) << 16)))
            elif kind not in isa.STREAM_SRCS:
                fields[name] = self.value(rng.randrange(*self.regions[_MEMS[kind]]))
            elif _MEMS[kind] != target:
                base, fields[f"x{name}"] = self.stream(counts, self.regions[_MEMS[kind]])
                fields[name] = self.value(base)
            elif same:
                fields[f"x{name}"], fields[name] = xdst, self.value(dst)
            else:
                base, fields[f"x{name}"] = self.stream(counts, above)
                fields[name] = self.value(base)
        if op == Op.REQUANT or post in (Post.CLAMP_I, Post.CLAMP_F):
            fields["param"] = self.value(rng.getrandbits(32))
        self.emit("vector", op=op, post=post, dst_kind=dst_kind, n2=counts[2],
                  counts=self.value(counts[0] | counts[1] << 16), **fields)

    def _split(self, mem: Mem, split: bool) -> tuple[Region, Region]:
        """Return regions of the destination and of sources in the same memory."""
        low, high = self.regions[mem]
        if not split:
            return (low, high), (low, high)
        middle = self.rng.randrange(low + 4, high - 3)
        halves = [(low, middle), (middle, high)]
        self.rng.shuffle(halves)
        return halves[0], halves[1]


#: Faults that the checks before an instruction find: cause, FAULT_PC and FAULT_ADDR are exact.
_PRECISE = (Fault.ILLEGAL_OPCODE, Fault.ILLEGAL_FIELD, Fault.ILLEGAL_COUNT, Fault.UB_RANGE,
            Fault.ACC_RANGE, Fault.WINDOW, Fault.MISALIGNED, Fault.OVERLAP, Fault.PC_RANGE,
            Fault.LOOP_DEPTH)


def random_faulting_program(config: TpuConfig, seed: int, size: int = 24) -> RandomProgram:
    """Return a program with one mutated instruction, and how it ends on the model: in a fault.

    Every fault that is found before an instruction starts is about equally frequent.
    """
    rng = random.Random(f"fault/{seed}/{config.fingerprint}")
    wanted = rng.choice(_PRECISE)
    while True:
        program = random_program(config, rng.getrandbits(32), size)
        for _ in range(8):
            code = bytearray(program.code)
            if wanted == Fault.LOOP_DEPTH:
                _nest(rng, code)
            else:
                index = rng.randrange(program.length)
                _mutate(rng, program.insns[index], memoryview(code)[32 * index:32 * index + 32])
            mutant = replace(program, code=bytes(code), insns=(), seed=seed)
            try:
                expected = mutant.run(Machine(config), max_instructions=1000)
            except TimeoutError:
                continue
            if expected.cause == wanted:
                return replace(mutant, expected=expected)


def _nest(rng: random.Random, code: bytearray) -> None:
    """Replace instructions by loops that end behind the program, one more than there may be."""
    length = len(code) // isa.INSTRUCTION_BYTES
    first = rng.randrange(2, length - isa.LOOP_DEPTH)
    for i in range(first, first + isa.LOOP_DEPTH + 1):
        loop = make("loop", count=rng.randrange(1, 9), end=length + i)
        code[32 * i:32 * i + 32] = encode(loop)


def _mutate(rng: random.Random, insn: Insn, code: memoryview) -> None:
    """Change an instruction in place; often it becomes illegal."""
    header = int.from_bytes(code[:8], "little")
    operands = insn.instruction.operands
    kind = rng.choice(("opcode", "field", "field", "header", "operand", "operand", "operand",
                       "unused", "register"))
    if kind == "opcode":
        header = header & ~63 | rng.randrange(64)
    elif kind == "field" and insn.instruction.fields:
        field = rng.choice(insn.instruction.fields)
        header &= ~((1 << field.width) - 1 << field.lsb)
        header |= rng.randrange(1 << min(field.width, 4)) << field.lsb
    elif kind == "header":
        header ^= 1 << rng.randrange(64)
    elif kind == "unused" or not operands:
        code[8 + rng.randrange(24)] ^= 1 << rng.randrange(8)
    else:
        i = rng.randrange(len(operands))
        word = int.from_bytes(code[8 + 4 * i:12 + 4 * i], "little")
        if kind == "register":
            header |= 1 << isa.REGMASK_LSB + i
        elif operands[i].parts:  # counts: zeros, but no walks of millions of rows
            word &= rng.choice((0xFFFF, 0xFFFF0000, 0))
        else:
            word = rng.choice((word + 1, 0, word + 0x10000, word ^ 0x80000000, 0xFFFFFFFF))
        code[8 + 4 * i:12 + 4 * i] = (word & 0xFFFFFFFF).to_bytes(4, "little")
    code[:8] = header.to_bytes(8, "little")
