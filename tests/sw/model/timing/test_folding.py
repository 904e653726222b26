"""What fewer lanes of the vector unit leave of the array's time."""

import numpy as np
import pytest

from celosia import ops
from celosia.arch.config import preset
from celosia.arch.words import ceil_div
from celosia.model.timing.predict import predict
from celosia_hw.boards import BOARDS

SIZES, ROWS = (784, 512, 10), 128
EDGE = preset("edge")


@pytest.fixture(scope="module")
def program():
    """A network of int8 for `edge`, in the demo's sizes for MNIST."""
    rng = np.random.default_rng(5)
    layers = [ops.Dense(rng.integers(-128, 128, (k, n), np.int8),
                        rng.integers(-3000, 3000, n).astype(np.int32), relu=n > 10,
                        scale=rng.uniform(1e-3, 1e-2, n), zero_point=3)
              for k, n in zip(SIZES, SIZES[1:], strict=False)]
    return ops.dense_network(EDGE, ROWS, layers)


@pytest.mark.parametrize("name", [name for name, board in BOARDS.items() if "edge" in board.lanes])
def test_the_array_of_a_board_is_busy(program, name):
    folded = BOARDS[name].folded(EDGE)
    assert folded.lanes < EDGE.lanes
    steps = sum(ROWS * ceil_div(k, EDGE.dim) * ceil_div(n, EDGE.dim)
                for k, n in zip(SIZES, SIZES[1:], strict=False))
    assert steps >= 0.97 * predict(program, folded).cycles
