"""How gathers and scatters of rows share the accumulators, and the operations that come of it."""

from itertools import product
from zlib import crc32

import pytest
from emitting import summary
from moving import CORE, FORMATS, NANO, SMALL, whole

from celosia.arch.words import ceil_div
from celosia.compiler.emit.boxes import Box
from celosia.compiler.emit.rows import _Plan, emit_gather, emit_scatter
from celosia.compiler.errors import CompileError
from celosia.compiler.lowered import (
    Access,
    External,
    GatherRows,
    Region,
    ScatterRows,
    Tensor,
    storage,
)
from celosia.compiler.views import View

CHIPS = {chip.name: chip for chip in (CORE, NANO, SMALL)}
#: Chip, rows and columns of a table, rows that go out of it (1) or into it (0), rows of the
#: accumulators; panels of a turn, rows of a part and of a turn; rows of indices that stay, whether
#: they come turn by turn; then the first rows of the tables, of what goes in or out, of what is
#: joined, of adjusted indices, of indices.
PLANS = [
    ("core", 10, 40, 33, 0, 2000, (3, 10, 33, 3, False),
     ([5, 35], [65, 209], 353, 353, [353, 353])),
    ("core", 10, 300, 33, 1, 2000, (8, 10, 33, 3, False),
     ([5, 85], [165, 549], 933, 933, [933, 933])),
    ("core", 40, 300, 5000, 0, 2000, (5, 40, 144, 0, True),
     ([5, 205], [405, 1125], 1845, 1845, [1845, 1854])),
    ("core", 600, 16, 70, 0, 2000, (1, 600, 70, 5, False),
     ([5, 605], [1205, 1285], 1365, 1365, [1365, 1365])),
    ("core", 600, 17, 70, 1, 2000, (1, 600, 70, 5, False),
     ([5, 605], [1205, 1285], 1365, 1365, [1365, 1365])),
    ("core", 1900, 17, 70, 0, 2000, (1, 634, 70, 5, False),
     ([5, 640], [1275, 1355], 1435, 1435, [1440, 1440])),
    ("core", 1900, 17, 70, 1, 2000, (1, 634, 70, 5, False),
     ([5, 640], [1275, 1275], 1355, 1435, [1440, 1440])),
    ("core", 3000, 64, 300, 0, 2000, (1, 600, 300, 19, False),
     ([5, 606], [1207, 1511], 1815, 1815, [1834, 1834])),
    ("core", 3000, 64, 300, 1, 2000, (1, 600, 300, 19, False),
     ([5, 606], [1207, 1207], 1511, 1815, [1834, 1834])),
    ("core", 3000, 64, 4100, 0, 2000, (1, 429, 512, 0, True),
     ([5, 435], [865, 1377], 1889, 1889, [1921, 1953])),
    ("core", 3000, 64, 4100, 1, 2000, (1, 429, 512, 0, True),
     ([5, 435], [865, 865], 1377, 1889, [1921, 1953])),
    ("core", 3000, 64, 1, 1, 2000, (1, 750, 1, 1, False),
     ([5, 756], [1507, 1507], 1523, 1539, [1540, 1540])),
    ("core", 30, 64, 300, 1, 140, (1, 30, 32, 0, True),
     ([5, 35], [65, 65], 97, 97, [97, 99])),
    ("core", 30, 64, 300, 0, 140, (1, 30, 32, 0, True),
     ([5, 35], [65, 97], 129, 129, [129, 131])),
    ("core", 32768, 8, 40, 1, 1000, (1, 443, 40, 3, False),
     ([5, 449], [893, 893], 941, 989, [992, 992])),
    ("core", 16, 16, 4000, 0, 2000, (1, 16, 512, 250, False),
     ([5, 21], [37, 549], 1061, 1061, [1061, 1061])),
    ("core", 16, 16, 4001, 0, 2000, (1, 16, 512, 0, True),
     ([5, 21], [37, 549], 1061, 1061, [1061, 1093])),
    ("core", 16, 16, 4016, 0, 2000, (1, 16, 512, 0, True),
     ([5, 21], [37, 549], 1061, 1061, [1061, 1093])),
    ("small", 8, 4, 120, 0, 245, (1, 8, 60, 30, False),
     ([5, 13], [21, 81], 141, 141, [141, 141])),
    ("small", 8, 9, 1000, 1, 245, (1, 8, 60, 0, True),
     ([5, 13], [21, 21], 81, 81, [81, 96])),
    ("small", 30, 32, 40, 0, 245, (1, 30, 40, 10, False),
     ([5, 35], [65, 105], 145, 145, [145, 145])),
    ("small", 30, 36, 4, 0, 245, (1, 30, 4, 1, False),
     ([5, 35], [65, 69], 73, 73, [73, 73])),
    ("small", 100, 4, 9, 1, 245, (1, 100, 9, 3, False),
     ([5, 105], [205, 217], 229, 229, [229, 229])),
    ("small", 100, 4, 9, 0, 245, (1, 100, 9, 3, False),
     ([5, 105], [205, 217], 229, 229, [229, 229])),
    ("small", 230, 4, 9, 1, 245, (1, 77, 9, 3, False),
     ([5, 83], [161, 161], 173, 185, [188, 188])),
    ("small", 300, 4, 130, 1, 245, (1, 75, 32, 0, True),
     ([5, 81], [157, 157], 189, 221, [229, 237])),
    ("small", 300, 4, 130, 0, 245, (1, 75, 32, 0, True),
     ([5, 81], [157, 189], 221, 221, [229, 237])),
    ("small", 300, 4, 3, 1, 18, (1, 3, 3, 1, False),
     ([5, 9], [13, 13], 17, 21, [22, 22])),
    ("small", 300, 4, 3, 1, 15, (1, 1, 3, 1, False),
     ([5, 7], [9, 9], 13, 17, [18, 18])),
    ("nano", 300, 20, 130, 0, 245, (1, 75, 32, 0, True),
     ([5, 81], [157, 189], 221, 221, [229, 237])),
    ("nano", 300, 20, 2, 1, 245, (1, 100, 2, 1, False),
     ([5, 106], [207, 207], 211, 215, [216, 216])),
    ("core", 250, 16, 40, 1, 2000, (1, 250, 40, 3, False),
     ([5, 255], [505, 553], 601, 601, [601, 601])),
    ("core", 251, 16, 40, 1, 2000, (1, 251, 40, 3, False),
     ([5, 256], [507, 555], 603, 603, [603, 603])),
    ("core", 125, 64, 40, 1, 2000, (2, 125, 40, 3, False),
     ([5, 255], [505, 601], 697, 697, [697, 697])),
    ("core", 62, 300, 40, 0, 2000, (4, 62, 40, 3, False),
     ([5, 253], [501, 693], 885, 885, [885, 885])),
    ("core", 32, 128, 40, 0, 4000, (8, 32, 40, 3, False),
     ([5, 261], [517, 901], 1285, 1285, [1285, 1285])),
    ("core", 32, 144, 600, 0, 4000, (8, 32, 208, 38, False),
     ([5, 261], [517, 2181], 3845, 3845, [3845, 3845])),
    ("core", 70000, 16, 40, 1, 200000, (1, 35000, 40, 3, False),
     ([5, 35006], [70007, 70007], 70055, 70103, [70106, 70106])),
    ("core", 65535, 16, 40, 1, 200000, (1, 65535, 40, 3, False),
     ([5, 65540], [131075, 131123], 131171, 131171, [131171, 131171])),
    ("core", 65536, 16, 40, 0, 200000, (1, 32768, 40, 3, False),
     ([5, 32774], [65543, 65591], 65639, 65639, [65642, 65642])),
    ("core", 64, 128, 40, 0, 5000, (4, 64, 40, 3, False),
     ([5, 261], [517, 709], 901, 901, [901, 901])),
    ("core", 2, 144, 40, 0, 2000, (8, 2, 40, 3, False),
     ([5, 21], [37, 421], 805, 805, [805, 805])),
]
#: Chip, rows and columns of a table, rows that go out or in, rows of the accumulators, elements;
#: what is emitted for a gather, for a scatter.
OPERATIONS = [
    ("core", 10, 40, 33, 2000, "f32", "9 in 1: b4d2c647", "10 in 1: be9b08e6"),
    ("core", 40, 300, 1000, 2000, "f32", "185 in 28: 50f195c0", "189 in 28: c815a3de"),
    ("core", 40, 34, 1000, 2000, "bf16", "13 in 3: 97066549", "14 in 3: f9a44ec3"),
    ("core", 1900, 17, 70, 2000, "i8", "45 in 6: 50d69a2d", "51 in 6: 38f18cd2"),
    ("core", 1900, 32, 70, 2000, "i8", "24 in 3: ef3a7ad6", "27 in 3: 3baad3d4"),
    ("core", 3000, 20, 600, 2000, "f32", "129 in 18: 06e3e84a", "147 in 4: 6f916899"),
    ("core", 16, 16, 2010, 1000, "f32", "17 in 5: 4a4cfa14", "18 in 5: 8d681862"),
    ("small", 8, 9, 1000, 245, "f32", "156 in 9: 9e482e83", "159 in 9: 35731c25"),
    ("small", 100, 4, 9, 245, "f32", "5 in 1: 06a2b49b", "6 in 1: 0ffada71"),
    ("small", 300, 7, 130, 245, "f32", "282 in 9: 1bf7e132", "258 in 40: f92879b5"),
    ("small", 300, 8, 130, 245, "bf16", "142 in 5: e887d2c5", "130 in 20: 1fa1c207"),
    ("nano", 300, 20, 2, 245, "f32", "93 in 15: 2ce3b1a0", "108 in 15: 00eb678e"),
    ("nano", 1, 1, 1, 245, "i8", "4 in 1: 5428cd9b", "5 in 1: fdd8574a"),
    ("small", 5, 0, 3, 245, "f32", "0 in 0: 0d4cbb29", "0 in 0: 0d4cbb29"),
    ("small", 300, 8, 30, 150, "f32", "129 in 18: 711dca6b", "147 in 4: 60149605"),
    ("small", 30, 36, 44, 245, "f32", "28 in 1: 80e26f7e", "37 in 1: e715471a"),
]
#: Spare places, how many plans there are of those looked at, and a checksum of them.
MANY = [(0, 1926, 1744046094), (1, 1926, 2458092190)]


def region(free):
    return Region(range(0), range(5, 5 + free))


def tensors(chip, rows, columns, count, dtype="f32"):
    """Return a table, the rows that go out of it or into it, and indices."""
    found = []
    for name, shape, each in (("table", (rows, columns), dtype), ("rows", (count, columns), dtype),
                              ("indices", (count,), "f32")):
        found.append(Tensor(name, shape, FORMATS[each], storage(chip, FORMATS[each]),
                            External(len(found) << 20)))
    return [whole(each) for each in found]


@pytest.mark.parametrize(("chip", "rows", "columns", "count", "spare", "free", "sizes", "places"),
                         PLANS)
def test_places(chip, rows, columns, count, spare, free, sizes, places):
    chip = CHIPS[chip]
    table, other, indices = tensors(chip, rows, columns, count)
    plan = _Plan(chip, Box.of(table), Box.of(other), indices, region(free), "here", spare)
    assert (plan.wide, plan.part, plan.turn, plan.kept, plan.fetched) == sizes
    assert (plan.tables, plan.others, plan.spare, plan.adjusted, plan.index) == places
    # What is alive at once lies apart, and within the region.
    parted = plan.part < rows
    groups = ceil_div(plan.turn, chip.dim)
    height, turn = (plan.part + parted) * plan.wide, groups * chip.dim * plan.wide
    spans = [(at, height) for at in plan.tables]
    spans += [(at, turn) for at in dict.fromkeys(plan.others)]
    if parted:
        spans += [(plan.spare, turn)] * spare + [(plan.adjusted, groups)]
    spans += ([(at, groups) for at in plan.index] if plan.fetched
              else [(plan.index[0], ceil_div(count, chip.dim))])
    spans.sort()
    ends = [at + size for at, size in spans]
    assert all(end <= at for end, (at, _) in zip(ends, spans[1:], strict=False))
    assert spans[0][0] == 5
    assert ends[-1] <= 5 + free


@pytest.mark.parametrize(("chip", "rows", "columns", "count", "free", "dtype", "taken", "put"),
                         OPERATIONS)
def test_operations(chip, rows, columns, count, free, dtype, taken, put):
    chip = CHIPS[chip]
    table, other, indices = tensors(chip, rows, columns, count, dtype)
    assert summary(emit_gather(chip, GatherRows(table, indices, other, "take"),
                               region(free))) == taken
    assert summary(emit_scatter(chip, ScatterRows(table, indices, other, "put"),
                                region(free))) == put


def many(spare):
    """Yield the plans of many tables in little room, of those that there is room for."""
    for chip, rows, columns, count, free in product(
            CHIPS.values(), (1, 7, 31, 32, 33, 65, 130, 301, 999), (3, 100),
            (1, 15, 16, 17, 63, 500), (40, 77, 120, 256, 1030, 2060)):
        table, other, indices = tensors(chip, rows, columns, count)
        try:
            plan = _Plan(chip, Box.of(table), Box.of(other), indices, region(free), "", spare)
        except CompileError:
            continue
        yield (plan.wide, plan.places, plan.part, plan.turn, plan.turns, plan.tables, plan.others,
               plan.spare, plan.adjusted, plan.index)


@pytest.mark.parametrize(("spare", "number", "checksum"), MANY)
def test_places_of_many(spare, number, checksum):
    found = list(many(spare))
    assert len(found) == number
    assert crc32(repr(found).encode()) == checksum


@pytest.mark.parametrize(("view", "good"), [
    (View(0, (3, 4), (4, 1)), True), (View(0, (3, 4), (9, 1)), True),
    (View(0, (3, 4), (0, 1)), True), (View(0, (3, 4), (4, 2)), False),
    (View(8, (3, 2), (-1, 1)), False), (View(8, (3, 4), (-4, 1)), False),
    (View(8, (2, 4), (-4, 1)), False), (View(8, (1, 4), (-4, 1)), True),
    (View(0, (3, 2), (4, 2)), False), (View(0, (3, 1), (4, 7)), True),
    (View(0, (1, 2), (4, 2)), False)], ids=str)
def test_which_views_are_of_rows(view, good):
    _, _, indices = tensors(SMALL, 9, 9, 2)
    rows = Tensor("r", (12, 12), FORMATS["f32"], storage(SMALL, FORMATS["f32"]), External(0))
    out = Tensor("o", (2, 12), rows.dtype, rows.format, External(4096))
    gather = GatherRows(Access(rows, view), indices,
                        Access(out, View(0, (2, view.shape[1]), (12, 1))))
    if good:
        assert emit_gather(SMALL, gather, region(200)).size
        return
    with pytest.raises(CompileError) as caught:
        emit_gather(SMALL, gather, region(200))
    assert str(caught.value) == ("rows: rows of r must be in order and elements of a row one after "
                                 f"another, not {view}")


@pytest.mark.parametrize(("view", "good"), [
    (View(0, (4,), (1,)), True), (View(0, (1,), (5,)), True), (View(3, (2,), (-1,)), False),
    (View(0, (2,), (2,)), False), (View(0, (2,), (0,)), False), (View(0, (2, 1), (1, 1)), False)],
    ids=str)
def test_which_indices_there_may_be(view, good):
    table, other, indices = tensors(SMALL, 9, 9, view.shape[0])
    gather = GatherRows(table, Access(indices.tensor, view), other)
    if good:
        assert emit_gather(SMALL, gather, region(200)).size
        return
    with pytest.raises(CompileError) as caught:
        emit_gather(SMALL, gather, region(200))
    assert str(caught.value) == (
        f"a gather must have indices that lie one after another, not {view}")


@pytest.mark.parametrize(("table", "other", "words"), [
    ((0, 12), (0, 8), True), ((1, 12), (0, 8), False), ((0, 12), (1, 8), False),
    ((0, 11), (0, 8), False), ((0, 12), (0, 9), False), ((2, 12), (4, 8), True)])
def test_rows_are_words_where_both_are(table, other, words):
    """Offset and pitch of the rows, in elements of bf16."""
    made = [Tensor("t", (200,), FORMATS["bf16"], storage(SMALL, FORMATS["bf16"]), External(at))
            for at in (0, 1024)]
    views = [Access(each, View(offset, (3, 8), (pitch, 1)))
             for each, (offset, pitch) in zip(made, (table, other), strict=True)]
    _, _, indices = tensors(SMALL, 9, 9, 3)
    emitted = emit_gather(SMALL, GatherRows(views[0], indices, views[1]), region(200))
    # What the last word of a load says of its elements: four panels of bytes, or two of words.
    sizes = {op.command.fmt.name for op in emitted.operations if op.mnemonic in ("load", "store")}
    assert sizes == ({"W32"} if words else {"W32", "BF16"})


@pytest.mark.parametrize("free", range(12, 18))
def test_the_least_room(free):
    """A row of a table of 300, and one of zeros, in two places; indices, and three rows twice."""
    table, other, indices = tensors(SMALL, 300, 4, 3)
    for spare, least in ((0, 14), (1, 14)):
        arguments = (SMALL, Box.of(table), Box.of(other), indices, region(free), "x", spare)
        if free >= least:
            assert _Plan(*arguments).part >= 1
            continue
        with pytest.raises(CompileError) as caught:
            _Plan(*arguments)
        assert str(caught.value) == (f"x must have more than {free} rows of accumulators for a "
                                     "table and what goes in or out of it")
