"""What products cost: a choice among blocks that are all right shows in this alone."""

import pytest

from celosia import ops
from celosia.arch.config import TpuConfig, preset
from celosia.model.timing.predict import predict

#: Little of everything, so that small products are cut along every side.
TIGHT = TpuConfig("tight", dim=4, int8=True, bf16=True, ub_rows=64, acc_rows=32, bus_bytes=8,
                  window=4, ibuf=16)
PLAIN, TURNED = {}, {"transpose_a": True, "bias": True, "relu": True}


@pytest.mark.parametrize(("chip", "product", "options", "cost"), [
    (TIGHT, (9, 22, 7, "int8"), PLAIN, (27, 27, 559, 550, 252)),
    (TIGHT, (9, 22, 7, "int8"), TURNED, (57, 57, 1044, 578, 252)),
    (TIGHT, (30, 5, 21, "bf16"), PLAIN, (76, 76, 1297, 930, 2520)),
    (TIGHT, (30, 5, 21, "bf16"), TURNED, (164, 164, 2785, 1224, 2520)),
    (preset("core"), (100, 300, 70, "bf16"), PLAIN, (86, 446, 10433, 102000, 28000)),
    (preset("core"), (100, 300, 70, "bf16"), TURNED, (363, 363, 10273, 102280, 28000)),
    (preset("edge"), (40, 130, 30, "int8"), PLAIN, (111, 231, 3535, 9100, 4800)),
    (preset("edge"), (40, 130, 30, "int8"), {"transpose_b": True, "output": "int8"},
     (106, 161, 3626, 9220, 1200)),
    (preset("nano"), (40, 13, 30, "int8"), PLAIN, (56, 56, 1851, 910, 4800)),
], ids=lambda value: getattr(value, "name", None))
def test_costs_are_as_they_were(chip, product, options, cost):
    """Instructions in memory and executed, cycles, bytes read and written."""
    program = ops.matmul(chip, *product, **options)
    found = predict(program, chip)
    assert (len(program.insns), found.instructions, found.cycles, found.bytes_read,
            found.bytes_written) == cost
