"""What a report says, as data and as text."""

import json
from dataclasses import replace

import pytest

import celosia
from celosia.arch.isa import DmaFormat, Mem
from celosia.compiled.artifact import Compiled
from celosia.compiled.parts import Apart, WorkInfo
from celosia.compiled.report import _ratio, roofline
from celosia.compiler.lowered import OnChip, Tensor
from celosia.graph import DType, parse

GRAPH = """graph net(
  %0: f32[4,16] "x",
  %1: i8[64] "n"
) {
  return %0, %1
}
"""
CHIP_TENSORS = [
    Tensor("h", (4, 40), DType.F32, DmaFormat.W32, OnChip(Mem.ACC, 100)),
    Tensor("w", (8,), DType.BF16, DmaFormat.BF16, OnChip(Mem.UB, 16)),
    Tensor("gone", (8,), DType.BF16, DmaFormat.BF16, None),
]


@pytest.fixture
def compiled(copying):
    return celosia.compile(parse(GRAPH), options={"tensors": CHIP_TENSORS})


def test_facts(compiled):
    facts = compiled.report(json=True)
    assert json.loads(json.dumps(facts)) == facts
    assert facts["name"] == "net"
    assert facts["inputs"] == [["x", "f32[4,16]"], ["n", "i8[64]"]]
    assert facts["cycles"] == compiled.prediction.cycles > 0
    assert facts["other_cycles"] + sum(work["cycles"] for work in facts["works"]) == \
        facts["cycles"]
    assert [work["bytes"] for work in facts["works"]] == [512, 128]
    assert facts["roofline"] == {"array": 0, "vector": 0, "memory": 10}
    assert (facts["bound"], facts["ideal_cycles"]) == ("memory", 10)
    assert facts["works"][0]["cycles"] == compiled.prediction.by_source["copy 0"]
    assert facts["memory"] == [
        {"name": "in0", "type": "f32[4,16]", "memory": "external", "first": 0, "size": 256},
        {"name": "in1", "type": "i8[64]", "memory": "external", "first": 256, "size": 64},
        {"name": "out0", "type": "f32[4,16]", "memory": "external", "first": 320, "size": 256},
        {"name": "out1", "type": "i8[64]", "memory": "external", "first": 576, "size": 64},
        {"name": "w", "type": "bf16[8]", "memory": "ub", "first": 16, "size": 1},
        {"name": "h", "type": "f32[4,40]", "memory": "acc", "first": 100, "size": 12}]


def test_text(compiled):
    lines = compiled.report().splitlines()
    cycles = f"{compiled.prediction.cycles:,}"
    assert lines[0] == "net, for core (16x16 array, 32 bytes a cycle to memory)"
    assert lines[1] == "takes         x f32[4,16], n i8[64]"
    assert lines[2] == "gives         out0 f32[4,16], out1 i8[64]"
    assert lines[3] == "instructions  5 (160 bytes)"
    assert lines[4] == f"expected      {cycles} cycles, the array used to 0.0%"
    assert lines[5] == ("at best       10 cycles, bound by the memory (array 0, vector 0, memory "
                        "10)")
    head = lines.index(next(line for line in lines if line.startswith("work")))
    assert lines[head].split() == ["work", "where", "cycles", "share", "at", "best", "bound",
                                   "array", "bytes", "operations"]
    assert lines[head + 1].split()[:2] == ["move", "chip"]
    assert lines[head + 2] == "    copies of streams; copy 0"
    assert lines[-5:] == [
        "  0x00000240            64 bytes  out1  i8[64]",
        "unified buffer, 16,384 rows",
        "  rows 16..16                    w  bf16[8]",
        "accumulators, 2,048 rows",
        "  rows 100..111                  h  f32[4,40]"]


def test_proofs(copying):
    proof = "net.py:1: divide: " + "times 1 / x, " * 10 + "as it is small"
    compiled = celosia.compile(parse(GRAPH), options={"proofs": [proof]})
    assert compiled.report(json=True)["proofs"] == [proof]
    lines = compiled.report().splitlines()
    at = lines.index("short forms that keep the bound")
    assert lines[at + 1].startswith("  net.py:1: divide: times 1 / x,")
    assert lines[at + 2].startswith("    ")
    assert lines[at + 2].endswith("as it is small")
    assert lines[at + 3] == ""
    assert "short forms" not in celosia.compile(parse(GRAPH)).report()


def test_what_is_not_fused(copying):
    pairs = [Apart(f"exp f.py:{i + 1}", f"dot f.py:{i + 2}", "just so")
             for i in range(5)]
    pairs.insert(1, Apart("reduce f.py:9", "tanh f.py:9", "it is ready at the end only"))
    compiled = celosia.compile(parse(GRAPH), options={"apart": pairs})
    facts = compiled.report(json=True)["apart"]
    assert facts[1] == ["reduce f.py:9", "tanh f.py:9", "it is ready at the end only"]
    assert len(facts) == 6
    lines = compiled.report().splitlines()
    at = lines.index("not fused")
    assert lines[at + 1:at + 4] == [
        "  just so: " + "; ".join(f"exp f.py:{i + 1} with dot f.py:{i + 2}" for i in range(3))
        + "; and 2 more",
        "  it is ready at the end only: reduce f.py:9 with tanh f.py:9",
        ""]
    assert "not fused" not in celosia.compile(parse(GRAPH)).report()


def with_works(compiled, works):
    return Compiled.of_chip(replace(compiled.on_chip, works=tuple(works)), compiled.config)


def test_roofline():
    config = celosia.preset("core")
    works = tuple(WorkInfo("dot", "", ("dot",), "chip", "", *numbers)
                  for numbers in ((1000, 3, 100, 99), (25, 1, 1, 0)))
    assert roofline(config, works) == {"array": 5, "vector": 4, "memory": 4}
    writing = replace(works[0], bytes_read=10)
    assert roofline(config, (writing, works[1]))["memory"] == 3
    assert roofline(config, ()) == {"array": 0, "vector": 0, "memory": 0}


def test_works_of_one_source_share_its_cycles(compiled):
    works = [WorkInfo("dot", "copy 0", ("dot",), "chip", "", macs=256 * weight)
             for weight in (9, 29, 1)]
    shared = with_works(compiled, works)
    cycles = [work["cycles"] for work in shared.report(json=True)["works"]]
    total = compiled.prediction.by_source["copy 0"]
    assert sum(cycles) == total
    assert cycles[1] == pytest.approx(total * 30 / 42, abs=1)
    assert cycles[2] < cycles[0] < cycles[1]


def test_long_lines_are_wrapped_between_arguments(copying):
    params = ",\n".join(f'  %{i}: f32[4,16] "parameter{i}"' for i in range(20))
    text = f"graph many(\n{params}\n) {{\n  return %0\n}}\n"
    lines = celosia.compile(parse(text)).report().splitlines()
    end = next(i for i, line in enumerate(lines) if line.startswith("gives"))
    assert end > 3
    assert all(len(line) <= 110 and line.endswith(",") for line in lines[1:end - 1])
    assert all(line.startswith(" " * 14 + "parameter") for line in lines[2:end])


def test_operations_are_counted(compiled):
    work = WorkInfo("map", "copy 0", ("add", "abs", *("add",) * 8, *"abcdef"), "chip", "")
    report = with_works(compiled, [work]).report()
    assert "  9 add, abs, a, b, c, d and 2 more\n" in report


def test_a_share_of_nothing_is_nothing():
    assert [_ratio(1, 4), _ratio(0, 0)] == [0.25, 0]
