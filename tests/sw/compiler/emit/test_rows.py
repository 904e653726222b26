"""Gathers and scatters of rows, on the golden model."""

import numpy as np
import pytest
from moving import NANO, SMALL, Memory, everything, whole

from celosia.compiler.emit.rows import emit_gather, emit_scatter
from celosia.compiler.errors import CompileError
from celosia.compiler.lowered import Access, GatherRows, Region, ScatterRows
from celosia.compiler.views import View

CASES = [(5, 3, 4), (30, 9, 17), (40, 40, 11), (9, 70, 5), (300, 20, 6), (700, 50, 9),
         (20, 2000, 3), (300, 700, 5), (1, 1, 1), (60, 64, 1)]


def bits(rng, dtype, shape):
    """Random elements; of bf16 those that a store from the accumulators keeps."""
    if dtype == "bf16":
        return rng.integers(0x80, 0x7F00, shape).astype(np.uint16)
    if dtype == "i8":
        return rng.integers(-128, 128, shape).astype(np.int8)
    return rng.integers(0, 1 << 32, shape, np.uint32)


@pytest.mark.parametrize("config", [SMALL, NANO], ids=lambda config: config.name)
@pytest.mark.parametrize("dtype", ["f32", "bf16", "i8"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_rows_by_index(config, dtype, case):
    if dtype == "bf16" and not config.bf16:
        pytest.skip("no bf16")
    r, k, c = case
    memory = Memory(config, r + k)
    rng = np.random.default_rng(r * k)
    values, rows = bits(rng, dtype, (r, c)), bits(rng, dtype, (k, c))
    index = rng.integers(0, r, k).astype(np.int32)
    table = memory.tensor("table", (r, c), dtype, values=values)
    indices = memory.tensor("indices", (k,), values=index)
    updates = memory.tensor("updates", (k, c), dtype, values=rows)
    out = memory.tensor("out", (k, c), dtype)
    region = everything(config)
    after, _, _ = memory.run(emit_gather(
        config, GatherRows(whole(table), whole(indices), whole(out)), region))
    np.testing.assert_array_equal(memory.array(out, after), memory.array(table)[index])
    emitted = emit_scatter(config, ScatterRows(whole(table), whole(indices), whole(updates)),
                           region)
    after, _, _ = memory.run(emitted)
    overlapped, _, _ = memory.run(emitted, scheduled=True)
    assert overlapped == after
    expected = memory.array(table).copy()
    for i, row in zip(index, memory.array(updates), strict=True):
        expected[i] = row
    np.testing.assert_array_equal(memory.array(table, after), expected)


def test_indices_that_do_not_stay_on_chip():
    memory = Memory(SMALL)
    rng = np.random.default_rng(3)
    index = rng.integers(0, 50, 900).astype(np.int32)
    table = memory.tensor("table", (50, 6))
    indices = memory.tensor("indices", (900,), values=index)
    out = memory.tensor("out", (900, 6))
    emitted = emit_gather(SMALL, GatherRows(whole(table), whole(indices), whole(out)),
                          Region(range(0), range(3, 203)))
    assert not any(op.mnemonic == "load" for op in emitted.before)
    after, _, _ = memory.run(emitted)
    np.testing.assert_array_equal(memory.array(out, after), memory.array(table)[index])
    overlapped, _, _ = memory.run(emitted, scheduled=True)
    assert overlapped == after


@pytest.mark.parametrize("seed", range(4))
def test_rows_within_larger_tensors(seed):
    rng = np.random.default_rng(seed)
    memory = Memory(SMALL, seed)
    table, updates = memory.tensor("table", (40, 12), "i8"), memory.tensor("u", (30, 20), "i8")
    index = rng.integers(0, 30, 20).astype(np.int32)
    indices = memory.tensor("indices", (25,), values=np.arange(25, dtype=np.int32))
    memory.write(indices, np.concatenate([np.zeros(3, np.int32), index, np.zeros(2, np.int32)]))
    columns = 4 + seed
    part = Access(table, View(2 * 12 + 4, (30, columns), (12, 1)))
    rows = Access(updates, View(8, (20, columns), (20, 1)))
    which = Access(indices, View(3, (20,), (1,)))
    after, _, _ = memory.run(emit_scatter(SMALL, ScatterRows(part, which, rows),
                                          everything(SMALL)), scheduled=True)
    expected = memory.array(table).copy()
    for i, row in zip(index, memory.array(updates), strict=False):
        expected[2 + i, 4:4 + columns] = row[8:8 + columns]
    np.testing.assert_array_equal(memory.array(table, after), expected)
    after, _, _ = memory.run(emit_gather(SMALL, GatherRows(part, which, rows),
                                         everything(SMALL)), scheduled=True)
    expected = memory.array(updates).copy()
    expected[:20, 8:8 + columns] = memory.array(table)[2 + index, 4:4 + columns]
    np.testing.assert_array_equal(memory.array(updates, after), expected)


@pytest.mark.parametrize(("view", "text"), [
    (View(0, (8, 4), (1, 8)), "rows of a must be in order and elements of a row one after another"),
    (View(28, (8, 4), (-4, 1)), "rows of a must be in order")])
def test_what_cannot_be_a_table(view, text):
    memory = Memory(SMALL)
    a, b = memory.tensor("a", (8, 4)), memory.tensor("b", (3, 4))
    indices = memory.tensor("indices", (3,))
    with pytest.raises(CompileError, match=text):
        emit_gather(SMALL, GatherRows(Access(a, view), whole(indices), whole(b)),
                    everything(SMALL))


def test_indices_must_lie_one_after_another():
    memory = Memory(SMALL)
    a, b = memory.tensor("a", (8, 4)), memory.tensor("b", (3, 4))
    indices = memory.tensor("indices", (3, 2))
    with pytest.raises(CompileError, match="^take must have indices that lie one after another, "
                                           "not View"):
        emit_gather(SMALL, GatherRows(whole(a), Access(indices, View(0, (3,), (2,))), whole(b),
                                      "take"), everything(SMALL))


def test_a_region_without_rows():
    memory = Memory(SMALL)
    a, b = memory.tensor("a", (8, 4)), memory.tensor("b", (3, 4))
    indices = memory.tensor("indices", (3,))
    with pytest.raises(CompileError, match="^take must have more than 9 rows of accumulators for "
                                           "a table and what goes in or out of it$"):
        emit_gather(SMALL, GatherRows(whole(a), whole(indices), whole(b), "take"),
                    Region(range(0), range(9)))
