"""The map of registers: each has a word of its own, and what is in one has bits of its own."""

import pytest

from celosia.arch import registers
from celosia.arch.registers import ADDRESS_BITS, BY_NAME, LINK_STATUS


@pytest.mark.parametrize("ports", [0, 1, 6])
def test_each_register_is_a_word(ports):
    every = registers.registers(ports)
    offsets = [register.offset for register in every]
    assert not any(offset % 4 for offset in offsets)
    assert len({*offsets}) == len(every)
    assert 0 <= min(offsets) <= max(offsets) < 1 << ADDRESS_BITS
    assert len({register.name for register in every}) == len(every)
    assert all(BY_NAME[register.name] == register for register in every)


def test_a_counter_is_two_words_beside_each_other():
    for name in registers.counter_names():
        low, high = (BY_NAME[f"{name.upper()}_{part}"].offset for part in ("LO", "HI"))
        assert (low, high) == (registers.COUNTERS[name], registers.COUNTERS[name] + 4)
    for window in range(registers.NUM_WINDOWS):
        assert BY_NAME[f"WINDOW{window}_LAST"].offset - BY_NAME[f"WINDOW{window}_BASE"].offset == 4


def test_parts_of_a_links_state_have_bits_of_their_own():
    bits = [first + i for first, count in LINK_STATUS.values() for i in range(count)]
    assert len({*bits}) == len(bits)
    assert max(bits) < 32
