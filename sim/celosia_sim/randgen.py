"""What random programs consist of: transfers, matmuls, vectors, loops, branches."""

from __future__ import annotations

import random

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Insn, Reg
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem
from celosia.arch.vector import Dst, Src
from celosia.arch.vector import VectorOp as Op
from celosia.arch.words import WORD_MASK, ceil_div
from celosia_sim.randbuild import DATA_ADDR, DATA_BYTES, Counts, Label
from celosia_sim.randvector import VectorBuilder

__all__ = ["BusErrors", "Generator", "LongWalks"]

_SIZES = {DmaFormat.I8: 1, DmaFormat.BF16: 2, DmaFormat.W32: 4}


class Generator(VectorBuilder):
    """Composes the statements of a legal program that halts."""

    def __init__(self, config: TpuConfig, rng: random.Random, data: int = DATA_ADDR):
        super().__init__(config, rng, data)
        #: Places in memory that transfers meet at, close before boundaries of 4 KiB.
        self.hot = [data + rng.randrange(1, 15) * 4096 - rng.randrange(64) for _ in range(3)]
        #: First byte of the last transfer, and the byte behind it.
        self.last = data, data

    def program(self, size: int) -> tuple[Insn, ...]:
        """Return about ``size`` instructions, the regions filled first."""
        for mem, (low, high) in self.regions.items():
            fmt = (DmaFormat.W32 if mem == Mem.ACC else
                   DmaFormat.BF16 if self.config.bf16 else DmaFormat.I8)
            length = self.config.dim * _SIZES[fmt]
            rows = min(high - low, self.room(mem) // length)
            addr = self.data + (0 if mem == Mem.UB else DATA_BYTES - rows * length)
            self.emit("load", mem=mem, fmt=fmt, row=low, addr=addr, rows=rows,
                      cols=self.config.dim, pitch=length)
        while len(self) < size:
            self.statement(size)
        self.emit("halt")
        return self.finish()

    def room(self, mem: Mem) -> int:
        """Return how many bytes of the data fill a region: the first ones, or of ACC the last."""
        del mem
        return DATA_BYTES

    def statement(self, size: int) -> None:
        """Emit one statement, with the scalar instructions that its operands need."""
        choices = [self.load, self.store, self.store, self.matmul, self.matmuls, self.noise,
                   *[self.vector] * 4]
        if len(self) + 8 < size and self.runs <= 6:
            if self.depth < isa.LOOP_DEPTH:
                choices += [lambda: self.loop(size)]
            choices += [lambda: self.skip(size), lambda: self.again(size)]
        if self.rng.random() < 0.05:
            self.emit(self.rng.choice(("fence", "nop")))
        self.rng.choice(choices)()

    def body(self, size: int) -> None:
        """Emit a few statements."""
        for _ in range(self.rng.choice((1, 1, 2, 3))):
            self.statement(size)

    def loop(self, size: int) -> None:
        """Emit a counted loop, perhaps with a row that moves on in each round."""
        rng, end = self.rng, Label()
        hidden = rng.random() < 0.1  # up to 3 rounds, as the data want
        count = 3 if hidden else rng.choice((0, 1, 2, 3, 3, 4, 4, rng.randrange(5, 10)
                                             if self.runs == 1 else 4))
        moving = None
        if rng.random() < 0.5:
            moving = self.register()
            low, high = self.regions[Mem.ACC]
            first = rng.randrange(low, high - max(count, 1) + 1)
            self.emit("mov", rd=moving, a=first)
            self._known.pop(moving, None)
            self._used_registers.add(moving)
        times = self.unknown(4) if hidden else self.value(count)
        self.emit("loop", count=times, end=self.target(end))
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
            if self.rng.random() < 0.2:
                a = self.unknown(1 << 32)
            self.emit(self.rng.choice(("beq", "bne", "blt", "bge", "bltu", "bgeu")),
                      a=a, b=b, target=target)
        with self.block(1):
            self.body(size)
        self.place(end)

    def again(self, size: int) -> None:
        """Emit a loop that a branch closes."""
        rng, start, counter = self.rng, Label(), self.register()
        count = rng.choice((1, 2, 3, 3, 5))
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
        """Emit a load."""
        self.dma("load")

    def store(self) -> None:
        """Emit a store."""
        self.dma("store")

    def dma(self, mnemonic: str) -> None:
        """Emit a transfer, at times another beside it, to and fro."""
        self.move(mnemonic, self.transfer())
        if self.rng.random() < 0.15:
            self.move("store" if mnemonic == "load" else "load", self.transfer(beside=True))

    def move(self, mnemonic: str, fields: dict[str, int]) -> None:
        """Emit a transfer of these fields."""
        self.emit(mnemonic, **{name: value if name in ("mem", "fmt") else self.value(value)
                               for name, value in fields.items()})

    def transfer(self, beside: bool = False) -> dict[str, int]:
        """Return the fields of a transfer: odd shapes, any pitch, often across 4 KiB.

        One ``beside`` the last begins behind it or ends before it, or has an element in common.
        """
        rng, config, dim = self.rng, self.config, self.config.dim
        mem = rng.choice((Mem.UB, Mem.ACC))
        fmt = rng.choice([f for f in DmaFormat
                          if (config.int8 if f == DmaFormat.I8 else
                              config.bf16 or (f == DmaFormat.W32 and mem == Mem.ACC))])
        low, high = self.regions[mem]
        few = self.runs > 1 or rng.random() < 0.9
        rows = rng.choice((1, 1, 2, 3, rng.randrange(1, 9))) if few else rng.randrange(1, 25)
        groups = rng.choice((1, 1, 1, 2, 3) if dim <= 32 else (1, 1, 1, 2))
        if rng.random() < 0.04 and dim <= 32:
            groups = rng.randrange(4, 7)
        cols = rng.choice((groups * dim, rng.randrange((groups - 1) * dim + 1, groups * dim + 1)))
        room = high - low - 1
        row_step = min(rng.choice((0, 1, 1, 1, groups, 2)), room // max(rows - 1, 1))
        room -= (rows - 1) * row_step
        group_step = min(rng.choice((0, 1, 1, rows, 3)), room // max(groups - 1, 1))
        room -= (groups - 1) * group_step
        size = _SIZES[fmt]
        length = cols * size
        pitch = rng.choice((length, length, length, length + size * rng.randrange(9), 0,
                            size * rng.randrange(cols + 1), ceil_div(length, 64) * 64,
                            rng.choice((256, 1000, 4096, length + 4 * rng.randrange(1024)))))
        if rows == 1:  # nothing is a pitch or a row_step away, nor a group_step from one group
            far = rng.choice((WORD_MASK + 1 - size, 1 << 31, rng.getrandbits(32) & -size))
            pitch = rng.choice((pitch, far))
            row_step = rng.choice((row_step, row_step, row_step, 0xFFFF))
        if groups == 1:
            group_step = rng.choice((group_step, group_step, group_step, 0xFFFF))
        span = (rows - 1) * pitch + length
        if span > DATA_BYTES:
            pitch, span = length, rows * length
        end = self.data + DATA_BYTES
        addr = rng.choice((rng.choice(self.hot), self.data + rng.randrange(DATA_BYTES)))
        if beside:
            first, behind = self.last
            addr = rng.choice((behind, behind - size, first - span, first - span + size))
        elif rng.random() < 0.06:  # up to the first or the last byte
            addr = rng.choice((self.data, end))
        addr = max(self.data, min(addr, end - span)) & -size
        self.last = addr, addr + span
        return {"mem": mem, "fmt": fmt, "row": rng.randrange(low, low + room + 1), "addr": addr,
                "shape": rows | cols << 16, "pitch": pitch & -size,
                "steps": row_step | group_step << 16}

    def matmuls(self) -> None:
        """Emit matmuls with little between them."""
        for _ in range(self.rng.choice((2, 2, 3, 5))):
            self.matmul()

    def matmul(self) -> None:
        """Emit a matmul, which loads a tile or keeps the last one."""
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


class BusErrors(Generator):
    """Composes programs that meet a bus error, and transfers that end beside it.

    Attributes
    ----------
    bad
        First and last byte of what answers with errors: whole beats, whatever the bus.
    """

    def __init__(self, config: TpuConfig, rng: random.Random, data: int = DATA_ADDR):
        super().__init__(config, rng, data)
        first = data + DATA_BYTES // 2 + 128 * rng.randrange(-16, 16)
        self.bad = first, first + 128 * rng.randrange(1, 3) - 1
        self.hot = [rng.choice(self.bad) + rng.randrange(-128, 64) for _ in range(3)]

    def room(self, mem: Mem) -> int:
        """Return the bytes before the bad ones, or of ACC behind them."""
        return (self.data + DATA_BYTES - 1 - self.bad[1] if mem == Mem.ACC
                else self.bad[0] - self.data)

    def statement(self, size: int) -> None:
        """Emit a statement; a few times a program one that meets the error."""
        if self.rng.random() < 0.08:
            self.meet()
        else:
            super().statement(size)

    def dma(self, mnemonic: str) -> None:
        """Emit a transfer that does not touch a bad byte."""
        while self.touches(fields := self.transfer()):
            pass
        self.move(mnemonic, fields)

    def meet(self) -> None:
        """Emit a transfer that does, of immediates, when all before it has finished.

        A bus error stops the run as it is found, so nothing may be behind it before that.
        """
        while not self.touches(fields := self.transfer()):
            pass
        self.emit("fence")
        self.emit(self.rng.choice(("load", "store")), **fields)
        self.emit("fence")

    def touches(self, fields: dict[str, int]) -> bool:
        """Whether a transfer touches a bad byte."""
        rows, cols = fields["shape"] & 0xFFFF, fields["shape"] >> 16
        length = cols * _SIZES[DmaFormat(fields["fmt"])]
        starts = [fields["addr"] + m * fields["pitch"] for m in range(rows)]
        return any(start <= self.bad[1] and start + length > self.bad[0] for start in starts)


class LongWalks(Generator):
    """Composes programs of vector instructions that walk over the same rows again and again."""

    def statement(self, size: int) -> None:
        """Emit a vector instruction, at times something else."""
        self.rng.choice([self.vector] * 8 + [self.load, self.store, self.matmul])()

    def counts(self) -> Counts:
        """Return counts of a stream."""
        rng, dim = self.rng, self.config.dim
        return (rng.choice((dim, dim, max(dim - 1, 1), 2 * dim)), rng.choice((10, 30)),
                rng.choice((1, 3)))
