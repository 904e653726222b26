"""CRC-32 of a word a cycle."""

from functools import cache

from amaranth.hdl import Cat, Module, Signal, Value

__all__ = ["CRC_INIT", "crc_after"]

#: The register before the first bit; what is sent is its complement after the last.
CRC_INIT = 0xFFFFFFFF
_POLYNOMIAL = 0xEDB88320
_BITS = 32


@cache
def _masks(width: int) -> tuple[int, ...]:
    """Of each bit of the register after a word, which bits of register ^ word it is the sum of.

    The register is the low bits of what is summed, the word all of it.
    """
    register = [1 << i for i in range(max(width, _BITS))]
    for _ in range(width):
        feedback, *register = register
        register.append(0)
        for bit in range(_BITS):
            if _POLYNOMIAL >> bit & 1:
                register[bit] ^= feedback
    return tuple(register[:_BITS])


def crc_after(m: Module, crc: Value, word: Value, *, name: str) -> Value:
    """Return the register after a word, whose lowest bit comes first.

    This is zlib's CRC-32, begun with CRC_INIT and complemented at the end. What the word and the
    register are mixed in is a signal, called ``name``.
    """
    mixed = Signal(len(word), name=name)
    m.d.comb += mixed.eq(Cat(crc ^ word[:_BITS], word[_BITS:]))
    return Cat((mixed & mask).xor() for mask in _masks(len(word)))
