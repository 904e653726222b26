"""The training step on the golden model, against NumPy that rounds where the chip does."""


import ml_dtypes
import numpy as np
import pytest

from celosia import driver, train
from celosia.arch.config import TpuConfig, preset
from celosia.train.shares import WeightShares
from celosia.train.step import step_graph

SMALL = TpuConfig("small", dim=4, int8=False, bf16=True, ub_rows=2048, acc_rows=512, bus_bytes=16)


def rounded(x):
    return np.asarray(x, ml_dtypes.bfloat16).astype(np.float64)


class Reference:
    """Training in float64 with operands of products rounded to bf16."""

    def __init__(self, parameters, adam):
        self.values = {name: np.array(value, np.float64) for name, value in parameters.items()}
        self.means = {name: np.zeros_like(value) for name, value in self.values.items()}
        self.squares = {name: np.zeros_like(value) for name, value in self.values.items()}
        self.adam, self.steps = adam, 0

    def step(self, x, labels, rate):
        values, adam, rows = self.values, self.adam, np.arange(len(labels))
        self.steps += 1
        hidden = rounded(np.maximum(rounded(x) @ rounded(values["w1"]).T + values["b1"], 0))
        scores = hidden @ rounded(values["w2"]).T + values["b2"]
        power = np.exp(scores - scores.max(axis=1, keepdims=True))
        share = power / power.sum(axis=1, keepdims=True)
        loss = -np.log(share[rows, labels]).mean()
        share[rows, labels] -= 1
        share /= len(labels)
        error = rounded(share)
        back = (error @ rounded(values["w2"])) * (hidden > 0)
        slopes = {"w1": rounded(back).T @ rounded(x), "b1": back.sum(axis=0),
                  "w2": error.T @ hidden, "b2": share.sum(axis=0)}
        for name, slope in slopes.items():
            self.means[name] += (1 - adam.beta1) * (slope - self.means[name])
            self.squares[name] += (1 - adam.beta2) * (slope**2 - self.squares[name])
            mean = self.means[name] / (1 - adam.beta1**self.steps)
            square = self.squares[name] / (1 - adam.beta2**self.steps)
            values[name] -= rate * mean / (np.sqrt(square) + adam.epsilon)
        return loss


def data(net, rng):
    return rng.random((net.batch, net.inputs)), rng.integers(0, net.classes, net.batch)


def parameters_of(net, seed=0):
    rng = np.random.default_rng(seed)
    return {name: value + rng.normal(0, 0.1, value.shape).astype(np.float32)
            for name, value in train.initial_parameters(net, seed).items()}


def garbage(device):
    """Fill the on-chip memories, with NaN among the numbers."""
    rng, machine = np.random.default_rng(2), device.transport.machine
    machine.acc[...] = rng.integers(0, 1 << 32, machine.acc.shape, dtype=np.uint32)
    machine.ub[...] = rng.integers(0, 1 << 16, machine.ub.shape)
    machine.ub[::3] = 0x7FC0
    machine.acc[::3] = 0x7FC00000


# Whole tiles; ragged everywhere; fewer than a tile; as many classes as lanes; many rows; one class.
@pytest.mark.parametrize(("config", "sizes"), [
    (SMALL, (12, 24, 4, 8)), (SMALL, (13, 21, 3, 16)), (SMALL, (3, 2, 2, 4)),
    (preset("core"), (70, 50, 10, 48)), (preset("core"), (33, 300, 16, 16)),
    (preset("core"), (17, 130, 10, 256)), (preset("core"), (9, 20, 1, 5))])
def test_steps_equal_numpy_with_bf16_operands(config, sizes):
    net, adam = train.Classifier(*sizes), train.Adam(0.8, 0.97, 1e-4)
    first = parameters_of(net)
    wanted, rng = Reference(first, adam), np.random.default_rng(1)
    with driver.open("model", config=config) as device:
        trainer = train.Trainer(device, net, first, adam)
        for _ in range(3):
            x, labels = data(net, rng)
            # What is rounded differently once can be another number after: begin anew each time.
            state = trainer.state()
            wanted.values = {name: state[name].astype(np.float64) for name in net.shapes}
            garbage(device)
            loss = trainer.step(x, labels, 0.01)
            assert loss == pytest.approx(wanted.step(x, labels, 0.01), rel=1e-4)
            state = trainer.state()
            for name in net.shapes:
                means, squares = state[f"{name}.mean"], state[f"{name}.square"]
                scale = np.abs(wanted.means[name]).max()
                np.testing.assert_allclose(means, wanted.means[name], rtol=0, atol=0.005 * scale)
                np.testing.assert_allclose(np.sqrt(squares), np.sqrt(wanted.squares[name]), rtol=0,
                                           atol=0.005 * np.sqrt(wanted.squares[name].max()))
                # A mean near zero can have either sign, and the step is up to the rate then.
                clear = np.abs(wanted.means[name]) > 0.05 * scale
                np.testing.assert_allclose(state[name][clear], wanted.values[name][clear], rtol=0,
                                           atol=0.01 * 0.05)
                wanted.means[name] = means.astype(np.float64)
                wanted.squares[name] = squares.astype(np.float64)


def test_training_on_the_chip_follows_float32():
    net = train.Classifier(20, 32, 4, 16)
    rng = np.random.default_rng(0)
    centres = rng.random((net.classes, net.inputs))
    labels = rng.integers(0, net.classes, 400)
    x = (centres[labels] + rng.normal(0, 0.1, (400, net.inputs))).astype(np.float32)
    first = train.initial_parameters(net)
    host, pairs = train.HostTrainer(first), []
    with driver.open("model", config=preset("core")) as device:
        trainer = train.Trainer(device, net, first)
        for rows, _ in zip(train.batches(400, net.batch), range(60), strict=False):
            pairs.append((trainer.step(x[rows], labels[rows], 0.01),
                          host.step(x[rows], labels[rows], 0.01)))
        assert train.accuracy(trainer.parameters(), x, labels) > 0.95
    chip, wanted = np.array(pairs).T
    assert chip[-10:].mean() < 0.2 * chip[0]
    np.testing.assert_allclose(chip, wanted, rtol=0.05)


def test_gradient_of_zero_leaves_parameters_alone():
    net = train.Classifier(16, 16, 2, 16)
    first = parameters_of(net)
    with driver.open("model", config=preset("core")) as device:
        trainer = train.Trainer(device, net, first)
        trainer.step(np.zeros((16, 16)), np.zeros(16, int), 0.1)  # no input: no slope of w1
        np.testing.assert_array_equal(trainer.parameters()["w1"], first["w1"])
        assert not np.array_equal(trainer.parameters()["b2"], first["b2"])


def test_first_step_moves_every_parameter_by_the_rate():
    """What Adam does where the corrected mean is the slope, and the root its magnitude."""
    net = train.Classifier(16, 16, 2, 16)
    first = parameters_of(net)
    with driver.open("model", config=preset("core")) as device:
        trainer = train.Trainer(device, net, first)
        trainer.step(np.random.default_rng(0).random((16, 16)), np.arange(16) % 2, 0.125)
        moved = np.abs(trainer.parameters()["b2"] - first["b2"])
    np.testing.assert_allclose(moved, 0.125, rtol=1e-5)


def test_step_keeps_the_array_busy():
    net = train.Classifier(128, 128, 10, 128)
    with driver.open("model", config=preset("core")) as device:
        trainer = train.Trainer(device, net, train.initial_parameters(net))
        trainer.step(*data(net, np.random.default_rng(0)), 1e-3)
        counters = trainer.counters
    assert counters["mxu_busy"] > 0.75 * counters["cycles"]


def test_a_chip_without_bf16_is_refused():
    with pytest.raises(ValueError, match="^chip must have bf16 to train, nano has int8 only$"):
        train.training_step(preset("nano"), train.Classifier(8, 8, 4, 8))


@pytest.mark.parametrize("chips", [1, 4])
def test_a_step_writes_over_its_state_and_nothing_else(chips):
    net = train.Classifier(20, 24, 3, 16)
    given = step_graph(net, train.Adam(), chips).params
    assert {value.node.attrs["name"]: value.node.attrs["donated"] for value in given} == {
        "x": False, "labels": False, "rate": False,
        **dict.fromkeys(WeightShares(net, chips).state, True)}


def test_sizes_are_positive_integers():
    with pytest.raises(ValueError, match=r"^hidden must be a positive integer, not 0$"):
        train.Classifier(8, 0, 2, 4)
    with pytest.raises(TypeError, match=r"^inputs must be a positive integer, not 2\.5$"):
        train.Classifier(2.5, 8, 2, 4)  # type: ignore[arg-type]


def test_what_the_hand_scheduled_step_took():
    """That was 424,087 cycles, by the same model, state changed in place."""
    compiled = train.training_step(preset("core"), train.Classifier(784, 512, 10, 128))
    assert compiled.prediction.cycles < 424_087
    places = {each.name for each in compiled.program.inputs}
    assert [each.name for each in compiled.outputs if each.name not in places] == ["result0"]


def test_no_part_of_the_chip_needs_more_cycles_than_are_expected():
    # Its optimiser reads and writes its state, each way 32 bytes a cycle.
    compiled = train.training_step(preset("core"), train.Classifier(784, 128, 10, 128))
    known = compiled.report(json=True)
    assert known["roofline"]["memory"] > known["roofline"]["array"] / 2
    assert 0.9 * known["cycles"] < known["ideal_cycles"] <= known["cycles"]
