"""The instructions that the vector unit is measured with, and what is said of them."""

import pytest

from celosia.arch.config import preset
from celosia.bench import vector
from celosia.bench.vector import VectorMeasurement, lines, vector_unit
from celosia.program.asm import format_insn

#: By name, on core4, walks of 64 rows: those whose operands are not those of most.
INSTRUCTIONS = {
    "iadd": "iadd, acc[68, x1], acc[0, x1], acc[32, x1], n0=32, n1=2",
    "requant": "requant, acc[68, x1], acc[0, x1], acc_row[64], acc_row[64], n0=32, n1=2, lo=-128, "
               "hi=127",
    "select": "select, acc[68, x1], acc[0, x1], acc[32, x1], acc_row[64], n0=32, n1=2",
    "transpose": "transpose, acc[68, x1], acc[0, x1], n0=32, n1=2",
    "rotate": "rotate, acc[68, x1], acc[0, x1], scalar[3], n0=32, n1=2",
    "gather": "gather, acc[68, x1], acc[0], acc[65, x1], n0=4, n1=16, param=4",
    "scatter": "scatter, acc[68], acc[0, x1], acc[65, x1], n0=4, n1=16, param=4",
    "mov, clamp_i": "mov, acc[68, x1], acc[0, x1], post=clamp_i, n0=32, n1=2, param=pair(0, 16384)",
    "mov, div": "mov, acc[68, x1], acc[0, x1], none, acc_row[64], post=div, n0=32, n1=2",
    "mov, collect and": "mov, acc[68, x1], acc[0, x1], reduce=collect, reduce_op=and, n0=4, n1=16",
    "mov, lanes sum_f": "mov, acc[68, x1], acc[0, x1], reduce=lanes, reduce_op=sum_f, n0=32, n1=2",
}
BEFORE = ["load    acc[0], 0x0, fmt=w32, rows=65, cols=4, pitch=16",
          "vector  mov, acc[65], lane_index[0], n0=1", "stride  x1, 1", "fence"]


@pytest.fixture
def programs(monkeypatch):
    """The programs that are run, each of which takes a cycle more than the one before."""
    found = {}

    def occupied(device, program, x):
        found[program.name] = [format_insn(each) for each in program.insns]
        return 6 + len(found)

    monkeypatch.setattr(vector, "_occupied", occupied)
    return found


def test_an_instruction_runs_alone_on_what_was_loaded(programs):
    measured = list(vector_unit(preset("core4"), "model", 64))
    assert programs["nothing"] == [*BEFORE, "halt"]
    assert list(programs) == ["nothing", *(each.name for each in measured)]
    for name, text in INSTRUCTIONS.items():
        assert programs[name] == [*BEFORE, f"vector  {text}", "halt"], name
    assert [each.cycles for each in measured] == [*range(1, 80 + 1)]
    assert all(each.rows_per_cycle == 64 / each.cycles for each in measured)


def test_a_chip_is_measured_with_what_it_has(programs):
    names = [each.name for each in vector_unit(preset("nano"), "model", 64)]
    assert len(names) == 42
    assert not [name for name in names if name.endswith("_f") or name in ("fadd", "mov, exp2")]


def test_the_model_takes_a_row_a_cycle():
    for each in vector_unit(preset("nano"), "model", 96):
        assert (each.cycles, each.rows_per_cycle, each.bit_exact) == (96, 1, True), each.name


def test_lines():
    made = [VectorMeasurement("mov, exp2", "core4", "rtl", 1024, cycles, 1024 / cycles, exact)
            for cycles, exact in ((1024, True), (2048, False), (12345, None))]
    assert list(lines(iter(made))) == [
        "instruction                rows  cycles  rows a cycle  bit for bit",
        "mov, exp2                 1,024   1,024         1.000  yes",
        "mov, exp2                 1,024   2,048         0.500  NO",
        "mov, exp2                 1,024  12,345         0.083  not checked"]


def test_the_unit_is_occupied_in_all_states_with_an_instruction():
    class Device:
        def run(self, program, inputs):
            assert (program, inputs) == ("program", {"x": "x"})
            return self

        counters = {"vpu_idle": 1, "vpu_busy": 10, "vpu_wait_deps": 100, "vpu_wait_memory": 1000,
                    "vpu_wait_bus": 10_000, "vpu_wait_unit": 100_000, "mxu_busy": 1_000_000}

    assert vector._occupied(Device(), "program", "x") == 111_010


@pytest.mark.parametrize(("rows", "good"), [
    (-32, False), (0, False), (31, False), (32, True), (48, False), (64, True),
    (4 * 65535 + 4, False), (4 * 65535 + 36, False)])
def test_rows_of_a_walk(programs, rows, good):
    measured = vector_unit(preset("core4"), "model", rows)
    if good:
        assert next(measured).rows == rows
    else:
        with pytest.raises(ValueError, match="^--rows must be a multiple of 32 of at most 262140 "
                                             f"on core4, not {rows}$"):
            next(measured)
