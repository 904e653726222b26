"""From 32 bytes to an instruction, with every check that needs no register value."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Imm, Insn, Reg, decode, member
from celosia.arch.faults import Fault
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem, Opcode
from celosia.arch.vector import (
    FLOAT_OPS,
    FLOAT_POSTS,
    FLOAT_REDUCES,
    INDEXED_OPS,
    LANE_SRCS,
    MEMORY_SRCS,
    MOVEMENT_OPS,
    PARAM_POSTS,
    STREAM_SRCS,
    VECTOR_OPERANDS,
    Dst,
    Post,
    Reduce,
    ReduceOp,
    Src,
    VectorOp,
)

__all__ = ["INT8_SRCS", "BF16_SRCS", "Decoded", "decode_checked"]

#: Sources that read int8, and those that read bf16, from the unified buffer.
INT8_SRCS = frozenset(src for src in MEMORY_SRCS if src.name.startswith("UB_I8"))
BF16_SRCS = frozenset(src for src in MEMORY_SRCS if src.name.startswith("UB_BF16"))
_ZERO = Imm(0)


class Decoded:
    """An instruction as the interpreter wants it.

    Attributes
    ----------
    fault, addr
        What executing it faults with before any value is looked at, ``Fault.NONE`` if nothing.
    opcode, fields
        Of the instruction; meaningless where it faults.
    values
        Immediate of each operand, 0 for a register.
    registers
        Pairs (operand, register number).
    """

    __slots__ = ("addr", "fault", "fields", "opcode", "registers", "values")

    def __init__(self, insn: Insn | None, fault: Fault = Fault.NONE, addr: int = 0):
        self.fault, self.addr = fault, addr
        if insn is not None:
            self.opcode = insn.instruction.opcode
            self.fields = insn.fields
            self.values = [o.value if isinstance(o, Imm) else 0 for o in insn.operands]
            self.registers = tuple((i, o.number) for i, o in enumerate(insn.operands)
                                   if isinstance(o, Reg))

    def resolve(self, registers: list[int]) -> list[int]:
        """Return the operand values."""
        values = self.values.copy()
        for operand, number in self.registers:
            values[operand] = registers[number]
        return values


@lru_cache(maxsize=1 << 16)
def decode_checked(config: TpuConfig, code: bytes) -> Decoded:
    """Decode 32 bytes as the chip ``config`` does; never raises, faults are in the result."""
    opcode = code[0] & (1 << isa.OPCODE_BITS) - 1
    if opcode not in isa.BY_OPCODE:
        return Decoded(None, Fault.ILLEGAL_OPCODE, opcode)
    try:
        insn = decode(code)
    except ValueError:
        return Decoded(None, Fault.ILLEGAL_FIELD)
    legal = all(field.enum is None or member(field, insn.fields[field.name]) is not None
                for field in insn.instruction.fields) and _legal(config, insn)
    return Decoded(insn) if legal else Decoded(None, Fault.ILLEGAL_FIELD)


def _legal(config: TpuConfig, insn: Insn) -> bool:
    fields = insn.fields
    match insn.instruction.opcode:
        case Opcode.STRIDE:
            return fields["x"] != 0
        case Opcode.LOAD | Opcode.STORE:
            return _legal_dma(config, fields["mem"], fields["fmt"])
        case Opcode.MATMUL:
            return _legal_matmul(config, insn)
        case Opcode.VECTOR:
            return _legal_vector(config, insn)
    return True


def _legal_dma(config: TpuConfig, mem: int, fmt: int) -> bool:
    if fmt == DmaFormat.I8:
        return config.int8
    return config.bf16 or (fmt == DmaFormat.W32 and mem == Mem.ACC)


def _legal_matmul(config: TpuConfig, insn: Insn) -> bool:
    fields = insn.fields
    if not (config.int8 if fields["fmt"] == MatmulFormat.INT8 else config.bf16):
        return False
    return bool(fields["wload"]) or (
        insn.operand("w") == insn.operand("wrows") == _ZERO
        and fields["xw"] == fields["transpose"] == 0)


def _legal_vector(config: TpuConfig, insn: Insn) -> bool:
    fields = insn.fields
    op, post = VectorOp(fields["op"]), Post(fields["post"])
    reduce, reduce_op = Reduce(fields["reduce"]), ReduceOp(fields["reduce_op"])
    kinds = [Src(fields[f"{name}_kind"]) for name in "abc"]
    for i, (name, kind) in enumerate(zip("abc", kinds, strict=True)):
        if (kind == Src.NONE) != (i >= VECTOR_OPERANDS[op]):
            return False
        if kind == Src.NONE and insn.operand(name) != _ZERO:
            return False
        if kind not in STREAM_SRCS and fields[f"x{name}"]:
            return False
        if (kind in INT8_SRCS and not config.int8) or (kind in BF16_SRCS and not config.bf16):
            return False
    if sum(kind in STREAM_SRCS for kind in kinds) > 2:
        return False
    if op in MOVEMENT_OPS and not _legal_movement(op, kinds, fields):
        return False
    if (op == VectorOp.REQUANT and post != Post.NONE) or (op in INDEXED_OPS
                                                          and post in PARAM_POSTS):
        return False
    has_param = op == VectorOp.REQUANT or op in INDEXED_OPS or post in PARAM_POSTS
    if not has_param and insn.operand("param") != _ZERO:
        return False
    if reduce == Reduce.NONE and reduce_op:
        return False
    dst = fields["dst_kind"]
    if (dst == Dst.UB_I8 and not config.int8) or (dst == Dst.UB_BF16 and not config.bf16):
        return False
    return config.bf16 or not (op in FLOAT_OPS or post in FLOAT_POSTS or reduce_op in FLOAT_REDUCES)


def _legal_movement(op: VectorOp, kinds: list[Src], fields: Mapping[str, int]) -> bool:
    if kinds[0] not in STREAM_SRCS - LANE_SRCS:
        return False
    if op == VectorOp.ROTATE:
        return kinds[1] == Src.SCALAR
    if op in INDEXED_OPS and kinds[1] != Src.ACC:
        return False
    if op == VectorOp.GATHER:
        return fields["xa"] == 0
    return op != VectorOp.SCATTER or fields["xdst"] == fields["reduce"] == 0
