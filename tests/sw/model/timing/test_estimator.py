"""What the estimate of cycles promises; how near it is to the RTL is a test of the RTL."""

import dataclasses

import pytest

from celosia.arch.config import PRESETS, TpuConfig
from celosia.arch.encoding import Insn, encode, insn
from celosia.model import Machine, ModelResult, Timing

CORE = PRESETS["core"]
NOP = insn("nop")


def run(*insns: Insn, config: TpuConfig = CORE, timing: Timing | None = None) -> ModelResult:
    machine = Machine(config, timing=timing)
    machine.memory.write(0, b"".join(map(encode, [*insns, insn("halt")])))
    result = machine.run(0, len(insns) + 1, [(0x8000, 0xFFFFF)])
    assert not result.cause
    return result


def cycles(*insns: Insn, **options) -> int:
    return run(*insns, **options).cycles - run(**options).cycles


def vector(dst: int, n0: int, a: int | None = None) -> Insn:
    source = {"a_kind": "scalar"} if a is None else {"a_kind": "acc", "a": a}
    return insn("vector", op="mov", dst_kind="acc", dst=dst, n0=n0, **source)


def matmul(n0: int, acc: int = 0, **options) -> Insn:
    return insn("matmul", acc=acc, acts=0, w=2048, n0=n0, wrows=CORE.dim, **options)


def load(rows: int, row: int = 0, mem: str = "acc", addr: int = 0x8000) -> Insn:
    return insn("load", mem=mem, fmt="w32", row=row, addr=addr, rows=rows, cols=CORE.dim,
                pitch=4 * CORE.dim)


def test_scalar_instructions():
    assert cycles(*[NOP] * 100) == pytest.approx(300, abs=4)
    mul = insn("mul", rd=1, a=2, b=3)
    assert cycles(*[mul] * 100) == pytest.approx(400, abs=4)


def test_a_loop_is_fetched_once():
    loop = insn("loop", count=1000, end=2)
    narrow = dataclasses.replace(CORE, bus_bytes=4)
    assert cycles(loop, NOP, config=narrow) == pytest.approx(3000, abs=80)
    assert cycles(*[NOP] * 1000, config=narrow) == pytest.approx(8000, abs=80)


def test_rows_take_a_cycle_each():
    assert cycles(vector(0, 500)) - cycles(vector(0, 100)) == 400
    assert cycles(matmul(500)) - cycles(matmul(100)) == 400
    assert cycles(load(500)) - cycles(load(100)) == 800  # 2 beats of 32 bytes each


def test_units_overlap_where_they_can():
    a, b = vector(0, 500), load(250, 500)
    together = cycles(a, b)
    assert together < 1.3 * max(cycles(a), cycles(b))
    dependent = cycles(a, load(250, 400))
    assert dependent > cycles(a) + cycles(b) - 100


def test_a_run_of_matmuls_has_no_bubble():
    run_of = [matmul(64, 64 * i) for i in range(16)]
    assert cycles(*run_of) == pytest.approx(16 * 64 + 3 * CORE.dim + 17, abs=4)


def test_the_window_limits_the_overlap():
    narrow = dataclasses.replace(CORE, window=2)
    loads = [load(1, i) for i in range(32)]
    assert cycles(*loads, config=narrow) > 2 * cycles(*loads)


def test_latency_of_the_memory():
    slow, fast = Timing(read_latency=500), Timing(read_latency=10)
    assert cycles(load(1), timing=slow) - cycles(load(1), timing=fast) == 490
    few = Timing(outstanding=1)
    assert cycles(load(64), timing=few) > 60 * few.read_latency


def test_fence_waits():
    alone = cycles(vector(0, 300))
    assert cycles(vector(0, 300), NOP) == alone
    assert cycles(vector(0, 300), insn("fence"), NOP) == pytest.approx(alone, abs=8)


def test_read_waits():
    alone, read = cycles(vector(0, 300)), insn("read", rd=1, row=0, lane=3)
    assert cycles(vector(0, 300), read, NOP) == pytest.approx(alone, abs=12)
    assert cycles(*[read] * 10) == pytest.approx(90, abs=8)


def test_what_takes_longer_than_its_rows():
    """As measured on the RTL of core."""
    plain = cycles(vector(0, 64, a=100))

    def more(op: str = "mov", **fields) -> int:
        return cycles(insn("vector", **{"op": op, "dst_kind": "acc", "a_kind": "acc", "dst": 0,
                                        "a": 100, "n0": 64} | fields)) - plain

    joined = {"reduce_op": "max_f"}
    assert more() == 0
    assert more(reduce="lanes", **joined) == 5
    assert more(reduce="rows", **joined) <= 1
    assert more("transpose", n0=64) == 17
    indexed = {"b_kind": "acc", "b": 300, "n0": 16, "n1": 4, "param": 8}
    assert more(n0=16, n1=4) == 2
    assert more("iadd", b_kind="acc", b=300) == 2
    assert more("gather", **indexed) == 7
    assert more("scatter", **indexed) == 5


@pytest.mark.parametrize(("apart", "fields"), [
    (7, {}), (7, {"op": "iadd", "b_kind": "lane_index"}),
    (8, {"op": "iadd", "b_kind": "acc", "b": 300}),
    (8, {"op": "iadd", "b_kind": "acc_row", "b": 300}),
    (9, {"op": "requant", "b_kind": "acc_row", "b": 300, "c_kind": "acc_row", "c": 301}),
    (9, {"n1": 2}), (11, {"n1": 2, "n2": 2}),
    (11, {"op": "iadd", "b_kind": "acc", "b": 300, "n1": 2}),
], ids=str)
def test_short_instructions_take_what_the_checker_takes(apart, fields):
    """As measured on the RTL of edge, and said by hw/celosia_hw/scalar/check.py."""
    def some(count: int) -> int:
        return cycles(*[insn("vector", **({"op": "mov", "dst_kind": "acc", "a_kind": "acc",
                                           "dst": 8 * i, "a": 200 + 8 * i, "n0": 1} | fields))
                        for i in range(count)])

    assert some(12) - some(6) == 6 * apart


@pytest.mark.parametrize(("config", "apart"), [
    (CORE, 16), (dataclasses.replace(PRESETS["nano"], window=16), 8)], ids=("core", "nano"))
def test_short_matmuls_take_what_the_checker_takes(config, apart):
    """Or as long as a tile takes to load."""
    def some(count: int, **more: int) -> int:
        return cycles(*[insn("matmul", fmt="int8", acc=8 * i, acts=0, w=65, n0=1,
                             wrows=config.dim, **more) for i in range(count)], config=config)

    assert some(12) - some(6) == 6 * apart
    assert some(12, n1=2) - some(6, n1=2) == 6 * max(apart, 10)


def test_short_transfers_take_what_the_checker_takes():
    loads = [load(1, i) for i in range(12)]
    assert cycles(*loads) - cycles(*loads[:6]) == 6 * 11


def test_counters():
    result = run(load(4), load(4, 8), vector(16, 32), matmul(5),
                 insn("store", mem="acc", fmt="i8", row=0, addr=0x9000, rows=3, cols=5, pitch=5))
    counters = result.counters
    assert counters["cycles"] == result.cycles
    assert counters["instructions"] == result.instructions == 6
    assert (counters["bytes_read"], counters["bytes_written"]) == (2 * 4 * 64, 15)
    assert (counters["load_busy"], counters["vpu_busy"], counters["store_busy"]) == (16, 32, 3)


@pytest.mark.parametrize(("config", "lanes", "rows", "apart"), [
    ("core4", 1, 3, 8), ("core4", 1, 4, 8), ("core4", 1, 5, 10), ("core4", 1, 7, 14),
    ("core4", 1, 8, 8), ("core4", 1, 12, 12), ("core4", 2, 5, 10), ("core4", 2, 6, 8),
    ("core4", 4, 5, 8), ("edge", 2, 2, 10), ("edge", 2, 4, 12), ("edge", 2, 5, 9)])
def test_a_matmul_waits_for_the_sums_that_it_adds_to(config, lanes, rows, apart):
    """As measured on the RTL, a matmul behind another: a row that comes again too soon waits."""
    chip = dataclasses.replace(PRESETS[config], lanes=lanes)

    def some(count: int) -> int:
        return cycles(*[insn("matmul", acc=0, acts=16 * (i % 8), w=600, wrows=chip.dim, n0=rows,
                             fmt="bf16" if chip.bf16 else "int8", accumulate=1)
                        for i in range(count)], config=chip)

    assert some(30) - some(10) == pytest.approx(20 * apart, abs=3)
