"""Checks of an instruction that need its bits alone (docs/chip.md, order of checks, 2 and 3)."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from celosia.arch import isa
from celosia.arch.config import TpuConfig
from celosia.arch.faults import Fault
from celosia.arch.vector import (
    DIV_OPS,
    FLOAT_OPS,
    FLOAT_POSTS,
    FLOAT_REDUCES,
    INDEXED_OPS,
    LANE_SRCS,
    MOVEMENT_OPS,
    PARAM_POSTS,
    STREAM_SRCS,
    VECTOR_OPERANDS,
    Dst,
    Post,
    Reduce,
    Src,
    VectorOp,
)
from celosia_hw.scalar.encoding import header_layout, word_layout

__all__ = ["Decoder"]


def _one_of(value, members):
    """Value is one of the given enumeration members."""
    hit = Const(0)
    for item in members:
        hit = hit | (value == int(item))
    return hit


class Decoder(wiring.Component):
    """Tells whether an instruction word is legal on this chip. Combinational.

    Members
    -------
    word : In(word_layout())
        The instruction.
    weights : In(1)
        A matmul of this run has loaded a weight tile.
    fault : Out(4)
        ``Fault.NONE``, ``ILLEGAL_OPCODE`` or ``ILLEGAL_FIELD``.
    """

    word: data.View
    weights: Signal
    fault: Signal

    def __init__(self, config: TpuConfig):
        self._config = config
        super().__init__({"word": In(word_layout()), "weights": In(1), "fault": Out(4)})

    def elaborate(self, platform):  # noqa: D102
        m = Module()
        word = self.word
        header = data.View(data.ArrayLayout(1, isa.HEADER_BITS),
                           word.as_value()[:isa.HEADER_BITS])
        zero = [(operand == 0) & ~word.regmask[i] for i, operand in enumerate(word.operands)]
        named = Signal()  # every operand that names a register names one that there is
        m.d.comb += named.eq(Cat(
            ~word.regmask[i] | ~operand[exact_log2(isa.NUM_REGISTERS):].any()
            for i, operand in enumerate(word.operands)).all())

        m.d.comb += self.fault.eq(Fault.ILLEGAL_OPCODE)
        with m.Switch(word.opcode):
            for description in isa.INSTRUCTIONS:
                with m.Case(int(description.opcode)):
                    used = {f.lsb + bit for f in description.fields for bit in range(f.width)}
                    spare = Cat(header[bit] for bit in range(isa.FIELDS_LSB, isa.HEADER_BITS)
                                if bit not in used)
                    legal = named & ~spare.any()
                    for i in range(len(description.operands), isa.NUM_OPERANDS):
                        legal &= zero[i]
                    fields = data.View(header_layout(description.opcode), Cat(header.as_value()))
                    for f in description.fields:
                        if f.enum is not None and len(f.enum) < 1 << f.width:
                            legal &= _one_of(fields[f.name], f.enum)
                    legal &= self._special(description.opcode, fields, zero)
                    m.d.comb += self.fault.eq(Mux(legal, Fault.NONE, Fault.ILLEGAL_FIELD))
        return m

    def _special(self, opcode: isa.Opcode, fields, zero):
        """Return the rules of one instruction that the tables do not express."""
        config = self._config
        match opcode:
            case isa.Opcode.STRIDE:
                return fields.x != 0
            case isa.Opcode.LOAD | isa.Opcode.STORE:
                formats = {isa.DmaFormat.I8: Const(config.int8),
                           isa.DmaFormat.BF16: Const(config.bf16),
                           isa.DmaFormat.W32: Const(config.bf16) | (fields.mem == isa.Mem.ACC)}
                return Cat((fields.fmt != int(fmt)) | ok for fmt, ok in formats.items()).all()
            case isa.Opcode.MATMUL:
                formats = [isa.MatmulFormat[name.upper()] for name in config.formats]
                kept = (self.weights & zero[2] & zero[5] & (fields.xw == 0) & ~fields.transpose)
                return _one_of(fields.fmt, formats) & (fields.wload | kept)
            case isa.Opcode.VECTOR:
                return self._vector(fields, zero)
        return Const(1)

    def _vector(self, fields, zero):
        config = self._config
        legal = Const(1)
        op, post, kinds = fields.op, fields.post, (fields.a_kind, fields.b_kind, fields.c_kind)
        strides = (fields.xa, fields.xb, fields.xc)
        streams = [_one_of(kind, STREAM_SRCS) for kind in kinds]
        for i, (kind, stride) in enumerate(zip(kinds, strides, strict=True)):
            takes = _one_of(op, [item for item, n in VECTOR_OPERANDS.items() if n > i])
            if i == 2:
                takes |= post == Post.DIV
            legal &= takes == (kind != Src.NONE)
            legal &= (kind != Src.NONE) | zero[1 + i]
            legal &= streams[i] | (stride == 0)
            for prefix, present in (("UB_I8", config.int8), ("UB_BF16", config.bf16)):
                if not present:
                    legal &= ~_one_of(kind, [src for src in Src if src.name.startswith(prefix)])
        legal &= ~(streams[0] & streams[1] & streams[2])
        legal &= (post != Post.DIV) | _one_of(op, DIV_OPS)

        gather, scatter = op == VectorOp.GATHER, op == VectorOp.SCATTER
        legal &= ~_one_of(op, MOVEMENT_OPS) | _one_of(fields.a_kind, STREAM_SRCS - LANE_SRCS)
        legal &= (op != VectorOp.ROTATE) | (fields.b_kind == Src.SCALAR)
        legal &= ~(gather | scatter) | (fields.b_kind == Src.ACC)
        legal &= ~gather | (fields.xa == 0)
        legal &= ~scatter | ((fields.xdst == 0) & (fields.reduce == Reduce.NONE))

        requant, with_param = op == VectorOp.REQUANT, _one_of(post, PARAM_POSTS)
        legal &= ~requant | (post == Post.NONE)
        legal &= ~(_one_of(op, INDEXED_OPS) & with_param)
        legal &= requant | _one_of(op, INDEXED_OPS) | with_param | zero[5]
        legal &= (fields.reduce != Reduce.NONE) | (fields.reduce_op == 0)
        if not config.int8:
            legal &= fields.dst_kind != Dst.UB_I8
        if not config.bf16:
            legal &= fields.dst_kind != Dst.UB_BF16
            legal &= ~(_one_of(op, FLOAT_OPS) | _one_of(post, FLOAT_POSTS)
                       | _one_of(fields.reduce_op, FLOAT_REDUCES))
        return legal
