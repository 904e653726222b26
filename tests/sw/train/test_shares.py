"""How the weights are cut whose optimiser the chips of a pod share."""

import numpy as np
import pytest

from celosia.train import Classifier, initial_parameters
from celosia.train.shares import SHARE, WeightShares


@pytest.mark.parametrize(("hidden", "chips"), [(24, 1), (24, 5)])
def test_what_is_not_shared_is_the_state_of_one_chip(hidden, chips):
    net = Classifier(20, hidden, 3, 16)
    shares = WeightShares(net, chips)
    assert not shares.shared
    assert shares.state == net.state
    assert shares.first(initial_parameters(net), 0).keys() == net.state.keys()


def test_the_shares_of_all_chips_are_the_weights():
    net = Classifier(784, 64, 10, 16)
    parameters = initial_parameters(net)
    shares = WeightShares(net, 4)
    assert shares.shared
    states = [shares.first(parameters, chip) for chip in range(4)]
    for name, shape in shares.state.items():
        assert all(state[name].shape == shape for state in states), name
    np.testing.assert_array_equal(np.concatenate([state[SHARE] for state in states]),
                                  parameters["w1"])
    assert not any(state[name].any() for state in states for name in state
                   if name.endswith((".mean", ".square")))
    assert "w1.mean" not in shares.state
