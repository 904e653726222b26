"""What a page is given of two runs, one after the other, counted by hand."""

import zlib
from base64 import b64decode
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from celosia.arch.config import preset
from celosia.compiled.parts import Place, WorkInfo
from celosia.graph import DType, Source, TensorType
from celosia.profile.page import data
from celosia.profile.page.memory import lives, peak, spans
from celosia.profile.record import Record
from celosia.program.asm import assemble

PROGRAM = """
    .chip nano
    .buffer x, int8[4, 4], input
    load ub[0], @x, fmt=i8, rows=4, cols=4, pitch=4
    matmul acc[0], ub[0], ub[8], fmt=int8, n0=4, wrows=4
    vector iadd, acc[8], acc[0], acc[0], n0=4
    store acc[8], 0x140000, fmt=w32, rows=4, cols=4, pitch=16
    load ub[16], 0x100000, fmt=i8, rows=4, cols=4, pitch=4
    halt
"""
SOURCES = ("convert net.py:3", "dot net.py:4 (jit(f)/dot)", "add net.py:4:7", "store (end)", "", "")
TIMES = {"issued": [5, 8, 11, 15, 16], "checked": [10, 12, 20, 45, 46],
         "start": [10, 22, 33, 45, 50], "occupied": [4, 6, 4, 8, 2], "end": [20, 30, 40, 60, 58],
         "gate": [1, 2, 2, 3, 2], "gated": [-1, -1, -1, 2, -1], "reason": [1, 5, 6, 3, 4],
         "blamed": [-1, 0, 1, -1, 0], "lost": [0, 2, 0, 0, 1]}


def made(cycles=63, **times):
    record = Record.of(replace(assemble(PROGRAM), sources=SOURCES), preset("nano"))
    found = replace(record.prediction, cycles=cycles,
                    by_instruction={0: 20, 1: 10, 2: 10, 3: 20, 5: cycles - 60})
    return replace(record, prediction=found,
                   **{name: np.array(column) for name, column in (TIMES | times).items()})


@pytest.fixture(scope="module")
def two():
    """Records, and the cycles with which they begin and all end."""
    return [made(), made(70, blamed=[-1, 0, -1, 2, 3])], [0, 63, 133]


def unpacked(text):
    planes = np.frombuffer(zlib.decompress(b64decode(text)), np.uint8).reshape(4, -1)
    return np.cumsum(planes.T.copy().view("<u4")[:, 0], dtype=np.uint32).astype(np.int32).tolist()


def test_times_programs_and_places_go_on_from_run_to_run(two):
    found = {name: unpacked(text) for name, text in data._columns(*two).items()}
    assert found["pc"] == [0, 1, 2, 3, 4, 6, 7, 8, 9, 10]
    assert found["checked"] == [10, 12, 20, 45, 46, 73, 75, 83, 108, 109]
    # These as differences from what is near them.
    assert found["issued"] == [5, 4, 9, 30, 30] * 2
    assert found["start"] == [0, 10, 13, 0, 4] * 2
    assert found["occupied"] == [4, 6, 4, 8, 2] * 2
    assert found["end"] == [6, 2, 3, 7, 6] * 2
    assert found["blamed"] == [0, 1, 1, 0, 4, 0, 1, 0, 1, 1]
    assert found["unit"] == [0, 2, 3, 1, 0] * 2
    assert found["amount"] == [16, 4, 4, 64, 16] * 2
    assert found["reason"] == [1, 5, 6, 3, 4] * 2
    assert found["lost"] == [0, 2, 0, 0, 1] * 2
    assert set(found) == set(data._COLUMNS)


def test_no_runs_have_no_columns():
    assert {tuple(unpacked(text)) for text in data._columns([], [0]).values()} == {()}
    assert data._critical([], [0])["names"] == []


def test_parts_of_a_kind_beside_each_other_are_one(two):
    found = data._critical(*two)
    names = found.pop("names")
    rows = list(zip(*(unpacked(found[name]) for name in ("first", "cycles", "index", "what")),
                    strict=True))
    assert [(first, cycles, index, names[what]) for first, cycles, index, what in rows] == [
        (0, 10, 0, "fetch"), (10, 10, 0, "load"), (20, 10, 1, "mxu"), (30, 10, 2, "vpu"),
        (40, 5, 3, "window"), (45, 15, 3, "store"),
        # Here the store waits for the vector unit, and that for nobody.
        (63, 10, 7, "fetch"), (73, 23, 7, "check"), (96, 7, 7, "vpu"), (103, 20, 8, "store")]


def test_operations_have_their_cycles_and_work(two):
    texts = list(dict.fromkeys(SOURCES))
    parsed = [Source.parse(text) for text in texts]
    nothing = {"products": 0, "elements": 0, "bytes": 0}

    def operations(records):
        return data._operations(records, texts, parsed)
    # 4 rows of 4 x 4 products, 4 rows of 4 elements.
    assert operations(two[0][:1]) == [
        nothing | {"source": 0, "operation": "convert", "cycles": 20, "bytes": 16},
        nothing | {"source": 3, "operation": "store", "cycles": 20, "bytes": 64},
        nothing | {"source": 1, "operation": "dot", "cycles": 10, "products": 64},
        nothing | {"source": 2, "operation": "add", "cycles": 10, "elements": 16},
        nothing | {"source": 4, "operation": "", "cycles": 3, "bytes": 16}]
    both = {each["source"]: each for each in operations(two[0])}
    assert both[1]["products"] == 128
    assert both[4] == nothing | {"source": 4, "operation": "", "cycles": 13, "bytes": 32}


def test_texts_are_those_that_cost_most(two, monkeypatch):
    monkeypatch.setattr(data, "_MOST_TEXTS", 3)
    found = data._texts(two[0])
    assert unpacked(found["pc"]) == [1, 3, 9]  # of both runs 8 cycles, of the first 6
    record = two[0][0]
    assert zlib.decompress(b64decode(found["text"])).decode().splitlines() == [
        record.text(pc) for pc in (1, 3, 3)]
    monkeypatch.setattr(data, "_MOST_TEXTS", 100)
    assert unpacked(data._texts(two[0])["pc"]) == [0, 1, 2, 3, 4, 6, 7, 8, 9, 10]


def test_files_of_2_mib_are_shown_and_larger_ones_not(tmp_path):
    for name, size in (("most", 2 << 20), ("more", (2 << 20) + 1)):
        (tmp_path / name).write_bytes(b"a" * size)
    assert list(data.files_of(["most", "more"], [tmp_path])) == ["most"]


def test_states_are_work_losses_waits_and_rest(two):
    assert data.states(two[0][:1]) == {
        "load": {"at work": 5, "lost to banks and bus": 1, "waits: fetch": 10, "waits: unit": 36,
                 "nothing more to do": 11},
        "store": {"at work": 8, "waits: window": 45, "nothing more to do": 10},
        "mxu": {"at work": 4, "lost to banks and bus": 2, "waits: data": 22,
                "nothing more to do": 35},
        "vpu": {"at work": 4, "waits: rows": 33, "nothing more to do": 26}}
    assert data.states(two[0])["store"] == {
        "at work": 16, "waits: window": 90, "nothing more to do": 10 + 17}


def test_what_outlasts_the_run_is_no_work_of_it():
    assert data.states([made(50)])["store"] == {"at work": 5, "waits: window": 45}
    assert data.states([made(53)])["store"] == {"at work": 8, "waits: window": 45}
    assert sum(data.states([made(51)])["load"].values()) == 51


def work(source, *origins):
    return WorkInfo("map", source, (), "chip", "", origins=origins)


def place(name, memory, first, size, begin=0, end=0):
    return Place(name, TensorType(DType.I8, (size,)), memory, first, size, begin, end)


STEP = SimpleNamespace(
    works=(work("convert net.py:3"), work("nothing net.py:9"),
           work("fused net.py:4", "dot net.py:4 (jit(f)/dot)", "add net.py:4:7"),
           work("store (end)")),
    places=(place("x", "external", 0, 16), place("a", "external", 16, 8, 0, 2),
            place("b", "ub", 4, 2, 1, 1), place("c", "ub", 6, 5, 2, 3),
            place("d", "external", 16, 100, 3, 3)))


def test_work_lasts_from_its_first_instruction_to_its_last():
    """What has none begins and ends with the one before."""
    assert spans(made(), STEP) == [(10, 20), (20, 20), (22, 40), (45, 60)]
    early = made(start=[10, 22, 21, 45, 50], end=[20, 39, 38, 60, 58])
    assert spans(early, STEP) == [(10, 20), (20, 20), (21, 39), (45, 60)]
    assert spans(made(), SimpleNamespace(works=(work("none"), work("convert net.py:3")))) == [
        (0, 0), (10, 20)]


def test_an_instruction_of_several_works_is_of_the_next_one():
    """Work of one source is done in its order; a loop comes back to the first."""
    step = SimpleNamespace(works=(work("a"), work("b"), work("a"), work("a")))
    sources = ("a", "b", "a", "b", "a", "")
    record = made()
    record = replace(record, program=replace(record.program, sources=sources))
    assert spans(record, step) == [(10, 20), (22, 60), (33, 58), (58, 58)]


def test_tensors_lie_where_they_are_while_work_has_them():
    found = lives(made(), STEP, base=100)
    assert [(each["name"], each["begin"], each["end"], each["fixed"]) for each in found] == [
        ("x", 100, 163, True), ("a", 110, 140, False), ("b", 120, 121, False),
        ("c", 122, 160, False), ("d", 145, 160, False)]
    assert found[3] == {"memory": "ub", "name": "c", "type": "i8[5]", "first": 6, "size": 5,
                        "begin": 122, "end": 160, "fixed": False}
    # Nothing begins behind the end of the run.
    assert [(each["begin"], each["end"]) for each in lives(made(30), STEP)] == [
        (0, 30), (10, 40), (20, 21), (22, 60), (30, 60)]
    whole = lives(made(), SimpleNamespace(works=(), places=STEP.places[1:2]))
    assert (whole[0]["begin"], whole[0]["end"]) == (0, 63)


def test_the_peak_is_what_lies_there_at_a_time():
    """Who comes when another goes needs no room beside it."""
    found = lives(made(), STEP)
    assert (peak(found, "external"), peak(found, "ub"), peak(found, "acc")) == (116, 5, 0)
    ends = [{"memory": "ub", "begin": 0, "end": 5, "size": 3},
            {"memory": "ub", "begin": 5, "end": 9, "size": 4},
            {"memory": "acc", "begin": 0, "end": 9, "size": 50}]
    assert (peak(ends, "ub"), peak(ends, "acc")) == (4, 50)
    assert peak([each | {"begin": 0} for each in ends], "ub") == 7
