"""Combinational parts of the sequencer: immediates, and words to and from smaller ones."""

from amaranth.hdl import Array, C, Cat, Module, Mux, Signal
from amaranth.lib import enum

__all__ = ["RiscvKind", "RiscvOpcode", "immediate", "is_relative", "loaded", "relative", "stored",
           "strobes"]


class RiscvOpcode(enum.IntEnum):
    """Bits 2 to 6 of an instruction."""

    LOAD = 0b00000
    FENCE = 0b00011
    OP_IMM = 0b00100
    AUIPC = 0b00101
    STORE = 0b01000
    OP = 0b01100
    LUI = 0b01101
    BRANCH = 0b11000
    JALR = 0b11001
    JAL = 0b11011
    SYSTEM = 0b11100


class RiscvKind:
    """What an instruction is, as signals of one bit but for ``function``.

    Attributes
    ----------
    load, store, branch, jal, jalr, lui, auipc, op
        Its opcode.
    jump
        JAL or JALR.
    halt
        Bits 4 to 6 are set.
    shift, multiply
        It takes steps.
    subtract
        Its second operand is inverted.
    writes
        It has a result that is there without the memory.
    from_logic, from_low, from_compare
        Where that is, if not in the sum.
    function
        0: xor, 1: the first operand, 2: or, 3: and.
    """

    def __init__(self, m: Module, word) -> None:
        def make(name: str, value) -> Signal:
            signal = Signal(len(value), name=f"kind_{name}")
            m.d.comb += signal.eq(value)
            return signal

        opcode, funct3 = word[2:7], word[12:15]
        self.load, self.store, self.branch, self.jal, self.jalr, self.lui, self.auipc, self.op = (
            make(code.name.lower(), opcode == code) for code in (
                RiscvOpcode.LOAD, RiscvOpcode.STORE, RiscvOpcode.BRANCH, RiscvOpcode.JAL,
                RiscvOpcode.JALR, RiscvOpcode.LUI, RiscvOpcode.AUIPC, RiscvOpcode.OP))
        immediate = make("op_imm", opcode == RiscvOpcode.OP_IMM)
        self.jump = make("jump", self.jal | self.jalr)
        self.halt = make("halt", word[4:7].all())
        self.multiply = make("multiply", self.op & word[25])
        plain = make("plain", immediate | self.op & ~word[25])
        self.shift = make("shift", plain & (funct3[:2] == 0b01))
        self.from_compare = make("from_compare", plain & (funct3[1:] == 0b01))
        self.subtract = make("subtract", self.branch | self.from_compare | self.op & word[30])
        self.from_low = make("from_low", plain & (funct3 == 0b001) | self.multiply & ~funct3.any())
        self.from_logic = make("from_logic", plain & funct3[2] | self.multiply & funct3.any())
        self.function = make("function", Mux(self.multiply, C(1, 2), funct3[:2]) &
                             ~self.branch.replicate(2))
        self.writes = make("writes", plain | self.multiply | self.lui | self.auipc | self.jump)


def immediate(kind: RiscvKind, word):
    """Immediate of the instruction ``word``; of one without, and of a branch or JAL, anything."""
    sign, upper = word[31], kind.lui | kind.auipc
    return Cat(
        Mux(kind.store, word[7:12], word[20:25]) & ~upper.replicate(5),
        word[25:31] & ~upper.replicate(6), sign & ~upper,
        Mux(upper, word[12:31], sign.replicate(19)), sign)


def is_relative(word):
    """Whether an instruction is a branch or JAL."""
    return (word[4:7] == 0b110) & (word[2] == word[3])


def relative(word):
    """How many words on, of 12 bits, a branch or JAL goes; of another instruction, anything."""
    jal = word[3]
    return Cat(Mux(jal, word[22:25], word[9:12]), word[25:31],
               Mux(jal, Cat(word[20], word[12:14]), Cat(word[7], word[31], word[31])))


def strobes(funct3, lane):
    """Bytes of a word that a store writes."""
    return Mux(funct3[1], C(0b1111, 4),
               Mux(funct3[0], Mux(lane[1], C(0b1100, 4), C(0b0011, 4)), C(1, 4) << lane))[:4]


def stored(funct3, value):
    """``value`` as the memory wants it: a byte or a half in every place where it may go."""
    half, word = funct3[0] | funct3[1], funct3[1]
    byte1 = Mux(half, value[8:16], value[:8])
    return Cat(value[:8], byte1, Mux(word, value[16:24], value[:8]),
               Mux(word, value[24:32], byte1))


def loaded(funct3, lane, word):
    """What a load puts into its register."""
    half, full = funct3[0] | funct3[1], funct3[1]
    # A lane that the size does not allow is the one below.
    byte = Array([word[:8], word[8:16], word[16:24], word[24:32]])[
        Cat(lane[0] & ~half, lane[1] & ~full)]
    second = Mux(lane[1] & ~full, word[24:32], word[8:16])
    sign = ~funct3[2] & Mux(half, second[7], byte[7])
    return Cat(byte, Mux(half, second, sign.replicate(8)),
               Mux(full, word[16:32], sign.replicate(16)))
