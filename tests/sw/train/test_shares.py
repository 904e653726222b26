"""How the weights are cut whose optimiser the chips of a pod share."""

import numpy as np
import pytest

from celosia.train import Classifier, initial_parameters
from celosia.train.shares import WeightShares


@pytest.mark.parametrize(("net", "chips"), [
    (Classifier(784, 512, 10, 128), 16), (Classifier(784, 512, 10, 128), 4),
    (Classifier(64, 128, 10, 16), 64), (Classifier(20, 24, 3, 16), 4),
    (Classifier(4000, 96, 10, 16), 6)])
def test_blocks_cover_all_rows_and_the_last_ones_are_short(net, chips):
    blocks = WeightShares(net, chips).blocks
    assert [0, *(stop for _, stop in blocks)] == [*(start for start, _ in blocks), net.hidden]
    sizes = [stop - start for start, stop in blocks]
    assert all(size > 0 and size % chips == 0 for size in sizes)
    assert sizes[-1] == min(sizes)


def test_a_large_layer_has_many_blocks_and_a_small_one_has_one():
    assert len(WeightShares(Classifier(784, 512, 10, 128), 16).blocks) == 10
    assert WeightShares(Classifier(64, 128, 10, 16), 64).blocks == ((0, 128),)


@pytest.mark.parametrize(("hidden", "chips"), [(24, 1), (24, 5)])
def test_what_is_not_shared_is_the_state_of_one_chip(hidden, chips):
    net = Classifier(20, hidden, 3, 16)
    assert WeightShares(net, chips).blocks == ()
    assert WeightShares(net, chips).state == net.state


def test_the_shares_of_all_chips_are_the_weights():
    net = Classifier(784, 64, 10, 16)
    parameters = initial_parameters(net)
    shares = WeightShares(net, 4)
    states = [shares.first(parameters, chip) for chip in range(4)]
    for name, shape in shares.state.items():
        assert all(state[name].shape == shape for state in states), name
    joined = [state[f"w1.{i}"] for i in range(len(shares.blocks)) for state in states]
    np.testing.assert_array_equal(np.concatenate(joined), parameters["w1"])
    assert not any(state[name].any() for state in states for name in state
                   if name.endswith((".mean", ".square")))
