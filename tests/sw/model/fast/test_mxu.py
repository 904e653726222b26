"""Sums of bf16, and rows that are added to more than once."""

import numpy as np
import pytest

from celosia.arch.streams import Stream
from celosia.model import mxu
from celosia.model.fast import chain
from celosia.model.fast.chain import sums
from celosia.model.fast.mxu import _rounds, repeats


@pytest.mark.parametrize("shape", [(1, 3, 4, 4), (3, 9, 8, 8), (2, 5, 16, 16), (9, 40, 16, 16)])
@pytest.mark.parametrize("kind", ["plain", "small", "wild"])
def test_chain(shape, kind):
    batch, rows, depth, columns = shape
    rng = np.random.default_rng([batch, rows, len(kind)])

    def draw(*size: int) -> np.ndarray:
        bits = rng.integers(0, 1 << 16, size, dtype=np.uint16)
        if kind == "wild":
            return bits
        low, high = (120, 134) if kind == "plain" else (55, 72)
        exponents = rng.integers(low, high, size).astype(np.uint16)
        bits = (bits & np.uint16(0x807F)) | exponents << np.uint16(7)
        return np.where(rng.random(size) < 0.2, bits & np.uint16(0x8000), bits)

    acts, tiles = draw(batch, rows, depth), draw(batch, depth, columns)
    if kind == "plain":
        acts[0, 0, 0], acts[-1, -1, -1] = 0x0001, 0x0080  # one row is not safe
    got = sums(acts, tiles)
    expected = [mxu.chain(*each) for each in zip(acts, tiles, strict=True)]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("ways", ["all", "loops", "none"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("shape", [(2, 1, 16), (3, 7, 8), (2, 64, 16), (1, 300, 32), (1, 40, 128)])
def test_chain_by_a_gemm(monkeypatch, shape, turned, ways):
    """Where the host's GEMM or NumPy's loops add as the array does, they are taken: equal bits."""
    monkeypatch.setattr(chain, "_tried", chain._tried.__wrapped__)
    if ways == "none":
        monkeypatch.setattr(chain, "_tried", lambda *shape: None)
    elif ways == "loops":
        monkeypatch.setattr(chain, "_gemm", lambda acts, tiles: np.zeros(1, np.float32))
    batch, rows, dim = shape
    rng = np.random.default_rng(rows)
    acts, tiles = (
        (rng.integers(0, 1 << 16, (batch, count, dim)) & 0x807F
         | rng.integers(115, 140, (batch, count, dim)) << 7).astype(np.uint16)
        for count in (rows, dim))
    if turned:
        tiles = tiles.swapaxes(1, 2)
    expected = [mxu.chain(*each) for each in zip(acts, tiles, strict=True)]
    np.testing.assert_array_equal(sums(acts, tiles), expected)


def test_chain_of_products_beyond_the_largest():
    """A product that overflows stays so, although the sum with what came before would not."""
    acts = np.array([[[0xFF00, 0x7F00] + [0] * 14] * 4], np.uint16)
    tiles = np.zeros((1, 16, 16), np.uint16)
    tiles[0, 0], tiles[0, 1] = 0x3F80, 0x4000
    expected = [mxu.chain(*each) for each in zip(acts, tiles, strict=True)]
    assert expected[0][0, 0] == 0x7F800000
    np.testing.assert_array_equal(sums(acts, tiles), expected)


def test_chain_starts_from_plus_zero():
    acts = np.array([[[0x8000, 0x8000]]], np.uint16)
    tiles = np.full((1, 2, 2), 0x3F80, np.uint16)
    assert sums(acts, tiles).tolist() == [[[0, 0]]]


@pytest.mark.parametrize(("counts", "strides"), [
    ((5, 1, 1), (1, 0, 0)), ((3, 2, 2), (1, 3, 6)), ((3, 2, 2), (2, 1, 7)), ((4, 3, 1), (0, 1, 0)),
    ((1, 1, 4), (9, 9, 2)), ((2, 2, 2), (0, 0, 0)),
])
def test_rounds(counts, strides):
    stream = Stream(10, counts, strides)
    rows = (10 + stream.offsets()).tolist()
    parts = _rounds(counts, strides)
    assert repeats(stream) == (len(set(rows)) < len(rows)) == (parts is not None)
    if parts is not None:
        assert sorted(np.concatenate(parts).tolist()) == list(range(len(rows)))
        for r, part in enumerate(parts):
            assert all(rows[:p].count(rows[p]) == r for p in part)


@pytest.mark.parametrize("depth", [1, 2, 16])
def test_what_adds_in_the_order_of_the_array_keeps_the_sign_of_zero(depth):
    found = chain._tried(2, 20, depth, 16, False)
    acts, tiles = np.full((2, 20, depth), -0.0, np.float32), np.ones((2, depth, 16), np.float32)
    if found is not None:
        assert not np.signbit(found(acts, tiles)).any()


@pytest.mark.parametrize("dim", [2, 4, 8, 16])
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_sums_of_few_rows_are_those_of_the_array(rows, dim):
    """What the host's BLAS does with a row alone came out right now and then (core4, seed 1020)."""
    rng = np.random.default_rng(dim)
    for _ in range(100):
        acts, tile = ((rng.standard_normal(shape).astype(np.float32).view(np.uint32) >> 16)
                      .astype(np.uint16) for shape in ((rows, dim), (dim, dim)))
        sums = chain.sums(acts[np.newaxis], tile[np.newaxis])[0]
        np.testing.assert_array_equal(sums, mxu.chain(acts, tile))


@pytest.mark.parametrize(("act", "weight"), [
    (0xFFC1, 0x2000), (0x2000, 0xFFC1), (0x7F80, 0x0000), (0x0000, 0x7F80), (0xFF80, 0x8000),
    (0x7FFF, 0x3F80), (0x7F81, 0x7F80)])
def test_every_sum_with_no_value_is_the_one_nan(act, weight):
    """Also where the other factors are so small that nothing could overflow."""
    acts, tiles = np.full((1, 2, 2), act, np.uint16), np.full((1, 2, 2), weight, np.uint16)
    assert sums(acts, tiles).tolist() == [[[0x7FC00000] * 2] * 2]
    np.testing.assert_array_equal(sums(acts, tiles)[0], mxu.chain(acts[0], tiles[0]))
