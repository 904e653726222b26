"""Vector instructions that are known in advance: operands and operations found once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from celosia.arch.commands import SRC_MEM, Vector, VectorOperand
from celosia.arch.isa import Mem
from celosia.arch.numerics import U32
from celosia.arch.vector import INDEXED_OPS, MOVEMENT_OPS, Dst, Post, Reduce, Src
from celosia.arch.vector import VectorOp as Op
from celosia.model import vpu
from celosia.model.fast.lanes import FAST, first_stage, second_stage
from celosia.model.fast.numerics import f32_to_bf16

__all__ = ["prepare"]


#: Operations that NumPy does as a whole, operands to destination.
_WHOLE: dict[Op, Callable[..., object]] = {
    Op.MOV: lambda a, target: np.copyto(target, a),
    Op.IADD: np.add,
    Op.ISUB: np.subtract,
    Op.AND: np.bitwise_and,
    Op.OR: np.bitwise_or,
    Op.XOR: np.bitwise_xor,
    Op.NOT: np.bitwise_not,
}
_SHIFTS: dict[Op, Callable[..., object]] = {Op.SHL: np.left_shift, Op.SHR: np.right_shift}


def prepare(command: Vector, ub: NDArray, acc: U32) -> Callable[[], object]:
    """Return a function that does to the memories what :func:`celosia.model.vpu.execute` does.

    It keeps views of ``ub`` and ``acc``, and wants NumPy's warnings switched off.
    """
    operands = [_view(source, command.length, acc) for source in command.sources]
    index = command.dst.index()
    if (command.op in MOVEMENT_OPS - {Op.MOV} or command.op in INDEXED_OPS
            or command.reduce != Reduce.NONE or command.kind == Dst.UB_I8
            or not isinstance(index, slice) or any(operand is None for operand in operands)):
        return partial(vpu.execute, command, ub, acc, FAST)
    words = [operand for operand in operands if operand is not None]
    if command.kind == Dst.ACC and command.post == Post.NONE:
        if command.op in _WHOLE:
            return partial(_WHOLE[command.op], *words, acc[index])
        if command.op in _SHIFTS and command.sources[1].kind == Src.SCALAR:
            return partial(_SHIFTS[command.op], words[0], words[1] & np.uint32(31), acc[index])
    target = acc[index] if command.kind == Dst.ACC else ub[index]
    stages: list[Callable[..., NDArray]] = [first_stage(command.op, command.param)]
    if command.post == Post.DIV:
        words, numerator = words[:-1], words[-1]
        divide = second_stage(command.post, command.param)
        stages.append(lambda divisor: divide(divisor, numerator))
    elif command.post != Post.NONE:
        stages.append(second_stage(command.post, command.param))
    if command.kind == Dst.UB_BF16:
        stages.append(f32_to_bf16)
    return partial(_run, stages, words, target)


def _view(source: VectorOperand, length: int, acc: U32) -> U32 | None:
    """Return the operand as words that follow the memory, or None where they cannot."""
    if source.stream is None:
        return vpu.values(source, length, acc.shape[1])
    index = source.stream.index()
    if SRC_MEM[source.kind] != Mem.ACC or not isinstance(index, slice):
        return None
    rows = acc[index]
    return rows if source.lane is None else rows[:, source.lane, np.newaxis]


def _run(stages: list[Callable[..., NDArray]], words: list[U32], target: NDArray) -> None:
    first, *others = stages
    result = first(*words)
    for stage in others:
        result = stage(result)
    target[...] = result
