"""Words of 32 bits and whole numbers: the arithmetic that every room needs."""

__all__ = ["WORD_MASK", "ceil_div"]

#: The bits of a word, all ones.
WORD_MASK = 0xFFFFFFFF


def ceil_div(a: int, b: int) -> int:
    """Quotient, rounded up."""
    return -(-a // b)
