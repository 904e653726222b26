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
