"""Collected matmuls give the bits of matmuls that are computed one after another, plainly."""

import dataclasses

import numpy as np
import pytest

from celosia.arch.config import PRESETS
from celosia.arch.isa import MatmulFormat
from celosia.model.commands import Matmul
from celosia.model.fast.pending import Pending
from celosia.model.mxu import Mxu
from celosia.model.streams import Stream

CHIP = dataclasses.replace(PRESETS["core"], dim=4, ub_rows=256, acc_rows=128)
ODD = np.array([0x0000, 0x8000, 0x0001, 0x807F, 0x0080, 0x8080, 0x7F7F, 0x7F80, 0xFF80, 0x7FC0,
                0xFF81, 0x2000, 0x1F80], np.uint16)


def bf16(rng: np.random.Generator, rows: int, spread: int, odd: float) -> np.ndarray:
    """bf16 with exponents around 1; a share of ``odd`` ones."""
    shape = rows, CHIP.dim
    bits = rng.integers(0, 1 << 16, shape, dtype=np.uint16) & np.uint16(0x807F)
    bits |= rng.integers(127 - spread, 128 + spread, shape).astype(np.uint16) << np.uint16(7)
    bits[rng.random(shape) < 0.1] = 0
    return np.where(rng.random(shape) < odd, rng.choice(ODD, shape), bits)


def stream(rng: np.random.Generator, base: int, rows: int) -> Stream:
    """Rows from ``base`` on: consecutive, strided, or with repetitions."""
    kind = rng.integers(6)
    if kind == 0:
        return Stream(base, (rows, 1, 1), (2, 0, 0))
    if kind == 1 and rows % 2 == 0:
        return Stream(base, (2, rows // 2, 1), (rows // 2, 1, 0))
    if kind == 2 and rows % 2 == 0:
        return Stream(base, (2, rows // 2, 1), (1, 0, 0))
    return Stream.linear(base, (rows, 1, 1))


def play(seed: int, spread: int, odd: float) -> np.ndarray:
    """Run matmuls, changes of both memories and looks at the accumulators; return all seen."""
    rng = np.random.default_rng(seed)
    ub = bf16(rng, CHIP.ub_rows, spread, odd)
    acc = bf16(rng, CHIP.acc_rows, spread, odd).astype(np.uint32) << np.uint32(16)
    acc[::7] = rng.integers(0, 1 << 32, acc[::7].shape, dtype=np.uint32)
    mxu = Mxu(CHIP)
    seen = []
    for step in range(120):
        what = rng.integers(12)
        if what == 0:
            first = int(rng.integers(CHIP.ub_rows - 16))
            ub[first:first + 16] = bf16(rng, 16, spread, odd)
            mxu.changed(first, first + 15)
        elif what == 1:
            first = int(rng.integers(CHIP.acc_rows - 8))
            mxu.settle(acc, [(first, first + 7)])
            seen.append(acc[first:first + 8].copy())
            if step % 2:
                acc[first:first + 8] = 0
        else:
            rows = int(rng.choice([4, 6]))
            weights = Stream.linear(int(rng.integers(200)), (int(rng.integers(1, 5)), 1, 1))
            mxu.execute(Matmul(
                MatmulFormat.BF16 if rng.random() < 0.97 else MatmulFormat.INT8,
                bool(rng.random() < 0.8), bool(rng.random() < 0.2),
                stream(rng, int(rng.choice([0, 3, 16, 32, 48])), rows),
                stream(rng, int(rng.choice([0, 16, 100])), rows),
                weights if step < 8 or rng.random() < 0.8 else None), ub, acc)
    mxu.flush(acc)
    return np.concatenate([*seen, acc])


@pytest.mark.parametrize(("spread", "odd"), [(3, 0.0), (20, 0.0), (60, 0.0), (126, 0.0),
                                             (3, 0.002), (3, 0.1)])
@pytest.mark.parametrize("block", [1, 64, 1 << 16])
def test_bits(monkeypatch, spread, odd, block):
    monkeypatch.setattr("celosia.model.fast.pending._BLOCK", block)
    for seed in range(4):
        fast = play(seed, spread, odd)
        with monkeypatch.context() as patch:
            patch.setattr(Pending, "takes", lambda *_: False)
            plain = play(seed, spread, odd)
        np.testing.assert_array_equal(fast, plain, strict=True)


def test_most_matmuls_are_taken(monkeypatch):
    """Else the test above would compare the plain way with itself."""
    takes, answers = Pending.takes, []

    def spied(*args) -> bool:
        answers.append(takes(*args))
        return answers[-1]

    monkeypatch.setattr(Pending, "takes", spied)
    play(0, 3, 0.0)
    assert np.mean(answers) > 0.6
