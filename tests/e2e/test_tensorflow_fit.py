"""What stands around a step of `fit` under TPUStrategy."""

import pytest

from e2e.tensorflow_files import MAKE, START, compare, found, run, told_by_both

pytestmark = pytest.mark.extra(name="tensorflow")


@pytest.mark.parametrize("devices", [1, 8])
def test_settings_of_a_fit(tmp_path, devices):
    compare(*told_by_both(tmp_path, MAKE + """
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
class Own(tf.keras.Sequential):
    def train_step(self, data):
        images, labels = data
        with tf.GradientTape() as tape:
            loss = self.compute_loss(y=labels, y_pred=self(images, training=True))
        variables = self.trainable_variables
        self.optimizer.apply(tape.gradient(loss, variables), variables)
        return {"own": loss * strategy.num_replicas_in_sync}
tf.keras.utils.set_random_seed(1)
with strategy.scope():
    own = Own([layers.Input((8, 8)), layers.Flatten(), layers.Dense(10, 'softmax')])
    own.compile('adam', 'sparse_categorical_crossentropy')
train("own", own)
tf.keras.utils.set_random_seed(1)
say("same_order", [int(each) for each in tf.data.Dataset.range(30).shuffle(30)])
class First(callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if not batch:
            say("first", logs["loss"])  # another batch of 8 is 10 % away
train("shuffled", make(), x[:64], y[:64], shuffle=True, batch_size=8, epochs=1,
      callbacks=[First()])
say("same_shape", model.predict(x[:5], verbose=0).shape)
""", devices), near="(?!same).*")


@pytest.mark.parametrize("devices", [1, 8])
def test_how_steps_are_run_changes_nothing(tmp_path, devices):
    told = found(run(tmp_path, START + MAKE + """
train("plain", make())
for name, settings in (("many", {"steps_per_execution": 3}), ("jit", {"jit_compile": True})):
    train(name, make(**settings))
# Fewer rows than replicas, in the first batch too.
train("few", make(), x[:3], y[:3])
train("eager", make(run_eagerly=True), x[:64], y[:64], epochs=1)
""", devices))
    for key in ("loss", "accuracy"):
        assert told[f"many_{key}"] == told[f"jit_{key}"] == told[f"plain_{key}"]
        assert len(told[f"eager_{key}"]) == 1
        assert len(told[f"few_{key}"]) == 2


def test_models_are_saved_and_come_back(tmp_path):
    text = run(tmp_path, START + MAKE + f"""
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
