"""What runs do, counted, and what that is by published tables."""

from dataclasses import replace

import pytest

from celosia.arch.config import preset
from celosia.arch.vector import VectorOp
from celosia.profile import Record, facts, text
from celosia.profile.energy import TABLES, _kind, counts, energy
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


@pytest.mark.parametrize(("chip", "picojoules"), [
    # A row of the unified buffer has half a word of 64 bits, of the accumulators two.
    ("nano", [(50 * .5 * 10, 60 * 2 * 10), (50 * .5 * 7.5, 60 * 2 * 7.5)]),
    # Here four and eight, in memories of 512 and 128 KiB.
    ("core", [(50 * 4 * 100, 60 * 8 * 100), (50 * 4 * 14, 60 * 8 * 14)]),
])
def test_joules_are_counts_times_what_was_published(chip, picojoules):
    found = energy({"products_int8": 7000, "products_bf16": 5000, "int_add": 100, "int_mul": 200,
                    "float_add": 300, "float_mul": 400, "ub_rows": 50, "acc_rows": 60,
                    "dram_bytes": 800}, preset(chip))
    wanted = [
        {"array": 7000 * .3 + 5000 * 2, "vector unit": 100 * .1 + 200 * 3.1 + 300 * .9 + 400 * 3.7,
         "external memory": 100 * 1300},
        {"array": 7000 * .1 + 5000 * .59,
         "vector unit": 100 * .03 + 200 * 1.48 + 300 * .38 + 400 * 1.31,
         "external memory": 100 * 350}]
    for each, parts, (buffer, sums) in zip(found, wanted, picojoules, strict=True):
        parts |= {"unified buffer": buffer, "accumulators": sums}
        assert each["parts"] == pytest.approx({name: part / 1e12 for name, part in parts.items()})
        assert each["joules"] == pytest.approx(sum(parts.values()) / 1e12)


def test_instructions_count_as_what_they_compute():
    """What multiplies costs most; what only moves or compares counts as an addition."""
    def kind(text):
        [insn, _] = assemble(f".chip core\n{text}\nhalt").insns
        return _kind(insn)
    products = {"imul": "int_mul", "requant": "int_mul", "fmul": "float_mul", "ffma": "float_mul",
                "fmulc": "float_mul"}
    floats = {"fadd", "fsub", "fmax", "fmin", "fabs", "fneg", "feq", "fne", "flt", "fle", "fgt",
              "fge", "isfinite", "i2f"}
    [plain, _] = assemble(".chip core\nvector iadd, acc[0], acc[8], acc[16], n0=4\nhalt").insns
    for op in VectorOp:
        name = op.name.lower()
        insn = replace(plain, fields={**plain.fields, "op": int(op)})
        assert _kind(insn) == products.get(name, "float_add" if name in floats else "int_add"), name
    assert kind("matmul acc[0], ub[0], ub[64], fmt=int8, n0=8, wrows=16") == "products_int8"
    assert kind("matmul acc[0], ub[0], ub[64], fmt=bf16, n0=8, wrows=16") == "products_bf16"
    assert kind("load ub[0], 0, fmt=bf16, rows=6, cols=4, pitch=8") == ""
    assert kind("store ub[0], 0, fmt=bf16, rows=6, cols=4, pitch=8") == ""


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
