"""Words, counts, bytes of elements, neutral words: each has one home."""

import numpy as np
import pytest

from celosia.arch.config import COUNT_MAX
from celosia.arch.isa import BY_MNEMONIC, DmaFormat
from celosia.arch.vector import FLOAT_REDUCES, NEUTRAL, ReduceOp
from celosia.arch.words import WORD_MASK, ceil_div
from celosia.model.lanes import PLAIN


@pytest.mark.parametrize(("a", "b", "wanted"), [(0, 4, 0), (1, 4, 1), (4, 4, 1), (5, 4, 2),
                                                (-1, 4, 0), (-4, 4, -1)])
def test_a_quotient_is_rounded_up(a, b, wanted):
    assert ceil_div(a, b) == wanted


def test_a_format_has_the_bytes_of_its_elements():
    assert [fmt.nbytes for fmt in DmaFormat] == [1, 2, 4]


def test_a_count_is_as_large_as_its_part_of_an_operand():
    parts = [part for mnemonic in ("load", "store", "matmul", "vector")
             for operand in BY_MNEMONIC[mnemonic].operands for part in operand.parts
             if part.name in ("rows", "cols", "n0", "n1", "row_step", "group_step")]
    assert {(1 << part.width) - 1 for part in parts} == {COUNT_MAX}


@pytest.mark.parametrize("op", ReduceOp)
def test_a_neutral_word_leaves_the_others(op):
    integers = [0, 1, 0x80000000, 0x7FFFFFFF, WORD_MASK]
    floats = [0, 0x80000000, 0x3F800000, 0xC0490FDB, 0xFF800000, 0x7F800000]
    words = np.array(floats if op in FLOAT_REDUCES else integers, np.uint32)
    rows = np.stack([words, np.full_like(words, NEUTRAL[op])])[np.newaxis]
    np.testing.assert_array_equal(PLAIN.join_rows(op, rows)[0], words)
