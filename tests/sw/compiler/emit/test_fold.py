"""Turns of emitters as runs of blocks, against the blocks made one by one."""

import numpy as np
import pytest

from celosia.arch.isa import DmaFormat, Mem
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.blocks import Block
from celosia.compiler.emit.fold import Turn, fold_loops
from celosia.compiler.errors import IllFormed


def load(row, addr, cols=4):
    return nodes.load(Mem.ACC, DmaFormat.W32, row, addr, 2, cols, 16, source="w")


def store(row, addr):
    return nodes.store(Mem.ACC, DmaFormat.W32, row, addr, 2, 4, 16, source="w")


def folded(turns, loops=(), places=1):
    """Runs of blocks that load to and store from (row, address, columns)."""
    blocks = [Block([[load(row, addr, cols)], [store(row, addr + 64)]])
              for row, addr, cols in turns]
    runs = fold_loops([Turn(cols, (row, addr)) for row, addr, cols in turns], blocks.__getitem__,
                      loops, places)
    assert [run.block(i) for run in runs for i in range(run.count)] == blocks
    return [(len(run.period), run.count) for run in runs]


def test_places_that_take_turns_are_a_period():
    turns = [(i % 3 * 2, 64 * i, 4) for i in range(20)]
    assert folded(turns, places=3) == [(3, 20)]
    assert folded(turns, places=2) == [(1, 1)] * 20
    assert folded([(0, 64 * i, 4) for i in range(20)], places=3) == [(1, 20)]


def test_the_first_turn_and_the_edge_are_alone():
    turns = [(i % 2 * 2, 64 * i, 5 if i == 0 else 3 if i == 19 else 4) for i in range(20)]
    assert folded(turns, places=2) == [(1, 1), (2, 18), (1, 1)]


def test_steps_of_a_nest_repeat_with_its_inner_loop():
    turns = [(0, 64 * j + 1000 * i, 4) for i in range(9) for j in range(5)]
    assert folded(turns, (5,)) == folded(turns, (5, 9)) == [(5, 45)]
    assert folded(turns) == [(1, 5)] * 9


def test_places_may_take_turns_with_an_outer_loop():
    turns = [(i % 2 * 2, 64 * j + 1000 * i, 4) for i in range(9) for j in range(5)]
    assert folded(turns, (5,), 2) == [(10, 45)]
    turns = [(i % 2 * 2, 64 * k + 300 * j + 1000 * i, 4)
             for i in range(9) for j in range(2) for k in range(3)]
    assert folded(turns, (3, 2), 2) == [(12, 54)]


def test_periods_are_short_enough_to_be_written_out():
    assert folded([(0, 64 * j + 9999 * i, 4) for i in range(9) for j in range(16)],
                  (16,)) == [(16, 144)]
    assert folded([(0, 64 * j + 9999 * i, 4) for i in range(9) for j in range(17)],
                  (17,)) == [(1, 17)] * 9


def test_what_is_too_short_for_a_loop_is_single_blocks():
    assert folded([(0, 64 * i, 4) for i in range(3)]) == [(1, 1)] * 3  # one stage is behind
    assert folded([(0, 64 * i, 4) for i in range(4)]) == [(1, 4)]
    assert folded([(0, 64 * i * i, 4) for i in range(9)]) == [(1, 1)] * 9
    assert folded([]) == []


@pytest.mark.parametrize("seed", range(20))
def test_nests_at_random(seed):
    rng = np.random.default_rng(seed)
    outer, inner, places, edge = (int(rng.integers(1, high)) for high in (7, 7, 4, 9))
    runs = folded([(i % places * 2, 16 * j + 512 * (i // inner), 4 - (i % edge == edge - 1))
                   for i, j in enumerate(list(range(inner)) * outer)], (inner, outer), places)
    assert sum(count for _, count in runs) == outer * inner


def test_one_period_is_made_and_one_more(monkeypatch):
    monkeypatch.delenv("CELOSIA_CHECK")
    made = []

    def make(i):
        made.append(i)
        return Block([[load(i % 2, 64 * i)]])

    [run] = fold_loops([Turn((), (i % 2, i)) for i in range(1000)], make, places=2)
    assert made == [0, 1, 2, 3]
    assert run.count == 1000
    assert run.steps == [[[(0, 128)]], [[(0, 128)]]]


def test_a_turn_must_say_all_that_its_block_depends_on():
    def make(i):
        return Block([[load(0, 64 * i + (i == 7))]])

    with pytest.raises(IllFormed, match=r"^a run of blocks is not well formed:\n"
                                        r"  block 7 of 9 must have load of w at \(0, 449\), not "
                                        r"load at \(0, 448\)$"):
        fold_loops([Turn((), (i,)) for i in range(9)], make)
