"""The whole of Celosia in a minute: an assembly program, a compiled product, a fault; on the golden
model and on the RTL.
"""

import numpy as np
import pytest

import celosia
from celosia import ChipFault
from celosia.arch import registers
from celosia.arch.faults import Fault
from celosia.ops.gemm import matmul
from celosia.program.asm import assemble

pytestmark = pytest.mark.smoke

NANO = celosia.preset("nano")
#: y = relu(x @ w + b), in int32.
DENSE = """
        .chip nano
        .buffer x, int8[6, 4], input
        .buffer w, int8[4, 4], input
        .buffer b, int32[4], input
        .buffer y, int32[6, 4], output
        load    ub[0], @x, fmt=i8, rows=6, cols=4, pitch=4
        load    ub[8], @w, fmt=i8, rows=4, cols=4, pitch=4
        load    acc[100], @b, fmt=w32, rows=1, cols=4
        matmul  acc[0], ub[0], ub[8], fmt=int8, n0=6, wrows=4
        vector  iadd, acc[0], acc[0], acc_row[100], post=relu_i, n0=6
        store   acc[0], @y, fmt=w32, rows=6, cols=4, pitch=16
        halt
"""


@pytest.fixture(scope="module", params=["model", "rtl"])
def device(request):
    with celosia.open(request.param, "nano") as device:
        yield device


def test_assembly_program(device):
    rng = np.random.default_rng(1)
    x, w = rng.integers(-128, 128, (6, 4), np.int8), rng.integers(-128, 128, (4, 4), np.int8)
    b = rng.integers(-1000, 1000, 4, np.int32)
    result = device.run(assemble(DENSE), {"x": x, "w": w, "b": b})
    np.testing.assert_array_equal(result["y"], np.maximum(x.astype(np.int32) @ w + b, 0))


def test_compiled_product(device):
    rng = np.random.default_rng(2)
    a, b = rng.integers(-128, 128, (13, 9), np.int8), rng.integers(-128, 128, (9, 21), np.int8)
    result = device.run(matmul(NANO, 13, 9, 21), {"a": a, "b": b})
    np.testing.assert_array_equal(result["c"], a.astype(np.int32) @ b)


@pytest.mark.parametrize("device", ["rtl"], indirect=True)
def test_counters_account_for_every_cycle(device):
    ones = np.ones((8, 8), np.int8)
    device.run(matmul(NANO, 8, 8, 8), {"a": ones, "b": ones})
    counters = device.counters()
    assert counters["cycles"] > 0
    for unit in registers.UNIT_NAMES:
        assert counters["cycles"] == sum(counters[f"{unit}_{state.name.lower()}"]
                                         for state in registers.Activity), unit


def test_fault_names_the_instruction_and_the_chip_recovers(device):
    beyond = assemble(DENSE.replace("store   acc[0]", f"store   acc[{NANO.acc_rows - 5}]"))
    zeros = {"x": np.zeros((6, 4), np.int8), "w": np.zeros((4, 4), np.int8),
             "b": np.zeros(4, np.int32)}
    with pytest.raises(ChipFault, match="store") as caught:
        device.run(beyond, zeros)
    assert caught.value.cause is Fault.ACC_RANGE
    assert caught.value.pc == 5
    assert not device.run(assemble(DENSE), zeros)["y"].any()
