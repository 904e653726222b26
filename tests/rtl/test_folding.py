"""A chip with fewer lanes than D: the files of the chip without, in as many cycles as predicted."""

from dataclasses import replace

import numpy as np
import pytest

from celosia import ops
from celosia.arch.config import preset
from celosia.bench.vector import vector_unit
from celosia.driver import open as open_device
from celosia.model.timing.predict import predict
from celosia.program import Program

CHIP = preset("nano")
FOLDED = [replace(CHIP, lanes=lanes) for lanes in (2, 1)]


@pytest.fixture(params=FOLDED, ids=lambda config: f"{config.lanes}-lanes")
def config(request):
    return request.param


def network():
    rng = np.random.default_rng(7)
    sizes = 40, 24, 10
    layers = [ops.Dense(rng.integers(-128, 128, (k, n), np.int8),
                        rng.integers(-3000, 3000, n).astype(np.int32), relu=n > 10,
                        scale=rng.uniform(1e-3, 1e-2, n), zero_point=3)
              for k, n in zip(sizes, sizes[1:], strict=False)]
    return ops.dense_network(CHIP, 48, layers), rng.integers(-128, 128, (48, 40), np.int8)


def test_one_file_runs_on_every_folding(config, tmp_path):
    program, x = network()
    program.save(tmp_path / "network")
    found = Program.load(tmp_path / "network")
    names = {buffer.kind: buffer.name for buffer in found.buffers}
    with open_device("model", config=CHIP) as model, open_device("rtl", config=config) as chip:
        wanted = model.run(found, {names["input"]: x})
        result = chip.run(found, {names["input"]: x})
    assert result[names["output"]].tobytes() == wanted[names["output"]].tobytes()
    assert predict(found, config).cycles == pytest.approx(result.counters["cycles"], rel=0.01)


def test_cycles_of_each_instruction_are_predicted(config):
    """Alone in the unit, 512 rows: within 1 %, bit for bit."""
    measured = list(vector_unit(config, "rtl", 512))
    predicted = list(vector_unit(config, "model", 512))
    assert len(measured) == len(predicted) > 20
    for chip, model in zip(measured, predicted, strict=True):
        assert chip.bit_exact
        assert model.cycles == pytest.approx(chip.cycles, rel=0.01), chip.name
