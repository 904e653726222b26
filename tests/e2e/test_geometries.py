"""The largest presets, up to the 65,536 elements of the TPU v1 paper: built once, run once."""

import numpy as np
import pytest

from celosia.arch.config import preset
from celosia.driver import Device
from celosia.driver.model import ModelTransport
from celosia.ops.gemm import matmul
from celosia.program import DTYPES
from celosia_sim.rtl import RtlTransport


@pytest.mark.slow
@pytest.mark.parametrize(("name", "fmt"), [("v1", "int8"), ("v2", "bf16")])
def test_one_product(name, fmt):
    config = preset(name)
    program = matmul(config, 256, 256, 256, fmt)
    rng = np.random.default_rng(1)
    a, b = rng.integers(-128, 128, (2, 256, 256)).astype(DTYPES[program.buffer("a").dtype])
    chip, model = Device(RtlTransport(config)), Device(ModelTransport(config))
    try:
        got, expected = (device.run(program, {"a": a, "b": b})["c"] for device in (chip, model))
    finally:
        chip.close()
        model.close()
    assert got.tobytes() == expected.tobytes()
    # Products of small integers: exact in either format.
    np.testing.assert_array_equal(got, a.astype(np.int32) @ b.astype(np.int32))
