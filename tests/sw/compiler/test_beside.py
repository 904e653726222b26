"""Which pieces of work change their order, and which run side by side, by the cycles they take."""

import pytest
from copying import VALUE, tensor, whole

from celosia.arch.config import PRESETS
from celosia.arch.isa import MatmulFormat
from celosia.compiler.kernels.terms import Extent
from celosia.compiler.lowered import (
    Access,
    Cluster,
    Convolution,
    Dot,
    Fill,
    Move,
    Read,
    While,
    Write,
)
from celosia.compiler.lowering.order import longest_last, side_by_side
from celosia.compiler.views import View

CORE = PRESETS["core"]  # 16 lanes
ALL, HALF, LEFT, QUARTER, REST = (0, 8), (0, 4), (4, 8), (0, 2), (2, 8)


class Program:
    """Work on tensors that are known by names."""

    def __init__(self):
        self.tensors = {}

    def at(self, name):
        return whole(self.tensors.setdefault(name, tensor(name)))

    def work(self, text, nodes=0, *, deep=0, rows=512, batch=1, product=None):
        """Return work that is called as it reads and writes: "a b > c"; of 16 panels.

        A node takes 8,192 cycles, and so does a tile of the depth.
        """
        reads, _, writes = text.partition(">")
        space = (batch, rows, 256) if deep else (rows, 256)
        if deep:
            lhs = Access(tensor("left"), View.contiguous((1, rows, 16 * deep)))
            product = Dot(MatmulFormat.BF16, lhs, Access(tensor("right"), lhs.view))
        return Cluster(space, len(space) - 1, product, None, (VALUE.node,) * nodes,
                       tuple(Read(VALUE, Extent.FULL, self.at(name)) for name in reads.split()),
                       tuple(Write(VALUE, Extent.FULL, self.at(name)) for name in writes.split()),
                       text)


@pytest.fixture
def p():
    return Program()


def found(works):
    """Return names, with what is not as it was: shares of both memories, and whether it streams."""
    return [(work.source, work.share, work.buffer, work.stream) if isinstance(work, Cluster) and (
        work.share, work.buffer, work.stream) != (ALL, ALL, False) else work.source
        for work in works]


def beside(*works):
    return found(side_by_side(CORE, works))


def test_a_product_comes_beside_vector_work_that_it_does_not_wait_for(p):
    vector, product = p.work("x > y", 4), p.work("a > b", deep=4)
    assert beside(vector, product) == [("a > b", HALF, ALL, False), ("x > y", LEFT, ALL, False)]
    # Not where it waits, or the other does, or writes the same.
    for text in ("y > b", "a > x", "a > y"):
        assert beside(vector, p.work(text, 5, deep=4)) == ["x > y", text]
    for text in ("y > z", "x > z"):
        assert beside(vector, p.work(text, 1), product) == [
            ("a > b", HALF, ALL, False), ("x > y", LEFT, ALL, False), text]


@pytest.mark.parametrize(("nodes", "deep", "rows", "good"), [
    (4, 4, 512, True), (3, 4, 512, False), (4, 3, 512, False), (4, 128, 512, True),
    (4, 129, 512, False), (5, 4, 511, False), (5, 5, 511, True)])
def test_only_long_work_comes_side_by_side(p, nodes, deep, rows, good):
    """From 2**15 cycles on; products of up to 2**20."""
    works = p.work("x > y", nodes), p.work("a > b", deep=deep, rows=rows)
    assert (beside(*works) != ["x > y", "a > b"]) == good


def test_as_many_products_come_as_vector_work_takes_cycles(p):
    vector = p.work("x > y", 8)
    products = [p.work(f"a{i} > b{i}", deep=4) for i in range(3)]
    assert beside(vector, *products) == [
        ("a0 > b0", HALF, ALL, False), ("a1 > b1", HALF, ALL, False),
        ("x > y", LEFT, ALL, False), "a2 > b2"]
    # What has been taken is no more there for the next.
    other = p.work("u > v", 4)
    assert beside(vector, other, *products) == [
        ("a0 > b0", HALF, ALL, False), ("a1 > b1", HALF, ALL, False),
        ("x > y", LEFT, ALL, False), ("a2 > b2", HALF, ALL, False), ("u > v", LEFT, ALL, False)]


def test_a_product_that_waits_holds_up_others_that_wait_for_it(p):
    vector = p.work("x > y", 4)
    assert beside(vector, p.work("y > z", 5, deep=4), p.work("z > w", 5, deep=4),
                  p.work("a > b", deep=4)) == [
        ("a > b", HALF, ALL, False), ("x > y", LEFT, ALL, False), "y > z", "z > w"]


def test_vector_work_runs_beside_the_product_whose_rows_it_takes(p):
    for nodes in (0, 4):
        assert beside(p.work("a > x", nodes, deep=4), p.work("x > y", 4)) == [
            ("a > x", QUARTER, ALL, True), ("x > y", REST, ALL, False)]
    # Not where the product takes longer, has more vector work, or comes in a batch.
    for nodes, deep, batch in ((0, 5, 1), (5, 4, 1), (0, 2, 2)):
        assert beside(p.work("a > x", nodes, deep=deep, batch=batch), p.work("x > y", 4)) == [
            "a > x", "x > y"]


def test_vector_work_runs_beside_the_product_that_takes_its_rows(p):
    vector, product = p.work("x > y", 4), p.work("y > z", deep=4)
    assert beside(vector, product) == [("x > y", REST, ALL, False), ("y > z", QUARTER, ALL, True)]
    # What is short, and comes between, comes behind; but not where the product needs it.
    for rows, text in ((255, "y > u"), (256, "y > u"), (255, "y > b")):
        works = beside(vector, p.work(text, 1, rows=rows), p.work("y b > z", deep=4))
        assert works == ([("x > y", REST, ALL, False), ("y b > z", QUARTER, ALL, True), text]
                         if rows < 256 and text == "y > u" else ["x > y", text, "y b > z"])
    both = beside(p.work("a > x", deep=4), vector, product)
    assert both == [("a > x", QUARTER, ALL, True), ("x > y", REST, ALL, False),
                    ("y > z", QUARTER, ALL, True)]


def test_products_with_long_vector_work_have_others_beside_them(p):
    long, other = p.work("a > b", 16, deep=4), p.work("c > d", deep=4)
    wanted = [("a > b", REST, QUARTER, False), ("c > d", QUARTER, REST, False)]
    assert beside(long, other) == wanted
    assert beside(other, long) == wanted
    # Half an instruction for each node has to take 2**15 cycles more than the product.
    assert beside(p.work("a > b", 15, deep=4), other) == ["a > b", "c > d"]
    assert beside(p.work("a > b", 16, deep=5), other) == ["a > b", "c > d"]
    assert beside(p.work("a > b", 18, deep=5), other) == wanted
    # One before it has to take that long; behind it several may.
    longer = p.work("a > b", 18, deep=4)
    assert beside(other, longer) == ["c > d", "a > b"]
    more = p.work("e > f", deep=4)
    assert beside(longer, other, more) == [*wanted, ("e > f", QUARTER, REST, False)]
    for text in ("b > d", "c > a", "c > b"):
        assert beside(long, p.work(text, deep=4)) == ["a > b", text]
    # The last one before it comes first to mind.
    assert beside(other, more, long) == [
        "c > d", wanted[0], ("e > f", QUARTER, REST, False)]


def last(*works):
    return [work.source for work in longest_last(CORE, works)]


def test_the_longest_product_comes_last(p):
    product = p.work("a > b", deep=4)
    one, waits, then = p.work("x > y", 1), p.work("b > c", 1), p.work("c > d", 1)
    assert last(product, one) == ["x > y", "a > b"]
    assert last(product, waits, one, then) == ["x > y", "a > b", "b > c", "c > d"]
    assert last(one, product) == ["x > y", "a > b"]
    assert last(waits, then) == ["b > c", "c > d"]
    for text in ("x > a", "x > b"):
        assert last(product, p.work(text, 1)) == ["a > b", text]
    # It has to take longer than all that follows; of two the first that does.
    assert last(product, p.work("x > y", 4)) == ["a > b", "x > y"]
    assert last(product, one, p.work("u > v", 2)) == ["x > y", "u > v", "a > b"]
    first = p.work("e > f", deep=8)
    assert last(first, product, one) == ["a > b", "x > y", "e > f"]
    assert last(p.work("e > f", deep=4), product, one) == ["e > f", "x > y", "a > b"]


def test_what_moves_takes_time_and_control_flow_for_ever(p):
    product = p.work("a > b", deep=1, rows=16)  # 256 cycles
    target = tensor("t", (64, 64))

    def moved(*shape):
        part = Access(target, View.contiguous(shape))
        return Move(Access(tensor("s", shape), part.view), part, "moved")

    for other, short in ((moved(3, 16), True), (moved(64, 64), False),
                         (Fill(whole(target), 0, "moved"), False),
                         (Fill(Access(target, View.contiguous((2, 16))), 0, "moved"), True),
                         (While((), None, (), 1, "moved"), False)):
        assert last(product, other) == (["moved", "a > b"] if short else ["a > b", "moved"])


def test_a_convolution_takes_a_tile_for_each_tap(p):
    """It is no product that others come beside, but takes its time."""
    weights = Access(tensor("w"), View.contiguous((3, 2, 17, 256)))
    convolution = p.work("x > y", product=Convolution(MatmulFormat.BF16, weights, weights, (1, 1),
                                                      (1, 1)))
    # 12 tiles of the depth.
    assert last(p.work("a > b", deep=12), convolution) == ["a > b", "x > y"]
    assert last(p.work("a > b", deep=13), convolution) == ["x > y", "a > b"]
    assert last(convolution, p.work("a > b", 1)) == ["x > y", "a > b"]
    assert beside(p.work("a > b", 4), convolution) == ["a > b", "x > y"]
