"""What steps of training cost: a choice among blocks that are all right shows in this alone."""

import pytest

from celosia.arch.config import TpuConfig, preset
from celosia.model.timing.predict import predict
from celosia.train import Classifier, training_step

SMALL = TpuConfig("small", dim=4, int8=False, bf16=True, ub_rows=2048, acc_rows=512, bus_bytes=16)


@pytest.mark.parametrize(("chip", "net", "cost"), [
    (SMALL, Classifier(10, 13, 3, 8), (189, 189, 2337, 3180, 2232)),
    (preset("core"), Classifier(100, 48, 7, 16), (235, 235, 5424, 86348, 62304)),
    (preset("core"), Classifier(40, 600, 10, 64), (995, 995, 36601, 495164, 367332)),
], ids=lambda value: getattr(value, "name", None))
def test_costs_are_as_they_were(chip, net, cost):
    """Instructions in memory and executed, cycles, bytes read and written."""
    program = training_step(chip, net)
    found = predict(program, chip)
    assert (len(program.insns), found.instructions, found.cycles, found.bytes_read,
            found.bytes_written) == cost
