"""What runs do, counted, and what that is by published tables."""

import pytest

from celosia.arch.config import preset
from celosia.profile import Record, facts, text
from celosia.profile.energy import TABLES, counts, energy
from celosia.program.asm import assemble

#: Three turns: 4 rows of vectors, of which one row is joined, and 8 rows through the array.
LOOP = """
.chip nano
.arena 4096
        mov r1, 3
        load ub[0], 0, fmt=i8, rows=6, cols=4, pitch=4
        load acc[64], 0, fmt=w32, rows=2, cols=6, pitch=64, group_step=2
loop r1, done
        vector imul, acc[0], acc[8], acc[16], n0=4
        vector iadd, acc[32], acc[40], scalar[1], n0=4, reduce=rows, reduce_op=sum_i
        matmul acc[100], ub[0], ub[8], fmt=int8, accumulate, n0=8, wrows=3
done:
        store ub[0], 0, fmt=i8, rows=3, cols=4, pitch=4
        halt
"""


@pytest.fixture(scope="module")
def record():
    return Record.of(assemble(LOOP), preset("nano"))


def test_every_row_counts(record):
    config = preset("nano")
    assert config.dim == 4
    found = counts(record)
    assert dict(found) == {
        "products_int8": 3 * 8 * config.pes, "int_mul": 3 * 4 * 4, "int_add": 3 * 4 * 4,
        "ub_rows": 6 + 3 * (8 + 3) + 3,
        "acc_rows": 2 * 2 + 3 * (3 * 4 + (4 + 1) + 2 * 8),
        "dram_bytes": record.prediction.bytes_read + record.prediction.bytes_written}
    assert found["products_int8"] == record.prediction.busy["mxu"] * config.pes
    moved = int(record.amount[(record.unit == 0) | (record.unit == 1)].sum())
    assert moved == 6 * 4 + 2 * 6 * 4 + 3 * 4


def test_parts_are_the_whole(record):
    found = energy(counts(record), record.config)
    assert [each["table"] for each in found] == [table.name for table in TABLES]
    for each in found:
        assert each["joules"] == pytest.approx(sum(each["parts"].values()))
        assert min(each["parts"].values()) > 0
    # pJ: a product of int8 and a sum of int32, 45 nm.
    assert found[0]["parts"]["array"] == pytest.approx(3 * 8 * 16 * 0.3e-12)
    assert found[0]["parts"]["external memory"] == pytest.approx(
        counts(record)["dram_bytes"] / 8 * 1300e-12)


@pytest.mark.parametrize(("table", "picojoules"), [
    (TABLES[0], [10, 10, 20, 20, 100, 100, 100]),
    (TABLES[1], [7.5, 7.5, 8.5, 8.5, 14, 14, 14])], ids=["45 nm", "7 nm"])
def test_memories_are_as_large_as_they_are(table, picojoules):
    sizes = 1, 8 << 10, (8 << 10) + 1, 32 << 10, (32 << 10) + 1, 1 << 20, 1 << 30
    assert [table.access(size) for size in sizes] == picojoules


@pytest.mark.extra(name="jax", default=True)
def test_a_profile_says_it(clean):
    known = facts(clean)
    last = text(known).splitlines()[-1]
    assert last.startswith("energy of such operations, published, not measured here: ")
    assert all(table.name in last for table in TABLES)
    assert known["counts"]["products_bf16"] == known["busy"]["mxu"] * clean.config.pes
