"""Loops, branches and addresses from registers, against the same operations written out."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from works import CHIP, HALF, WORDS, map_work, naive, product_work, run, runs

from celosia.arch.isa import LOOP_DEPTH, DmaFormat, Mem
from celosia.arch.vector import Dst, Src, VectorOp
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.assemble import assemble
from celosia.compiler.codegen.blocks import Block, Choose, Emitted, ReadScalar, Repeat
from celosia.compiler.codegen.generate import generate
from celosia.compiler.codegen.nodes import Base
from celosia.compiler.codegen.strides import StrideRegisters

#: Accumulator rows that hold numbers: of each base, of each index, and counters.
BASES, INDEXES, COUNTERS = 501, 504, 508


def written_out(ops):
    return assemble(StrideRegisters().give(ops))


def dynamic(rng, base, value, count):
    """Work on addresses that a base is part of, and the same with its value."""
    first, high = int(rng.integers(64)) * 16, bool(rng.integers(2))
    rows = int(rng.integers(2, 6))

    def ops(extra, **where):
        blocks = []
        for i in range(count):
            place = 16 * (i % 2)
            target = (HALF if high else 0) + 16 * rows * i
            blocks.append(Block([
                [nodes.load(Mem.ACC, DmaFormat.W32, place, first + 16 * rows * i + extra, rows, 4,
                            16, **where)],
                [nodes.vector(VectorOp.FADD, Dst.ACC, place + 8, rows,
                              ((Src.ACC, place), (Src.ACC, place)), xdst=(1, 0, 0)),
                 nodes.store(Mem.ACC, DmaFormat.W32, place + 8, target + extra, rows, 4, 16,
                             **where)]]))
        return Emitted([], runs(blocks, 2), [])

    return ops(0, base=base, reach=(0, 4 * WORDS - 1)), naive([ops(value)])


@dataclass
class Maker:
    """Makes items, and the operations that they come down to."""

    rng: np.random.Generator
    setup: dict[int, int] = field(default_factory=dict)

    def __post_init__(self):
        for row in range(BASES, INDEXES):
            self.setup[row] = 16 * int(self.rng.integers(0, 40))
        for row in range(INDEXES, COUNTERS):
            self.setup[row] = int(self.rng.choice([0, 1, 2, 7, 0xFFFFFFFF]))

    def items(self, depth, bases):
        items, ops = [], []
        bases = dict(bases)
        for _ in range(self.rng.integers(1, 4)):
            kind = self.rng.integers(7 if depth < 3 else 4)
            if kind < 2:
                work = (map_work, product_work)[kind](self.rng, int(self.rng.integers(1, 9)))
                made, done = [work], naive([work])
            elif kind == 2:
                row = BASES + int(self.rng.integers(3))
                base = Base(f"row {row}")
                bases[base] = self.setup[row]
                made, done = [ReadScalar(base, row)], []
            elif kind == 3:
                if not bases:
                    continue
                base = list(bases)[self.rng.integers(len(bases))]
                work, done = dynamic(self.rng, base, bases[base], int(self.rng.integers(1, 9)))
                made = [work]
            else:
                made, done = (self.choose, self.repeat, self.loop)[kind - 4](depth, bases)
            items += made
            ops += done
        return items, ops

    def choose(self, depth, bases):
        row = INDEXES + int(self.rng.integers(4))
        branches = [self.items(depth + 1, bases) for _ in range(self.rng.integers(1, 4))]
        chosen = branches[min(self.setup[row], len(branches) - 1)]
        return [Choose(row, [items for items, _ in branches], "case")], chosen[1]

    def repeat(self, depth, bases):
        count = int(self.rng.integers(0, 4))
        items, ops = self.items(depth + 1, bases)
        return [Repeat(items, count=count, source="scan")], ops * count

    def loop(self, depth, bases):
        count, row = int(self.rng.integers(0, 3)), COUNTERS + depth
        begin = [nodes.vector(VectorOp.MOV, Dst.ACC, row, 1, ((Src.SCALAR, count + 1),))]
        down = [nodes.vector(VectorOp.ISUB, Dst.ACC, row, 1, ((Src.ACC, row), (Src.SCALAR, 1)))]
        items, ops = self.items(depth + 1, bases)
        return ([Emitted(begin), Repeat(items, [Emitted(down)], row, source="while")],
                begin + down + (ops + down) * count)


@pytest.mark.parametrize("seed", range(40))
def test_random_control_does_what_it_comes_down_to(seed):
    maker = Maker(np.random.default_rng(seed))
    items, ops = maker.items(0, {})
    assert run(generate(CHIP, items), maker.setup)[0] == run(written_out(ops), maker.setup)[0]


@pytest.mark.parametrize("depth", [0, 1, LOOP_DEPTH])
@pytest.mark.parametrize("step", [64, -32, 0])
def test_bases_that_count_on(depth, step):
    rng = np.random.default_rng(depth)
    bases = [Base("up"), Base("other")]
    count, firsts = 5, (640, 256)
    works = [dynamic(np.random.default_rng(i), base, 0, int(rng.integers(1, 4)))[0]
             for i, base in enumerate(bases)]
    items = [Repeat(works, count=count, source="scan",
                    counts=((bases[0], firsts[0], step), (bases[1], firsts[1], 16)))]
    done = []
    for turn in range(count):
        for i, by in enumerate((step, 16)):
            done += [op if op.base is None else op.with_varying(
                (op.words[0], op.words[1] + firsts[i] + turn * by)) for op in works[i].operations]
    done = [op._replace(base=None, reach=None) for op in done]
    for _ in range(depth):
        items, done = [Repeat(items, count=2, source="outer")], done * 2
    assert run(generate(CHIP, items))[0] == run(written_out(done))[0]


def test_counted_repetitions_nest_deeper_than_the_loop_stack():
    add = nodes.vector(VectorOp.IADD, Dst.ACC, 0, 1, ((Src.ACC, 0), (Src.ACC_ROW, 1)))
    items = [Emitted([add])]
    for _ in range(LOOP_DEPTH + 3):
        items = [Repeat(items, count=2, source="scan")]
    assert run(generate(CHIP, items))[0] == run(written_out([add] * 2 ** (LOOP_DEPTH + 3)))[0]


def test_bases_that_live_at_once_are_as_many_as_registers():
    bases = [Base(f"b{i}") for i in range(33)]
    fetches = [ReadScalar(base, BASES) for base in bases]
    uses = [Emitted([nodes.load(Mem.ACC, DmaFormat.W32, 0, 0, 1, 4, 16, base=base,
                                reach=(0, 15))]) for base in bases]
    for fetch, use in zip(fetches, uses, strict=True):
        assert generate(CHIP, [fetch, use]).insns
    assert generate(CHIP, [item for pair in zip(fetches, uses, strict=True) for item in pair]).insns
    with pytest.raises(ValueError, match=r"^base b32 must have a scalar register, but all 32 hold "
                                         r"something else$"):
        generate(CHIP, fetches + uses)


def test_a_base_in_a_loop_is_added_once():
    base = Base("start")
    work, _ = dynamic(np.random.default_rng(0), base, 0, 40)
    program = generate(CHIP, [ReadScalar(base, BASES), work])
    names = [insn.instruction.mnemonic for insn in program.insns]
    loop = names.index("loop")
    assert "add" in names[:loop]
    assert names[loop:].count("add") < 12
