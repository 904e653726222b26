"""The fp32 copy of the unified buffer: up to date, subnormals flushed, smallest exponents."""

import numpy as np

from celosia.model.fast.widened import Widened
from celosia.model.streams import Stream

ROWS, DIM = 64, 4


def linear(base: int, rows: int) -> Stream:
    return Stream.linear(base, (rows, 1, 1))


def buffer(value: int) -> np.ndarray:
    return np.full((ROWS, DIM), value, np.uint16)


def test_values_and_exponents():
    widened, bits = Widened(ROWS, DIM), buffer(0)
    bits[3] = 0x4080, 0x8001, 0xC000, 0x8000  # 4, a subnormal, -2, -0
    acts = widened.acts(linear(2, 2), bits)
    assert acts.values.shape == (DIM, 2)
    assert acts.values[:, 1].tolist() == [4.0, 0.0, -2.0, 0.0]
    assert np.signbit(acts.values[:, 1]).tolist() == [False, True, True, True]
    assert acts.low == 128
    assert widened.acts(linear(0, 2), bits).low == 256


def test_tiles():
    widened, bits = Widened(ROWS, DIM), buffer(0)
    bits[8:10] = np.arange(0x3F80, 0x3F88).reshape(2, 4)
    tile, low = widened.tile(linear(8, 2), False, bits)
    assert low == 127
    assert tile.shape == (DIM, DIM)
    assert not tile[2:].any()
    assert tile[1, 0] == np.float32(1 + 4 / 128)
    turned, _ = widened.tile(linear(8, 2), True, bits)
    np.testing.assert_array_equal(turned, tile.T)


def test_changes_are_seen_and_what_was_given_stays():
    widened, bits = Widened(ROWS, DIM), buffer(0x3F80)
    strided = Stream(0, (4, 1, 1), (16, 0, 0))
    acts, (tile, _) = widened.acts(strided, bits), widened.tile(linear(0, DIM), False, bits)
    bits[16] = 0x4000
    assert widened.acts(strided, bits) is acts  # nobody said so
    widened.changed(16, 16)
    assert widened.acts(strided, bits).values[0].tolist() == [1, 2, 1, 1]
    widened.changed(0, 63)
    bits[:] = 0
    assert not widened.tile(linear(0, DIM), False, bits)[0].any()
    assert tile.all()
    assert acts.values.all()
