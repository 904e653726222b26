"""The order of work: long vector work beside products that do not wait for it."""

from dataclasses import replace

import numpy as np
import pytest

import celosia
from celosia import driver
from celosia.arch.config import PRESETS
from celosia.arch.isa import Mem
from celosia.compiler.emit.emitter import Emitter
from celosia.compiler.lowered import WHOLE, Cluster, Region
from celosia.compiler.lowering import lower, order
from celosia.compiler.memory import plan_arena
from celosia.compiler.selection import SelectionOptions
from celosia.graph import DType, Graph, TensorType, op, parameter

CORE = PRESETS["core"]
F32 = DType.F32


def chain(x, count):
    """Vector work of so many instructions."""
    for _ in range(count):
        x = op("abs", op("exp", x))
    return x


def product(a, b):
    a, b = (op("convert", x, dtype=DType.BF16) for x in (a, b))
    return op("dot", a, b, contract=((1, 0),), dtype=F32)


def beside(nodes=4, rows=512):
    """Vector work, and a product of which it is no part."""
    x, a, b = (parameter(TensorType(F32, shape)) for shape in ((rows, 256), (rows, 64), (64, 256)))
    return Graph("beside", [x, a, b], [chain(x, nodes), product(a, b)])


def behind(nodes, rows=512):
    """A product, and vector work on its rows."""
    a, b = (parameter(TensorType(F32, shape)) for shape in ((rows, 64), (64, 256)))
    made = op("slice", product(a, b), start=(1, 0), limit=(rows, 256), stride=(1, 1))
    return Graph("behind", [a, b], [chain(made, nodes)])


def before(nodes, rows=512):
    """Vector work, what is short, and a product of the rows that it makes."""
    x, b = (parameter(TensorType(F32, shape)) for shape in ((rows, 256), (256, 128)))
    made = chain(x, nodes)
    short = op("negate", op("slice", made, start=(0, 0), limit=(16, 256), stride=(16, 1)))
    return Graph("before", [x, b], [short, product(made, b)])


def within(*, first, rows=512):
    """A product with long vector work on its results, and one that is no part of it."""
    x, a, b, c = (parameter(TensorType(F32, shape)) for shape in (
        (rows, 64), (64, 256), (rows, 256), (256, 256)))
    both = [chain(product(x, a), 16), product(b, c)]
    return Graph("within", [x, a, b, c], both[::-1] if first else both)


def clusters(graph):
    return [work for work in lower(CORE, celosia.compiler.canonical(graph)).works
            if isinstance(work, Cluster)]


def parts(graph):
    """What pieces of work are, and whether they have all of the accumulators."""
    return [(work.kind, work.share == WHOLE) for work in clusters(graph)]


def test_products_come_before_vector_work_that_they_do_not_wait_for():
    assert parts(beside()) == [("dot", False), ("map", False)]


def test_vector_work_is_beside_the_product_whose_rows_it_reads():
    assert parts(behind(6)) == [("dot", False), ("map", False)]
    assert parts(behind(1)) == [("dot", True), ("map", True)]  # the product is longer


def test_vector_work_is_beside_the_product_that_reads_its_rows():
    works = clusters(before(12))
    # What is short has come behind both.
    assert [work.kind for work in works[:2]] == ["map", "dot"]
    assert len(works) > 2
    assert [work.share == WHOLE for work in works] == [False, False] + [True] * (len(works) - 2)
    assert [work.stream for work in works[:2]] == [False, True]
    assert works[0].share[0] == works[1].share[1]
    assert all(whole for _, whole in parts(before(1)))  # the product is longer


def test_vector_work_is_beside_both_products():
    x, a, b = (parameter(TensorType(F32, shape)) for shape in ((512, 64), (64, 256), (256, 128)))
    rows = op("slice", product(x, a), start=(1, 0), limit=(512, 256), stride=(1, 1))
    works = clusters(Graph("both", [x, a, b], [product(chain(rows, 20), b)]))
    assert [(work.kind, work.stream) for work in works] == [
        ("dot", True), ("map", False), ("dot", True)]
    assert works[0].share == works[2].share != works[1].share


@pytest.mark.parametrize("first", [False, True])
def test_a_product_fills_what_vector_work_leaves_of_the_array(first):
    one, other = clusters(within(first=first))
    assert (len(one.nodes) > 1, len(other.nodes)) == (True, 0)
    assert one.share[0] == other.share[1]
    assert one.buffer[1] == other.buffer[0]


def test_what_is_short_or_waits_stays_as_it_is():
    assert parts(beside(rows=128)) == [("map", True), ("dot", True)]
    x, b = (parameter(TensorType(F32, shape)) for shape in ((512, 64), (64, 256)))
    waits = Graph("waits", [x, b], [product(op("reshape", chain(
        op("reshape", x, shape=(128, 256)), 20), shape=(512, 64)), b)])
    assert all(whole for _, whole in parts(waits))


def emitted(graph, region, **changed):
    """What is emitted for a graph, where each piece of work may use a region."""
    made = lower(CORE, celosia.compiler.canonical(graph))
    if changed:
        made.works[:] = [replace(work, **changed) for work in made.works]
    fixed = [*made.inputs, *made.outputs, *made.constants]
    plan_arena(made.works, fixed, 1 << 30)
    emitter = Emitter(CORE, SelectionOptions(), dict.fromkeys(made.works, region))
    return emitter, emitter.items(made.works)


def test_both_products_have_a_part_of_the_unified_buffer():
    _, items = emitted(within(first=True), Region(range(16, CORE.ub_rows), range(CORE.acc_rows)))
    assert [item.beside for item in items] == [True, True]
    one, other = (item.private[Mem.UB] for item in items)
    assert (one.start, other.stop) == (16, CORE.ub_rows)
    assert one.stop == other.start


@pytest.mark.parametrize("graph", [beside(), behind(6)], ids=lambda graph: graph.name)
def test_each_has_accumulators_of_its_own(graph):
    _, items = emitted(graph, Region(range(CORE.ub_rows), range(4, CORE.acc_rows)))
    assert [item.beside for item in items] == [True, True]
    one, other = (item.private[Mem.ACC] for item in items)
    assert (one.start, other.stop) == (4, CORE.acc_rows)
    assert one.stop == other.start


@pytest.mark.parametrize("stream", [False, True])
def test_rows_that_others_wait_for_are_complete_one_after_the_other(stream):
    """The first block has all columns of a few rows, or all rows of a few columns."""
    x, b = (parameter(TensorType(F32, shape)) for shape in ((512, 256), (256, 256)))
    graph = Graph("rows", [x, b], [product(op("exp", x), b)])
    _, items = emitted(graph, Region(range(CORE.ub_rows), range(CORE.acc_rows)), stream=stream)
    tiles = [op for op in items[-1].blocks[0].operations if op.mnemonic == "matmul"]
    assert (len(tiles) == (256 // CORE.dim) ** 2) == stream


def test_what_does_not_fit_its_share_has_all(monkeypatch):
    monkeypatch.setattr(order, "_WORTH", 1)
    few = beside(rows=16)
    emitter, items = emitted(few, Region(range(CORE.ub_rows), range(8, 12)))
    assert not emitter.too_large
    assert [item.private[Mem.ACC] for item in items] == [range(8, 12), range(8, 12)]
    assert not items[0].beside
    assert len(emitter.noted) == len(emitter.infos) == 2
    emitter, items = emitted(few, Region(range(CORE.ub_rows), range(8, 8)))
    assert not items
    assert [work.kind for work, _ in emitter.too_large] == ["dot", "map"]


@pytest.mark.parametrize(("graph", "worth", "most"), [
    (beside(), order._WORTH, 0.95), (behind(6), order._WORTH, 0.99),
    (before(12), order._WORTH, 0.95), (within(first=True, rows=128), order._WORTH // 4, 0.85)])
def test_results_are_the_same_and_come_sooner(monkeypatch, graph, worth, most):
    monkeypatch.setattr(order, "_WORTH", worth)
    rng = np.random.default_rng(0)
    arguments = [rng.standard_normal(value.type.shape).astype(np.float32) / 8
                 for value in graph.params]

    def run():
        compiled = celosia.compile(graph, CORE, cache=False)
        with driver.open("model", config=CORE) as device:
            return [each.tobytes() for each in compiled.run(device, *arguments)], (
                compiled.prediction.cycles)

    found, cycles = run()
    monkeypatch.setattr(order, "_WORTH", 1 << 40)
    wanted, before = run()
    assert found == wanted
    assert cycles < most * before
