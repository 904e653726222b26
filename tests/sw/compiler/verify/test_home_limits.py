"""Where tensors may lie: the first and the last place that is right, and those beside them."""

import pytest

from celosia.arch.config import PRESETS
from celosia.arch.isa import DmaFormat, Mem
from celosia.compiler.errors import IllFormed
from celosia.compiler.lowered import Access, External, Fill, Move, OnChip, Region, Tensor, While
from celosia.compiler.verify.homes import check_homes
from celosia.compiler.views import View
from celosia.graph import DType

CORE = PRESETS["core"]
OWN = Region(range(50, 100), range(60, 100))
FORMATS = {DType.F32: DmaFormat.W32, DType.BF16: DmaFormat.BF16, DType.I8: DmaFormat.I8}


def tensor(home, dtype=DType.F32, name="x", rows=4):
    """Return a tensor of a few rows of eight elements."""
    return Tensor(name, (rows, 8), dtype, FORMATS[dtype], home)


def whole(of):
    return Access(of, View.contiguous(of.shape))


def said(*works, fixed=(), size=1024, region=OWN, regions=None):
    """Return the lines that a check has to say of work."""
    found = {work: region for work in works}
    found.update((part, region) for work in works if isinstance(work, While) for part in work.body)
    found.update(regions or {})
    try:
        check_homes(CORE, works, fixed, size, found, 4)
    except IllFormed as error:
        return str(error).split("\n  ")[1:]
    return []


@pytest.mark.parametrize(("offset", "size", "good"), [
    (0, 128, True), (896, 1024, True), (896, 1023, False), (960, 1024, False), (960, 1088, True),
    (32, 1024, False), (63, 1024, False), (65, 1024, False), (64, 1024, True)])
def test_the_arena(offset, size, good):
    assert said(Fill(whole(tensor(External(offset))), 0), size=size) == ([] if good else [
        (f"x must begin at a multiple of 64 and end within {size} bytes, not take "
         f"{offset}..{offset + 127}")])


@pytest.mark.parametrize(("mem", "dtype", "row", "rows"), [
    (Mem.ACC, DType.F32, 4, None), (Mem.ACC, DType.F32, 3, "4..2047"),
    (Mem.ACC, DType.F32, 2044, None), (Mem.ACC, DType.F32, 2045, "4..2047"),
    (Mem.UB, DType.BF16, 0, None), (Mem.UB, DType.I8, 16380, None),
    (Mem.UB, DType.BF16, 16381, "0..16383"), (Mem.UB, DType.I8, -1, "0..16383")])
def test_memories(mem, dtype, row, rows):
    assert said(Fill(whole(tensor(OnChip(mem, row), dtype)), 0)) == ([] if rows is None else [
        f"x must lie in rows {rows} of {mem.name}, not in {row}..{row + 3}"])


@pytest.mark.parametrize(("mem", "dtype", "good"), [
    (Mem.UB, DType.BF16, True), (Mem.UB, DType.I8, True), (Mem.UB, DType.F32, False),
    (Mem.ACC, DType.F32, True), (Mem.ACC, DType.BF16, True), (Mem.ACC, DType.I8, True)])
def test_types(mem, dtype, good):
    assert said(Fill(whole(tensor(OnChip(mem, 200), dtype)), 0)) == ([] if good else [
        "x in UB must be of bf16 or i8, not f32"])


@pytest.mark.parametrize(("mem", "dtype", "first", "good"), [
    (Mem.ACC, DType.F32, 56, True), (Mem.ACC, DType.F32, 57, False),
    (Mem.ACC, DType.F32, 99, False), (Mem.ACC, DType.F32, 100, True),
    (Mem.UB, DType.BF16, 46, True), (Mem.UB, DType.BF16, 47, False),
    (Mem.UB, DType.BF16, 99, False), (Mem.UB, DType.BF16, 100, True)])
def test_rows_of_the_work_itself(mem, dtype, first, good):
    own = OWN.ub if mem is Mem.UB else OWN.acc
    assert said(Fill(whole(tensor(OnChip(mem, first), dtype)), 0, "w")) == ([] if good else [
        f"w: x must not lie in the work's own rows, {own} of {mem.name}, not at row {first}"])


@pytest.mark.parametrize(("region", "good"), [
    (Region(range(16384), range(4, 2048)), True), (Region(range(16385), range(4, 2048)), False),
    (Region(range(16384), range(4, 2049)), False), (Region(range(16384), range(3, 2048)), False),
    (Region(range(-1, 9), range(4, 2048)), False)], ids=str)
def test_regions(region, good):
    work = Fill(whole(tensor(External(0))), 0, "w")
    wanted = [] if good else [
        f"w: its own rows must be in the memories, not {region.ub} and {region.acc}"]
    assert said(work, region=region) == wanted
    assert said(While((), None, (work,), 2, "loop"), regions={work: region}) == wanted


def test_a_loop_shares_its_rows_with_what_is_in_it():
    work = Fill(whole(tensor(OnChip(Mem.ACC, 70))), 0, "w")
    apart = Region(range(0), range(100, 200))
    assert said(While((), None, (work,), 2), regions={work: apart}) == []


def pair(first, second, *, rows=4):
    """Return two tensors at two places, ``rows`` of the first."""
    return tensor(first, name="a", rows=rows), tensor(second, name="b")


@pytest.mark.parametrize(("homes", "place"), [
    ((External(0), External(128)), None), ((External(0), External(64)), "external from 64"),
    ((External(128), External(0)), None), ((External(64), External(0)), "external from 64"),
    ((External(0), External(0)), "external from 0"),
    ((OnChip(Mem.ACC, 200), OnChip(Mem.ACC, 204)), None),
    ((OnChip(Mem.ACC, 200), OnChip(Mem.ACC, 203)), "ACC from 203"),
    ((OnChip(Mem.ACC, 206), OnChip(Mem.ACC, 203)), "ACC from 206"),
    ((OnChip(Mem.ACC, 207), OnChip(Mem.ACC, 203)), None),
    ((External(192), OnChip(Mem.ACC, 192)), None)], ids=str)
def test_what_is_needed_at_once(homes, place):
    a, b = pair(*homes)
    low, high = sorted((a, b), key=lambda each: getattr(each.home, "row", 0)
                       or getattr(each.home, "offset", 0))
    wanted = [] if place is None else [
        (f"{low.name} and {high.name} must not be in the same place while both are needed, not in "
         f"{place} on")]
    assert said(Fill(whole(a), 0), Fill(whole(b), 0), Move(whole(a), whole(b))) == wanted
    # One work that touches both is enough; where each has its own time they may share.
    assert said(Move(whole(a), whole(b))) == wanted
    assert said(Fill(whole(a), 0), Fill(whole(b), 0)) == []
    assert said(Fill(whole(b), 0), Fill(whole(a), 0)) == []
    for fixed in ([a], [b], [a, b]):
        assert said(Fill(whole(a), 0), Fill(whole(b), 0), fixed=fixed) == wanted


def test_nothing_shares_no_place():
    a, b = pair(External(64), External(0), rows=0)
    assert said(Move(whole(b), whole(b)), Fill(whole(a), 0), fixed=[a, b]) == []


def test_three_in_one_place():
    tensors = [tensor(External(at), name=name) for name, at in (("a", 0), ("b", 64), ("c", 64))]
    works = [Fill(whole(each), 0) for each in tensors]
    said_of = "must not be in the same place while both are needed, not in external from 64 on"
    assert said(*works, fixed=tensors) == [f"a and b {said_of}", f"a and c {said_of}",
                                           f"b and c {said_of}"]
