"""Networks on a board at its pins, through its SDRAM, the driver behind its serial line.

Every bit is the golden model's; cycles are what the cycle model says that this memory takes.
"""

import pytest

from celosia.arch.config import preset
from celosia.bench.boards import BoardMeasurement, board_mlp, board_training
from celosia.train import Classifier
from celosia_hw.boards import BOARDS

ULX3S = BOARDS["ulx3s"]


def check(m: BoardMeasurement, chip: str) -> None:
    assert m.bit_exact
    assert m.predicted == pytest.approx(m.cycles, rel=0.05)
    assert (m.preset, m.lanes, m.freq_hz) == (chip, ULX3S.lanes[chip], ULX3S.clock(preset(chip)))
    assert m.images_per_second == m.batch * m.freq_hz / m.cycles
    assert not m.broken


def test_digits_of_edge():
    check(board_mlp("ulx3s", None, (64, 64, 10), 16), "edge")


@pytest.mark.slow
def test_mlp_of_edge():
    check(board_mlp("ulx3s", None, (784, 512, 10), 128), "edge")


@pytest.mark.slow
@pytest.mark.parametrize("net", [Classifier(64, 32, 10, 32), Classifier(64, 128, 10, 128)], ids=str)
def test_training_on_core4(net):
    check(board_training("ulx3s", "core4", net), "core4")
