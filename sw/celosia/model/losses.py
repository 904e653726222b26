"""What a run loses: numbers that its formats cannot hold, by instruction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.arch import numerics
from celosia.arch.commands import Command, Matmul, Store, Vector
from celosia.arch.isa import DmaFormat, Mem
from celosia.arch.numerics import F32, U32
from celosia.arch.vector import Post
from celosia.arch.vector import VectorOp as Op
from celosia.model import dma, vpu
from celosia.model.fast.lanes import FAST
from celosia.model.fast.mxu import FastMxu
from celosia.model.lanes import Lanes
from celosia.model.machine import PlainMachine, Run

__all__ = ["CountingRun", "Losses"]

_INT8 = -128, 127
_WIDE = -(1 << 31), (1 << 31) - 1
#: First stages in float64, to which their results are compared.
_EXACT_FIRST: Mapping[Op, Callable[..., NDArray]] = {
    Op.FADD: np.add, Op.FSUB: np.subtract, Op.FMUL: np.multiply,
    Op.FFMA: lambda a, b, c: a * b + c, Op.FMULC: lambda a, b: a * (1 - b)}
#: Second stages.
_EXACT_SECOND: Mapping[Post, Callable[..., NDArray]] = {
    Post.SQUARE: np.square, Post.EXP2: np.exp2, Post.RECIP: np.reciprocal,
    Post.DIV: lambda x, numerator: numerator / x}


@dataclass
class Losses:
    """Elements that an instruction computed, and those of them that are not what they would be.

    Attributes
    ----------
    of
        Elements of the formats that could lose them: computed in fp32, or written in a narrower
        format, in all executions.
    clamped
        Integers that int8 does not hold.
    overflowed
        Finite numbers that became infinite, in fp32 or bf16.
    flushed
        Numbers that became 0.
    """

    of: int = 0
    clamped: int = 0
    overflowed: int = 0
    flushed: int = 0

    def add(self, other: Losses) -> None:
        """Count more."""
        for name in ("of", "clamped", "overflowed", "flushed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


class CountingRun(Run):
    """A run that counts what it loses; with the same results.

    Not counted is what the matrix unit loses inside a sum.

    Attributes
    ----------
    losses
        By the index of the instruction.
    """

    def __init__(self, machine: PlainMachine, program: int, length: int,
                 windows: Sequence[tuple[int, int]], watchdog: int):
        super().__init__(machine, program, length, windows, watchdog)
        self.losses: defaultdict[int, Losses] = defaultdict(Losses)
        self._mxu = FastMxu(machine.config)
        self._lanes = Lanes(self._first, self._second, FAST.joins, self._to_bf16, self._to_i8)

    def execute(self, command: Command) -> int | None:
        """Do what a command does, and count."""
        machine = self.machine
        if isinstance(command, Vector):
            return vpu.execute(command, machine.ub, machine.acc, self._lanes)
        if isinstance(command, Matmul):
            self._mxu.execute(command, machine.ub, machine.acc)
            return None
        chip = machine.ub if command.mem == Mem.UB else machine.acc
        if not isinstance(command, Store):
            dma.load(command, machine.memory, chip, self._to_bf16)
            return None
        if command.mem == Mem.ACC and command.fmt == DmaFormat.I8:
            rows = chip[command.chip(chip.shape[1]).index()].reshape(command.rows, -1)
            self._to_i8(rows[:, :command.cols].view(np.int32))
        dma.store(command, machine.memory, chip, self._to_bf16)
        return None

    @property
    def _here(self) -> Losses:
        return self.losses[self.pc]

    def _to_bf16(self, words: U32) -> NDArray[np.uint16]:
        found = np.asarray(FAST.to_bf16(words))
        self._here.of += words.size
        self._here.overflowed += int(np.count_nonzero(
            ((found & 0x7FFF) == 0x7F80) & np.isfinite(words.view(np.float32))))
        return found

    def _to_i8(self, words: NDArray[np.int32]) -> NDArray[np.int8]:
        self._clamped(words, *_INT8)
        return FAST.to_i8(words)

    def _clamped(self, words: NDArray, low: int, high: int) -> None:
        # A bound inside int8 is what the program asks for.
        beyond = (words < low) * (low == _INT8[0]) + (words > high) * (high == _INT8[1])
        self._here.of += words.size
        self._here.clamped += int(np.count_nonzero(beyond))

    def _first(self, op: Op, param: int) -> Callable[..., U32]:
        function, exact = FAST.first_stage(op, param), _EXACT_FIRST.get(op)
        if op == Op.REQUANT:
            return self._requant(function, param)
        return function if exact is None else self._floats(function, exact)

    def _second(self, post: Post, param: int) -> Callable[..., U32]:
        function, exact = FAST.second_stage(post, param), _EXACT_SECOND.get(post)
        return function if exact is None else self._floats(function, exact)

    def _requant(self, function: Callable[..., U32], param: int) -> Callable[..., U32]:
        zero, low, high = np.array([param, param >> 8, param >> 16]).astype(np.int8).tolist()

        def counted(x: U32, scale: U32, bias: U32) -> U32:
            self._clamped(np.asarray(numerics.requant(
                x.view(np.int32), scale, bias.view(np.int32), zero, *_WIDE)), low, high)
            return function(x, scale, bias)

        return counted

    def _floats(self, function: Callable[..., U32], exact: Callable[..., NDArray]
                ) -> Callable[..., U32]:
        def counted(*words: U32) -> U32:
            found = np.asarray(function(*words), np.uint32)
            result: F32 = found.view(np.float32)
            should = exact(*(each.view(np.float32).astype(np.float64) for each in words))
            self._here.of += found.size
            self._here.overflowed += int(np.count_nonzero(~np.isfinite(result)
                                                          & np.isfinite(should)))
            self._here.flushed += int(np.count_nonzero((result == 0) & (should != 0)))
            return found

        return counted
