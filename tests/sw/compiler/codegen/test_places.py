"""Works that are moved to other rows do the same, and do not wait for one another."""

import numpy as np
import pytest
from works import CHIP, HALF, map_work, naive, product_work, run

from celosia.arch.isa import DmaFormat, Mem
from celosia.arch.vector import Dst, Src, VectorOp
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.assemble import assemble
from celosia.compiler.codegen.blocks import Emitted
from celosia.compiler.codegen.generate import generate
from celosia.compiler.codegen.places import Places
from celosia.compiler.codegen.strides import StrideRegisters


def work(i, base=0, private=(range(0), range(0, 200))):
    """Load a tile and a row, work on them a while, store them."""
    sources = (Src.ACC, base), (Src.ACC_LANE_ROW, base + 20 | 1 << 24)
    steps = [nodes.vector(VectorOp.FMUL, Dst.ACC, base, 16, sources) for _ in range(6)]
    return Emitted([nodes.load(Mem.ACC, DmaFormat.W32, base, 256 * i, 16, 4, 16),
                    nodes.load(Mem.ACC, DmaFormat.W32, base + 20, 16 * i, 1, 4, 16), *steps,
                    nodes.store(Mem.ACC, DmaFormat.W32, base, HALF + 256 * i, 16, 4, 16)],
                   private=private)


def external(works):
    return run(works)[0][2]


def firsts(works):
    return [placed.before[0].words[0] for placed in Places(CHIP).place(works)]


def test_works_take_turns_in_their_rows():
    found = firsts([work(i, 8) for i in range(9)])
    assert found[:8] == [0, 24, 48, 72, 96, 120, 144, 168]
    assert found[8] == 0, "the rows that were used the longest ago"
    placed = Places(CHIP).place([work(0), work(1)])[1].before
    assert placed[0].words[0] == 24
    assert placed[2].words[2] == placed[1].words[0] | 1 << 24


def test_rows_of_others_stay_where_they_are():
    private = (range(0), range(0, 20))
    one, other = (placed.before[1].words[0] for placed in Places(CHIP).place(
        [work(0, 4, private), work(1, 4, private)]))
    assert one == other == 24


def test_what_comes_after_finds_its_rows_free():
    fixed = work(1, private=None)
    assert firsts([work(0), fixed])[0] >= 24
    later = Emitted([nodes.load(Mem.ACC, DmaFormat.W32, 190, 0, 1, 4, 16)] * 3 + [
        nodes.load(Mem.ACC, DmaFormat.W32, 0, 0, 180, 4, 16)] * 4)
    assert firsts([work(0), fixed, later])[0] == 24


def test_works_that_use_all_rows_stay():
    assert firsts([work(0, 8, (range(0), range(8, 30)))]) == [8]


def test_rows_that_only_the_middle_of_a_long_work_uses_move_with_it():
    def fmul(row):
        return nodes.vector(VectorOp.FMUL, Dst.ACC, row, 64, [(Src.ACC, row), (Src.ACC, row)])
    long = Emitted([*[fmul(136)] * 200, fmul(8), *[fmul(136)] * 200],
                   private=(range(0), range(0, 512)))
    [moved] = Places(CHIP).place([long])
    rows = [op.words[0] for op in moved.before]
    assert rows[0] - rows[200] == 128
    assert min(rows) >= 0


def test_works_in_rows_of_their_own_overlap():
    moved = [work(i) for i in range(8)]
    stay = [work(i, private=None) for i in range(8)]
    assert external(generate(CHIP, moved)) == external(generate(CHIP, stay))
    assert run(generate(CHIP, moved))[1] < 0.6 * run(generate(CHIP, stay))[1]


@pytest.mark.parametrize("seed", range(12))
def test_random_works_do_the_same_elsewhere(seed):
    rng = np.random.default_rng(seed)
    works = [(map_work if rng.random() < 0.5 else product_work)(rng, int(rng.integers(1, 12)))
             for _ in range(4)]
    wanted = external(assemble(StrideRegisters().give(naive(works))))
    for one in works:
        one.private = (range(0, 400), range(0, 480))  # weights and constants stay
    assert external(generate(CHIP, works)) == wanted
