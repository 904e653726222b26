"""RV32I and Zmmul as Python says them, for comparison with the sequencer."""

from collections.abc import Callable

__all__ = ["COMPARE", "OPS", "Reference"]

_MASK = (1 << 32) - 1


def _signed(value: int, bits: int = 32) -> int:
    value &= (1 << bits) - 1
    return value - (value >> (bits - 1) << bits)


#: What an instruction of two operands (unsigned) gives, mod 2**32.
OPS: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "sll": lambda a, b: a << b % 32,
    "slt": lambda a, b: int(_signed(a) < _signed(b)),
    "sltu": lambda a, b: int(a < b),
    "xor": lambda a, b: a ^ b,
    "srl": lambda a, b: a >> b % 32,
    "sra": lambda a, b: _signed(a) >> b % 32,
    "or": lambda a, b: a | b,
    "and": lambda a, b: a & b,
    "mul": lambda a, b: a * b,
    "mulh": lambda a, b: _signed(a) * _signed(b) >> 32,
    "mulhsu": lambda a, b: _signed(a) * b >> 32,
    "mulhu": lambda a, b: a * b >> 32,
}
COMPARE: dict[str, Callable[[int, int], bool]] = {
    "beq": lambda a, b: a == b,
    "bne": lambda a, b: a != b,
    "blt": lambda a, b: _signed(a) < _signed(b),
    "bge": lambda a, b: _signed(a) >= _signed(b),
    "bltu": lambda a, b: a < b,
    "bgeu": lambda a, b: a >= b,
}
_NAMES = {(0x00, 0): "add", (0x20, 0): "sub", (0x00, 1): "sll", (0x00, 2): "slt",
          (0x00, 3): "sltu", (0x00, 4): "xor", (0x00, 5): "srl", (0x20, 5): "sra",
          (0x00, 6): "or", (0x00, 7): "and", (0x01, 0): "mul", (0x01, 1): "mulh",
          (0x01, 2): "mulhsu", (0x01, 3): "mulhu"}


class Reference:
    """A machine with 32 registers; ``memory`` is one of bytes."""

    def __init__(self, memory: bytes, pc: int = 0):
        self.memory, self.pc = bytearray(memory), pc
        self.x = [0] * 32
        self.halted = False

    def run(self, most: int = 100_000) -> None:
        """Execute up to the instruction that halts."""
        for _ in range(most):
            if self.halted:
                return
            self.step()
        raise RuntimeError(f"a program must halt within {most} instructions")

    def _load(self, at: int, size: int) -> int:
        return int.from_bytes(self.memory[at:at + size], "little")

    def step(self) -> None:
        """Execute one instruction."""
        word = self._load(self.pc, 4)
        opcode, rd, funct3 = word & 127, word >> 7 & 31, word >> 12 & 7
        a, b = self.x[word >> 15 & 31], self.x[word >> 20 & 31]
        i = _signed(word >> 20, 12)
        s = _signed(word >> 25 << 5 | rd, 12)
        after, value = self.pc + 4, None
        if opcode == 0x33:
            value = OPS[_NAMES[word >> 25, funct3]](a, b)
        elif opcode == 0x13:
            funct7 = word >> 25 if funct3 in (1, 5) else 0
            value = OPS[_NAMES[funct7, funct3]](a, i & _MASK)
        elif opcode == 0x37:
            value = word & 0xFFFFF000
        elif opcode == 0x17:
            value = self.pc + (word & 0xFFFFF000)
        elif opcode == 0x6F:
            jump = (word >> 31 << 20 | (word >> 12 & 255) << 12 | (word >> 20 & 1) << 11
                    | (word >> 21 & 1023) << 1)
            value, after = after, self.pc + _signed(jump, 21)
        elif opcode == 0x67:
            value, after = after, a + i & _MASK & ~1
        elif opcode == 0x63:
            if list(COMPARE.values())[{0: 0, 1: 1, 4: 2, 5: 3, 6: 4, 7: 5}[funct3]](a, b):
                jump = (word >> 31 << 12 | (word >> 7 & 1) << 11 | (word >> 25 & 63) << 5
                        | (word >> 8 & 15) << 1)
                after = self.pc + _signed(jump, 13)
        elif opcode == 0x03:
            size = 1 << (funct3 & 3)
            value = self._load(a + i & _MASK, size)
            value = value if funct3 & 4 else _signed(value, 8 * size)
        elif opcode == 0x23:
            size, at = 1 << funct3, a + s & _MASK
            self.memory[at:at + size] = (b & (1 << 8 * size) - 1).to_bytes(size, "little")
        elif opcode == 0x73:
            self.halted = True
        elif opcode != 0x0F:
            raise RuntimeError(f"no instruction: {word:08x} at {self.pc:#x}")
        if value is not None and rd:
            self.x[rd] = value & _MASK
        if not self.halted:
            self.pc = after & _MASK
