"""Words of RV32I and Zmmul from Python, for short programs."""

from celosia_hw.soc.compact.decode import RiscvOpcode

__all__ = ["branch", "load", "op", "op_imm", "jal", "jalr", "store", "upper"]

#: funct7 and funct3.
_OPS = {
    "add": (0, 0), "sub": (0x20, 0), "sll": (0, 1), "slt": (0, 2), "sltu": (0, 3), "xor": (0, 4),
    "srl": (0, 5), "sra": (0x20, 5), "or": (0, 6), "and": (0, 7),
    "mul": (1, 0), "mulh": (1, 1), "mulhsu": (1, 2), "mulhu": (1, 3),
}
_OP_IMMS = {"addi": "add", "slti": "slt", "sltiu": "sltu", "xori": "xor", "ori": "or",
            "andi": "and", "slli": "sll", "srli": "srl", "srai": "sra"}
_BRANCHES = {"beq": 0, "bne": 1, "blt": 4, "bge": 5, "bltu": 6, "bgeu": 7}
_LOADS = {"lb": 0, "lh": 1, "lw": 2, "lbu": 4, "lhu": 5}
_STORES = {"sb": 0, "sh": 1, "sw": 2}


def _word(opcode: RiscvOpcode, *, rd: int = 0, funct3: int = 0, rs1: int = 0, rs2: int = 0,
          funct7: int = 0) -> int:
    return (funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | opcode << 2 | 3)


def _immediate(value: int, bits: int) -> int:
    if not -1 << bits - 1 <= value < 1 << bits - 1:
        raise ValueError(f"immediate must be signed and of {bits} bits, not {value!r}")
    return value & (1 << bits) - 1


def op(name: str, rd: int, rs1: int, rs2: int) -> int:
    """``rd = rs1 name rs2``."""
    funct7, funct3 = _OPS[name]
    return _word(RiscvOpcode.OP, rd=rd, funct3=funct3, rs1=rs1, rs2=rs2, funct7=funct7)


def op_imm(name: str, rd: int, rs1: int, value: int) -> int:
    """``rd = rs1 name value``."""
    funct7, funct3 = _OPS[_OP_IMMS[name]]
    if funct3 & 3 == 1 and value not in range(32):
        raise ValueError(f"shift amount must be from 0 to 31, not {value!r}")
    bits = _immediate(value, 12) | funct7 << 5
    return bits << 20 | _word(RiscvOpcode.OP_IMM, rd=rd, funct3=funct3, rs1=rs1)


def upper(name: str, rd: int, value: int) -> int:
    """LUI or AUIPC; ``value`` is what comes into bits 12 to 31."""
    if value not in range(1 << 20):
        raise ValueError(f"upper immediate must be of 20 bits, not {value!r}")
    return value << 12 | _word({"lui": RiscvOpcode.LUI, "auipc": RiscvOpcode.AUIPC}[name], rd=rd)


def load(name: str, rd: int, offset: int, rs1: int) -> int:
    """``rd = offset(rs1)``."""
    return _immediate(offset, 12) << 20 | _word(RiscvOpcode.LOAD, rd=rd, funct3=_LOADS[name],
                                                rs1=rs1)


def store(name: str, rs2: int, offset: int, rs1: int) -> int:
    """``offset(rs1) = rs2``."""
    bits = _immediate(offset, 12)
    return _word(RiscvOpcode.STORE, rd=bits & 31, funct3=_STORES[name], rs1=rs1, rs2=rs2,
                 funct7=bits >> 5)


def branch(name: str, rs1: int, rs2: int, offset: int) -> int:
    """Go ``offset`` bytes on if ``rs1 name rs2``."""
    bits = _immediate(offset, 13)
    return _word(RiscvOpcode.BRANCH, rd=bits & 0x1E | bits >> 11 & 1, funct3=_BRANCHES[name],
                 rs1=rs1, rs2=rs2, funct7=bits >> 12 << 6 | bits >> 5 & 63)


def jal(rd: int, offset: int) -> int:
    """Go ``offset`` bytes on; ``rd`` is where it would have gone on."""
    bits = _immediate(offset, 21)
    return (bits >> 20 << 31 | (bits >> 1 & 1023) << 21 | (bits >> 11 & 1) << 20
            | (bits >> 12 & 255) << 12 | _word(RiscvOpcode.JAL, rd=rd))


def jalr(rd: int, offset: int, rs1: int) -> int:
    """Go to ``offset(rs1)``."""
    return _immediate(offset, 12) << 20 | _word(RiscvOpcode.JALR, rd=rd, rs1=rs1)
