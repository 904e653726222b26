"""The demo as a user starts it, on the RTL."""

import re

import pytest

from celosia.cli.main import main


@pytest.mark.parametrize("fmt", ["int8", "bf16"])
def test_demo_reads_digits_on_the_chip_bit_for_bit(capsys, fmt):
    assert main(["demo", "--format", fmt]) == 0
    text = capsys.readouterr().out
    assert ("bit for bit   equal to NumPy and the golden model, every row of the on-chip memories "
            "included\n") in text
    (accuracy,) = re.findall(rf"accuracy +([\d.]+)% on the chip in {fmt}", text)
    assert float(accuracy) > 94
