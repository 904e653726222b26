"""The instruction set, as data.

An instruction is 256 bits, eight little-endian 32-bit words. Words 0 and 1 are the header: bits
0..5 the opcode, bits 6..11 the register mask, bits 12..63 the fields of the instruction. Words
2..7 are operands 0..5. Where bit i of the register mask is set, operand i is the number of a
scalar register whose value is used; else it is an immediate. Bits and operands that an
instruction does not use must be zero.

Decoder, assembler, disassembler, model, driver and the reference in docs/isa.md derive from
the tables here.
"""

from dataclasses import dataclass
from enum import Enum, IntEnum

from celosia.arch.memory import Mem
from celosia.arch.vector import Dst, Post, Reduce, ReduceOp, Src, VectorOp

__all__ = [
    "BY_MNEMONIC", "BY_OPCODE", "COUNTS", "FIELDS_LSB", "HEADER_BITS", "INSTRUCTIONS",
    "INSTRUCTION_BYTES", "LINK_INSTRUCTIONS", "LOOP_DEPTH", "N2_BITS", "NUM_OPERANDS",
    "NUM_REGISTERS", "NUM_STRIDES", "OPCODE_BITS", "OPCODE_LSB", "REGMASK_BITS", "REGMASK_LSB",
    "DmaFormat", "Field", "Instruction", "LinkUnit", "MatmulFormat", "Mem", "Opcode", "Operand",
    "OperandType", "Part", "RecvOp", "Unit", "instructions", "operand_index",
]

INSTRUCTION_BYTES = 32
NUM_OPERANDS = 6
#: Scalar registers r0..r31; all are 0 when a program starts.
NUM_REGISTERS = 32
#: Stride registers x0..x7. x0 is fixed: the stream's rows are consecutive.
NUM_STRIDES = 8
#: Loops that may be nested.
LOOP_DEPTH = 4
#: Bits of n2, the rows of the outermost dimension of a vector instruction.
N2_BITS = 10

OPCODE_LSB, OPCODE_BITS = 0, 6
REGMASK_LSB, REGMASK_BITS = 6, 6
FIELDS_LSB = 12
HEADER_BITS = 64


class Unit(IntEnum):
    """Unit that executes an instruction; tensor units are numbered as in the scoreboard."""

    LOAD = 0
    STORE = 1
    MXU = 2
    VPU = 3
    SCALAR = 4


class LinkUnit(IntEnum):
    """Units of a port, on chips that have some: each is one for each port."""

    TX = 5
    RX = 6


class Opcode(IntEnum):
    """Opcodes. 0 is illegal, so that running through cleared memory stops."""

    HALT = 0x01
    NOP = 0x02
    FENCE = 0x03
    MOV = 0x04
    ADD = 0x05
    SUB = 0x06
    MUL = 0x07
    AND = 0x08
    OR = 0x09
    XOR = 0x0A
    SHL = 0x0B
    SHR = 0x0C
    SAR = 0x0D
    SLT = 0x0E
    SLTU = 0x0F
    JUMP = 0x10
    BEQ = 0x11
    BNE = 0x12
    BLT = 0x13
    BGE = 0x14
    BLTU = 0x15
    BGEU = 0x16
    LOOP = 0x18
    STRIDE = 0x19
    READ = 0x1A
    CHIP = 0x1B
    LOAD = 0x20
    STORE = 0x21
    MATMUL = 0x24
    VECTOR = 0x28
    SEND = 0x30
    RECV = 0x31


class DmaFormat(IntEnum):
    """Elements in external memory.

    ``w32`` is raw 32-bit words to and from the accumulators, and fp32 rounded to bf16 (and back)
    to and from the unified buffer. ``bf16`` widens to fp32 in the accumulators, ``i8`` to int32.
    """

    I8 = 0
    BF16 = 1
    W32 = 2

    @property
    def nbytes(self) -> int:
        """Bytes of an element in external memory."""
        return 1 << self


class MatmulFormat(IntEnum):
    """Operand format of a matmul."""

    INT8 = 0
    BF16 = 1


class RecvOp(IntEnum):
    """What a row becomes: what arrives, or that and the row joined, as `ReduceOp` has it."""

    SET = 0
    SUM_I = 1 + ReduceOp.SUM_I
    MAX_I = 1 + ReduceOp.MAX_I
    MIN_I = 1 + ReduceOp.MIN_I
    AND = 1 + ReduceOp.AND
    OR = 1 + ReduceOp.OR
    SUM_F = 1 + ReduceOp.SUM_F
    MAX_F = 1 + ReduceOp.MAX_F
    MIN_F = 1 + ReduceOp.MIN_F


@dataclass(frozen=True)
class Field:
    """A field of the header: its place, and its names where it is an enumeration."""

    name: str
    lsb: int
    width: int
    doc: str
    enum: type[IntEnum] | None = None
    default: int = 0
    #: Names a stride register of a stream.
    is_stride: bool = False


@dataclass(frozen=True)
class Part:
    """A part of a packed operand."""

    name: str
    lsb: int
    width: int
    signed: bool = False
    default: int | None = None


class OperandType(Enum):
    """What the 32 bits of an operand mean."""

    VALUE = "value"
    TARGET = "instruction index"
    UB_ROW = "unified-buffer row"
    ACC_ROW = "accumulator row"
    ROW = "row of the memory that a field names"
    ADDRESS = "byte address in external memory"
    BYTES = "bytes"
    PACKED = "packed"


@dataclass(frozen=True)
class Operand:
    """An operand word. ``default`` is what the assembler writes where it is left out."""

    name: str
    type: OperandType
    doc: str
    parts: tuple[Part, ...] = ()
    default: int | None = None


@dataclass(frozen=True)
class Instruction:
    """One instruction: its card in docs/isa.md is made from this."""

    opcode: Opcode
    unit: Unit | LinkUnit
    summary: str
    action: str
    fields: tuple[Field, ...] = ()
    operands: tuple[Operand, ...] = ()
    faults: tuple[str, ...] = ()
    cycles: str = ""
    notes: str = ""

    @property
    def mnemonic(self) -> str:
        """Lower-case name, as the assembler writes it."""
        return self.opcode.name.lower()


COUNTS = Operand(
    "counts", OperandType.PACKED, "rows of the innermost and of the second dimension",
    (Part("n0", 0, 16), Part("n1", 16, 16, default=1)))

_RD = Field("rd", 12, 5, "destination register")
_A = Operand("a", OperandType.VALUE, "first operand")
_B = Operand("b", OperandType.VALUE, "second operand")
_TARGET = Operand("target", OperandType.TARGET, "index of the instruction to go on with")


def _alu(opcode: Opcode, summary: str, action: str) -> Instruction:
    return Instruction(opcode, Unit.SCALAR, summary, action, (_RD,), (_A, _B))


def _branch(opcode: Opcode, summary: str, condition: str) -> Instruction:
    return Instruction(opcode, Unit.SCALAR, summary, f"if {condition}: pc = target", (),
                       (_A, _B, _TARGET), faults=("PC_RANGE",))


def _stride(name: str, lsb: int, of: str) -> Field:
    return Field(name, lsb, 3, f"stride register of {of} (x0: consecutive rows)", is_stride=True)


_DMA_FIELDS = (
    Field("mem", 12, 1, "on-chip memory", Mem),
    Field("fmt", 13, 2, "element format in external memory", DmaFormat),
)
_DMA_OPERANDS = (
    Operand("row", OperandType.ROW, "first on-chip row"),
    Operand("addr", OperandType.ADDRESS, "first byte in external memory"),
    Operand("shape", OperandType.PACKED, "rows in external memory, and elements of each",
            (Part("rows", 0, 16), Part("cols", 16, 16))),
    Operand("pitch", OperandType.BYTES, "bytes from one row in external memory to the next",
            default=0),
    Operand("steps", OperandType.PACKED,
            "on-chip rows from one row to the next, and from one group of D elements to the next",
            (Part("row_step", 0, 16, default=1), Part("group_step", 16, 16, default=0))),
)
_DMA_FAULTS = ("ILLEGAL_FIELD", "ILLEGAL_COUNT", "MISALIGNED", "UB_RANGE", "ACC_RANGE", "WINDOW")

INSTRUCTIONS: tuple[Instruction, ...] = (
    Instruction(Opcode.HALT, Unit.SCALAR, "end the program",
                "wait until every instruction has finished; stop; raise the interrupt"),
    Instruction(Opcode.NOP, Unit.SCALAR, "do nothing", "nothing"),
    Instruction(Opcode.FENCE, Unit.SCALAR, "wait for the tensor units",
                "wait until every instruction before this one has finished",
                notes="Never needed for a correct result; for measurements."),
    Instruction(Opcode.MOV, Unit.SCALAR, "copy", "rd = a", (_RD,), (_A,)),
    _alu(Opcode.ADD, "add", "rd = a + b mod 2**32"),
    _alu(Opcode.SUB, "subtract", "rd = a - b mod 2**32"),
    _alu(Opcode.MUL, "multiply", "rd = a * b mod 2**32"),
    _alu(Opcode.AND, "bitwise and", "rd = a & b"),
    _alu(Opcode.OR, "bitwise or", "rd = a | b"),
    _alu(Opcode.XOR, "bitwise exclusive or", "rd = a ^ b"),
    _alu(Opcode.SHL, "shift left", "rd = a << (b & 31) mod 2**32"),
    _alu(Opcode.SHR, "shift right, logical", "rd = a >> (b & 31), zeros in"),
    _alu(Opcode.SAR, "shift right, arithmetic", "rd = a >> (b & 31), signs in"),
    _alu(Opcode.SLT, "set if less, signed", "rd = 1 if signed(a) < signed(b) else 0"),
    _alu(Opcode.SLTU, "set if less, unsigned", "rd = 1 if a < b else 0"),
    Instruction(Opcode.JUMP, Unit.SCALAR, "go on elsewhere", "pc = target", (), (_TARGET,),
                faults=("PC_RANGE",)),
    _branch(Opcode.BEQ, "branch if equal", "a == b"),
    _branch(Opcode.BNE, "branch if not equal", "a != b"),
    _branch(Opcode.BLT, "branch if less, signed", "signed(a) < signed(b)"),
    _branch(Opcode.BGE, "branch if greater or equal, signed", "signed(a) >= signed(b)"),
    _branch(Opcode.BLTU, "branch if less, unsigned", "a < b"),
    _branch(Opcode.BGEU, "branch if greater or equal, unsigned", "a >= b"),
    Instruction(
        Opcode.LOOP, Unit.SCALAR, "counted loop without overhead",
        "if count == 0: pc = end; else push (start = pc + 1, end, count). Whenever the next pc "
        "(after any instruction, branches included) equals the end of the innermost loop: "
        "count -= 1, and if count > 0 then pc = start, else pop it and look again",
        (), (Operand("count", OperandType.VALUE, "how often the body runs"),
             Operand("end", OperandType.TARGET, "index of the first instruction after the body")),
        faults=("LOOP_DEPTH", "PC_RANGE"),
        notes="A body that fits into the instruction buffer is fetched once. With end == pc + 1 "
              "the body is empty and nothing is pushed. A branch out of a body leaves its loop "
              "on the stack."),
    Instruction(
        Opcode.STRIDE, Unit.SCALAR, "set a stride register",
        "x[n] = (s0, s1, s2), 16 bits each: row (i0, i1, i2) of a stream that names x[n] is "
        "base + i0*s0 + i1*s1 + i2*s2, i0 innermost",
        (Field("x", 12, 3, "stride register, 1..7"),),
        (Operand("s0", OperandType.VALUE, "rows per step of the innermost dimension"),
         Operand("s1", OperandType.VALUE, "rows per step of the second dimension", default=0),
         Operand("s2", OperandType.VALUE, "rows per step of the outermost dimension", default=0)),
        faults=("ILLEGAL_FIELD",), notes="x0 cannot be set. Values are taken mod 2**16."),
    Instruction(
        Opcode.READ, Unit.SCALAR, "read a lane of the accumulators",
        "wait until every instruction before this one has finished; rd = lane `lane` of "
        "accumulator row `row`, 32 bits as they are",
        (_RD,), (Operand("row", OperandType.ACC_ROW, "accumulator row"),
                 Operand("lane", OperandType.VALUE, "lane, below D", default=0)),
        faults=("ACC_RANGE", "INDEX_RANGE"),
        notes="So loops and branches can depend on data."),
    Instruction(
        Opcode.LOAD, Unit.LOAD, "external memory to on-chip memory",
        "for m < rows, g < ceil(cols / D): on-chip row (row + m*row_step + g*group_step) = "
        "elements g*D .. min(cols, g*D + D) - 1 of the external row at addr + m*pitch, "
        "converted; lanes beyond cols are zero",
        _DMA_FIELDS, _DMA_OPERANDS, faults=(*_DMA_FAULTS, "BUS_READ"),
        cycles="one on-chip row a cycle, or the bus: max(rows*groups, beats)"),
    Instruction(
        Opcode.STORE, Unit.STORE, "on-chip memory to external memory",
        "the reverse of load: only the first cols elements of a row are written; int32 "
        "saturates to i8, fp32 rounds to bf16",
        _DMA_FIELDS, _DMA_OPERANDS, faults=(*_DMA_FAULTS, "BUS_WRITE"),
        cycles="one on-chip row a cycle, or the bus: max(rows*groups, beats)"),
    Instruction(
        Opcode.MATMUL, Unit.MXU, "multiply rows by a weight tile",
        "if wload: W = D x D tile from the rows of the weight stream (w, w+1*, ...), wrows of "
        "them, the rest zero; W[k][n] = lane n of stored row k, or with transpose lane k of "
        "stored row n. For each row i of the acts stream: "
        "sum = sum over k ascending of acts[i][k] * W[k]; acc[i] = sum, or with accumulate "
        "acc[i] + sum",
        (Field("fmt", 12, 1, "operand format", MatmulFormat),
         Field("accumulate", 13, 1, "add to the accumulators (else set them)"),
         Field("wload", 14, 1, "load a weight tile first (else keep the last one)", default=1),
         Field("transpose", 15, 1, "load the weight tile transposed"),
         _stride("xacc", 16, "the accumulator stream"),
         _stride("xacts", 19, "the acts stream"),
         Field("xw", 22, 3, "stride register of the weight rows; s0 only (x0: consecutive)",
               is_stride=True)),
        (Operand("acc", OperandType.ACC_ROW, "first accumulator row"),
         Operand("acts", OperandType.UB_ROW, "first row of activations"),
         Operand("w", OperandType.UB_ROW, "first row of the weight tile", default=0),
         COUNTS,
         Operand("n2", OperandType.VALUE, "rows of the outermost dimension, 1..65535", default=1),
         Operand("wrows", OperandType.VALUE, "stored weight rows, 1..D", default=None)),
        faults=("ILLEGAL_FIELD", "ILLEGAL_COUNT", "ACC_RANGE", "UB_RANGE"),
        cycles="max(rows, D) in a run of matmuls; D more to load the first tile, 2D + 4 to drain",
        notes="Where wload is 0, an earlier matmul of the same program must have loaded a tile "
              "(else ILLEGAL_FIELD)."),
    Instruction(
        Opcode.VECTOR, Unit.VPU, "one operation on every lane of many rows",
        "for each row: t = op(a, b, c); t = post(t); reduce over rows or lanes; dst = convert(t)",
        (Field("op", 12, 6, "operation", VectorOp),
         Field("post", 18, 4, "second stage", Post),
         Field("dst_kind", 22, 3, "memory and format of the destination", Dst),
         Field("a_kind", 25, 4, "source of a", Src),
         Field("b_kind", 29, 4, "source of b", Src),
         Field("c_kind", 33, 4, "source of c", Src),
         _stride("xdst", 37, "the destination"),
         _stride("xa", 40, "a"),
         _stride("xb", 43, "b"),
         _stride("xc", 46, "c"),
         Field("n2", 49, N2_BITS, "rows of the outermost dimension, 1..1023", default=1),
         Field("reduce", 59, 2, "what is reduced", Reduce),
         Field("reduce_op", 61, 3, "how two words are joined", ReduceOp)),
        (Operand("dst", OperandType.ROW, "first row of the destination"),
         Operand("a", OperandType.ROW, "first row of a, or its value", default=0),
         Operand("b", OperandType.ROW, "first row of b, or its value", default=0),
         Operand("c", OperandType.ROW, "first row of c, or its value", default=0),
         COUNTS,
         Operand("param", OperandType.PACKED,
                 "requant: zero point and bounds (int8). clamp_i: bounds (int16, lo in bits 0..15, "
                 "hi in 16..31). clamp_f: bounds (bf16, likewise). gather, scatter: rows of the "
                 "table, 1..65535",
                 (Part("zp", 0, 8, True, 0), Part("lo", 8, 8, True, 0), Part("hi", 16, 8, True, 0)),
                 default=0)),
        faults=("ILLEGAL_FIELD", "ILLEGAL_COUNT", "UB_RANGE", "ACC_RANGE", "INDEX_RANGE",
                "OVERLAP"),
        cycles="one row a cycle",
        notes="At most two of a, b, c are streams. With reduce rows or collect the destination "
              "has one row for each group of n0 rows: it walks n1 and n2 alone. The destination "
              "may equal a source only where both have the same base and the same step s0 > 0 "
              "(x0: 1), n1 == n2 == 1, and there is a row of the destination for each row of the "
              "walk (no reduce rows or collect, no gather, no scatter); any other overlap of the "
              "destination's span (first to last row) with a source stream's span in the same "
              "memory is a fault. Single rows are read before the first row is written."),
)

_MESSAGE_FIELDS = (
    *_DMA_FIELDS,
    Field("port", 15, 3, "port, below those of the chip"),
    Field("tag", 18, 12, "names the message: that of send and recv must be equal"),
    _stride("xrow", 30, "the rows"),
)
_MESSAGE_OPERANDS = (Operand("row", OperandType.ROW, "first row"), COUNTS)
_MESSAGE_FAULTS = ("ILLEGAL_FIELD", "ILLEGAL_COUNT", "UB_RANGE", "ACC_RANGE", "LINK_DOWN")

#: More instructions, of chips with ports.
LINK_INSTRUCTIONS: tuple[Instruction, ...] = (
    Instruction(Opcode.CHIP, Unit.SCALAR, "number of this chip",
                "rd = number of this chip among those that links connect", (_RD,),
                notes="So all chips can run one program."),
    Instruction(
        Opcode.SEND, LinkUnit.TX, "rows to the chip at the other end of a link",
        "the rows of the stream, converted as store does, go into the link behind what is there, "
        "as one message",
        _MESSAGE_FIELDS, _MESSAGE_OPERANDS, faults=_MESSAGE_FAULTS,
        notes="A link holds any number of messages: send never waits for recv, as far as a "
              "program can tell."),
    Instruction(
        Opcode.RECV, LinkUnit.RX, "rows from the chip at the other end of a link",
        "wait for the next message of the link; each of its rows, converted as load does, in the "
        "order of the stream: row = arrived, or with an op arrived op row",
        (*_MESSAGE_FIELDS, Field("op", 33, 4, "how rows are joined", RecvOp)),
        _MESSAGE_OPERANDS, faults=(*_MESSAGE_FAULTS, "LINK_MISMATCH"),
        notes="A message must have the format, the number of rows (n0*n1) and the tag that recv "
              "names. Nothing else writes into a chip's memories: what a program of many chips "
              "computes does not depend on time."),
)

#: Every instruction that there is, whatever the chip.
BY_OPCODE: dict[int, Instruction] = {
    int(i.opcode): i for i in (*INSTRUCTIONS, *LINK_INSTRUCTIONS)}
BY_MNEMONIC: dict[str, Instruction] = {i.mnemonic: i for i in BY_OPCODE.values()}


def instructions(ports: int) -> tuple[Instruction, ...]:
    """Return the instructions of a chip with so many ports."""
    return (*INSTRUCTIONS, *LINK_INSTRUCTIONS) if ports else INSTRUCTIONS


def operand_index(opcode: Opcode, name: str) -> int:
    """Return the number of the operand word of an instruction that has a name."""
    return [operand.name for operand in BY_OPCODE[opcode].operands].index(name)
