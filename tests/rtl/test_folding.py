"""A chip with fewer lanes or banks runs the files of the chip with all, in as many cycles as
predicted.

Networks and instructions alone within 1 %; networks at random within 1 % on average.
"""

from dataclasses import replace

import numpy as np
import pytest

from celosia import ops
from celosia.arch.config import BANKS, preset
from celosia.arch.encoding import insn
from celosia.driver import Device
from celosia.driver import open as open_device
from celosia.model.timing.predict import predict
from celosia.program import Program
from celosia_sim.rtl import RtlTransport
from celosia_sim.verilog import chip_verilog
from folded import MEASURED, folded

CHIP, FLOATING = preset("nano"), preset("core4")
INSTRUCTIONS = [
    {"op": "mov"}, {"op": "iadd", "b_kind": "acc", "b": 128},
    {"op": "iadd", "b_kind": "acc", "b": 125}, {"op": "imul", "b_kind": "lane_index"},
    {"op": "requant", "b_kind": "acc_row", "b": 132, "c_kind": "acc_row", "c": 136,
     "param": 0x7F8003, "dst_kind": "ub_i8"},
    {"op": "transpose"}, {"op": "rotate", "b_kind": "scalar", "b": 3},
    {"op": "gather", "a_kind": "ub_i8", "b_kind": "acc", "b": 200, "n0": 4, "n1": 32, "param": 8},
    {"op": "mov", "reduce": "rows", "n0": 4, "n1": 32},
    {"op": "mov", "reduce": "lanes", "reduce_op": "max_i"},
    {"op": "mov", "reduce": "collect", "n0": 4, "n1": 32},
]
#: More of a chip with bf16, on which a sum takes as many cycles as a row has beats.
SUMS = [
    {"op": "fadd", "b_kind": "acc", "b": 128},
    {"op": "ffma", "b_kind": "acc_row", "b": 132, "c_kind": "acc_row", "c": 136},
    {"op": "mov", "post": "exp2"}, {"op": "mov", "reduce": "rows", "n0": 4, "n1": 32,
                                    "reduce_op": "sum_f"},
    {"op": "mov", "reduce": "lanes", "reduce_op": "sum_f"},
    {"op": "mov", "reduce": "collect", "n0": 4, "n1": 32, "reduce_op": "sum_f"},
]
FOLDED = [replace(CHIP, lanes=lanes, banks=banks)
          for lanes, banks in ((2, BANKS), (1, BANKS), (1, 2), (1, 1))]


#: Those of which each is folded as far as it goes: two lanes and two banks fold in the same ways.
_FURTHEST = [config for config in FOLDED if config.lanes == 1 and config.banks in (1, BANKS)]


@pytest.fixture(params=[pytest.param(
    config, marks=() if config in _FURTHEST else pytest.mark.slow,
    id=f"{config.lanes}-lanes-{config.banks}-banks") for config in FOLDED])
def config(request):
    return request.param


@pytest.fixture
def chip(config, request):
    """Open the chip. That with one lane and all banks is in the form for synthesis, in which
    test_lockstep.py compiles it; it takes the same cycles.
    """
    simulation = config.lanes == 2 or config.banks < BANKS
    if simulation:
        request.getfixturevalue("few_cycles")
    text = chip_verilog(config, simulation=simulation)
    with Device(RtlTransport(config, verilog=text)) as device:
        yield device


#: Sizes of layers, and rows: one has more for the array to do, one for the vector unit.
NETWORKS = [((40, 24, 10), 48), ((16, 16), 128)]


def network(sizes=NETWORKS[0][0], rows=NETWORKS[0][1], chip=CHIP):
    rng = np.random.default_rng(7)
    layers = [ops.Dense(rng.integers(-128, 128, (k, n), np.int8),
                        rng.integers(-3000, 3000, n).astype(np.int32), relu=n > 10,
                        scale=rng.uniform(1e-3, 1e-2, n), zero_point=3)
              for k, n in zip(sizes, sizes[1:], strict=False)]
    return (ops.dense_network(chip, rows, layers),
            rng.integers(-128, 128, (rows, sizes[0]), np.int8))


@pytest.mark.parametrize(("sizes", "rows"), NETWORKS)
def test_one_file_runs_on_every_folding(config, chip, tmp_path, sizes, rows):
    program, x = network(sizes, rows)
    program.save(tmp_path / "network")
    found = Program.load(tmp_path / "network")
    names = {buffer.kind: buffer.name for buffer in found.buffers}
    with open_device("model", config=CHIP) as model:
        wanted = model.run(found, {names["input"]: x})
    result = chip.run(found, {names["input"]: x})
    assert result[names["output"]].tobytes() == wanted[names["output"]].tobytes()
    assert predict(found, config).cycles == pytest.approx(result.counters["cycles"], rel=0.01)


def test_cycles_of_instructions_are_predicted(config, chip):
    """Each alone, 128 rows, beside those of a program that only halts."""
    alone(config, chip, INSTRUCTIONS)


def alone(config, chip, instructions):
    def program(*insns):
        return Program(config.fingerprint, (*insns, insn("halt")), "alone")

    idle = chip.run(program(), {}).counters["cycles"] - predict(program(), config).cycles
    for fields in instructions:
        made = program(insn("vector", **({"a_kind": "acc", "dst_kind": "acc", "dst": 256,
                                          "n0": 128} | fields)))
        cycles = chip.run(made, {}).counters["cycles"] - idle
        assert predict(made, config).cycles == pytest.approx(cycles, rel=0.01), fields


@pytest.mark.slow
@pytest.mark.parametrize("lanes", [2, 1])
def test_cycles_of_sums_are_predicted(lanes):
    config = replace(FLOATING, lanes=lanes)
    with Device(RtlTransport(config, verilog=chip_verilog(config))) as chip:
        alone(config, chip, [*INSTRUCTIONS, *SUMS])
        repeated = Program(config.fingerprint, (*[insn(
            "matmul", acc=0, acts=0, w=64, wrows=4, n0=64, fmt="bf16", accumulate=1)] * 8,
            insn("halt")), "repeated")
        cycles = chip.run(repeated, {}).counters["cycles"]
    assert predict(repeated, config).cycles == pytest.approx(cycles, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "lanes", "banks"), [
    *(("nano", config.lanes, config.banks) for config in FOLDED), ("nano", 4, 4), ("edge", 2, 4),
    ("edge", 2, 2), ("edge", 4, 4), ("edge", 8, 4), ("core4", 1, 4), ("core4", 2, 4)])
def test_cycles_of_networks_at_random_are_predicted(few_cycles, name, lanes, banks):
    """Sizes are mostly no multiple of the array's."""
    config, rng = replace(preset(name), lanes=lanes, banks=banks), np.random.default_rng(1)
    off = {}
    with Device(RtlTransport(config, verilog=chip_verilog(config))) as chip:
        for _ in range(15):
            sizes = tuple(map(int, rng.integers(4, 64, rng.integers(2, 5))))
            rows = int(rng.integers(4, 100))
            program, x = network(sizes, rows, preset(name))
            names = {buffer.kind: buffer.name for buffer in program.buffers}
            cycles = chip.run(program, {names["input"]: x}).counters["cycles"]
            off[sizes, rows] = predict(program, config).cycles / cycles - 1
    print(off)
    assert np.abs([*off.values()]).mean() <= 0.01
    assert np.abs([*off.values()]).max() <= 0.03


@pytest.mark.slow
@pytest.mark.parametrize(("network", "lanes", "banks"), [
    (network, *form) for network, forms in MEASURED.items() for form in forms])
def test_what_the_cycle_model_is_measured_with_is_what_the_rtl_takes(few_cycles, network, lanes,
                                                                     banks):
    config, program = folded(network, lanes, banks)
    inputs = {buffer.name: np.zeros(buffer.shape, np.int8) for buffer in program.buffers
              if buffer.kind == "input"}
    with Device(RtlTransport(config, verilog=chip_verilog(config))) as chip:
        cycles = chip.run(program, inputs).counters["cycles"]
    assert cycles == MEASURED[network][lanes, banks]
