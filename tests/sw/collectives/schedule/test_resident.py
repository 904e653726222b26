"""Exchanges whose words have rows of their own: few instructions, and each element once."""

from dataclasses import replace

import numpy as np
import pytest
from golden_chips import FORMATS, SOURCE, TARGET, drawn, equal, run

from celosia.arch.config import PRESETS
from celosia.arch.isa import DmaFormat, RecvOp
from celosia.collectives import ReplicaGroup, Topology
from celosia.collectives.schedule import Exchange, Payload
from celosia.collectives.schedule.moves import RowMove, Slice, batched, consecutive
from celosia.collectives.schedule.table import Words

CORE, CORE4 = (replace(PRESETS[name], ports=4) for name in ("core", "core4"))


def counted(insns):
    """How many loads and stores there are, and how many elements they move."""
    found = {}
    for each in insns:
        name = each.instruction.mnemonic
        if name in ("load", "store"):
            shape = each.operands[2].value
            count, elements = found.get(name, (0, 0))
            found[name] = count + 1, elements + (shape & 0xFFFF) * (shape >> 16)
    return found


@pytest.mark.parametrize(("name", "words", "loads", "stores"), [
    ("all_gather", 128, (2, 128), (40, 8192)),
    ("reduce_scatter", 8192, (24, 8192), (1, 128)),
    ("all_reduce", 8192, (40, 8192), (40, 8192)),
])
def test_many_parts_are_moved_at_once(name, words, loads, stores):
    exchange = Exchange(name, Topology((8, 8)), (words,))
    for chip in (9, 63):
        found = counted(exchange.emit(CORE, chip, RecvOp.SUM_F, [Payload(SOURCE, DmaFormat.W32)],
                                      [Payload(TARGET, DmaFormat.W32)]))
        for (most, elements), (count, moved) in ((loads, found["load"]), (stores, found["store"])):
            assert moved == elements  # each once
            assert count <= most


@pytest.mark.parametrize("name", ["all_gather", "all_to_all", "reduce_scatter", "all_reduce"])
@pytest.mark.parametrize("text", ["8", "3x3"])
@pytest.mark.parametrize("words", [23, 128])
def test_bits_are_those_of_the_group(name, text, words):
    topology = Topology.parse(text)
    total = words * (1 if name == "all_gather" else topology.chips)
    exchange = Exchange(name, topology, (total,))
    assert exchange.resident(CORE4, 0) is not None
    arrays = drawn("float32", topology.chips, total)
    group = ReplicaGroup(tuple(range(topology.chips)), topology)
    wanted = {"all_gather": lambda: group.all_gather(arrays, 0),
              "all_to_all": lambda: group.all_to_all(arrays, 0, 0),
              "reduce_scatter": lambda: group.reduce_scatter(arrays, "add", 0),
              "all_reduce": lambda: group.all_reduce(arrays, "add")}[name]()
    op = RecvOp.SUM_F if "reduce" in name else RecvOp.SET
    equal(run(CORE4, exchange, arrays, wanted[0].size, op), wanted)


def moves(*found):
    return [RowMove((time,), Slice(0, first, count, Words(row, row + -(-count // 16))), row)
            for time, first, count, row in found]


def test_what_goes_on_is_one_and_the_first_load_says_when():
    [[one]] = batched(moves((30, 16, 16, 5), (20, 0, 16, 4), (40, 32, 7, 6)), 16, 32, min)
    assert (one.time, one.elements[:3], one.row) == ((20,), (0, 0, 39), 4)


def test_the_last_store_says_when():
    [run] = batched(moves((30, 0, 16, 0), (20, 100, 16, 1), (10, 200, 16, 2)), 16, 32, max)
    assert {each.time for each in run} == {(30,)}


def test_at_most_so_many_rows_are_at_once():
    found = batched(moves(*((i, 100 * i, 32, 3 * i) for i in range(6))), 16, 4, min)
    assert [[each.time for each in run] for run in found] == [[(i,)] * 2 for i in (0, 2, 4)]


@pytest.mark.parametrize("other", [
    (0, 300, 16, 2),  # further away
    (0, 200, 8, 2),  # fewer
    (0, 200, 16, 3),  # other rows
])
def test_what_is_not_alike_is_apart(other):
    found = batched(moves((5, 0, 16, 0), (6, 100, 16, 1), other), 16, 32, min)
    assert [len(run) for run in found] == [2, 1]


def test_where_others_have_rows_between_runs_have_no_gaps():
    found = [(0, 0, 16, 0), (0, 100, 16, 1), (0, 200, 16, 2), (0, 300, 16, 4), (1, 400, 16, 6)]
    assert [len(run) for run in consecutive(moves(*found), 16)] == [3, 1, 1]


def test_formats_are_those_of_elements():
    exchange = Exchange("all_gather", Topology((4,)), (16,))
    arrays = drawn("int8", 4, 16)
    assert FORMATS["int8"] == DmaFormat.I8
    equal(run(CORE4, exchange, arrays, 64), [np.concatenate(arrays)] * 4)
