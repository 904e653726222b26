"""Cycles by lines and along the critical path, of records that are counted by hand."""

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from celosia.arch.config import preset
from celosia.graph import Source
from celosia.model.timing import Reason, Timing
from celosia.profile.lines import LineCost, by_line, waited
from celosia.profile.measure import against
from celosia.profile.profile import compare
from celosia.profile.record import PathPart, Record
from celosia.program.asm import assemble

PROGRAM = """
    .chip nano
    load ub[0], 0x100000, fmt=i8, rows=4, cols=4, pitch=4
    matmul acc[0], ub[0], ub[8], fmt=int8, n0=4, wrows=4
    vector iadd, acc[8], acc[0], acc[0], n0=4
    store acc[8], 0x140000, fmt=w32, rows=4, cols=4, pitch=16
    load ub[16], 0x100000, fmt=i8, rows=4, cols=4, pitch=4
    halt
"""
SOURCES = (Source("net.py", 3).told("convert"),
           Source("net.py", 4, 0, "jit(f)/dot", ("main.py:9 in g",)).told("dot"),
           Source("net.py", 4, 7).told("add"), Source("", 0, 0, "end").told("store"), "", "")
#: Cycles of each instruction.
TIMES = {"issued": [5, 8, 11, 15, 16], "checked": [10, 12, 20, 45, 46],
         "start": [10, 22, 33, 45, 50], "occupied": [4, 6, 4, 8, 2], "end": [20, 30, 40, 60, 58],
         "gate": [1, 2, 2, 3, 2], "gated": [-1, -1, -1, 2, -1], "reason": [1, 5, 6, 3, 4],
         "blamed": [-1, 0, 1, -1, 0]}


def made(**times):
    program = replace(assemble(PROGRAM), sources=SOURCES)
    record = Record.of(program, preset("nano"))
    found = replace(record.prediction, by_instruction={0: 20, 1: 10, 2: 10, 3: 20, 5: 3})
    return replace(record, prediction=found,
                   **{name: np.array(column) for name, column in (TIMES | times).items()})


def test_a_line_has_its_cycles_work_and_waits():
    """The two places in line 4 are one line; what says nothing of itself has its cycles, too."""
    assert by_line(made()) == [
        LineCost("net.py:3", (), 20, Counter(convert=1), Counter(load=4),
                 Counter({"load waits: fetch": 10}), Counter(convert=20)),
        LineCost("net.py:4", ("main.py:9 in g",), 20, Counter(dot=1, add=1),
                 Counter(mxu=6, vpu=4),
                 Counter({"mxu waits for load": 22, "vpu waits for room after mxu": 33}),
                 Counter({"dot (jit(f)/dot)": 10, "add": 10})),
        LineCost("store (end)", (), 20, Counter(store=1), Counter(store=8),
                 Counter({"store waits: window": 45}), Counter({"store (end)": 20})),
        LineCost("(no source)", (), 3, Counter({"": 2}), Counter(load=2),
                 Counter({"load waits: unit": 36}), Counter({"": 3}))]


@pytest.mark.parametrize(("reason", "blamed", "said"), [
    (Reason.DATA, 0, "mxu waits for load"), (Reason.ROWS, 0, "mxu waits for room after load"),
    (Reason.DATA, -1, "mxu waits: data"), (Reason.ROWS, -1, "mxu waits: rows"),
    (Reason.UNIT, 0, "mxu waits: unit"), (Reason.WEIGHTS, 0, "mxu waits: weights")])
def test_another_unit_is_named_if_it_is_waited_for(reason, blamed, said):
    record = made(reason=[1, int(reason), 1, 1, 1], blamed=[-1, blamed, -1, -1, -1])
    assert waited(record)(1) == said


def test_a_unit_rests_until_it_has_its_next_instruction():
    assert made().rests.tolist() == [10, 22, 33, 45, 36]
    assert made(start=[10, 22, 33, 45, 12]).rests.tolist() == [10, 22, 33, 45, 0]


def test_a_unit_is_at_one_instruction_after_another():
    assert made().durations.tolist() == [10, 8, 7, 15, 8]
    assert made(start=[10, 22, 33, 45, 12]).durations.tolist() == [10, 8, 7, 15, 38]


def test_the_critical_path_goes_from_who_waits_to_who_is_waited_for():
    assert made().critical == (
        PathPart(0, 10, 0, "fetch"), PathPart(10, 10, 0, "load"), PathPart(20, 2, 1, "mxu"),
        PathPart(22, 8, 1, "mxu"), PathPart(30, 3, 2, "vpu"), PathPart(33, 7, 2, "vpu"),
        PathPart(40, 5, 3, "window"), PathPart(45, 15, 3, "store"))


def test_who_goes_on_before_another_has_ended_has_the_path_from_its_start():
    found = made(end=[20, 36, 40, 60, 58]).critical
    assert found[3:6] == (PathPart(22, 11, 1, "mxu"), PathPart(33, 7, 2, "vpu"),
                          PathPart(40, 5, 3, "window"))


def test_where_nobody_is_waited_for_the_path_goes_along_what_was_issued():
    assert made(gate=[1, 3, 0, 2, 2], gated=[-1] * 5, blamed=[-1] * 5).critical == (
        PathPart(0, 10, 3, "fetch"), PathPart(10, 2, 3, "window"), PathPart(12, 8, 3, "scalar"),
        PathPart(20, 25, 3, "check"), PathPart(45, 15, 3, "store"))


def test_the_window_may_wait_for_the_very_first():
    assert made(gated=[-1, -1, -1, 0, -1]).critical == (
        PathPart(0, 10, 0, "fetch"), PathPart(10, 10, 0, "load"), PathPart(20, 25, 3, "window"),
        PathPart(45, 15, 3, "store"))


def test_the_path_ends_with_the_last_end():
    assert made(end=[20, 30, 40, 60, 61]).critical[-2:] == (
        PathPart(20, 30, 4, "load"), PathPart(50, 11, 4, "load"))


EVENTS = {
    "load_take": [30, 62], "load_done": [40, 70],
    "mxu_take": [20], "mxu_done": [45], "mxu_busy_from": [5, 24, 40], "mxu_busy_to": [9, 26, 44],
    "vpu_take": [50], "vpu_done": [80], "store_take": [12], "store_done": [69]}
COUNTERS = {"cycles": 85, "instructions": 6, "bytes_read": 32, "bytes_written": 64,
            **{f"{name}_busy": i for i, name in enumerate(("load", "store", "mxu", "vpu",
                                                            "scalar"))}}


def measured(**events):
    return made().measured({name: np.array(each) for name, each in (EVENTS | events).items()},
                           COUNTERS)


def test_a_run_of_the_chip_has_its_own_times():
    """An instruction began when its unit took it, less the registers between, and not before the
    one before had ended; in the array, when its first row was there.
    """
    found = measured()
    assert found.start.tolist() == [30, 20, 48, 12, 62]
    assert found.end.tolist() == [40, 45, 80, 69, 70]
    assert found.occupied.tolist() == [10, 25, 32, 57, 8]
    assert found.issued.tolist() == [5, 8, 11, 12, 16]
    assert found.checked.tolist() == [10, 12, 20, 12, 46]
    assert found.made_by == "rtl"
    told = found.prediction
    assert (told.cycles, told.instructions, told.bytes_read, told.bytes_written) == (85, 6, 32, 64)
    assert told.busy == {"load": 0, "store": 1, "mxu": 2, "vpu": 3, "scalar": 4}
    # What is left at the end is the halt's.
    assert told.by_instruction == {0: 40, 1: 5, 2: 35, 5: 5}
    assert told.by_source == {}


def test_what_is_left_is_the_last_instructions_if_anything_is():
    def spent(cycles, **events):
        events = {name: np.array(each) for name, each in (EVENTS | events).items()}
        record = made(pc=[0, 1, 2, 5, 4])  # here a store is the last
        return record.measured(events, COUNTERS | {"cycles": cycles}).prediction.by_instruction
    assert spent(85, store_done=[82]) == {0: 40, 1: 5, 2: 35, 5: 2 + 3}
    assert spent(82, store_done=[82]) == {0: 40, 1: 5, 2: 35, 5: 2}
    assert spent(80) == {0: 40, 1: 5, 2: 35}


def test_a_program_that_does_nothing_and_says_nothing():
    record = Record.of(assemble(".chip nano\nhalt"), preset("nano"))
    assert (len(record), record.critical) == (0, ())
    assert record.source(0) == ("", Source())
    [line] = by_line(record)
    assert (line.place, line.cycles) == ("(no source)", record.cycles)


def test_the_first_instruction_begins_with_the_run_at_the_earliest():
    assert measured(mxu_take=[0], mxu_busy_from=[2], mxu_busy_to=[4],
                    vpu_take=[1]).start.tolist()[1:3] == [0, 0]


def test_a_record_is_of_the_usual_memory_where_nobody_says():
    assert Record.of(assemble(PROGRAM), preset("nano")).timing == Timing()


@pytest.mark.parametrize(("take", "start"), [
    (40, 40), (41, 41), (20, 40), (62, 62)])
def test_an_instruction_begins_behind_the_one_before(take, start):
    assert measured(load_take=[30, take]).start.tolist()[4] == start


@pytest.mark.parametrize(("take", "start"), [
    # Rows from 24 on; while they go in; between, from 40 on; behind all: at its end.
    (10, 20), (24, 20), (25, 21), (26, 36), (39, 36), (44, 41)])
def test_the_array_begins_with_its_first_row(take, start):
    assert measured(mxu_take=[take]).start.tolist()[1] == start


def test_another_way_through_a_program_cannot_be_measured():
    with pytest.raises(ValueError, match="^program  ?must execute 2 instructions of the load unit, "
                                         "as the model expects, not 1: the way of a program that "
                                         "is measured must not depend on its data$"):
        measured(load_take=[30], load_done=[40])


def test_places_of_two_profiles_are_compared_by_their_difference():
    assert compare({"a": 5, "b": 100, "c": 7}, {"b": 90, "c": 7, "d": 30}) == [
        ("d", 0, 30), ("b", 100, 90), ("a", 5, 0), ("c", 7, 7)]


def test_a_run_is_compared_with_the_model_by_lines_and_instructions():
    """Durations of the model are 10, 8, 7, 15 and 8 cycles: what is 5 % off is near."""
    model = made()
    near = made(end=[20, 30, 40, 60, 58], start=[10, 22, 33, 45, 50])
    far = replace(made(end=[20, 32, 40, 64, 58]), prediction=replace(
        model.prediction, cycles=70, by_instruction={0: 20, 1: 12, 2: 8, 3: 24, 5: 6}))
    found = against(SimpleNamespace(expected=(model, model), records=(near, far), cycles=133))
    assert found == {
        "model": 2 * model.cycles, "rtl": 133, "instructions_compared": 10, "near": 0.8,
        "lines": [{"place": "store (end)", "model": 40, "rtl": 44},
                  {"place": "(no source)", "model": 6, "rtl": 9},
                  {"place": "net.py:3", "model": 40, "rtl": 40},
                  {"place": "net.py:4", "model": 40, "rtl": 40}],
        "instructions": [
            {"pc": 3, "text": model.text(3), "place": "", "model": 15, "rtl": 19},
            {"pc": 1, "text": model.text(1), "place": "net.py:4", "model": 8, "rtl": 10}]}


@pytest.mark.parametrize(("cycles", "near"), [(100, 1), (105, 1), (95, 1), (106, 0), (94, 0)])
def test_durations_are_near_within_5_per_cent(cycles, near):
    """Here those of the last load, whose unit was free."""
    model, chip = (made(start=[0, 0, 0, 0, 100], end=[20, 30, 40, 60, 100 + each])
                   for each in (100, cycles))
    found = against(SimpleNamespace(expected=(model,), records=(chip,), cycles=0))
    assert found["near"] == (4 + near) / 5
    assert [each["rtl"] - each["model"] for each in found["instructions"]] == (
        [cycles - 100] if cycles != 100 else [])


def test_five_instructions_that_differ_most_are_named():
    model = made(start=[0] * 5, end=[100, 100, 100, 100, 200])
    chips = [made(start=[0] * 5, end=[101, 90, 103, 96, 201]),
             made(start=[0] * 5, end=[99, 100, 102, 100, 199])]
    found = against(SimpleNamespace(expected=(model, model), records=chips, cycles=0))
    assert [each["rtl"] - each["model"] for each in found["instructions"]] == [-10, -4, 3, 2, 1]
    nothing = against(SimpleNamespace(expected=(), records=(), cycles=0))
    assert (nothing["near"], nothing["instructions"]) == (1, [])
