"""The real chip, smallest preset, in the harness: memory timing, faults, waveforms."""

import numpy as np
import pytest
from stub import random_bytes

from celosia.arch.config import preset
from celosia.arch.faults import Fault
from celosia.driver import ChipFault, Device
from celosia.ops.gemm import matmul
from celosia_sim.rtl import ErrorRange, RtlTransport, SimOptions

NANO = preset("nano")
A = random_bytes(20 * 17).view(np.int8).reshape(20, 17)
B = random_bytes(17 * 9, 2).view(np.int8).reshape(17, 9)
PRODUCT = A.astype(np.int32) @ B


@pytest.fixture(scope="module")
def device():
    device = Device(RtlTransport(NANO))
    yield device
    device.close()


def run(device: Device, **options) -> int:
    """Run a product with a memory of these options; return its cycles."""
    assert isinstance(device.transport, RtlTransport)
    device.transport.set_options(SimOptions(**options))
    result = device.run(matmul(NANO, 20, 17, 9), {"a": A, "b": B})
    np.testing.assert_array_equal(result["c"], PRODUCT)
    return device.counters()["cycles"]


def test_slow_memory_costs_time_and_nothing_else(device):
    near, far = run(device, read_latency=1, write_latency=1), run(device, read_latency=500)
    assert near < far
    moved = device.counters()["bytes_read"]
    assert run(device, read_latency=1, bytes_per_cycle=0.5) > moved / 0.5


@pytest.mark.parametrize("seed", range(5))
def test_random_stalls_change_no_result(device, seed):
    run(device, stall_seed=seed, stall_rate=0.4, read_latency=20)


def test_onchip_memories_are_found(device):
    assert device.transport.chip.rows("ub") == (NANO.ub_rows, NANO.ub_row_bits // 8)
    assert device.transport.chip.rows("acc") == (NANO.acc_rows, NANO.acc_row_bits // 8)
    run(device)
    assert device.transport.peek("acc", 0, NANO.acc_rows).any()


@pytest.mark.parametrize(("errors", "cause"), [
    (ErrorRange(0, (1 << 31) - 1, write=False), Fault.BUS_READ),
    (ErrorRange(0, (1 << 31) - 1, read=False), Fault.BUS_WRITE),
    (ErrorRange(1 << 31, (1 << 32) - 1), Fault.BUS_FETCH),
])
def test_bus_errors_are_faults_and_the_chip_goes_on(device, errors, cause):
    # The driver places arrays from the beginning of the memory on and code at its end.
    with pytest.raises(ChipFault) as caught:
        run(device, errors=(errors,))
    assert caught.value.cause == cause
    run(device)


@pytest.mark.slow
def test_waveform_of_a_run(tmp_path):
    """A chip that traces takes a minute to compile; test_waveform.py has the small one."""
    path = tmp_path / "run.fst"
    device = Device(RtlTransport(NANO, SimOptions(trace=path, trace_cycles=(0, 100))))
    device.close()
    assert path.stat().st_size > 1000
