"""From 32 bytes to an instruction, with every check that needs no register value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from functools import lru_cache

from celosia.arch import isa
from celosia.arch.commands import PLACES, Command, unpack
from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Imm, Insn, Reg, decode
from celosia.arch.faults import Fault
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem, Opcode
from celosia.arch.streams import Strides
from celosia.arch.vector import (
    DIV_OPS,
    FLOAT_OPS,
    FLOAT_POSTS,
    FLOAT_REDUCES,
    INDEXED_OPS,
    LANE_SRCS,
    MEMORY_SRCS,
    MOVEMENT_OPS,
    PARAM_POSTS,
    STREAM_SRCS,
    Dst,
    Post,
    Reduce,
    ReduceOp,
    Src,
    VectorOp,
    operand_names,
)

__all__ = ["INT8_SRCS", "BF16_SRCS", "Decoded", "decode_checked", "flaw"]

#: Sources that read int8, and those that read bf16, from the unified buffer.
INT8_SRCS = frozenset(src for src in MEMORY_SRCS if src.name.startswith("UB_I8"))
BF16_SRCS = frozenset(src for src in MEMORY_SRCS if src.name.startswith("UB_BF16"))
_ZERO = Imm(0)
#: Fields of an instruction that name a value, with the values that there are.
_VALUES = {opcode: [(field.name, {int(value): value for value in field.enum})
                    for field in instruction.fields if field.enum is not None]
           for opcode, instruction in isa.BY_OPCODE.items()}
#: Fields of an instruction that name the stride register of a stream.
_STRIDES = {opcode: [field.name for field in instruction.fields
                     if opcode in PLACES and field.name.startswith("x")]
            for opcode, instruction in isa.BY_OPCODE.items()}
#: Scalar instructions that take longer than others, by so many cycles.
_SLOWER = {Opcode.MUL: 1, Opcode.SHL: 1, Opcode.SHR: 1, Opcode.SAR: 1, Opcode.JUMP: 2,
           Opcode.LOOP: 2}


class Decoded:
    """An instruction as the interpreter wants it.

    Attributes
    ----------
    fault, addr
        What executing it faults with before any value is looked at, ``Fault.NONE`` if nothing.
    opcode, fields
        Of the instruction; meaningless where it faults. Values that have names are members of their
        enumeration.
    values
        Immediate of each operand, 0 for a register.
    registers
        Pairs (operand, register number).
    cycles
        That the scalar unit takes (a taken branch takes two more).
    """

    __slots__ = ("_before", "_strides", "addr", "cycles", "fault", "fields", "opcode",
                 "registers", "values")

    def __init__(self, insn: Insn | None, fault: Fault = Fault.NONE, addr: int = 0):
        self.fault, self.addr = fault, addr
        if insn is not None:
            self.opcode = insn.instruction.opcode
            self.fields = dict(insn.fields)
            for name, values in _VALUES[self.opcode]:
                self.fields[name] = values[self.fields[name]]
            self.values = [o.value if isinstance(o, Imm) else 0 for o in insn.operands]
            self.registers = tuple((i, o.number) for i, o in enumerate(insn.operands)
                                   if isinstance(o, Reg))
            self._strides = [self.fields[name] for name in _STRIDES[self.opcode]
                             if self.fields[name]]
            self._before: tuple[list, Command | None] = [], None
            self.cycles = 2 + max(1, len(self.registers)) + _SLOWER.get(self.opcode, 0)


    def command(self, values: list[int], strides: Sequence[Strides]) -> Command:
        """Return the command of a tensor instruction: operand values, and x0..x7.

        Where it differs from the one before in rows and addresses alone, that one is moved.
        """
        places = PLACES[self.opcode]
        rest: list = values[places:]
        if self._strides:
            rest += [strides[number] for number in self._strides]
        known, form = self._before
        if form is None or rest != known:
            form = unpack(self.opcode, self.fields, values, strides)
            self._before = rest, form
            return form
        return form.at(values[:places])


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
    return Decoded(None, Fault.ILLEGAL_FIELD) if flaw(config, insn) else Decoded(insn)


def flaw(config: TpuConfig, insn: Insn) -> str:
    """Say what makes an instruction an ``ILLEGAL_FIELD`` on this chip, "" where nothing does."""
    fields = insn.fields
    for name, values in _VALUES[insn.instruction.opcode]:
        if fields[name] not in values:
            return f"{name} must name one of its values, not be {fields[name]}"
    match insn.instruction.opcode:
        case Opcode.STRIDE if fields["x"] == 0:
            return "x must be 1 to 7, not 0"
        case Opcode.LOAD | Opcode.STORE:
            return _dma(config, Mem(fields["mem"]), DmaFormat(fields["fmt"]))
        case Opcode.MATMUL:
            return _matmul(config, insn)
        case Opcode.VECTOR:
            return _vector(config, insn)
    return ""


def _needs(what: str, fmt: str) -> str:
    return f"{what} needs a chip with {fmt}"


def _dma(config: TpuConfig, mem: Mem, fmt: DmaFormat) -> str:
    if fmt == DmaFormat.I8:
        return "" if config.int8 else _needs("fmt i8", "int8")
    if config.bf16 or (fmt == DmaFormat.W32 and mem == Mem.ACC):
        return ""
    return _needs("fmt bf16" if fmt == DmaFormat.BF16 else "fmt w32 of the unified buffer", "bf16")


def _matmul(config: TpuConfig, insn: Insn) -> str:
    fields = insn.fields
    if fields["fmt"] == MatmulFormat.INT8 and not config.int8:
        return _needs("fmt int8", "int8")
    if fields["fmt"] == MatmulFormat.BF16 and not config.bf16:
        return _needs("fmt bf16", "bf16")
    if not fields["wload"] and not (insn.operand("w") == insn.operand("wrows") == _ZERO
                                    and fields["xw"] == fields["transpose"] == 0):
        return "w, wrows, xw and transpose must be 0 where wload is"
    return ""


def _vector(config: TpuConfig, insn: Insn) -> str:
    fields = insn.fields
    op, post, dst = VectorOp(fields["op"]), Post(fields["post"]), Dst(fields["dst_kind"])
    reduce, reduce_op = Reduce(fields["reduce"]), ReduceOp(fields["reduce_op"])
    kinds = {name: Src(fields[f"{name}_kind"]) for name in "abc"}
    return (_div(op, post) or _operands(insn, operand_names(op, post), kinds)
            or _movement(op, kinds, fields) or _second(insn, op, post, reduce, reduce_op)
            or _formats(config, op, post, reduce_op, dst, kinds))


def _div(op: VectorOp, post: Post) -> str:
    if post == Post.DIV and op not in DIV_OPS:
        return f"post of {_name(op)} must not be div: c is not free, or words move"
    return ""


def _operands(insn: Insn, taken: str, kinds: Mapping[str, Src]) -> str:
    op, post = VectorOp(insn.fields["op"]), Post(insn.fields["post"])
    for name, kind in kinds.items():
        if (kind == Src.NONE) == (name in taken):
            what = _name(op) + " post div" * (post == Post.DIV)
            return f"{what} must take {', '.join(taken)}, and {name} is {_name(kind)}"
        if kind == Src.NONE and insn.operand(name) != _ZERO:
            return f"{name} must be 0 where it is none"
        if kind not in STREAM_SRCS and insn.fields[f"x{name}"]:
            return f"x{name} must be 0 where {name} is no stream but {_name(kind)}"
    if sum(kind in STREAM_SRCS for kind in kinds.values()) > 2:
        return "at most two of a, b, c may be streams, not three"
    return ""


def _movement(op: VectorOp, kinds: Mapping[str, Src], fields: Mapping[str, int]) -> str:
    if op not in MOVEMENT_OPS:
        return ""
    if kinds["a"] not in STREAM_SRCS - LANE_SRCS:
        return f"a of {_name(op)} must be a stream of whole rows, not {_name(kinds['a'])}"
    if op == VectorOp.ROTATE and kinds["b"] != Src.SCALAR:
        return f"b of rotate must be a scalar, not {_name(kinds['b'])}"
    if op in INDEXED_OPS and kinds["b"] != Src.ACC:
        return (f"b of {_name(op)} must be rows of indexes in the accumulators, not "
                f"{_name(kinds['b'])}")
    if op == VectorOp.GATHER and fields["xa"]:
        return f"xa of gather must be 0: the table's rows are consecutive, not x{fields['xa']}"
    if op == VectorOp.SCATTER and fields["xdst"]:
        return f"xdst of scatter must be 0: the table's rows are consecutive, not x{fields['xdst']}"
    if op == VectorOp.SCATTER and fields["reduce"]:
        return f"reduce of scatter must be none, not {_name(Reduce(fields['reduce']))}"
    return ""


def _second(insn: Insn, op: VectorOp, post: Post, reduce: Reduce, reduce_op: ReduceOp) -> str:
    if op == VectorOp.REQUANT and post != Post.NONE:
        return f"post of requant must be none, not {_name(post)}"
    if op in INDEXED_OPS and post in PARAM_POSTS:
        return f"post of {_name(op)} must not be {_name(post)}: both use param"
    if (op != VectorOp.REQUANT and op not in INDEXED_OPS and post not in PARAM_POSTS
            and insn.operand("param") != _ZERO):
        return f"param must be 0 with {_name(op)} and post {_name(post)}, which do not use it"
    if reduce == Reduce.NONE and reduce_op:
        return f"reduce_op must be sum_i where reduce is none, not {_name(reduce_op)}"
    return ""


def _formats(config: TpuConfig, op: VectorOp, post: Post, reduce_op: ReduceOp, dst: Dst,
             kinds: Mapping[str, Src]) -> str:
    if not config.int8:
        for name, kind in kinds.items():
            if kind in INT8_SRCS:
                return _needs(f"{name} from {_name(kind)}", "int8")
        if dst == Dst.UB_I8:
            return _needs("dst ub_i8", "int8")
    if not config.bf16:
        for name, kind in kinds.items():
            if kind in BF16_SRCS:
                return _needs(f"{name} from {_name(kind)}", "bf16")
        for value, floating in ((op, FLOAT_OPS), (post, FLOAT_POSTS), (reduce_op, FLOAT_REDUCES)):
            if value in floating:
                return _needs(_name(value), "bf16")
        if dst == Dst.UB_BF16:
            return _needs("dst ub_bf16", "bf16")
    return ""


def _name(value: IntEnum) -> str:
    return value.name.lower()
