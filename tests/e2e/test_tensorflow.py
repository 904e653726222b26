"""Files of TensorFlow for TPUs, as they are, against TensorFlow on the host."""

import re

import numpy as np
import pytest

from e2e.forks import run_forked
from e2e.tensorflow_files import HOST, START, environment, losses, run

pytestmark = pytest.mark.extra(name="tensorflow")

FIT = """
import numpy as np
from sklearn.datasets import load_digits
digits = load_digits()
x_train, y_train = (digits.images / 16).astype("float32"), digits.target
def create_model():
    return tf.keras.models.Sequential([
        tf.keras.layers.Input((8, 8)), tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(128, activation='relu'), tf.keras.layers.Dropout(0.2),
        tf.keras.layers.Dense(10, activation='softmax')])
tf.keras.utils.set_random_seed(1)
with strategy.scope():
    model = create_model()
    model.compile(optimizer='adam', loss='sparse_categorical_crossentropy',
                  metrics=['accuracy'])
model.fit(x_train[:1000], y_train[:1000], epochs=3, batch_size=128, verbose=2)
print("evaluated", *model.evaluate(x_train[1000:], y_train[1000:], batch_size=128, verbose=0))
print("predicted", *model.predict(x_train[:8], verbose=0).argmax(-1))
print("steps", int(model.optimizer.iterations.numpy()))
"""


def test_fit_of_a_file_as_it_is(tmp_path):
    text = run(tmp_path, START + FIT)
    assert "celosia: 1 simulated chip (core, model) stands for TPU grpc://localhost:8470" in text
    assert "All devices:  1\n" in text
    assert "steps 24\n" in text
    assert "celosia: train_step was compiled for (128, 8, 8), (128,) in " in text
    host = run(tmp_path, HOST.replace("DEVICES", "1") + FIT, module=None)
    np.testing.assert_allclose(losses(text), losses(host), rtol=0.02)
    assert len(losses(text)) == 3


def test_replicas_share_a_batch_the_last_one_too(tmp_path):
    text = run(tmp_path, START + FIT, devices=2)
    assert "celosia: 2 simulated chips" in text
    host = run(tmp_path, HOST.replace("DEVICES", "2") + FIT, module=None)
    np.testing.assert_allclose(losses(text), losses(host), rtol=0.02)


def test_own_loop_and_variables_that_stay_on_the_chip(tmp_path):
    text = run(tmp_path, START + """
from celosia.tensorflow.variables import VariableCell
with strategy.scope():
    w = tf.Variable(tf.zeros((4,)))
    total = tf.keras.metrics.Mean()
@tf.function
def step(x):
    def fn(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((w - x) ** 2)
        w.assign_sub(0.25 * tape.gradient(loss, w))
        total.update_state(loss)
        return loss
    return strategy.run(fn, args=(x,))
x = tf.constant([1., 2., 3., 4.])
found = [float(step(x)) for _ in range(4)]
assert found == [30.0, 7.5, 1.875, 0.46875], found
assert VariableCell.copies == 0, VariableCell.copies
assert w.numpy().tolist() == [0.9375, 1.875, 2.8125, 3.75], w
assert VariableCell.copies == 1
assert float(total.result()) == sum(found) / 4
w.assign([1., 2., 3., 4.])
assert float(step(x)) == 0.0
print("done")
""")
    assert "\ndone\n" in text


def test_a_number_that_needs_64_bits_is_named(tmp_path):
    text = run(tmp_path, START + """
try:
    strategy.run(tf.function(lambda x: x + 1), args=(tf.constant([1, 2 ** 40], tf.int64),))
except tf.errors.InvalidArgumentError as error:
    print(error)
""")
    assert "must fit 32 bits on the chip, not 1099511627776" in text


def test_a_file_that_is_not_there(tmp_path):
    done = run_forked([tmp_path / "x.py"], "celosia.tensorflow", tmp_path, environment(1))
    assert done.returncode == 2
    assert "there must be a file to run, not" in done.stderr


EMBED = """
import numpy as np
words = np.random.default_rng(0).integers(0, 20, (64, 6))
for optimizer in ('adam', 'rmsprop'):
    tf.keras.utils.set_random_seed(1)
    with strategy.scope():
        model = tf.keras.Sequential([
            tf.keras.layers.Input((6,)), tf.keras.layers.Embedding(20, 4),
            tf.keras.layers.GlobalAveragePooling1D(), tf.keras.layers.Dense(2)])
        model.compile(optimizer=type(tf.keras.optimizers.get(optimizer))(0.1), loss='mse')
    # The batches of a data set have no shape that is known when a step is traced.
    data = tf.data.Dataset.from_tensor_slices((words, words[:, :2] / 20)).batch(32)
    model.fit(data, epochs=3, verbose=2)
"""


@pytest.mark.parametrize("devices", [1, 8])
def test_optimisers_take_the_slices_of_an_embedding_as_on_the_host(tmp_path, devices):
    text = run(tmp_path, START + EMBED, devices)
    host = run(tmp_path, HOST.replace("DEVICES", str(devices)) + EMBED, module=None)
    np.testing.assert_allclose(losses(text), losses(host), rtol=0.02)
    assert len(losses(text)) == 6


def test_random_numbers_are_those_of_the_host(tmp_path):
    text = run(tmp_path, START + """
import numpy as np
def draw():
    return (tf.random.stateless_uniform((5, 7), (3, 4)),
            tf.random.stateless_uniform((9,), (1, 2), 0, 2**31 - 1, tf.int32),
            tf.random.stateless_uniform((5, 7), (3, 4), dtype=tf.bfloat16),
            tf.random.stateless_uniform((5, 7), (3, 4), dtype=tf.float16),
            tf.nn.experimental.stateless_dropout(tf.ones((30, 7)), 0.3, (1, 2)))
for ours, theirs in zip(strategy.run(tf.function(draw)), draw()):
    assert (ours.numpy() == theirs.numpy()).all(), (ours, theirs)
def normal():
    return tf.random.stateless_normal((9, 7), (3, 4)), tf.random.stateless_normal((), (5, 6))
for ours, theirs in zip(strategy.run(tf.function(normal)), normal()):
    np.testing.assert_allclose(ours, theirs, atol=5e-6)
print("equal")
""")
    assert "\nequal\n" in text


def test_random_numbers_without_a_seed_of_their_own(tmp_path):
    text = run(tmp_path, START + """
import numpy as np
tf.random.set_seed(5)
def draw():
    return (tf.random.normal((41, 25)), tf.random.uniform((41, 25), 2., 3.),
            tf.random.truncated_normal((41, 25)), tf.random.uniform((41, 25), 0, 5, tf.int32),
            tf.random.categorical(tf.math.log([[.2, .3, .5]]), 1025),
            tf.nn.dropout(tf.ones((41, 25)), 0.25), tf.random.shuffle(tf.range(41)))
def rows(step):
    found = [strategy.experimental_local_results(each) for each in strategy.run(step)]
    return [[each[i].numpy() for each in found] for i in range(2)]
step = tf.function(draw)
first, other = rows(step)
again, _ = rows(step)
strategy = tf.distribute.TPUStrategy(resolver)
tf.random.set_seed(5)
same, _ = rows(tf.function(draw))
for a, b, c, d in zip(first, other, again, same):
    assert (a != b).any() and (a != c).any() and (a == d).all(), (a, b, c, d)
normal, uniform, short, whole, classes, kept, order = first
for found, mean, deviation in ((normal, 0, 1), (uniform, 2.5, 12 ** -.5), (short, 0, 0.88),
                               (whole, 2, 2 ** .5), (classes, 1.3, 0.61 ** .5),
                               (kept, 1, 3 ** -.5)):
    assert abs(found.mean() - mean) < 0.12 * deviation, (found, mean)
    assert abs(found.std() / deviation - 1) < 0.1, (found, deviation)
assert abs(short).max() < 2 and sorted(order) == list(range(41))
@tf.function
def loop():
    return strategy.run(lambda: tf.scan(lambda _, i: tf.random.uniform(()), tf.range(3), 0.))
assert len(set(strategy.experimental_local_results(loop())[0].numpy())) == 3
print("drawn")
""", devices=2)
    assert "\ndrawn\n" in text


def test_images_are_projected_and_resized_as_on_the_host(tmp_path):
    text = run(tmp_path, START + """
import itertools
import numpy as np
numbers = np.random.default_rng(0)
images = numbers.random((6, 5, 7, 2), np.float32)
turns = np.array([1, 0, 0, 0, 1, 0, 0, 0], np.float32) + numbers.normal(
    0, [.5, .5, 6, .5, .5, 6, .02, .02], (6, 8)).astype(np.float32)
turns[0, :] = [1, 0, -2, 0, 1, 3, 0, 0]  # by whole pixels
turns[1, 6:] = [-.5, 0]  # from nowhere
def projected(interpolation, fill_mode, size=(4, 6)):
    return lambda images, turns: tf.raw_ops.ImageProjectiveTransformV3(
        images=images, transforms=turns, output_shape=size, fill_value=0.5,
        interpolation=interpolation, fill_mode=fill_mode)
for words in itertools.product(("NEAREST", "BILINEAR"),
                               ("CONSTANT", "REFLECT", "WRAP", "NEAREST")):
    wanted = projected(*words)(images, turns).numpy()
    found = strategy.run(projected(*words), (tf.constant(images), tf.constant(turns))).numpy()
    assert np.abs(found - wanted).max() < 1e-4, words
def gradients(images):
    for size, how in itertools.product(((9, 14), (4, 3)), (
            {}, {"align_corners": True}, {"half_pixel_centers": True})):
        with tf.GradientTape() as tape:
            tape.watch(images)
            found = tf.raw_ops.ResizeNearestNeighbor(images=images, size=size, **how)
            found *= tf.reshape(tf.range(0., float(np.prod(found.shape))), found.shape)
        yield tape.gradient(found, images)
def resized(images):
    return tuple(gradients(images))
for found, wanted in zip(strategy.run(resized, (tf.constant(images),)),
                         resized(tf.constant(images)), strict=True):
    assert (found.numpy() == wanted.numpy()).all(), (found, wanted)
print("equal")
layers = tf.keras.layers
with strategy.scope():
    model = tf.keras.Sequential([layers.RandomRotation(0.2), layers.RandomZoom(0.2),
                                 layers.RandomTranslation(0.1, 0.1), layers.Flatten(),
                                 layers.Dense(2)])
    model.compile("adam", "mse")
print("loss", *model.fit(images, images[:, 0, 0], verbose=0).history["loss"])
""")
    assert "\nequal\n" in text
    assert re.search(r"\nloss \d", text)


def test_an_epoch_that_is_left_is_not_waited_for(tmp_path):
    text = run(tmp_path, START + """
import time
data = tf.data.Dataset.range(64).batch(8)
data = strategy.experimental_distribute_dataset(data)
epoch = iter(data)
next(epoch)
time.sleep(2)
next(epoch)
left = time.monotonic()
del epoch
print("seconds", time.monotonic() - left)
tuned = tf.data.Options()
tuned.autotune.enabled = True
tuned = tf.data.Dataset.range(60).with_options(tuned).batch(8)
print("sum", int(sum(tf.reduce_sum(tf.concat(strategy.experimental_local_results(each), 0))
                     for each in strategy.experimental_distribute_dataset(tuned))))
# Replicas take turns at one iterator: an epoch begins without that anything is traced.
from tensorflow.python.framework import func_graph
traced, make = [], func_graph.FuncGraph.__init__
def noted(self, name, *args, **kwargs):
    traced.append(name)
    make(self, name, *args, **kwargs)
func_graph.FuncGraph.__init__ = noted
next(iter(data))
print("traced", len(traced))
""", devices=8)
    # It was more than ten times as long as the epoch.
    assert float(re.search(r"seconds (\S+)", text)[1]) < 1
    assert f"sum {sum(range(60))}\n" in text
    assert "traced 0\n" in text


def test_a_program_that_takes_long_is_said(tmp_path):
    text = run(tmp_path, START + """
from celosia.tensorflow import programs
programs._LONG = 0.001
strategy.run(tf.function(lambda x: tf.nn.softmax(tf.matmul(x, x))), args=(tf.ones((64, 64)),))
""")
    assert re.search(r"celosia: \S+ is being compiled still: it has \d+ operations\n", text)


def test_linear_algebra(tmp_path):
    text = run(tmp_path, START + """
import numpy as np
a = tf.constant(np.random.default_rng(0).normal(size=(2, 5, 5)).astype("float32"))
def fn(a):
    symmetric = a + tf.linalg.matrix_transpose(a)
    values, vectors = tf.linalg.eigh(symmetric)
    q, r = tf.linalg.qr(a)
    return (tf.linalg.inv(a), tf.linalg.solve(a, a[..., :2], adjoint=True), q, r, values,
            tf.linalg.expm(a), tf.abs(vectors))
for ours, theirs in zip(strategy.run(tf.function(fn), args=(a,)), fn(a), strict=True):
    np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-4)
print("ended")
""")
    assert "ended\n" in text
