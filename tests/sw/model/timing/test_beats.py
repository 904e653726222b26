"""Rows of the vector unit, beat by beat, as the RTL reads and writes them."""

from dataclasses import replace

import pytest

from celosia.arch.commands import Vector, VectorOperand
from celosia.arch.config import preset
from celosia.arch.isa import Mem
from celosia.arch.streams import Stream
from celosia.arch.vector import Dst, Post, Src, VectorOp
from celosia.model.timing.beats import IDLE, VectorRows, play, played_alone
from celosia.model.timing.ports import banks_of, port_of

CORE, EDGE = preset("core"), replace(preset("edge"), lanes=2, banks=2)
ROWS = (96, 1, 1)
READS, WRITES, UB = port_of(Mem.ACC, False), port_of(Mem.ACC, True), port_of(Mem.UB, False)


def vector(rows, *, singles=(), dst=Dst.ACC, second=None):
    """A vector instruction over rows of the accumulators, with single ones of them."""
    counts = rows.counts
    sources = [VectorOperand(Src.ACC, rows.base, rows)]
    sources += [VectorOperand(Src.ACC, second.base, second)] if second else []
    sources += [VectorOperand(Src.ACC_ROW, row, Stream.linear(row, (1, 1, 1))) for row in singles]
    return Vector(VectorOp.REQUANT, Post.NONE, dst, Stream.linear(128, counts), tuple(sources), 0,
                  counts)


def taken(p, q, config=CORE):
    """Cycles that two streams take, less those that they do where they never meet."""
    rows = VectorRows.of(vector(p, second=q), config)
    return p.length + played_alone(rows, config).last - played_alone(rows.apart, config).last


@pytest.mark.parametrize(("counts", "p", "q", "apart", "measured"), [
    (ROWS, (2, 0, 0), (2, 0, 0), 0, 96),
    (ROWS, (4, 0, 0), (4, 0, 0), 0, 192),
    (ROWS, (4, 0, 0), (1, 96, 96), 500, 192),
    (ROWS, (1, 96, 96), (4, 0, 0), 500, 120),
    (ROWS, (1, 96, 96), (2, 0, 0), 500, 132),
    ((16, 6, 1), (0, 1, 0), (1, 16, 96), 256, 181),
    ((16, 6, 1), (1, 16, 96), (0, 1, 0), 256, 119),
    ((6, 16, 1), (1, 6, 96), (64, 1, 0), 500, 116),
    ((6, 16, 1), (16, 1, 0), (16, 1, 0), 500, 160),
])
def test_streams_that_meet(counts, p, q, apart, measured):
    """As measured on the RTL of core with rows of ``fadd``."""
    found = taken(Stream(0, counts, p), Stream(apart, counts, q))
    assert found == pytest.approx(measured, rel=0.02)


def test_streams_that_meet_once():
    linear = Stream.linear(0, ROWS)
    assert taken(linear, Stream.linear(64, ROWS)) == 97
    assert taken(linear, Stream.linear(65, ROWS)) == 96


def test_in_one_bank_a_row_of_each_takes_two_cycles():
    small = replace(preset("nano"), banks=1)
    assert taken(Stream.linear(0, ROWS), Stream.linear(65, ROWS), small) == 192


@pytest.mark.parametrize(("rows", "banks", "lost"), [
    ((4, 9), 4, 0), ((5, 9), 4, 3), ((4, 8), 4, 7), ((4, 6), 2, 7), ((6, 8), 4, 0), ((4,), 4, 0),
    ((4, 9, 14), 4, 0)])
def test_of_two_single_rows_the_second_waits_for_beats_in_its_bank(rows, banks, lost):
    """Those of the first one, and of the stream behind that, which is in bank 0: as edge's RTL."""
    chip = replace(EDGE, banks=banks)
    found = VectorRows.of(vector(Stream.linear(12, ROWS), singles=rows), chip)
    assert found.singles == 4 * ((len(rows) + 1) // 2)
    assert played_alone(found, chip).last - played_alone(found.apart, chip).last == lost


def test_rows_are_beats_in_the_ports_that_their_instruction_uses():
    rows = Stream.linear(13, (2, 1, 1))
    wide = VectorRows.of(vector(rows, singles=(5,)), CORE)
    assert wide.reads[0] == (bytes([2, 2, 4]), bytes([READS] * 3))
    assert wide.reads[1] == (bytes(3), bytes(3))
    assert (wide.writes, wide.port, wide.singles) == (bytes([1, 2]), WRITES, 1)
    assert dict(wide.steps) == {READS: 1, WRITES: 1}
    assert (wide.beats, wide.ports) == (2, {READS, WRITES})
    folded = VectorRows.of(vector(rows, dst=Dst.UB_I8), EDGE)
    assert folded.reads[0] == (bytes([2] * 4 + [1] * 4), bytes([READS] * 8))
    assert (folded.writes, folded.port) == (bytes([1] * 4 + [2] * 4), port_of(Mem.UB, True))
    assert (folded.steps, folded.beats) == ((), 8)
    one = VectorRows.of(vector(rows, second=Stream.linear(14, (2, 1, 1))), CORE)
    assert dict(one.steps) == {READS: 1, WRITES: 1}  # both go on by a bank
    other = VectorRows.of(vector(rows, second=Stream(14, (2, 1, 1), (2, 0, 0))), CORE)
    assert dict(other.steps) == {WRITES: 1}


def test_a_row_takes_seven_cycles_beside_the_array_in_two_banks():
    """As the RTL of edge does where it has two lanes and two banks: of the two cycles of a bank the
    array has one, and the first beat of a row comes in the other.
    """
    rows = VectorRows.of(vector(Stream.linear(8, (32, 1, 1))), EDGE)
    alone = played_alone(rows, EDGE)
    assert dict(alone.asks)[WRITES].banks == bytes([1] * 4 + [2] * 4) * 16
    since = dict(alone.asks)[WRITES].first
    array = bytes(since - 1) + bytes([1, 2]) * 32  # its row of bank 1 in the cycle of the first
    found = dict(play(rows, EDGE, 0, {WRITES: array}, IDLE).asks)[WRITES]
    each = bytes([1] * 7 + [2] * 7)
    assert (found.first, found.banks[:56]) == (since, each * 4)
    assert found.banks[-56:] == bytes([1] * 4 + [2] * 4) * 7  # when the array is done


def test_reads_wait_where_their_results_have_no_place():
    """What cannot be written stops the lanes, then the reader, which has read ahead by then."""
    rows = VectorRows.of(vector(Stream.linear(8, (32, 1, 1))), EDGE)
    found = play(rows, EDGE, 0, {WRITES: bytes([3]) * 400}, IDLE)
    read = dict(found.asks)[READS]
    assert read.banks[:36].count(0) == 0  # beats in flight, and those that are read ahead
    assert read.banks[36:400].count(0) == 364
    assert found.last == 400 + 127


@pytest.mark.parametrize("chip", [CORE, EDGE, replace(EDGE, banks=1)], ids=str)
def test_it_is_the_same_whenever_it_begins(chip):
    command = vector(Stream.linear(8, (16, 1, 1)), singles=(4, 6))
    rows = VectorRows.of(command, chip)
    busy = {READS: banks_of(Stream.linear(0, (40, 1, 1)), chip.banks)}
    first = play(rows, chip, 0, {}, IDLE)
    second = play(rows, chip, 3, busy, first)
    assert play(rows, chip, 1000, {}, IDLE) == first.later(1000)
    assert play(rows, chip, 1003, busy, first.later(1000)) == second.later(1000)
    assert second.read == second.readers[0].asked > first.read


@pytest.mark.parametrize(("chip", "gap"), [(CORE, 1), (EDGE, 5)], ids=["core", "edge"])
def test_one_instruction_follows_another(chip, gap):
    """But for its single row, and a cycle on a chip that is cut."""
    rows = VectorRows.of(vector(Stream.linear(8, (16, 1, 1)), singles=(4,)), chip)
    first = play(rows, chip, 0, {}, IDLE)
    second = play(rows, chip, 2, {}, first)
    assert second.last - first.last == rows.beats + gap
    third = play(rows, chip, 4, {}, second)
    assert third.last - second.last == rows.beats + gap
    assert play(rows, chip, 500, {}, second).last == first.last + 500


@pytest.mark.parametrize(("chip", "behind"), [(CORE, 16), (EDGE, 65)], ids=["core", "edge"])
def test_one_that_reads_nothing_takes_as_long(chip, behind):
    """As one of as many rows, which are read: in ports, too, it is in no one's way."""
    reads = VectorRows.of(vector(Stream.linear(8, (16, 1, 1))), chip)
    none = reads._replace(reads=((bytes(reads.beats), bytes(reads.beats)),) * 2)
    alone = played_alone(none, chip)
    assert alone == played_alone(reads, chip)._replace(asks=alone.asks, readers=alone.readers)
    assert [port for port, _ in alone.asks] == [WRITES]
    assert play(reads, chip, 0, {}, alone).last - alone.last == behind
