import numpy as np
import pytest

from celosia import train

NET = train.Classifier(4, 6, 5, 8)


def test_gradient_is_that_of_the_loss():
    rng = np.random.default_rng(0)
    x, labels = rng.standard_normal((8, 4)), rng.integers(0, 5, 8)
    host = train.HostTrainer(train.initial_parameters(NET))
    host._values = {name: rng.standard_normal(shape) for name, shape in NET.shapes.items()}
    _, slopes = host._slopes(x, labels)
    for name, value in host._values.items():
        at = tuple(int(i) for i in rng.integers(0, value.shape))
        kept = value[at]
        value[at] = kept + 1e-6
        high, _ = host._slopes(x, labels)
        value[at] = kept - 1e-6
        low, _ = host._slopes(x, labels)
        value[at] = kept
        assert slopes[name][at] == pytest.approx((high - low) / 2e-6, abs=1e-5)


def test_loss_is_the_mean_of_minus_the_logarithms_of_the_shares():
    first = {name: np.zeros(shape, np.float32) for name, shape in NET.shapes.items()}
    loss = train.HostTrainer(first).step(np.ones((8, 4), np.float32), np.arange(8) % 5, 0.1)
    assert loss == pytest.approx(np.log(5))


def test_host_learns():
    rng = np.random.default_rng(0)
    x = rng.random((8, 4)).astype(np.float32)
    labels = rng.integers(0, 5, 8)
    host = train.HostTrainer(train.initial_parameters(train.Classifier(4, 64, 5, 8)))
    for _ in range(300):
        loss = host.step(x, labels, 0.02)
    assert loss < 0.1
    assert train.accuracy(host.parameters(), x, labels) == 1


def test_batches_are_epochs_in_random_order():
    order = train.batches(10, 4, seed=3)
    first, second, third = (next(order) for _ in range(3))
    assert len({*first.tolist(), *second.tolist()}) == 8
    assert sorted(third.tolist()) != sorted(first.tolist())
    again = train.batches(10, 4, seed=3)
    np.testing.assert_array_equal(first, next(again))


def test_batch_of_no_rows_or_more_than_there_are_is_refused():
    for size in (0, -1):
        with pytest.raises(ValueError, match=f"^batch must be at least 1, not {size}$"):
            next(train.batches(10, size))
    with pytest.raises(ValueError, match="^batch must be at most 10, the rows there are, not 11$"):
        next(train.batches(10, 11))


@pytest.mark.parametrize(("rows", "batch", "counts"), [
    (10, 4, [4, 4]), (8, 4, [4, 4]), (7, 4, [4]), (4, 4, [4]), (3, 1, [1, 1, 1])])
def test_an_epoch_is_as_many_batches_as_are_full(rows, batch, counts):
    order = train.batches(rows, batch, seed=1)
    for _ in range(3):
        epoch = [next(order) for _ in counts]
        assert [len(each) for each in epoch] == counts
        seen = np.concatenate(epoch).tolist()
        assert len({*seen}) == len(seen)
        assert {*seen} <= {*range(rows)}


def test_first_parameters_are_normal_by_the_inputs_of_a_layer():
    first = train.initial_parameters(train.Classifier(200, 50, 10, 1), seed=3)
    assert {name: value.shape for name, value in first.items()} == {
        "w1": (50, 200), "b1": (50,), "w2": (10, 50), "b2": (10,)}
    assert all(value.dtype == np.float32 for value in first.values())
    assert not first["b1"].any()
    assert not first["b2"].any()
    assert first["w1"].std() == pytest.approx(0.1, rel=0.05)
    assert first["w2"].std() == pytest.approx(0.2, rel=0.1)
    other = train.initial_parameters(train.Classifier(200, 50, 10, 1))
    assert (other["w1"] != first["w1"]).any()
    again = train.initial_parameters(train.Classifier(200, 50, 10, 1), seed=0)
    np.testing.assert_array_equal(again["w1"], other["w1"])


@pytest.mark.parametrize("adam", [None, train.Adam(0.5, 0.75, 0.25)])
def test_steps_are_those_of_the_paper(adam):
    """Kingma and Ba, algorithm 1, with slopes that are given."""
    beta1, beta2, epsilon = (0.9, 0.999, 1e-8) if adam is None else (0.5, 0.75, 0.25)
    host = train.HostTrainer({"w": np.array([1, -2])}, adam)
    value, mean, square = np.array([1.0, -2.0]), np.zeros(2), np.zeros(2)
    for step, slope in enumerate(([0.5, -3], [0.25, 2], [-1, 0.125]), 1):
        slopes = {"w": np.array(slope, np.float32)}
        host._slopes = lambda x, labels, slopes=slopes: (7.5, slopes)
        assert host.step(np.zeros((1, 1), np.float32), np.zeros(1, int), 0.01) == 7.5
        mean = beta1 * mean + (1 - beta1) * slopes["w"]
        square = beta2 * square + (1 - beta2) * slopes["w"] ** 2
        value = value - 0.01 * (mean / (1 - beta1**step)) / (
            np.sqrt(square / (1 - beta2**step)) + epsilon)
        np.testing.assert_allclose(host.parameters()["w"], value, rtol=1e-5)


def test_parameters_are_copies():
    given = {"w": np.ones(2, np.float32)}
    host = train.HostTrainer(given)
    host.parameters()["w"][:] = 5
    given["w"][:] = 6
    assert host.parameters()["w"].tolist() == [1, 1]


def test_scores_are_of_two_layers_with_relu_between():
    f32 = np.float32
    parameters = {"w1": np.array([[1, 0], [0, -1], [2, 1]], f32), "b1": np.array([0, 1, -4], f32),
                  "w2": np.array([[1, 2, 3], [-1, 0, 1]], f32), "b2": np.array([10, 20], f32)}
    x = np.array([[1, 2], [3, -1]], f32)
    # Hidden: (1, -1, 0) and (3, 2, 1), where -1 becomes 0.
    wanted = [[11, 19], [3 + 4 + 3 + 10, -3 + 1 + 20]]
    assert train.host.scores(parameters, x).tolist() == wanted
    assert train.accuracy(parameters, x, np.array([1, 0])) == 1
    assert train.accuracy(parameters, x, np.array([1, 1])) == 0.5
