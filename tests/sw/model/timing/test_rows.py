"""Rows that are under way together."""

from dataclasses import replace

import pytest

from celosia.arch.commands import Matmul, Store, Vector, VectorOperand
from celosia.arch.config import preset
from celosia.arch.isa import DmaFormat, MatmulFormat, Mem
from celosia.arch.streams import Stream
from celosia.arch.vector import Dst, Post, Src, VectorOp
from celosia.model.timing.ports import Asks, port_of
from celosia.model.timing.rows import RowsUnderWay
from celosia.model.timing.window import WindowEntry

WIDE = preset("edge")
FOLDED = replace(WIDE, lanes=2, banks=2)
COUNTS = (32, 1, 1)
READS, WRITES = port_of(Mem.ACC, False), port_of(Mem.ACC, True)
ACTS, UNUSED = port_of(Mem.UB, False), port_of(Mem.UB, True)
MATMUL = Matmul(MatmulFormat.INT8, True, False, Stream.linear(0, COUNTS), Stream.linear(40, COUNTS),
                None)
NONE = VectorOperand(Src.NONE, 0, None)
VECTOR = Vector(VectorOp.REQUANT, Post.NONE, Dst.ACC, Stream.linear(128, COUNTS),
                (VectorOperand(Src.ACC, 8, Stream.linear(8, COUNTS)), NONE, NONE), 0, COUNTS)
STORE = Store(Mem.ACC, DmaFormat.I8, 128, 0, 32, 8, 8, 1, 1)


def entry(command, config, end, latency):
    found = WindowEntry(command, config)
    found.end, found.latency, found.share = end, latency, 1.0
    return found


def vector(rows, config, start=100):
    latency = 24 if config is WIDE else 160
    found = rows.vector(VECTOR, entry(VECTOR, config, start + latency, latency), start, latency, 0)
    found.entry.end = found.end
    return found


def matmul(rows, config, start):
    return dict(rows.matmul(MATMUL, entry(MATMUL, config, start + 53, 53), 0))


@pytest.mark.parametrize("config", [WIDE, FOLDED], ids=["wide", "folded"])
def test_alone_it_takes_what_it_takes(config):
    found = vector(RowsUnderWay(config), config)
    assert (found.end, found.late) == (124 if config is WIDE else 260, 0)


def test_rows_that_go_in_step_are_not_held_up():
    rows = RowsUnderWay(WIDE)
    matmul(rows, WIDE, 60)
    assert [*rows.asked(READS, 90, 1, vectors=True)] == []
    assert len([*rows.asked(READS, 90, 3, vectors=True)]) == 1
    assert vector(rows, WIDE).late == 0


def test_folded_rows_are_held_up_by_those_of_the_array_whichever_comes_first():
    """What is behind a vector instruction in the program, but beside it in time, is played with it:
    the same becomes of it.
    """
    before, behind = RowsUnderWay(FOLDED), RowsUnderWay(FOLDED)
    matmul(before, FOLDED, 130)
    first, second = vector(before, FOLDED), vector(behind, FOLDED)
    assert second.late == 0
    matmul(behind, FOLDED, 130)
    assert behind.play(0) is second
    assert second.played == first.played
    assert first.end - first.late == 260
    assert first.late == 14  # three cycles a row, while the array adds


def test_one_that_was_put_off_asks_later():
    rows = RowsUnderWay(FOLDED)
    asks = matmul(rows, FOLDED, 60)[READS]
    ((array, *_),) = rows._array[READS][1]
    array.moved += 7
    assert [*rows.asked(READS, 0, 0, vectors=True)] == [Asks(asks.first + 7, asks.banks)]
    found = vector(rows, FOLDED)
    played = found.played
    found.entry.moved += 5
    assert found.start == 109
    assert rows.play(0).played.asks != played.asks


def test_it_is_known_whether_other_rows_are_asked_for():
    rows = RowsUnderWay(FOLDED)

    def known():
        return [rows.changes({port: step}, vectors=vectors) for port, step, vectors in (
            (READS, 0, False), (READS, 1, False), (READS, -1, False), (WRITES, 0, False),
            (UNUSED, 0, False), (READS, 0, True), (WRITES, 2, True), (UNUSED, 0, True))]

    assert known() == [0] * 8
    asks = matmul(rows, FOLDED, 60)
    assert {port: each.step for port, each in asks.items()} == {READS: 1, WRITES: 1, ACTS: 1}
    array = known()
    assert array == [1, 0, 0, 1, 0, 1, 1, 0]  # those that go in step are left out
    found = vector(rows, FOLDED)
    beside = known()
    assert [after > before for before, after in zip(array, beside, strict=True)] == [
        False, False, False, False, False, True, True, False]
    assert rows.play(0) is found
    assert known() == beside  # nothing is played that comes to the same
    rows.moves += 1
    assert known() == [each + 1 for each in beside]


def test_those_behind_it_come_out_in_order():
    rows = RowsUnderWay(FOLDED)
    first, second = vector(rows, FOLDED, 100), vector(rows, FOLDED, 102)
    assert first.end + 128 <= second.end <= first.end + 129
    assert second.entry.end == second.end > second.free > first.free


@pytest.mark.parametrize("config", [WIDE, FOLDED], ids=["wide", "folded"])
def test_a_store_waits_for_the_rows_that_are_read(config):
    rows = RowsUnderWay(config)
    store = rows.transfer(STORE, entry(STORE, config, 160, 55), 32)
    assert store is not None
    assert (store.port, store.late(rows)) == (READS, 0)
    assert store.begins == 160 - 55 + (3 if config.cut else 2)
    vector(rows, config)
    assert store.late(rows) == (0 if config is WIDE else 93)


def test_one_that_has_the_time_is_not_played():
    rows = RowsUnderWay(FOLDED)
    assert rows.transfer(STORE, entry(STORE, FOLDED, 300, 200), 32 * 3) is None
    small = replace(FOLDED, banks=1)
    assert RowsUnderWay(small).transfer(STORE, entry(STORE, small, 300, 200), 32 * 3) is not None


def test_what_is_over_is_forgotten_but_not_what_one_under_way_has_met():
    rows = RowsUnderWay(FOLDED)
    matmul(rows, FOLDED, 40)
    first, second = vector(rows, FOLDED, 100), vector(rows, FOLDED, 240)
    store = rows.transfer(STORE, entry(STORE, FOLDED, 900, 700), 32)
    rows.forget(500)
    assert [*rows.vectors] == [first, second]  # the store began before them
    assert not any(rows._array[READS].values())  # and behind the matmul
    rows.forget(900)
    assert ([*rows.vectors], [*rows.transfers]) == ([second], [])
    assert store not in rows.transfers


def test_where_no_rows_meet_none_wait():
    """As `Timing.bank_conflicts` is for who asks what they cost."""
    rows, second = RowsUnderWay(FOLDED, meet=False), VectorOperand(Src.ACC, 8,
                                                                   Stream.linear(8, COUNTS))
    assert matmul(rows, FOLDED, 130) == {}
    assert vector(rows, FOLDED).late == 0
    assert rows.transfer(STORE, entry(STORE, FOLDED, 160, 55), 32) is None
    command = Vector(VECTOR.op, Post.NONE, Dst.ACC, VECTOR.dst, (VECTOR.sources[0], second, NONE),
                     0, COUNTS)
    found, others = (each.vector(command, entry(command, FOLDED, 500, 160), 400, 160, 0)
                     for each in (rows, RowsUnderWay(FOLDED)))
    assert found.alone.last < others.alone.last
