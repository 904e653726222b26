"""In which bins a program is counted: of each class of numbers the first and the last."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

from celosia.arch.config import TpuConfig
from celosia.arch.encoding import Insn, Reg, encode, insn
from celosia.arch.faults import Fault
from celosia.model import Machine
from celosia_sim.coverage import Coverage
from celosia_sim.randbuild import DATA_ADDR, RandomProgram

CHIP = TpuConfig("both", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=64, bus_bytes=8)
#: Windows: all of memory, but for the programs.
EVERYWHERE = ((DATA_ADDR, (1 << 32) - 1), (1, 0), (1, 0), (1, 0))


def program(insns: list[Insn], image: bytes = b"", windows=EVERYWHERE) -> RandomProgram:
    insns = [*insns, insn("halt")]
    return RandomProgram(CHIP, 0, b"".join(map(encode, insns)), tuple(insns), image, windows)


def hits(insns: list[Insn], image: bytes = b"") -> dict[tuple[str, str], int]:
    """Return what a legal program is counted in."""
    coverage = Coverage(CHIP)
    coverage.legal(program(insns, image), Machine(CHIP))
    return {each: count for each, count in coverage.hits.items() if count}


def classes(group: str, *insns: Insn) -> dict[str, int]:
    """Return the classes of a group that a legal program is counted in."""
    return {name: count for (of, name), count in hits(list(insns)).items() if of == group}


def faults(item: Insn, cause: Fault, windows=EVERYWHERE, *before: Insn, image: bytes = b"",
           errors=()) -> set[str]:
    """Return the bins of faults that a program is counted in that ends with a fault."""
    coverage = Coverage(CHIP)
    made = replace(program([*before, item], image, windows), insns=(), errors=errors)
    made = replace(made, expected=made.run(Machine(CHIP)))
    assert made.expected is not None
    assert made.expected.cause == cause
    coverage.faulty(made)
    return {name for (group, name), count in coverage.hits.items() if group == "fault" and count}


def vector(op="imax", n0=1, n1=1, **values) -> Insn:
    return insn("vector", **{"op": op, "dst_kind": "acc", "a_kind": "acc", "b_kind": "scalar",
                             "dst": 0, "a": 0, "n0": n0, "n1": n1, **values})


def matmul(**values) -> Insn:
    return insn("matmul", **{"fmt": "int8", "acc": 0, "acts": 0, "w": 0, "wrows": 4, "n0": 1,
                             **values})


def load(**values) -> Insn:
    return insn("load", **{"mem": "acc", "fmt": "w32", "row": 0, "addr": DATA_ADDR, "rows": 1,
                           "cols": 1, **values})


@pytest.mark.parametrize("name", ["matmul", "vector"])
def test_counts_are_below_at_and_above_so_many_lanes(name):
    def of(group, **counts):
        return classes(f"{name} {group}",
                       vector(a=32, **counts) if name == "vector" else matmul(**counts))

    assert [of("n0", n0=n0) for n0 in range(1, 10)] == [{each: 1} for each in (
        "1", "2..D-1", "2..D-1", "D", "D+1..2D", "D+1..2D", "D+1..2D", "D+1..2D", "above 2D")]
    few = [{each: 1} for each in ("1", "2", "3", "above 3", "above 3")]
    assert [of("n1", n1=n) for n in range(1, 6)] == few
    assert [of("n2", n2=n) for n in range(1, 6)] == few


def test_rows_of_transposed_groups_of_tables_and_of_weights():
    def transpose(n0):
        return vector("transpose", n0, a=32, b_kind="none")

    assert [classes("n0 of transpose", transpose(n0)) for n0 in (4, 8, 12, 16)] == [
        {"D": 1}, {"2D": 1}, {"above 2D": 1}, {"above 2D": 1}]
    # Row 63 is 0: it names the first row of the table.
    tables = [classes("rows of a table", vector("gather", b_kind="acc", a=16, b=63, param=param))
              for param in (1, 2, 3, 4, 5, 6)]
    assert tables == [{"1": 1}, *[{"2..D": 1}] * 3, *[{"above D": 1}] * 2]
    assert [classes("weight rows", matmul(wrows=wrows)) for wrows in (1, 3, 4)] == [
        {"below D": 1}, {"below D": 1}, {"D": 1}]
    assert classes("weight rows", matmul(), matmul(wload=0, wrows=0)) == {"D": 1}


def test_steps_to_a_row_that_is_there_and_to_one_that_is_not():
    def steps(group, s0, n0):
        return classes(f"step to {group} row", insn("stride", x=1, s0=s0),
                       vector(n0=n0, a=32, xdst=1, xa=1))

    # Both streams; of dimensions of one row there are two more of each.
    assert [steps("a next", s0, 2) for s0 in (1, 2, 3)] == [{"1": 2}, {"above 1": 2},
                                                            {"above 1": 2}]
    assert classes("step to a next row", insn("stride", x=1, s0=0),
                   vector(n0=2, a=2, xa=1)) == {"0": 1, "1": 1}
    # A chip with rows enough may step as far as there are bits.
    large = replace(CHIP, ub_rows=1 << 16)
    coverage = Coverage(large)
    for step in (0x7FFF, 0x8000):
        item = load(mem="ub", fmt="i8", rows=2, pitch=1, row_step=step)
        coverage.legal(replace(program([item]), config=large), Machine(large))
    assert [coverage.hits["step to a next row", name] for name in ("above 1", "backwards")] == [
        1, 1]
    assert [steps("no other", s0, 1) for s0 in (0, 0x7FFF, 0x8000, 0xFFFF)] == [
        {"below 2**15": 6}, {"below 2**15": 6}, {"below 2**15": 4, "above": 2},
        {"below 2**15": 4, "above": 2}]


def test_transfers_by_rows_columns_and_pitch():
    def of(group, **values):
        return list(classes(group, load(**values)))

    assert [of("transfer rows", rows=rows) for rows in (1, 2, 8, 9, 10)] == [
        ["1"], ["2..8"], ["2..8"], ["above 8"], ["above 8"]]
    part = "above D, in part"
    assert [of("transfer columns", cols=cols, group_step=1) for cols in (
        1, 3, 4, 5, 8, 9, 12, 13, 16)] == [
            ["below D"], ["below D"], ["D"], ["D+1..3D", part], ["D+1..3D"], ["D+1..3D", part],
            ["D+1..3D"], ["above 3D", part], ["above 3D"]]
    assert [of("pitch to a next row", rows=2, pitch=pitch) for pitch in (
        0, 4, 224, 228, 0x7FFF_FFFC, 0x8000_0000)] == [
            ["0"], ["1..224"], ["1..224"], ["above 224"], ["above 224"], ["above 2**31"]]
    assert [of("pitch to a next row", mem="ub", fmt="i8", rows=2, pitch=pitch)
            for pitch in (1, 224, 225)] == [["1..224"], ["1..224"], ["above 224"]]
    assert [of("pitch to no other row", pitch=pitch)
            for pitch in (0, 0x7FFF_FFFC, 0x8000_0000, 0xFFFF_FFFC)] == [
                ["below 2**31"], ["below 2**31"], ["above"], ["above"]]
    less = "pitch less bytes of a row"
    assert [of(less, rows=2, cols=2, pitch=pitch) for pitch in (4, 8, 12)] == [
        ["below 0"], ["0"], ["above 0"]]
    assert of(less, rows=1, cols=2, pitch=4) == []


def test_transfers_by_place():
    def of(group, **values):
        return list(classes(group, load(**values)))

    pages = "pages of 4 KiB of a row"
    assert [of(pages, addr=DATA_ADDR + 0x1000 - before, cols=2) for before in (8, 4)] == [
        ["1"], ["2"]]
    assert of(pages, addr=DATA_ADDR + 0xFF0, cols=4, rows=2, pitch=16) == ["1"]
    assert [of("last byte", addr=addr) for addr in (
        DATA_ADDR, 0x7FFF_FFFC, 0x8000_0000, 0xFFFF_FFF8, 0xFFFF_FFFC)] == [
            ["low"], ["low"], [], [], ["2**32 - 1"]]
    assert of("last byte", addr=0xFFFF_FFF8, rows=2, pitch=4) == ["2**32 - 1"]


def test_loops_by_their_turns():
    assert [list(classes("loop turns", insn("loop", count=count, end=2), insn("nop")))
            for count in (0, 1, 2, 4, 5, 6)] == [
                ["0"], ["1"], ["2..4"], ["2..4"], ["above 4"], ["above 4"]]
    # One whose turns a register has is of none.
    assert classes("loop turns", insn("mov", rd=1, a=2), insn("loop", count=Reg(1), end=3),
                   insn("nop")) == {}


@pytest.mark.parametrize(("name", "words"), [
    ("zero", [0, 0x8000_0000]),
    ("subnormal, a bf16", [0x0001_0000, 0x007F_0000, 0x8040_0000]),
    ("subnormal, lower half alone", [1, 0xFFFF, 0x8000_8000]),
    ("subnormal, both halves", [0x0001_0001, 0x007F_FFFF, 0x8040_8000]),
    ("infinite", [0x7F80_0000, 0xFF80_0000]),
    ("NaN, a bf16", [0x7F81_0000, 0x7FFF_0000, 0xFFC0_0000]),
    ("NaN, lower half alone", [0x7F80_0001, 0x7F80_FFFF, 0xFF80_8000]),
    ("NaN, both halves", [0x7F81_0001, 0x7FFF_FFFF, 0xFFC0_8000]),
    ("normal, a bf16", [0x0080_0000, 0x7F7F_0000, 0xBF80_0000, 0x8080_0000]),
    ("normal, both halves", [0x0080_0001, 0x7F7F_FFFF, 0xBF80_8000, 0x40FF_8000]),
])
def test_every_word_is_of_one_class(name, words):
    for word in words:
        found = hits([load()], struct.pack("<I", word))
        assert [each for group, each in found if group == "fp32 words"] == [name], hex(word)


def test_words_are_looked_at_where_a_load_brings_them_into_the_accumulators():
    image = struct.pack("<4I", 1, 0, 0, 0x7F80_0000)
    words = {"subnormal, lower half alone": 1, "infinite": 1, "zero": 1}
    assert classes_of_words(load(cols=4), image) == words
    assert classes_of_words(load(cols=1, rows=2, pitch=12), image) == {
        "subnormal, lower half alone": 1, "infinite": 1}
    assert classes_of_words(load(cols=4, mem="ub"), image) == {}
    assert classes_of_words(load(cols=4, fmt="bf16"), image) == {}
    store = insn("store", mem="acc", fmt="w32", row=0, addr=DATA_ADDR, rows=1, cols=4)
    assert classes_of_words(store, image) == {}


def classes_of_words(item, image):
    return {name: count for (group, name), count in hits([item], image).items()
            if group == "fp32 words"}


def shared(*insns):
    """Return hazards and edges, which programs of two instructions have."""
    return {f"{group} {name}": count for (group, name), count in hits(list(insns)).items()
            if group in ("hazard", "edge")}


def test_instructions_that_share_rows_or_are_beside_each_other():
    def pair(row, **values):
        # Rows 8 .. 11 are written, then a vector instruction reads 4 rows and writes row 40.
        return shared(load(row=8, rows=4), vector(dst=40, a=row, n0=4, **values))

    assert pair(3) == {}
    assert pair(4) == {"edge acc, below: none between": 1}
    assert pair(5) == {"edge acc, below: one in common": 1, "hazard LOAD then VPU: RAW of acc": 1}
    assert pair(6) == {"hazard LOAD then VPU: RAW of acc": 1}
    assert pair(10) == {"hazard LOAD then VPU: RAW of acc": 1}
    assert pair(11) == {"edge acc, above: one in common": 1, "hazard LOAD then VPU: RAW of acc": 1}
    assert pair(12) == {"edge acc, above: none between": 1}
    assert pair(13) == {}
    # Another memory is another.
    assert shared(load(row=8, rows=4, mem="ub"), vector(dst=40, a=8, n0=4)) == {}
    # Edges are those of two units.
    assert shared(vector(dst=8, a=20), vector(dst=9, a=30)) == {}
    assert shared(vector(dst=8, a=20), vector(dst=20, a=8)) == {
        "hazard VPU then VPU: RAW of acc": 1, "hazard VPU then VPU: WAR of acc": 1}


def test_a_matmul_that_accumulates_reads_what_it_writes():
    def pair(accumulate):
        found = shared(vector(dst=32, a=40, n0=8), matmul(acc=34, n0=4, accumulate=accumulate))
        return {name: count for name, count in found.items() if name.startswith("hazard")}

    assert pair(0) == {"hazard VPU then MXU: WAW of acc": 1}
    assert pair(1) == {"hazard VPU then MXU: WAW of acc": 1, "hazard VPU then MXU: RAW of acc": 1}


def test_only_instructions_that_the_window_holds_are_looked_at():
    between = [vector(dst=60, a=61)] * (CHIP.window - 2)
    assert "hazard LOAD then MXU: RAW of ub" in shared(load(mem="ub"), *between, matmul())
    assert "hazard LOAD then MXU: RAW of ub" not in shared(
        load(mem="ub"), *between, vector(dst=60, a=61), matmul())


def test_counts_that_are_at_fault():
    zero, kind = "ILLEGAL_COUNT: 0", Fault.ILLEGAL_COUNT
    for counts in ((0, 1), (1, 0), (0, 0x8000), (0x8000, 0), (0, 0xFFFF), (0xFFFF, 0)):
        n0, n1 = counts
        assert faults(vector(n0=n0, n1=n1), kind) == {"ILLEGAL_COUNT: vector", zero}
        assert faults(matmul(n0=n0, n1=n1), kind) == {"ILLEGAL_COUNT: matmul", zero}
        assert faults(load(rows=n0, cols=n1), kind) == {"ILLEGAL_COUNT: load", zero}
    # Any other is no 0, and neither is that of a register known.
    assert faults(matmul(n2=0), kind) == {"ILLEGAL_COUNT: matmul"}
    assert faults(matmul(n2=0, n0=0x8000, n1=0x8000), kind) == {"ILLEGAL_COUNT: matmul"}
    assert faults(vector(n2=0, n1=0x8000), kind) == {"ILLEGAL_COUNT: vector"}
    values = {"op": "imax", "dst_kind": "acc", "a_kind": "acc", "b_kind": "scalar", "dst": 0}
    assert faults(insn("vector", counts=Reg(3), **values), kind) == {"ILLEGAL_COUNT: vector"}

    def transpose(n0, n1=1):
        return faults(vector("transpose", n0, n1, a=32, b_kind="none"), kind)

    for n0, rest in ((1, "odd"), (2, "even"), (3, "odd"), (5, "odd"), (6, "even"), (7, "odd")):
        assert transpose(n0) == transpose(n0, 2) == {
            "ILLEGAL_COUNT: vector", f"ILLEGAL_COUNT: transpose, n0 % D {rest}"}
    # A group of more rows than lanes is no fault of the table.
    for op in ("gather", "scatter"):
        def table(param, n0=4, n1=1, op=op):
            return faults(vector(op, n0, n1, b_kind="acc", a=16, b=63, param=param), kind)

        assert table(0) == table(0, 1) == table(0, 4, 3) == {
            "ILLEGAL_COUNT: vector", "ILLEGAL_COUNT: a table of 0"}
        assert table(1 << 16) == table(1 << 31) == {
            "ILLEGAL_COUNT: vector", "ILLEGAL_COUNT: a table above 65535"}
        assert table(0, 5) == table(1, 5) == {"ILLEGAL_COUNT: vector"}
        assert faults(vector(op, 4, b_kind="acc", a=16, b=63, param=Reg(1)), kind) == {
            "ILLEGAL_COUNT: vector", "ILLEGAL_COUNT: a table above 65535"}


@pytest.mark.parametrize(("last", "name"), [
    (64, "below 2**15"), (0x7FFF, "below 2**15"), (0x8000, "as of a step backwards"),
    (0xFFFF_EFFF, "as of a step backwards"), (0xFFFF_F000, "near 2**32"),
    (0xFFFF_FFFF, "near 2**32")])
def test_rows_that_are_out_of_range(last, name):
    assert faults(vector(a=last), Fault.ACC_RANGE) == {
        "ACC_RANGE: vector", f"ACC_RANGE: last row {name}"}
    assert faults(load(mem="ub", row=last), Fault.UB_RANGE) == {
        "UB_RANGE: load", f"UB_RANGE: last row {name}"}


def test_indexes_that_are_out_of_range():
    one = insn("load", mem="acc", fmt="w32", row=63, addr=DATA_ADDR, rows=1, cols=1)
    image = struct.pack("<I", 1)
    for op in ("gather", "scatter"):
        item = vector(op, b_kind="acc", a=16, b=63, param=1)
        assert faults(item, Fault.INDEX_RANGE, EVERYWHERE, one, image=image) == {
            "INDEX_RANGE: vector", f"INDEX_RANGE: {op}"}
    assert faults(insn("read", rd=1, row=0, lane=4), Fault.INDEX_RANGE) == {"INDEX_RANGE: read"}
    lane = vector(b_kind="acc_lane", b=32 | 4 << 24)
    assert faults(lane, Fault.INDEX_RANGE) == {"INDEX_RANGE: vector"}


def test_faults_that_name_no_instruction_are_counted_alone():
    assert faults(insn("jump", target=9), Fault.PC_RANGE) == {"PC_RANGE"}
    assert faults(load(), Fault.BUS_READ, errors=((DATA_ADDR, DATA_ADDR),)) == {"BUS_READ"}


def test_transfers_that_leave_their_windows():
    def window(*windows, **values):
        closed = [(1, 0)] * (4 - len(windows))
        return faults(load(**values), Fault.WINDOW, (*closed, *windows)) - {"WINDOW: load"}

    below, wraps = {"WINDOW: below 2**32"}, {"WINDOW: ends mod 2**32 in a window"}
    place = (DATA_ADDR, DATA_ADDR + 99)
    assert window(place, addr=DATA_ADDR - 4) == window(place, cols=26) == below
    # The last byte may be that of all memory; no byte is behind it.
    last = 0xFFFF_FFFF
    assert window(place, addr=last - 3) == window(place, addr=last - 7, rows=2, pitch=4) == below
    assert window((0, 0), fmt="i8", addr=last, cols=2) == wraps
    for many in ({"cols": 4}, {"cols": 2, "rows": 3, "pitch": 4}, {"rows": 4, "pitch": 4},
                 {"fmt": "bf16", "cols": 8}, {"fmt": "i8", "cols": 16}):
        # Bytes 0xFFFF_FFF8 .. 0x1_0000_0007.
        at = {"addr": last - 7, **many}
        assert window((0, 7), **at) == window((last - 7, last), **at) == wraps
        assert window((0, 6), (last - 6, last), **at) == set()
    # 0x8001 rows: the last one is 0x8000 * 0x2_0000 bytes behind the first, at 0x1_0000_0000.
    rows = {"fmt": "i8", "rows": 0x8001, "pitch": 0x2_0000, "row_step": 0, "addr": 8}
    assert window((8, 8), **rows) == wraps
    assert window((8, 7), **rows) == window((9, last), **rows) == set()
    # What a register holds is not known.
    assert window(place, addr=Reg(1)) == set()
