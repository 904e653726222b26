"""Predictions: what the golden model's clock says, without the golden model's work."""

import dataclasses

import numpy as np
import pytest

import celosia
from celosia import ops
from celosia.arch.config import PRESETS
from celosia.arch.encoding import Insn, Reg, insn
from celosia.model import Timing
from celosia.model.timing.predict import predict
from celosia.program import Program
from celosia.train import Classifier, training_step

CORE = PRESETS["core"]
READ = insn("read", rd=1, row=0, lane=0)


def program(*insns: Insn, sources: tuple[str, ...] = ()) -> Program:
    return Program(CORE.fingerprint, (*insns, insn("halt")), "test", sources, 1 << 20)


def vector(rows: int, dst: int = 0) -> Insn:
    return insn("vector", op="mov", dst_kind="acc", a_kind="scalar", dst=dst, n0=rows)


def test_agrees_with_the_model():
    """Cycles, counters and executed instructions of a program with loops are the model's."""
    made = ops.matmul(CORE, 96, 160, 80, "bf16")
    rng = np.random.default_rng(0)
    with celosia.open("model", "core") as device:
        run = device.run(made, {buffer.name: rng.standard_normal(buffer.shape).astype("bfloat16")
                                for buffer in made.inputs})
    found = predict(made, CORE)
    assert (found.cycles, found.instructions) == (run.cycles, run.instructions)
    assert {f"{unit}_busy": cycles for unit, cycles in found.busy.items()} == {
        name: cycles for name, cycles in run.counters.items() if name.endswith("_busy")}
    assert found.bytes_read == run.counters["bytes_read"]
    assert found.bytes_written == run.counters["bytes_written"]
    assert found.macs >= 96 * 160 * 80


def test_sources_share_the_cycles():
    made = training_step(CORE, Classifier(inputs=100, hidden=48, classes=7, batch=16)).program
    found = predict(made, CORE)
    assert sum(found.by_source.values()) == found.cycles
    assert set(found.by_source) <= set(made.sources)
    assert len(found.by_source) > 5


def test_what_runs_in_the_shadow_costs_nothing():
    made = program(vector(1000), insn("load", mem="acc", fmt="w32", row=1500, addr=0, rows=4,
                                      cols=16, pitch=64), vector(500, 1000),
                   sources=("first", "shadow", "second", ""))
    found = predict(made, CORE)
    assert found.by_source["second"] == 500
    assert "shadow" not in found.by_source
    assert found.by_source["first"] > 1000


def test_programs_without_sources():
    found = predict(program(vector(10)), CORE)
    assert found.by_source == {"": found.cycles}


def test_timing_is_that_of_the_memory():
    made = program(insn("load", mem="acc", fmt="w32", row=0, addr=0, rows=4, cols=16, pitch=64))
    slow, fast = (predict(made, CORE, Timing(read_latency=cycles)) for cycles in (500, 100))
    assert slow.cycles - fast.cycles == 2 * 400  # the fetch, and the load


def test_a_read_enters_what_depends_on_it():
    """While (read) body: once, or as often as is said; a conditional part is executed."""
    made = program(READ, insn("beq", a=Reg(1), b=0, target=4), vector(1000),
                   insn("jump", target=0))
    once, thrice, never = predict(made, CORE), predict(made, CORE, trips=3), predict(
        made, CORE, reads=lambda pc, count: 0)
    assert (once.busy["vpu"], thrice.busy["vpu"], never.busy["vpu"]) == (1000, 3000, 0)
    asked = []

    def reads(pc: int, count: int) -> int:
        asked.append((pc, count))
        return int(count < 2)

    assert predict(made, CORE, reads=reads).busy["vpu"] == 2000
    assert asked == [(0, 0), (0, 1), (0, 2)]


def test_programs_that_fault():
    with pytest.raises(ValueError, match=(
            r"^instruction 1 must not fault, it does with ILLEGAL_COUNT: n0, n1 and n2 must be 1 "
            r"to 65535, not 0, 1, 1$")):
        predict(program(insn("nop"), vector(0)), CORE)
    with pytest.raises(ValueError, match=r"^instruction 0 must not fault, it does with ACC_RANGE$"):
        predict(program(vector(1 << 12)), CORE)
    with pytest.raises(ValueError, match=r"with ILLEGAL_FIELD: fmt bf16 needs a chip with bf16$"):
        predict(program(insn("load", fmt="bf16", row=0, addr=0, rows=1, cols=1)),
                dataclasses.replace(CORE, bf16=False))
    with pytest.raises(ValueError, match=r"it does with PC_RANGE$"):
        predict(program(insn("jump", target=9)), CORE)


def test_programs_that_do_not_end():
    with pytest.raises(TimeoutError, match=(
            r"^the program must halt within 100 instructions, it is at instruction 0$")):
        predict(program(insn("jump", target=0)), CORE, max_instructions=100)
