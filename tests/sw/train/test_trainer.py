import re
from pathlib import Path

import numpy as np
import pytest

from celosia import driver, train
from celosia.arch.config import preset

NET = train.Classifier(5, 6, 3, 16)


@pytest.fixture
def device():
    with driver.open("model", config=preset("core")) as device:
        yield device


def batch(seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((16, 5)), rng.integers(0, 3, 16)


def test_state_stays_on_the_device(device, monkeypatch):
    trainer = train.Trainer(device, NET, train.initial_parameters(NET))
    trainer.step(*batch(), 0.01)
    written, read = [], []
    write, fetch = device.transport.write_memory, device.transport.read_memory
    monkeypatch.setattr(device.transport, "write_memory",
                        lambda address, data: (written.append(len(data)), write(address, data)))
    monkeypatch.setattr(device.transport, "read_memory",
                        lambda address, size: (read.append(size), fetch(address, size))[1])
    trainer.step(*batch(), 0.01)
    assert written == [16 * 5 * 2, 16 * 4, 4]
    assert read == [4]


def test_trainers_are_equal_as_long_as_they_do_the_same(device):
    with driver.open("model", config=preset("core")) as other:
        one, two = (train.Trainer(each, NET, train.initial_parameters(NET))
                    for each in (device, other))
        for seed in range(2):
            assert one.step(*batch(seed), 0.01) == two.step(*batch(seed), 0.01)
        assert one.equals(two)
        one.step(*batch(2), 0.01)
        two.step(*batch(3), 0.01)
        assert not one.equals(two)


def test_on_chip_memories_count_too(device):
    with driver.open("model", config=preset("core")) as other:
        one, two = (train.Trainer(each, NET, train.initial_parameters(NET))
                    for each in (device, other))
        other.transport.machine.acc[-1, 0] ^= 1
        assert not one.equals(two)


def test_memory_is_given_back(device):
    free = device.free_bytes
    trainer = train.Trainer(device, NET, train.initial_parameters(NET))
    assert device.free_bytes < free
    trainer.close()
    assert device.free_bytes == free


@pytest.mark.parametrize("label", [-1, 3])
def test_label_that_is_no_class_is_refused(device, label):
    trainer = train.Trainer(device, NET, train.initial_parameters(NET))
    x, labels = batch()
    labels[:4] = 0, 2, 1, label
    with pytest.raises(ValueError, match=f"^labels must be from 0 to 2, not {label}$"):
        trainer.step(x, labels, 0.01)


def test_labels_that_are_no_integers_are_refused(device):
    trainer = train.Trainer(device, NET, train.initial_parameters(NET))
    x, labels = batch()
    for wrong in (labels + 0.5, np.full(16, np.nan)):
        with pytest.raises(TypeError, match="^labels must be integers, not float64$"):
            trainer.step(x, wrong, 0.01)  # type: ignore[arg-type]


def test_wrong_shapes_are_refused(device):
    with pytest.raises(ValueError, match=re.escape("parameters must be w1, b1, w2, b2, not w1")):
        train.Trainer(device, NET, {"w1": np.zeros((6, 5))})
    with pytest.raises(ValueError, match=re.escape("w1 must be float32[6, 5], not float32[5, 6]")):
        train.Trainer(device, NET, train.initial_parameters(NET) | {"w1": np.zeros((5, 6))})
    trainer = train.Trainer(device, NET, train.initial_parameters(NET))
    x, labels = batch()
    with pytest.raises(ValueError, match=re.escape(
            "x, must be bfloat16[16, 5], not bfloat16[15, 5]")):
        trainer.step(x[:15], labels, 0.01)


def test_example_of_the_documentation():
    page = (Path(__file__).parents[3] / "docs" / "training.md").read_text()
    names: dict = {}
    exec(page.split("```python\n")[1].split("```")[0], names)
    assert names["losses"][-1] < 0.1 * names["losses"][0]
    assert names["weights"].shape == (32, 64)
