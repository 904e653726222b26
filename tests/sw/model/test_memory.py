"""External memory: bytes in pages, views of it, and where it answers."""

import re

import numpy as np
import pytest

from celosia.model.kept import KeptRuns
from celosia.model.memory import Memory

PAGE = 1 << 22
SPACE = 1 << 32


@pytest.mark.parametrize("size", [1, SPACE])
def test_sizes(size):
    assert Memory(size).size == size
    assert Memory().size == SPACE


@pytest.mark.parametrize("size", [0, -1, SPACE + 1])
def test_what_is_no_size(size):
    with pytest.raises(ValueError, match=f"^memory size must be from 1 to 4294967296, not {size}$"):
        Memory(size)


@pytest.mark.parametrize(("addr", "rows", "length", "pitch", "good"), [
    (0, 1, 64, 0, True), (0, 1, 65, 0, False), (63, 1, 1, 0, True), (64, 1, 1, 0, False),
    (0, 4, 16, 16, True), (1, 4, 16, 16, False), (0, 4, 4, 20, True), (0, 4, 5, 20, False),
    (48, 9, 16, 0, True)])
def test_beyond_its_size_it_does_not_answer(addr, rows, length, pitch, good):
    assert Memory(64).answers(addr, rows, length, pitch) == good


@pytest.mark.parametrize("pitch", [0, 3, 4, 7, 16])
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_what_touches_a_bad_range_is_not_answered(rows, pitch):
    for base, size in ((40, 1), (40, 4), (40, 11)):
        memory = Memory(1000)
        memory.fail(500, 1)
        memory.fail(base, size)
        bad = {500, *range(base, base + size)}
        for addr in range(60):
            touched = {addr + row * pitch + i for row in range(rows) for i in range(4)}
            assert memory.answers(addr, rows, 4, pitch) == bad.isdisjoint(touched), addr


def test_a_memory_is_healed():
    memory = Memory(64)
    assert memory.sound
    memory.fail(3, 1)
    assert not memory.sound
    assert not memory.answers(3, 1, 1, 0)
    memory.heal()
    assert memory.sound
    assert memory.answers(3, 1, 1, 0)


#: First byte, rows, bytes of each, bytes from one to the next: within a page, and across its end.
PIECES = [(5, 1, 7, 0), (5, 3, 4, 4), (5, 3, 4, 9), (5, 3, 4, 2), (5, 3, 4, 0), (7, 2, 0, 4),
          (7, 0, 4, 4), (PAGE - 4, 1, 4, 0), (PAGE - 4, 1, 9, 0), (PAGE - 8, 2, 4, 4),
          (PAGE - 8, 3, 4, 4), (PAGE - 6, 3, 4, 4), (PAGE - 6, 3, 4, 2), (PAGE - 2, 3, 4, 0),
          (SPACE - 8, 2, 4, 4)]


@pytest.mark.parametrize(("addr", "rows", "length", "pitch"), PIECES)
def test_what_is_written_is_read(addr, rows, length, pitch):
    memory, wanted = Memory(), {}
    memory.write(addr - 4, bytes(range(100, 104)))
    wanted.update({addr - 4 + i: 100 + i for i in range(4)})
    data = np.arange(1, rows * length + 1, dtype=np.uint8).reshape(rows, length)
    memory.write_rows(addr, data, pitch)
    for row in range(rows):  # later rows lie over earlier ones
        wanted.update({addr + row * pitch + i: int(data[row, i]) for i in range(length)})
    found = memory.read_rows(addr, rows, length, pitch)
    assert found.tolist() == [[wanted[addr + row * pitch + i] for i in range(length)]
                              for row in range(rows)]
    for at in range(max(addr - 6, 0), min(addr + 40, SPACE)):
        assert memory.read(at, 1).tolist() == [wanted.get(at, 0)]
    found[...] = 0  # a copy
    assert memory.read(addr - 4, 4).tolist() == [100, 101, 102, 103]


@pytest.mark.parametrize(("addr", "rows", "length", "pitch"), PIECES)
def test_a_view_is_of_one_page(addr, rows, length, pitch):
    memory = Memory()
    view = memory.view(addr, rows, length, pitch)
    last = addr + max(rows - 1, 0) * pitch + length - 1
    assert (view is not None) == (not rows or not length or addr // PAGE == last // PAGE)
    if view is not None:
        assert view.shape == (rows, length)
        memory.write_rows(addr, np.full((rows, length), 9, np.uint8), pitch)
        assert (view == 9).all()


@pytest.mark.parametrize(("addr", "rows", "length", "pitch", "count"), [
    (0, 5, 4, 4, 5), (PAGE - 4, 5, 4, 4, 1), (PAGE - 3, 5, 4, 4, 0), (PAGE - 8, 5, 4, 4, 2),
    (PAGE - 9, 5, 4, 4, 2), (PAGE - 12, 2, 4, 4, 2), (PAGE - 12, 5, 4, 0, 5),
    (PAGE - 3, 5, 4, 0, 0), (3 * PAGE - 10, 5, 4, 6, 2), (3 * PAGE - 9, 5, 4, 6, 1)])
def test_how_many_rows_a_view_has(addr, rows, length, pitch, count):
    assert Memory().together(addr, rows, length, pitch) == count


@pytest.mark.parametrize(("addr", "length", "shown"), [
    (-1, 4, "-0x1..0x2"), (SPACE - 3, 4, "0xfffffffd..0x100000000"), (SPACE, 1,
                                                                     "0x100000000..0x100000000")])
def test_what_is_outside_the_space(addr, length, shown):
    message = re.escape(f"address range must lie in 0..0xffffffff, not {shown}")
    with pytest.raises(ValueError, match=f"^{message}$"):
        Memory().read(addr, length)
    with pytest.raises(ValueError, match=f"^{message}$"):
        Memory().write(addr, bytes(length))


def test_arrays_are_written_as_bytes():
    memory = Memory()
    memory.write(8, np.array([[1, 2], [3, 0x0A0B0C0D]], np.uint32).T)
    assert memory.read(8, 16).view(np.uint32).tolist() == [1, 3, 2, 0x0A0B0C0D]
    memory.write(8, bytearray(b"ab"))
    assert bytes(memory.read(7, 4)) == b"\0ab\0"


def test_a_memory_is_as_it_was():
    memory = Memory()
    memory.write(4, b"ab")
    view, kept = memory.view(4, 1, 2, 0), memory.pages()
    memory.write(4, b"cd")
    memory.write(PAGE + 3, b"ef")
    memory.restore(kept)
    assert bytes(memory.read(4, 2)) == b"ab" == bytes(view)
    assert not memory.read(PAGE + 3, 2).any()
    memory.write(4, b"gh")
    memory.restore(kept)
    assert bytes(memory.read(4, 2)) == b"ab"


def test_the_last_eight_runs_are_kept_whatever_their_size():
    runs = KeptRuns()
    assert runs.find(0, "code") is None
    for number in range(8):
        runs.keep(number, "code", f"run {number}", 400_000)
    assert runs.find(0, "code") == "run 0"  # now the last that was used
    assert runs.find(1, "other code") is None
    runs.keep(8, "code", "run 8", 1)
    assert runs.find(1, "code") is None
    assert [runs.find(number, "code") for number in (0, 2, 8)] == ["run 0", "run 2", "run 8"]
    runs.keep(2, "other code", "again", 400_000)
    assert runs.find(2, "code") is None
    assert runs.find(2, "other code") == "again"


@pytest.mark.parametrize(("small", "kept"), [(1, 255), (1000, 200), (1001, 199), (40_000, 7)])
def test_small_runs_are_kept_beside_a_large_one(small, kept):
    """256 of them, or 400,000 instructions."""
    runs = KeptRuns()
    for number in range(300):
        runs.keep("step", "code", "step", 200_000)
        runs.keep(number, "code", number, small)
    assert runs.find("step", "code") == "step"
    assert [number for number in range(300) if runs.find(number, "code") is not None] == [
        *range(300 - kept, 300)]


def test_a_run_that_is_kept_again_is_the_last():
    runs = KeptRuns()
    for number in (*range(8), 0, 8):
        runs.keep(number, "code", number, 400_000)
    assert runs.find(1, "code") is None
    assert runs.find(0, "code") == 0
