"""Training on several golden chips: what one chip does with all rows, and nothing by the host."""

import numpy as np
import pytest

from celosia import driver, train
from celosia.arch.config import preset
from celosia.collectives import Topology
from celosia.train.shares import WeightShares

NET = train.Classifier(20, 24, 3, 16)
FIRST = train.initial_parameters(NET)


def batch(chips, seed):
    rng = np.random.default_rng(seed)
    return rng.random((16 * chips, 20)), rng.integers(0, 3, 16 * chips)


@pytest.fixture(params=["2", "2x2", "5"])  # of five the last has fewer rows of weights
def pod(request):
    made = train.PodTrainer("model", preset("core"), NET, Topology.parse(request.param), FIRST)
    yield made
    made.close()


def test_chips_do_together_what_one_does_with_all_rows(pod):
    chips = pod.topology.chips
    whole = train.Classifier(20, 24, 3, 16 * chips)
    with driver.open("model", config=preset("core")) as device:
        alone = train.Trainer(device, whole, FIRST)
        for step in range(3):
            x, labels = batch(chips, step)
            np.testing.assert_allclose(pod.step(x, labels, 0.01), alone.step(x, labels, 0.01), 1e-4)
        wanted = alone.parameters()
    found = pod.parameters(chips - 1)
    assert any(not np.array_equal(found[name], FIRST[name]) for name in found)
    for name, each in wanted.items():
        # Gradients near zero are divided by their own size.
        assert np.mean(np.abs(found[name] - each) < 1e-3) > 0.97, name
    shares = WeightShares(NET, chips)
    for name, (start, stop) in zip(shares.names, shares.blocks, strict=True):
        rows = np.concatenate([np.asarray(state[name]) for state in pod._states])
        assert not rows[stop - start:].any(), "rows that only fill a share are learned"
    assert len(set(pod.hashes())) == 1
    assert pod.meetings == 0
    assert all(cycles > 0 for cycles in pod.cycles)


def test_a_hash_is_of_what_the_chip_has(pod):
    pod.step(*batch(pod.topology.chips, 0), 0.01)
    same = pod.hashes()
    loaded = pod._states[1]
    loaded["b1"] = np.asarray(loaded["b1"]) + 1
    assert pod.hashes()[1] != same[1]
    assert pod.hashes()[0] == same[0]


def test_what_is_wrong(pod):
    chips = pod.topology.chips
    with pytest.raises(ValueError, match=f"^there must be 16 rows and labels for each of {chips} "
                                         "chips, not 16 and 16$"):
        pod.step(*batch(1, 0), 0.01)
    with pytest.raises(ValueError, match="^backend of a pod must be model or rtl, not 'cocotb'$"):
        train.PodTrainer("cocotb", preset("core"), NET, Topology((2,)), FIRST)
    with pytest.raises(ValueError, match="^chip must have bf16 to train, nano has int8 only$"):
        train.PodTrainer("model", preset("nano"), NET, Topology((2,)), FIRST)
