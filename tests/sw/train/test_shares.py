"""How the weights are cut whose optimiser the chips of a pod share."""

import ml_dtypes
import numpy as np
import pytest

from celosia.train import Classifier, initial_parameters
from celosia.train.shares import OTHERS, WeightShares


def test_one_chip_has_the_state_of_one():
    net = Classifier(20, 24, 3, 16)
    shares = WeightShares(net, 1)
    assert not shares.shared
    assert shares.state == net.state
    assert shares.first(initial_parameters(net), 0).keys() == net.state.keys()


@pytest.mark.parametrize(("hidden", "chips", "sizes"), [
    (512, 16, [32, 64, 80, 80, 80, 80, 64, 32]), (128, 4, [32, 16, 16, 16, 16, 32]),
    (64, 4, [16, 16, 16, 16]),
    (24, 5, [24]), (3, 4, [3]), (512, 64, [128, 64, 64, 64, 64, 128])])
def test_the_shares_of_all_chips_are_the_parameters(hidden, chips, sizes):
    net = Classifier(784, hidden, 10, 16)
    parameters = initial_parameters(net)
    shares = WeightShares(net, chips)
    assert shares.shared
    states = [shares.first(parameters, chip) for chip in range(chips)]
    for name, shape in shares.state.items():
        assert all(state[name].shape == shape for state in states), name
    assert [stop - start for start, stop in shares.blocks] == sizes
    assert [start for start, _ in shares.blocks] == [0, *np.cumsum(sizes)[:-1]]
    for name, short, (start, stop) in zip(shares.names, shares.rounded, shares.blocks, strict=True):
        rows = np.concatenate([state[name] for state in states])
        np.testing.assert_array_equal(rows[:stop - start], parameters["w1"][start:stop])
        assert not rows[stop - start:].any()
        rounded = np.concatenate([state[short] for state in states])
        np.testing.assert_array_equal(rounded, rows.astype(ml_dtypes.bfloat16))
    others = np.concatenate([state[OTHERS] for state in states])
    for name, (start, stop) in shares.parts.items():
        np.testing.assert_array_equal(others[start:stop].reshape(net.shapes[name]),
                                      parameters[name])
    assert not any(state[name].any() for state in states for name in state
                   if name.endswith((".mean", ".square")))
    assert not {"w1", "w1.mean", "b2.square"} & set(shares.state)


@pytest.mark.parametrize(("inputs", "hidden", "blocks"), [
    (511, 32, [32]), (512, 32, [16, 16]), (511, 64, [64]), (512, 64, [16] * 4),
    (256, 64, [64]), (1024, 40, [40])])
def test_a_block_has_whole_units_and_bytes_that_are_worth_it(inputs, hidden, blocks):
    shares = WeightShares(Classifier(inputs, hidden, 10, 16), 4)
    assert [stop - start for start, stop in shares.blocks] == blocks


@pytest.mark.parametrize(("classes", "chips"), [(10, 4), (3, 2), (7, 8)])
def test_the_vector_of_the_others_has_room_for_the_loss_and_whole_shares(classes, chips):
    net = Classifier(20, 24, classes, 16)
    shares = WeightShares(net, chips)
    ends = [stop for _, stop in shares.parts.values()]
    assert [start for start, _ in shares.parts.values()] == [0, *ends[:-1]]
    assert ends[-1] == 24 + 24 * classes + classes < shares.others
    assert shares.others % chips == 0
    assert shares.others - ends[-1] <= chips
