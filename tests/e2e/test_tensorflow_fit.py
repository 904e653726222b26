"""What stands around a step of `fit` under TPUStrategy."""

import numpy as np
import pytest

from e2e.tensorflow_files import START, compare, found, run

pytestmark = pytest.mark.extra(name="tensorflow")

BEGIN = """
import json
import tempfile
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
digits = load_digits()
x, y = (digits.images[:200] / 16).astype("float32"), digits.target[:200]
layers = tf.keras.layers
def make(optimizer='adam', **settings):
    tf.keras.utils.set_random_seed(1)
    with strategy.scope():
        model = tf.keras.Sequential([layers.Input((8, 8)), layers.Flatten(),
                                     layers.Dense(32, 'relu'), layers.Dense(10)])
        model.compile(optimizer=optimizer() if callable(optimizer) else optimizer,
                      loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                      metrics=['accuracy'], **settings)
    return model
def say(name, values):
    print(f"{name}: {json.dumps(np.asarray(values, float).tolist())}", flush=True)
def train(name, model, *data, **settings):
    settings = {"epochs": 2, "batch_size": 64, "verbose": 0, "shuffle": False, **settings}
    history = model.fit(*(data or (x, y)), **settings).history
    for key in sorted(history):
        say(f"{name}_{key}", history[key])
"""


class Near:
    """Names of all that is said of losses and accuracies."""

    def __contains__(self, name):
        return not name.startswith("same")


@pytest.mark.parametrize("devices", [1, 8])
def test_settings_of_a_fit(tmp_path, devices):
    compare(tmp_path, BEGIN + """
optimizers, schedules = tf.keras.optimizers, tf.keras.optimizers.schedules
train("schedule", make(lambda: optimizers.Adam(schedules.ExponentialDecay(0.01, 4, 0.5),
                                                  clipnorm=0.5)))
train("clip", make(lambda: optimizers.SGD(0.1, momentum=0.9, global_clipnorm=0.1)))
train("class", make(), class_weight={number: 1. + number for number in range(10)})
train("sample", make(), sample_weight=np.linspace(0, 1, 200).astype("float32"),
      validation_split=0.2)
callbacks = tf.keras.callbacks
train("callbacks", make(), epochs=4, callbacks=[
    callbacks.EarlyStopping(monitor="loss", patience=0, min_delta=10),
    callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.5)])
data = tf.data.Dataset.from_tensor_slices((x, y)).map(
    lambda a, b: (a * 1.0, tf.cast(b, tf.int64))).cache().batch(64).prefetch(2)
model = make()
train("data", model, data.repeat(), batch_size=None, steps_per_epoch=4)
say("evaluated", model.evaluate(data, verbose=0))
model = make()
say("batch", model.train_on_batch(x[:64], y[:64]) + model.test_on_batch(x[:64], y[:64]))
say("same_shape", model.predict(x[:5], verbose=0).shape)
""", devices, Near())


@pytest.mark.parametrize("devices", [1, 8])
def test_how_steps_are_run_changes_nothing(tmp_path, devices):
    told = found(run(tmp_path, START + BEGIN + """
train("plain", make())
for name, settings in (("many", {"steps_per_execution": 3}), ("jit", {"jit_compile": True})):
    train(name, make(**settings))
train("eager", make(run_eagerly=True), x[:64], y[:64], epochs=1)
""", devices))
    for key in ("loss", "accuracy"):
        assert told[f"many_{key}"] == told[f"jit_{key}"] == told[f"plain_{key}"]
        assert len(told[f"eager_{key}"]) == 1


def test_models_are_saved_and_come_back(tmp_path):
    text = run(tmp_path, START + BEGIN + f"""
folder = {str(tmp_path)!r}
model = make()
train("first", model)
seen = model.predict(x[:9], verbose=0)
def same(other):
    return bool(np.array_equal(seen, other.predict(x[:9], verbose=0)))
model.save(folder + "/m.keras")
with strategy.scope():
    loaded = tf.keras.models.load_model(folder + "/m.keras")
assert same(loaded)
model.save_weights(folder + "/m.weights.h5")
weights = make()
weights.load_weights(folder + "/m.weights.h5")
assert same(weights)
manager = tf.train.CheckpointManager(
    tf.train.Checkpoint(model=model, optimizer=model.optimizer), folder + "/all", max_to_keep=2)
path = manager.save()
again = make()
tf.train.Checkpoint(model=again, optimizer=again.optimizer).restore(path)
assert same(again)
for name, each in (("model", model), ("again", again), ("loaded", loaded)):
    train(name, each, epochs=1)
host = tf.keras.models.load_model(folder + "/m.keras")
say("host", np.abs(seen - host.predict(x[:9], verbose=0)).max())
""", devices=8)
    told = found(text)
    assert told["model_loss"] == told["again_loss"] == told["loaded_loss"]
    assert told["host"] < 0.05


@pytest.mark.parametrize("devices", [1, 2, 8])
def test_between_steps_only_batches_and_gradients_move(tmp_path, devices):
    told = found(run(tmp_path, START + BEGIN + """
from collections import Counter
from celosia.driver import Device
from celosia.tensorflow.variables import VariableCell
put, get = Device.put, Device.get
moved = Counter()
def count_put(self, array, *args, **kwargs):
    moved["up"] += np.asarray(array).nbytes
    return put(self, array, *args, **kwargs)
def count_get(self, handle):
    moved["down"] += handle.nbytes
    return get(self, handle)
Device.put, Device.get = count_put, count_get
class Look(tf.keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        moved.clear()
        self.copies = VariableCell.copies
    def on_train_batch_end(self, batch, logs=None):
        self.up, self.down = moved["up"], moved["down"]
        assert VariableCell.copies == self.copies
    on_test_batch_begin, on_test_batch_end = on_train_batch_begin, on_train_batch_end
model = make(lambda: tf.keras.optimizers.Adam())
look = Look()
for name in ("train", "again"):
    train("loss", model, callbacks=[look], epochs=1, batch_size=40)
    say(name, [look.up, look.down])
model.evaluate(x, y, batch_size=40, verbose=0, callbacks=[look])
say("evaluate", [look.up, look.down])
copies = VariableCell.copies
model.layers[1].kernel.value.device
say("device", VariableCell.copies - copies)
say("read", np.abs(model.get_weights()[0]).sum())
say("after", VariableCell.copies - copies)
""", devices))
    gradients = (64 * 32 + 32 + 32 * 10 + 10) * 4 * devices if devices > 1 else 0
    batch = 40 * (64 + 1) * 4
    counters = 50 * devices  # totals of metrics, numbers of steps
    for name, joined in (("train", gradients), ("again", gradients), ("evaluate", 0)):
        up, down = told[name]
        assert batch + joined <= up <= batch + joined + counters, name
        assert joined <= down <= joined + counters, name
    assert told["device"] == 0
    assert told["after"] > 0
    assert np.isfinite(told["read"])


def test_host_time_of_a_step(tmp_path):
    told = found(run(tmp_path, START + BEGIN + """
import time
from celosia.driver import Device
of_chip = [0.0]
run = Device.run
def timed(self, *args, **kwargs):
    start = time.thread_time()
    try:
        return run(self, *args, **kwargs)
    finally:
        of_chip[0] += time.thread_time() - start
Device.run = timed
class Look(tf.keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.ends = []
    def on_train_batch_end(self, batch, logs=None):
        self.ends.append(time.process_time() - of_chip[0])
model = make()
look = Look()
train("loss", model, x[:32 * 6], y[:32 * 6], batch_size=8, callbacks=[look])
say("milliseconds", 1000 * np.median(np.diff(look.ends)))
"""))
    assert told["milliseconds"] <= 5
