"""Rows in the ports of the memories, and what they cost those of others."""

from dataclasses import replace

import pytest

from celosia.arch.commands import Matmul, Vector, VectorOperand
from celosia.arch.config import preset
from celosia.arch.isa import MatmulFormat, Mem
from celosia.arch.streams import Stream
from celosia.arch.vector import Dst, Post, Src, VectorOp
from celosia.model.timing.banks import port_of, walked
from celosia.model.timing.sweeps import Sweep, behind_singles, lost_in, sweeps

WIDE = preset("nano")
FOLDED = replace(WIDE, lanes=1)
COUNTS, ONE = (28, 1, 1), (1, 1, 1)
READS, WRITES, UB = (port_of(mem, write) for mem, write in (
    (Mem.ACC, False), (Mem.ACC, True), (Mem.UB, False)))


def times(found):
    return {sweep.port: (sweep.first, sweep.last, sweep.fold) for sweep in found}


def requant(*singles):
    """A vector instruction on rows 12 to 39 of the accumulators, with single ones of them."""
    return Vector(VectorOp.REQUANT, Post.NONE, Dst.ACC, Stream.linear(128, COUNTS),
                  (VectorOperand(Src.ACC, 12, Stream.linear(12, COUNTS)),
                   *(VectorOperand(Src.ACC_ROW, row, Stream.linear(row, ONE)) for row in singles)),
                  0, COUNTS)


@pytest.mark.parametrize("accumulate", [False, True])
def test_a_matmul_reads_the_accumulators_that_it_adds_to(accumulate):
    rows = Stream.linear(8, COUNTS)
    command = Matmul(MatmulFormat.INT8, accumulate, False, rows, rows, None)
    added = {READS: (113, 141, 1)} if accumulate else {}
    assert times(sweeps(command, WIDE, 100, 141, 28)) == {
        UB: (100, 128, 1), WRITES: (113, 141, 1), **added}


def test_a_folded_row_is_as_many_beats():
    wide = times(sweeps(requant(), WIDE, 67, 115, 29))
    folded = times(sweeps(requant(), FOLDED, 67, 212, 117))
    assert wide == {READS: (68, 96, 1), WRITES: (86, 115, 1)}
    assert folded == {READS: (75, 187, 4), WRITES: (93, 210, 4)}


@pytest.mark.parametrize(("singles", "behind"), [
    ((4,), 71),  # as long as a row
    ((5, 10), 71),  # at once
    ((5, 9), 75),  # in one bank, one behind the other
    ((4, 8), 79),  # where the first row of the stream is, too
])
def test_single_rows_come_first(singles, behind):
    command = requant(*singles)
    rows = sweeps(command, FOLDED, 67, 212, 117)
    found = behind_singles(command, FOLDED, 67, rows)
    assert found[-1] == Sweep(READS, 67, behind, ((0, 0),), 4)
    assert times(found[:-1]) == times(rows) | {READS: (max(75, behind), 187, 4)}


def test_rows_wait_for_those_in_their_port_alone():
    walk = walked(Stream(0, (1, 28), (0, 1)), 1)
    sweep = Sweep(READS, 100, 140, ((0, 0),), 4)  # a bank that they cannot get past
    assert lost_in(READS, 80, 120, walk, [sweep], 4) == pytest.approx(40, abs=1)
    assert lost_in(READS, 80, 120, walk, [sweep._replace(port=WRITES)], 4) == 0
    assert lost_in(READS, 40, 100, walk, [sweep], 4) == 0
    assert lost_in(READS, 140, 150, walk, [sweep], 4) == 0


def test_in_one_bank_rows_wait_for_all():
    walk = walked(Stream(0, (1, 28), (0, 1)), 1)
    sweep = Sweep(READS, 100, 140, ((0, 1),), 1)
    assert lost_in(READS, 80, 120, walk, [sweep], 1) == 40
    assert lost_in(READS, 80, 100, walk, [sweep], 1) == 0
    assert lost_in(READS, 140, 150, walk, [sweep], 1) == 0
