"""Rotated loops run the same operations in the same order; which ones are rotated."""

import numpy as np
import pytest
from test_control import dynamic, written_out
from works import CHIP, map_work, product_work, run

from celosia.arch.isa import DmaFormat, Mem
from celosia.compiler.codegen import nodes
from celosia.compiler.codegen.blocks import Choose, Emitted, Repeat
from celosia.compiler.codegen.generate import generate
from celosia.compiler.codegen.nodes import Base
from celosia.compiler.codegen.rotate import rotated

COUNT = 5


def scan(seed, step, first=640, count=COUNT):
    """A loop whose turns do vector work on rows that a base counts, then a product."""
    rng = np.random.default_rng(seed)
    base = Base("row")
    works = [dynamic(rng, base, 0, int(rng.integers(1, 4)))[0],
             map_work(rng, int(rng.integers(1, 4))), product_work(rng, int(rng.integers(1, 6)))]
    return Repeat(works, count=count, source="scan", counts=((base, first, step),))


def turns(item, count=COUNT):
    """The operations of all turns, with what the base holds in each."""
    (_, first, step), = item.counts
    return [op if op.base is None else op.with_varying(
                (op.words[0], op.words[1] + first + turn * step))._replace(base=None, reach=None)
            for turn in range(count) for work in item.body for op in work.operations]


@pytest.mark.parametrize("step", [64, -32])
@pytest.mark.parametrize("seed", range(12))
def test_the_same_operations_in_the_same_order(seed, step):
    item = scan(seed, step)
    (loop,) = rotated(CHIP, [item])
    assert isinstance(loop, Repeat)
    # The address of a turn later must not be negative.
    fits = all(op.base is None or op.varying[1] + step >= 0 for op in item.body[0].operations)
    assert loop.count == COUNT - fits
    done = [*loop.before, *loop.body * loop.count, *loop.after]
    assert sum(work.size for work in done) == len(turns(item))
    assert run(generate(CHIP, [item]))[0] == run(written_out(turns(item)))[0]


def test_loops_in_branches_and_loops_are_rotated():
    def nested():
        return [Choose(504, [[Repeat([scan(1, 64)], count=2)]])]

    (choice,) = rotated(CHIP, nested())
    (outer,) = choice.branches[0]
    assert not outer.before
    assert outer.body[0].count == COUNT - 1
    assert run(generate(CHIP, nested()))[0] == run(written_out(turns(scan(1, 64)) * 2))[0]


def test_what_stays_as_it_is():
    item = scan(0, 64)
    vector, moved, product = item.body

    def stays(body, count=COUNT, counts=item.counts):
        loop = Repeat(body, count=count, counts=counts)
        return rotated(CHIP, [loop]) == [loop]

    assert not stays(item.body)
    assert stays(item.body, count=2)  # too few turns
    assert stays([product, vector, moved])  # products come first already
    assert stays([vector, product, moved])  # products do not come last
    assert stays([vector, moved])  # none at all
    assert stays([vector, Repeat([moved], count=2), product])  # control inside


def test_what_moves_to_the_turn_before():
    """All up to the work that has most vector work; what moves rows only may come behind it."""
    item = scan(0, 64)
    vector, moved, product = item.body
    copy = Emitted([nodes.load(Mem.ACC, DmaFormat.W32, 470, 0, 1, 4, 16),
                    nodes.store(Mem.ACC, DmaFormat.W32, 470, 16, 1, 4, 16)])
    (loop,) = rotated(CHIP, [Repeat([copy, vector, copy, product, copy], count=COUNT,
                                    counts=item.counts)])
    assert loop.before == [copy, vector]
    assert loop.after == [copy, product, copy]
    assert [work.size for work in loop.body] == [copy.size, product.size, copy.size, copy.size,
                                                 vector.size]
    (loop,) = rotated(CHIP, [Repeat([moved, product], count=COUNT)])
    assert loop.before == [moved]
