"""Prepared commands do to the memories what commands do one after another, by NumPy and by C."""

import dataclasses
import platform
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from celosia.arch.commands import Command, Load, Matmul, Store, Vector, VectorOperand
from celosia.arch.config import PRESETS
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem
from celosia.arch.streams import Stream
from celosia.arch.vector import (
    DIV_OPS,
    INDEXED_OPS,
    LANE_ROW_SRCS,
    LANE_SRCS,
    ROW_SRCS,
    STREAM_SRCS,
    Dst,
    Post,
    Reduce,
    ReduceOp,
    Src,
    VectorOp,
    operand_names,
)
from celosia.model import Machine
from celosia.model.fast import native
from celosia.model.fast.steps import NativeSteps, Steps
from celosia.model.machine import Run
from celosia.model.state import State

CHIP = dataclasses.replace(PRESETS["core"], dim=4, lanes=0, ub_rows=256,
                           acc_rows=128)
ODD = np.array([0, 0x80000000, 1, 0x807FFFFF, 0x00800000, 0x80800000, 0x00800001, 0x7F7FFFFF,
                0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC12345, 0x7F800001, 0x1F800000], np.uint32)
Made = Steps | NativeSteps
OPS = [op for op in VectorOp if op not in INDEXED_OPS]
SRCS = [src for src in Src if src != Src.NONE]
_ADDR, _BYTES = 0x3FF000, 0x2000  # across a page of the memory


def in_c(on: State) -> NativeSteps:
    library = native.load()
    assert library is not None
    return NativeSteps(on, library)


@pytest.fixture(params=[Steps, in_c] if platform.machine() == "x86_64" else [Steps])
def kind(request) -> Callable[[State], Made]:
    return request.param


def floats(rng: np.random.Generator, rows: int, spread: int, odd: float) -> np.ndarray:
    """fp32 with exponents around 1, a share of odd ones."""
    shape = rows, CHIP.dim
    bits = rng.integers(0, 1 << 32, shape, dtype=np.uint32) & np.uint32(0x807FFFFF)
    bits |= rng.integers(127 - spread, 128 + spread, shape, dtype=np.uint32) << np.uint32(23)
    return np.where(rng.random(shape) < odd, rng.choice(ODD, shape), bits)


def machine(seed: int, spread: int, odd: float) -> Machine:
    rng, made = np.random.default_rng(seed), Machine(CHIP)
    made.acc[:] = floats(rng, CHIP.acc_rows, spread, odd)
    made.ub[:] = floats(rng, CHIP.ub_rows, spread, odd) >> np.uint32(16)
    made.memory.write(_ADDR, floats(rng, _BYTES // 16, spread, odd))
    return made


class Random:
    """Random commands. Streams begin at multiples of 16 rows: they are the same or lie apart."""

    def __init__(self, seed: int, fmts: Sequence[MatmulFormat] = (MatmulFormat.BF16,)):
        self.rng, self.fmts = np.random.default_rng(seed), fmts

    def commands(self, count: int) -> list[Command]:
        makers = [self.vector, self.matmul, self.matmul, self.dma]
        made: list[Command] = [self.matmul(load=True)]
        return made + [self.one(makers)() for _ in range(count)]

    def one(self, options):
        return options[int(self.rng.integers(len(options)))]

    def stream(self, mem: Mem, counts: tuple[int, int, int], strided: float = 0.2) -> Stream:
        base = 16 * int(self.rng.integers((CHIP.ub_rows if mem == Mem.UB else 128) // 16))
        if self.rng.random() < strided and counts[0] <= 8:
            return Stream(base, (counts[0], 1, 1), (2, 1, 1))
        return Stream.linear(base, counts)

    def matmul(self, load: bool = False) -> Matmul:
        rng, counts = self.rng, (int(self.one([4, 8])), 1, 1)
        weights = Stream.linear(int(rng.integers(200)), (int(rng.integers(1, 5)), 1, 1))
        if rng.random() < 0.7:
            weights = Stream.linear(weights.base, (4, 1, 1))
        return Matmul(self.one(self.fmts), bool(rng.random() < 0.7), bool(rng.random() < 0.2),
                      self.stream(Mem.ACC, counts), self.stream(Mem.UB, counts),
                      weights if load or rng.random() < 0.9 else None)

    def dma(self) -> Load | Store:
        rng, store = self.rng, bool(self.rng.random() < 0.5)
        mem = self.one([Mem.UB, Mem.ACC])
        fmt = self.one([DmaFormat.BF16, DmaFormat.W32, DmaFormat.W32])
        groups, rows = int(rng.integers(1, 4)), int(rng.integers(1, 5))
        cols = groups * CHIP.dim - int(rng.random() < 0.2)
        base = 16 * int(rng.integers(8))
        kind = rng.random()
        group_step, row_step = (rows, 1) if kind < 0.5 else (1, groups) if kind < 0.9 else (1, 0)
        return (Store if store else Load)(
            mem, fmt, base, _ADDR + 4 * int(rng.integers(1800)), rows, cols,
            int(self.one([4, 12, 48, 52, 64])), row_step, group_step)

    def vector(self, of: VectorOp | None = None) -> Vector:
        rng, op = self.rng, self.one(OPS) if of is None else of
        if rng.random() < 0.5 and of is None:
            op = self.one([VectorOp.FADD, VectorOp.FSUB, VectorOp.FMUL, VectorOp.FFMA,
                           VectorOp.IADD, VectorOp.XOR, VectorOp.SHL, VectorOp.SHR, VectorOp.MOV])
        counts = int(self.one([4, 8])), int(self.one([1, 2])), 1
        kind = self.one([Dst.ACC, Dst.ACC, Dst.UB_BF16, Dst.UB_I8])
        reduce = Reduce.NONE if rng.random() < 0.7 else self.one([Reduce.ROWS, Reduce.LANES])
        post = self.one([post for post in Post if post != Post.DIV or op in DIV_OPS])
        sources = tuple(self.operand(op, counts, i) for i in range(len(operand_names(op, post))))
        groups = (1, counts[1], 1) if reduce == Reduce.ROWS else counts
        dst = self.stream(Mem.ACC if kind == Dst.ACC else Mem.UB, groups)
        if dst.length != int(np.prod(groups)):
            dst = Stream.linear(dst.base, groups)
        return Vector(op, post, kind, dst, sources,
                      int(rng.integers(1 << 32)), counts, reduce, self.one(list(ReduceOp)))

    def operand(self, op: VectorOp, counts: tuple[int, int, int], number: int) -> VectorOperand:
        rng, kind = self.rng, self.one(SRCS)
        if rng.random() < 0.6 or op == VectorOp.TRANSPOSE:
            kind = Src.ACC
        if op == VectorOp.ROTATE and number:
            kind = Src.SCALAR
        value = int(rng.choice(ODD)) if rng.random() < 0.3 else int(rng.integers(1 << 32))
        if kind in STREAM_SRCS:
            stream = self.stream(_mem(kind), counts, 0.0)
        elif kind in ROW_SRCS:
            stream = Stream(int(rng.integers(128)), (1,), (1,))
        else:
            return VectorOperand(kind, value, None)
        lane = int(rng.integers(CHIP.dim)) if kind in LANE_SRCS | LANE_ROW_SRCS else None
        return VectorOperand(kind, value, stream, lane)


def _mem(kind: Src) -> Mem:
    return Mem.ACC if kind.name.startswith("ACC") else Mem.UB


def plainly(on: Machine, commands: list[Command]) -> None:
    run = Run(on, 0, 0, (), 0)
    for command in commands:
        run.execute(command)


def take(steps: Made) -> None:
    with np.errstate(all="ignore"):
        for step in steps.made:
            step()


def prepared(kind: Callable[[State], Made], on: Machine, commands: Sequence[Command],
             together: int = 1 << 30) -> Made:
    """Prepare commands; what waits is closed behind every so many of them."""
    steps = kind(on)
    for number, command in enumerate(commands, 1):
        steps.add(command)
        if number % together == 0:
            steps.close()
    steps.close()
    return steps


def compare(kind: Callable[[State], Made], commands: list[Command], seed: int, spread: int,
            odd: float) -> None:
    one, other = (machine(seed, spread, odd) for _ in range(2))
    steps = prepared(kind, other, commands, (1 << 30, 5)[seed % 2])
    for _ in range(2):
        plainly(one, commands)
        take(steps)
        np.testing.assert_array_equal(other.acc, one.acc)
        np.testing.assert_array_equal(other.ub, one.ub)
        np.testing.assert_array_equal(other.memory.read(_ADDR, _BYTES),
                                      one.memory.read(_ADDR, _BYTES))


OPERANDS = pytest.mark.parametrize(("spread", "odd"), [(3, 0.0), (60, 0.0), (126, 0.0),
                                                       (3, 0.002), (3, 0.1)])


@OPERANDS
@pytest.mark.parametrize("fmts", [[MatmulFormat.INT8], [MatmulFormat.BF16], list(MatmulFormat)])
def test_commands_of_all_kinds(kind, fmts, spread, odd):
    for seed in range(4):
        compare(kind, Random(seed, fmts).commands(60), seed, spread, odd)


@OPERANDS
@pytest.mark.parametrize("block", [1, 64, 1 << 16])
def test_matmuls(monkeypatch, kind, block, spread, odd):
    monkeypatch.setattr("celosia.model.fast.steps._BLOCK", block)
    for seed in range(4):
        made = Random(seed)
        commands: list[Command] = [made.matmul(load=True) for _ in range(30)]
        for at in made.rng.integers(30, size=3):
            commands.insert(int(at), made.dma())
        compare(kind, commands, seed, spread, odd)


@OPERANDS
@pytest.mark.parametrize("op", OPS)
def test_vectors(kind, op, spread, odd):
    for seed in range(2):
        made = Random(seed)
        commands: list[Command] = [
            dataclasses.replace(found := made.vector(op), sources=tuple(
                made.operand(op, (4, 1, 1), i) for i in range(len(found.sources))),
                counts=(4, 1, 1), dst=Stream.linear(16 * int(made.rng.integers(8)), (4, 1, 1)),
                reduce=Reduce.NONE)
            for _ in range(12)]
        compare(kind, commands, seed, spread, odd)


def test_a_tile_that_is_kept_while_its_rows_change(kind):
    stream = Stream.linear
    first = Matmul(MatmulFormat.BF16, False, False, stream(0, (4, 1, 1)), stream(0, (4, 1, 1)),
                   stream(16, (4, 1, 1)))
    change = Load(Mem.UB, DmaFormat.W32, 16, _ADDR, 4, 4, 16)
    again = dataclasses.replace(first, acc=stream(8, (4, 1, 1)), weights=None)
    compare(kind, [first, change, again], 1, 3, 0.0)


@pytest.mark.parametrize("kind_of", [Load, Store])
@pytest.mark.parametrize(("mem", "fmt", "pitch"), [
    (Mem.ACC, DmaFormat.W32, 16), (Mem.UB, DmaFormat.W32, 16), (Mem.UB, DmaFormat.BF16, 8)])
def test_rows_that_lie_in_two_pages(kind, kind_of, mem, fmt, pitch):
    compare(kind, [kind_of(mem, fmt, 16, 0x400000 - 2 * pitch, 4, 4, pitch)], 1, 3, 0.0)


def product(acc: int, acts: int = 0) -> Matmul:
    return Matmul(MatmulFormat.BF16, False, True, Stream.linear(acc, (4, 1, 1)),
                  Stream.linear(acts, (4, 1, 1)), Stream.linear(16, (4, 1, 1)))


def test_matmuls_whose_rows_overlap(kind):
    added = [dataclasses.replace(product(acc, acts), accumulate=True)
             for acc, acts in ((0, 0), (2, 4), (0, 8), (1, 0))]
    compare(kind, [*added, product(3), *added], 1, 3, 0.0)


def test_subnormal_operands_of_a_matmul(kind):
    one, other = (machine(1, 3, 0.0) for _ in range(2))
    for each in (one, other):
        each.ub[0], each.ub[16:20] = 1, 0x5F80
    plainly(one, [product(0)])
    take(prepared(kind, other, [product(0)]))
    np.testing.assert_array_equal(other.acc, one.acc)
    assert other.acc[0].tolist() == [0] * 4
    for at in (0, 16):  # in the activations, in the tile
        commands: list[Command] = [product(0, 16 - at), product(4, at)]
        compare(kind, commands, 1, 3, 0.02)


@pytest.mark.parametrize("start", [0x00000001, 0x80400000, 0x00C00000])
def test_sums_that_are_added_to_what_is_tiny(kind, start):
    """The sum is -2**-126, which leaves a subnormal of the last start."""
    made = machine(1, 3, 0.0)
    made.acc[:4] = start
    made.ub[0:4] = [0x2381, 0xA382, 0, 0]
    made.ub[16:20] = [0xA381, 0xA380, 0, 0]
    command = dataclasses.replace(product(0), accumulate=True)
    take(prepared(kind, made, [command]))
    got = made.acc[:4].copy()
    made.acc[:4] = start
    plainly(made, [command])
    np.testing.assert_array_equal(got, made.acc[:4])


def test_matmuls_are_done_together(kind):
    made = Random(3)
    commands = [dataclasses.replace(made.matmul(load=True), transpose=False, accumulate=True,
                                    acc=Stream.linear(16 * i, (4, 1, 1)),
                                    acts=Stream.linear(0, (4, 1, 1)),
                                    weights=Stream.linear(32, (4, 1, 1))) for i in range(8)]
    assert len(prepared(kind, machine(1, 3, 0.0), commands).made) == 1
