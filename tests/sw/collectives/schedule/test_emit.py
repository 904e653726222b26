"""Collective operations as programs of golden chips: what `ReplicaGroup` says, bit for bit."""

from dataclasses import replace

import ml_dtypes
import pytest
from golden_chips import SOURCE, TARGET, drawn, equal, run

from celosia.arch.config import PRESETS
from celosia.arch.isa import DmaFormat, RecvOp
from celosia.collectives import ReplicaGroup, Topology
from celosia.collectives.schedule import Exchange, LinkModel, Payload, check, estimate

NANO, CORE4 = (replace(PRESETS[name], ports=4) for name in ("nano", "core4"))
@pytest.mark.parametrize("words", [1, 16, 100, 3000])  # the last is more than the rows there are
@pytest.mark.parametrize("text", ["4", "3", "2x2", "1"])
def test_all_reduce(text, words):
    topology = Topology.parse(text)
    arrays = drawn("int32", topology.chips, words)
    wanted = ReplicaGroup(tuple(range(topology.chips)), topology).all_reduce(arrays, "add")
    found = run(NANO, Exchange("all_reduce", topology, (words,)), arrays, words, RecvOp.SUM_I)
    equal(found, wanted)


@pytest.mark.parametrize(("dtype", "op", "reducer"), [
    ("float32", RecvOp.SUM_F, "add"), ("bfloat16", RecvOp.SUM_F, "add"),
    ("float32", RecvOp.MAX_F, "maximum"), ("int8", RecvOp.AND, "and")])
def test_elements_and_joins(dtype, op, reducer):
    topology = Topology((2, 2))
    arrays = drawn(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype, 4, 300)
    wanted = ReplicaGroup((0, 1, 2, 3), topology).all_reduce(arrays, reducer)
    equal(run(CORE4, Exchange("all_reduce", topology, (300,)), arrays, 300, op), wanted)


@pytest.mark.parametrize("text", ["4", "3", "2x2", "2x4"])
@pytest.mark.parametrize("name", ["reduce_scatter", "all_gather", "all_to_all"])
def test_shares(name, text):
    topology = Topology.parse(text)
    chips = topology.chips
    group = ReplicaGroup(tuple(range(chips)), topology)
    for share, dtype in ((5, "int8"), (37, "int32"), (700, "int32")):
        if name == "reduce_scatter" and dtype == "int8":
            continue  # it would be joined as int8, not saturated
        words = share if name == "all_gather" else share * chips
        arrays = drawn(dtype, chips, words)
        match name:
            case "all_gather":
                wanted = group.all_gather(arrays, 0)
            case "reduce_scatter":
                wanted = group.reduce_scatter(arrays, "add", 0)
            case _:
                wanted = group.all_to_all(arrays, 0, 0)
        equal(run(NANO, Exchange(name, topology, (words,)), arrays, wanted[0].size, RecvOp.SUM_I),
              wanted)


@pytest.mark.parametrize("pairs", [((0, 1), (1, 2), (2, 3), (3, 0)), ((0, 3), (2, 0)), ((1, 1),)])
def test_permute(pairs):
    for topology in (Topology.ring(4), Topology((2, 2))):
        arrays = drawn("int32", 4, 45)
        wanted = ReplicaGroup((0, 1, 2, 3), topology).permute(arrays, pairs)
        found = run(NANO, Exchange("collective_permute", topology, (45,), pairs), arrays, 45)
        equal(found, wanted)


@pytest.mark.parametrize("name", ["all_reduce", "reduce_scatter", "all_gather", "all_to_all"])
@pytest.mark.parametrize("text", ["8", "4x4", "2x4"])
def test_segments_are_right_together(text, name):
    topology = Topology.parse(text)
    exchange = Exchange(name, topology, (16 * 16 * topology.chips,))
    for count in (1, 2, 3):
        schedule = exchange.schedule(CORE4, count)
        check(schedule)
        assert list(schedule.begins) == sorted(set(schedule.begins))


def test_segments_hide_each_others_waiting():
    # 8 rows of each part: alone, a message waits for the one before it on the torus's second way.
    exchange = Exchange("all_reduce", Topology((8, 8)), (65536,))
    core = replace(PRESETS["core"], ports=4)
    link = LinkModel(core.link_bytes, 4 * core.dim)
    one, two = (estimate(exchange.schedule(core, count), link) for count in (1, 2))
    assert exchange.bound() < two < one
    assert two < exchange.bound() / 0.96


def test_what_comes_sooner_than_it_can_go_on_goes_through_in_turn():
    """The ring of two brings words faster than that of four passes them on."""
    few, topology, words = replace(NANO, acc_rows=128), Topology((4, 2)), 512
    exchange = Exchange("all_gather", topology, (words,))
    assert exchange._cut(few) == (32, 2)
    arrays = drawn("int32", 8, words)
    wanted = ReplicaGroup(tuple(range(8)), topology).all_gather(arrays, 0)
    equal(run(few, exchange, arrays, wanted[0].size), wanted)


def test_a_payload_of_more_rows_than_there_are_goes_through():
    topology = Topology((4,))
    words = 8 * NANO.acc_rows * NANO.dim
    exchange = Exchange("all_reduce", topology, (words,))
    assert exchange.resident(NANO, 0) is None
    insns = exchange.emit(NANO, 0, RecvOp.SUM_I, [Payload(SOURCE, DmaFormat.W32)],
                          [Payload(1 << 24, DmaFormat.W32)])
    brought = {name: sum((shape & 0xFFFF) * (shape >> 16) for each in insns
                         if each.instruction.mnemonic == name
                         for shape in [each.operands[2].value]) for name in ("load", "store")}
    assert brought == {"load": words, "store": words}  # each element once
    with pytest.raises(ValueError, match="^accumulators must hold all of all_reduce on 4 where it "
                                         "stays there, not 512 rows$"):
        exchange.emit(NANO, 0, RecvOp.SUM_I)


def test_what_is_wrong():
    small, places = replace(NANO, acc_rows=16), ([Payload(SOURCE, DmaFormat.W32)],
                                                 [Payload(TARGET, DmaFormat.W32)])
    with pytest.raises(ValueError, match="^accumulators must hold [0-9]+ rows for all_reduce on "
                                         "4x4, not 16$"):
        Exchange("all_reduce", Topology((4, 4)), (4000,)).emit(small, 0, RecvOp.SUM_I, *places)
    with pytest.raises(ValueError, match="^name must be of a collective operation, not 'gather'$"):
        Exchange("gather", Topology((4,)), (4000,)).emit(NANO, 0, RecvOp.SET, *places)
