"""Programs that `generate` makes do what their blocks do one after another."""

from dataclasses import replace

import numpy as np
import pytest
from works import CHIP, HALF, legal, map_work, naive, product_work, run, runs, unrolled

from celosia.arch.isa import DmaFormat, MatmulFormat, Mem
from celosia.arch.vector import Dst, Src, VectorOp
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen import pipeline as pipelining
from celosia.compiler.codegen.assemble import assemble
from celosia.compiler.codegen.blocks import Block, BlockRun, Emitted
from celosia.compiler.codegen.generate import generate
from celosia.compiler.codegen.nodes import Loop
from celosia.compiler.codegen.pipeline import pipeline
from celosia.compiler.codegen.strides import StrideRegisters


@pytest.fixture(autouse=True)
def _loops(monkeypatch):
    """Runs that are as short as the ones here become loops all the same."""
    monkeypatch.setattr(pipelining, "_PLAIN", 0)


def straight(works):
    return assemble(StrideRegisters().give(naive(works)))


@pytest.mark.parametrize("seed", range(60))
def test_random_blocks_do_the_same_as_one_after_another(seed):
    rng = np.random.default_rng(seed)
    works = [(map_work if rng.random() < 0.5 else product_work)(rng, int(rng.integers(1, 24)))
             for _ in range(rng.integers(1, 4))]
    assert legal(CHIP, naive(works), unrolled(pipeline(CHIP, works)))
    assert run(generate(CHIP, works))[0] == run(straight(works))[0]


@pytest.mark.parametrize("seed", range(20))
def test_loops_of_the_same_rows_elsewhere_in_memory(seed):
    """The order that is found for one is that of another, unless what they store is loaded."""
    works = [map_work(np.random.default_rng(seed), 20, first) for first in (0, 64, HALF - 512, 128)]
    assert legal(CHIP, naive(works), unrolled(pipeline(CHIP, works)))
    assert run(generate(CHIP, works))[0] == run(straight(works))[0]


@pytest.mark.parametrize("kind", [map_work, product_work])
@pytest.mark.parametrize("seed", range(6))
def test_loops_have_one_size(kind, seed):
    def size(count):
        work = kind(np.random.default_rng(seed), count)
        return len(generate(CHIP, [work]).insns)

    assert size(26) == size(98)  # the same remainder for places of 1, 2 and 3


def test_work_beside_its_neighbours_has_no_loops():
    works = [make(np.random.default_rng(0), 20) for make in (map_work, product_work)]
    assert any(isinstance(node, Loop) for node in pipeline(CHIP, works))
    works = [replace(work, beside=True) for work in works]
    found = pipeline(CHIP, works)
    assert not any(isinstance(node, Loop) for node in found)
    assert legal(CHIP, naive(works), found)
    assert run(generate(CHIP, works))[0] == run(straight(works))[0]


def chains(count, places):
    """Work of which each step waits for the one before, so that only other blocks fill the gaps."""
    blocks = []
    for i in range(count):
        row = i % places * 16
        steps = [nodes.vector(VectorOp.FMUL, Dst.ACC, row, 16, ((Src.ACC, row), (Src.ACC, row)))
                 for _ in range(12)]
        blocks.append(Block([
            [nodes.load(Mem.ACC, DmaFormat.W32, row, 256 * (i % 32), 16, 4, 16)], steps,
            [nodes.store(Mem.ACC, DmaFormat.W32, row, HALF + 256 * (i % 32), 16, 4, 16)]]))
    return Emitted([], runs(blocks, places), [])


def test_blocks_run_side_by_side():
    """A step takes 16 cycles, but one that waits for another begins 40 after it."""
    works = [chains(32, 8)]
    assert run(generate(CHIP, works))[1] < 32 * 12 * 22
    assert run(straight(works))[1] > 32 * 12 * 32


def test_stages_that_share_a_place_stay_in_order():
    """What would be loaded before it is used stays behind: three stages, one place."""
    works = [chains(32, 1)]
    assert legal(CHIP, naive(works), unrolled(pipeline(CHIP, works)))
    assert any(isinstance(node, Loop) for node in pipeline(CHIP, works))
    assert run(generate(CHIP, works))[0] == run(straight(works))[0]


def test_short_runs_are_plain_code(monkeypatch):
    """What a loop would keep apart overlaps: the end of one run and the beginning of the next."""
    short, long = [chains(12, 2), chains(12, 2)], [chains(14, 2)]
    monkeypatch.setattr(pipelining, "_PLAIN", 12 * 14)
    # Two beats of an instruction for some 14 cycles of work are fetched once, in a loop.
    assert any(isinstance(node, Loop) for node in pipeline(CHIP, short))
    monkeypatch.setattr(pipelining, "_FETCHED", 1)
    assert not any(isinstance(node, Loop) for node in pipeline(CHIP, short))
    assert any(isinstance(node, Loop) for node in pipeline(CHIP, long))
    assert legal(CHIP, naive(short), unrolled(pipeline(CHIP, short)))
    assert run(generate(CHIP, short))[0] == run(straight(short))[0]


def test_what_is_beside_is_put_into_order_together(monkeypatch):
    sizes = []
    ordered = pipelining.reorder

    def counted(config, ops, *rest, **options):
        sizes.append(len(ops))
        return ordered(config, ops, *rest, **options)

    monkeypatch.setattr(pipelining, "reorder", counted)
    alone, *both = (chains(12, 2) for _ in range(3))
    works = [replace(alone, beside=True), Emitted([], [], []),
             *(replace(work, beside=True) for work in both)]
    monkeypatch.setattr(pipelining, "_STRAIGHT", 2 * 12 * 14)
    pipeline(CHIP, works)
    assert sizes == [12 * 14, 2 * 12 * 14]
    sizes.clear()
    monkeypatch.setattr(pipelining, "_STRAIGHT", 3 * 12 * 14)
    pipeline(CHIP, works)
    assert sizes == [3 * 12 * 14]


def test_stages_that_meet_in_a_late_turn_stay_in_order():
    """Loads move towards what is stored, and reach it when the loop has long been running."""
    blocks = [Block([
        [nodes.load(Mem.ACC, DmaFormat.W32, i % 3 * 8, HALF - 320 + 16 * i, 1, 4, 16)],
        [nodes.vector(VectorOp.FADD, Dst.ACC, i % 3 * 8 + 4, 1,
                      ((Src.ACC, i % 3 * 8), (Src.SCALAR, 0x3F800000)))],
        [nodes.store(Mem.ACC, DmaFormat.W32, i % 3 * 8 + 4, HALF + 320 - 16 * i, 1, 4, 16)]])
        for i in range(38)]
    works = [Emitted([], runs(blocks, 3), [])]
    assert legal(CHIP, naive(works), unrolled(pipeline(CHIP, works)))
    assert run(generate(CHIP, works))[0] == run(straight(works))[0]


def test_nested_blocks_become_nested_loops():
    def size(outer):
        blocks = [Block([
            [nodes.load(Mem.ACC, DmaFormat.W32, j % 2 * 32, 16 * j + 512 * i, 8, 4, 16)],
            [nodes.store(Mem.ACC, DmaFormat.W32, j % 2 * 32, HALF + 32 * j + 1024 * i, 8, 4, 16)]])
            for i in range(outer) for j in range(40)]
        return len(generate(CHIP, [Emitted([], runs(blocks, 2), [])]).insns)

    assert size(8) == size(16)


def test_registers_run_short():
    """More addresses step in a loop than there are registers: they share them."""
    def block(i):
        return Block([[nodes.load(Mem.ACC, DmaFormat.W32, 4 * k, 16 * (i + 37 * k), 1, 4, 16)
                       for k in range(50)],
                      [nodes.store(Mem.ACC, DmaFormat.W32, 4 * k, HALF + 16 * (i + 37 * k), 1, 4,
                                   16) for k in range(50)]])

    works = [Emitted([], runs([block(i) for i in range(12)]), [])]
    code = generate(CHIP, works)
    assert len(code.insns) < 550
    assert run(code)[0] == run(straight(works))[0]


def test_steps_are_more_than_registers():
    def block(i):
        return Block([[nodes.load(Mem.ACC, DmaFormat.W32, 4 * k, 16 * i * k, 1, 4, 16)
                       for k in range(1, 41)],
                      [nodes.store(Mem.ACC, DmaFormat.W32, 4, HALF + 16 * i, 30, 4, 16, 4)]])

    works = [Emitted([], runs([block(i) for i in range(12)]), [])]
    assert run(generate(CHIP, works))[0] == run(straight(works))[0]


def test_strides_are_set_before_the_loop():
    work = product_work(np.random.default_rng(3), 30)
    names = [insn.instruction.mnemonic for insn in generate(CHIP, [work]).insns]
    assert 1 <= names.count("stride") <= 2
    assert "stride" not in names[names.index("loop"):]


def test_more_strides_than_registers():
    ops = [nodes.vector(VectorOp.MOV, Dst.ACC, 128 + 8 * i, 4, ((Src.ACC, i),), n1=2,
                        xa=(i + 2, 5, 0), xdst=(1, 4, 0)) for i in range(12)]
    works = [Emitted([], runs([Block([ops])] * 5), [])]
    assert run(generate(CHIP, works))[0] == run(straight(works))[0]


def test_a_tile_that_is_kept_is_not_parted_from_its_load():
    def block(i):
        return Block([
            [nodes.load(Mem.UB, DmaFormat.W32, i % 2 * 16, 128 * i, 8, 4, 16)],
            [nodes.matmul(MatmulFormat.BF16, i % 2 * 16, i % 2 * 16, 256 + 4 * i, 4, 4),
             nodes.matmul(MatmulFormat.BF16, i % 2 * 16 + 4, i % 2 * 16 + 4, 0, 4, 0, wload=False)],
            [nodes.store(Mem.ACC, DmaFormat.W32, i % 2 * 16, HALF + 128 * i, 8, 4, 16)]])

    works = [Emitted([], runs([block(i) for i in range(20)], 2), [])]
    assert run(generate(CHIP, works))[0] == run(straight(works))[0]


def test_a_run_of_blocks_is_what_its_steps_say():
    """Of a period of two blocks, with a step that rows and bytes show."""
    def block(i):
        return Block([
            [nodes.load(Mem.ACC, DmaFormat.W32, i % 2 * 8, 64 * i, 4, 4, 16)],
            [nodes.store(Mem.ACC, DmaFormat.W32, i % 2 * 8 + i // 2, HALF + 32 * i, 2, 4, 16)]])

    def state(step):
        period = [block(0), block(1)]
        steps = [[[(0, 128)], [(step, 64)]]] * 2
        return run(generate(CHIP, [Emitted([], [BlockRun(period, steps, 21)])]))[0]

    wanted = [op for i in range(21) for op in block(i).operations]
    assert state(1) == run(assemble(StrideRegisters().give(wanted)))[0]
    assert state(2) != state(1)
