import random
import re

import pytest

from celosia.arch.registers import PROGRAM_ALIGN
from celosia.driver.allocator import Allocator
from celosia.driver.errors import OutOfDeviceMemory


def exactly(text: str) -> str:
    return f"^{re.escape(text)}$"


def test_first_fit_from_the_beginning_and_from_the_end():
    memory = Allocator(1000)  # 7 * 128 = 896 usable
    assert memory.free_bytes == 896
    assert [memory.allocate(n) for n in (1, 128, 0)] == [0, 128, 256]
    assert memory.allocate(129, high=True) == 640
    memory.free(128)
    assert memory.allocate(100) == 128
    assert memory.blocks == {0: 128, 128: 256, 256: 384, 640: 896}


def test_holes_merge():
    memory = Allocator(4 * PROGRAM_ALIGN)
    places = [memory.allocate(1) for _ in range(4)]
    for i in (0, 2, 1, 3):
        memory.free(places[i])
    assert memory.allocate(4 * PROGRAM_ALIGN) == 0


def test_full_memory_says_what_is_free():
    memory = Allocator(4 * PROGRAM_ALIGN)
    for _ in range(4):
        memory.allocate(1)
    memory.free(0)
    memory.free(2 * PROGRAM_ALIGN)
    with pytest.raises(OutOfDeviceMemory, match=exactly(
            "device memory must have 256 bytes in one piece, not 128 (256 of 512 bytes are free "
            "in all)")):
        memory.allocate(129)


def test_double_free_and_wrong_address():
    memory = Allocator(1024)
    memory.allocate(256)
    for address in (128, 512):
        with pytest.raises(ValueError, match=exactly(
                f"address must be that of an allocation, not {address:#x}")):
            memory.free(address)
    memory.free(0)
    with pytest.raises(ValueError, match=exactly("address must be that of an allocation, "
                                                 "not 0x0")):
        memory.free(0)


def test_arguments():
    with pytest.raises(ValueError, match=exactly("nbytes must be at least 0, not -1")):
        Allocator(1024).allocate(-1)
    with pytest.raises(ValueError, match=exactly("size must be at least 128, not 127")):
        Allocator(127)


def test_blocks_never_overlap_and_nothing_is_lost():
    rng = random.Random(3)
    memory = Allocator(64 * PROGRAM_ALIGN)
    held: list[int] = []
    for _ in range(3000):
        if held and rng.random() < 0.5:
            memory.free(held.pop(rng.randrange(len(held))))
        else:
            try:
                held.append(memory.allocate(rng.randrange(8 * PROGRAM_ALIGN),
                                            high=rng.random() < 0.3))
            except OutOfDeviceMemory:
                assert memory.free_bytes < 64 * PROGRAM_ALIGN
        blocks = sorted(memory.blocks.items())
        assert [begin for begin, _ in blocks] == sorted(held)
        assert all(a[1] <= b[0] for a, b in zip(blocks, blocks[1:], strict=False))
        assert all(begin % PROGRAM_ALIGN == 0 for begin, _ in blocks)
        assert memory.free_bytes + sum(end - begin for begin, end in blocks) == 64 * PROGRAM_ALIGN
    for place in held:
        memory.free(place)
    assert memory.allocate(64 * PROGRAM_ALIGN) == 0
