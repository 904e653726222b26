"""`tf.contrib.tpu` and other names of TensorFlow 1, on one chip and on eight."""

import pytest

from e2e.tensorflow_files import run

pytestmark = pytest.mark.extra(name="tensorflow")

DATA = """
import os, tempfile
import numpy as np
import tensorflow as tf
rng = np.random.default_rng(0)
x = rng.normal(size=(64, 8)).astype("float32")
y = (x[:, 0] > 0).astype("int32")
start = rng.normal(size=(8, 16)) / 3
"""
ESTIMATOR = """
def model_fn(features, labels, mode, params):
    assert params['batch_size'] == 32 // int(os.environ['CELOSIA_DEVICES']) or not TPU, params
    with tf.variable_scope('hidden'):
        w = tf.get_variable('w', (8, 16), initializer=tf.constant_initializer(start))
        b = tf.get_variable('b', (16,), initializer=tf.zeros_initializer())
    hidden = tf.nn.relu(tf.matmul(features, w) + b)
    out = tf.Variable(tf.random.stateless_uniform((16, 2), (1, 2)), name='out')
    logits = tf.matmul(hidden, out)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.contrib.tpu.TPUEstimatorSpec(mode, predictions={
            'classes': tf.argmax(logits, 1), 'probabilities': tf.nn.softmax(logits)})
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    def metric_fn(labels, logits):
        return {'accuracy': tf.metrics.accuracy(labels, tf.argmax(logits, 1))}
    rate = tf.train.exponential_decay(0.5, tf.train.get_global_step(), 100, 0.9)
    optimizer = tf.train.AdamOptimizer(0.05) if ADAM else tf.train.GradientDescentOptimizer(rate)
    if TPU:
        optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.contrib.tpu.TPUEstimatorSpec(mode=mode, loss=loss, train_op=train_op,
                                           eval_metrics=(metric_fn, [labels, logits]))

def train_input_fn(params):
    found = tf.data.Dataset.from_tensor_slices((x, y)).repeat()
    found = found.batch(params['batch_size'], drop_remainder=True)
    return found.make_one_shot_iterator().get_next()

def eval_input_fn(params):
    return tf.data.Dataset.from_tensor_slices((x, y)).batch(params['batch_size'])

def estimator(folder, model_fn=model_fn):
    return tf.contrib.tpu.TPUEstimator(
        model_fn=model_fn,
        config=tf.contrib.tpu.RunConfig(
            master='grpc://10.0.0.2:8470', evaluation_master='grpc://10.0.0.2:8470',
            model_dir=folder, save_checkpoints_steps=4,
            session_config=tf.ConfigProto(allow_soft_placement=True, log_device_placement=True),
            tpu_config=tf.contrib.tpu.TPUConfig(4, int(os.environ['CELOSIA_DEVICES']))),
        use_tpu=TPU, train_batch_size=32, eval_batch_size=32, predict_batch_size=32)

def trained():
    folder = tempfile.mkdtemp()
    made = estimator(folder)
    made.train(train_input_fn, steps=6)
    first = made.evaluate(eval_input_fn)
    assert first['global_step'] == 6, first
    made.train(input_fn=train_input_fn, max_steps=12)
    other = estimator(folder)  # from its checkpoint
    found = other.evaluate(eval_input_fn, steps=2)
    assert found['global_step'] == 12 and found['loss'] < first['loss'], (first, found)
    rows = list(other.predict(lambda params: tf.data.Dataset.from_tensor_slices(x[:13]).batch(
        params['batch_size'])))
    assert len(rows) == 13 and rows[0]['probabilities'].shape == (2,)
    right = np.mean([row['classes'] == label for row, label in zip(rows, y)])
    assert right >= 0.8, right
    kept = sorted(int(each[11:-6]) for each in os.listdir(folder) if each.endswith('.index'))
    assert kept == [4, 6, 10, 12], kept  # every four of a call, and its last
    names = other.get_variable_names()
    assert {'global_step', 'hidden/w', 'hidden/b', 'out'} <= set(names), names
    assert ('hidden/w/Adam' in names) == ADAM, names
    saved = tf.train.load_checkpoint(folder).get_tensor('hidden/w')
    assert (saved == other.get_variable_value('hidden/w')).all()
    return found['loss'], found['accuracy']

for ADAM in (False, True):
    TPU = True
    chip = trained()
    TPU = False
    host = trained()
    np.testing.assert_allclose(chip, host, rtol=0.02)
    print('equal', chip, host)
TPU = True

def layers_fn(features, labels, mode):
    loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(
        labels, tf.keras.Sequential([tf.keras.layers.Dense(16, activation='relu'),
                                     tf.keras.layers.Dense(2)])(features), from_logits=True))
    optimizer = tf.contrib.tpu.CrossShardOptimizer(tf.train.GradientDescentOptimizer(0.5))
    return tf.contrib.tpu.TPUEstimatorSpec(
        mode, loss=loss, train_op=optimizer.minimize(loss, tf.train.get_global_step()))
made = estimator(tempfile.mkdtemp(), layers_fn)
made.train(train_input_fn, steps=2)
before = made.evaluate(eval_input_fn)['loss']
made.train(train_input_fn, steps=6)
after = made.evaluate(eval_input_fn)['loss']
assert after < before, (before, after)
names = made.get_variable_names()
assert len(names) == 5 and 'sequential/dense/kernel' in names, names

def refused(function, message):
    try:
        function()
    except Exception as error:
        assert message in str(error), error
    else:
        raise AssertionError(message)
refused(lambda: estimator(tempfile.mkdtemp()).train(train_input_fn, hooks=[1]),
        'hooks must be left out: they work on a session, and there is none')
refused(lambda: list(estimator(tempfile.mkdtemp()).predict(train_input_fn)),
        'Could not find trained model in model_dir')
refused(lambda: made.train(lambda params: tf.data.Dataset.from_tensor_slices((x, y)).batch(7)),
        'a batch must have a multiple of 8 rows, one part for each replica, not 7'
        ) if os.environ['CELOSIA_DEVICES'] == '8' else None
refused(lambda: tf.contrib.tpu.TPUEstimatorSpec('train', loss=1), 'train_op must be given')
refused(lambda: made.export_saved_model('x', None), 'export_saved_model is not there')
"""
KERAS = """
tf.keras.utils.set_random_seed(1)
model = tf.keras.Sequential([tf.keras.layers.Input((8,)),
                             tf.keras.layers.Dense(16, activation='relu'),
                             tf.keras.layers.Dense(2, activation='softmax')])
model.compile(optimizer=tf.train.AdamOptimizer(learning_rate=0.05),
              loss=tf.keras.losses.sparse_categorical_crossentropy,
              metrics=['sparse_categorical_accuracy'])
tpu_model = tf.contrib.tpu.keras_to_tpu_model(
    model,
    strategy=tf.contrib.tpu.TPUDistributionStrategy(
        tf.contrib.cluster_resolver.TPUClusterResolver(tpu='grpc://10.0.0.2:8470')))
before = tpu_model.evaluate(x, y, batch_size=32, verbose=0)[0]
def batches():
    while True:
        yield from ((x[:32], y[:32]), (x[32:], y[32:]))
tpu_model.fit_generator(batches(), 2, epochs=6, verbose=0, workers=2, max_queue_size=4)
loss, accuracy = tpu_model.evaluate(x, y, batch_size=32, verbose=0)
assert loss < before and accuracy > 0.8, (loss, accuracy)
on_host = tpu_model.sync_to_cpu().predict(x, verbose=0)
np.testing.assert_allclose(on_host, tpu_model.predict(x, batch_size=32, verbose=0), atol=5e-3)
"""
NAMES = """
import inspect
import tensorflow.compat.v1 as old
from tensorflow.contrib import cluster_resolver
from tensorflow.contrib.tpu.python.tpu import tpu_config, tpu_estimator, tpu_optimizer
from celosia.tensorflow.names import NAMES, NameState
from tensorflow.python.distribute import tpu_strategy
from tensorflow.python.distribute.cluster_resolver.tpu import tpu_cluster_resolver as resolvers

def public(module, path):
    for name in dir(module):
        if not name.startswith('_'):
            value = getattr(module, name)
            if inspect.ismodule(value):
                yield from public(value, f'{path}.{name}')
            else:
                yield f'{path}.{name}'

theirs = {*public(tf.tpu, 'tf.tpu'), *public(tf.compat.v1.tpu, 'tf.compat.v1.tpu')}
for module, path in ((tf.distribute, 'tf.distribute'), (tf.experimental, 'tf.experimental'),
                     (tf.compat.v1.distribute, 'tf.compat.v1.distribute'),
                     (tf.config, 'tf.config'), (tf.contrib, 'tf.contrib'),
                     (tf.estimator.tpu, 'tf.estimator.tpu')):
    theirs |= {name for name in public(module, path) if 'tpu' in name.lower()}
theirs = {name for name in theirs if '.python.' not in name}
for made, of in ((tf.distribute.TPUStrategy, tpu_strategy.TPUStrategyV2),
                 (tf.distribute.TPUStrategy, tpu_strategy.TPUStrategyV1),
                 (tf.distribute.cluster_resolver.TPUClusterResolver, resolvers.TPUClusterResolver)):
    path = next(each for each in NAMES if each.endswith(made.__name__))
    theirs |= {f'{path}.{name}' for name in dir(of) if not name.startswith('_')}
assert theirs <= NAMES.keys(), sorted(theirs - NAMES.keys())
for path, entry in NAMES.items():
    *parents, name = path.split('.')[1:]
    found, problem = tf, None
    if parents and parents[-1] == 'TPUClusterResolver':
        parents, found = [], tf.distribute.cluster_resolver.TPUClusterResolver(tpu='')
    try:
        for each in (*parents, name):
            found = getattr(found, each)
        if entry.state is NameState.REFUSED and path != 'tf.layers':
            found()
    except (AttributeError, NotImplementedError) as error:
        problem = str(error)
    if entry.state is not NameState.REFUSED:
        assert problem is None, (path, problem)
    elif path == 'tf.layers':
        problem = None
        try:
            old.layers.dense
        except AttributeError as error:
            assert str(error) == f'tf.layers.dense is not there: {entry.sentence}', error
    else:
        assert problem == f'{path} is not there: {entry.sentence}', (path, problem)
assert old.contrib.tpu is tf.contrib.tpu and old.tpu is tf.compat.v1.tpu
with tf.compat.v1.Graph().as_default(), tf.Session(
        'grpc://' + os.environ['COLAB_TPU_ADDR']) as session:
    devices = [each for each in session.list_devices() if each.device_type == 'TPU']
    assert len(devices) == int(os.environ['CELOSIA_DEVICES']), devices
    session.run(tf.contrib.tpu.initialize_system())
    session.run(old.tpu.shutdown_system())
assert tf.distribute.TPUStrategy is tf.compat.v1.distribute.experimental.TPUStrategy
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu='local')
strategy = tf.distribute.TPUStrategy(resolver)
assert strategy.cluster_resolver is resolver
assert len(resolver.get_tpu_system_metadata().devices) == strategy.num_replicas_in_sync
one = tf.zeros((2, 3))
assert strategy.experimental_assign_to_logical_device(one, 0) is one
assert strategy.experimental_split_to_logical_devices(one, [1, 1]) is one
for refused in (lambda: strategy.experimental_assign_to_logical_device(one, 1),
                lambda: strategy.experimental_split_to_logical_devices(one, [2, 1])):
    try:
        refused()
    except ValueError as error:
        assert 'for a replica has one chip, not ' in str(error), error
    else:
        assert False
"""
ENDED = "\nprint('ended')\n"


@pytest.mark.parametrize("devices", [1, 8])
def test_estimators_and_models_of_old(tmp_path, devices):
    text = run(tmp_path, DATA + ESTIMATOR + KERAS + NAMES + ENDED, devices)
    assert "\nended\n" in text


def test_without_the_behaviour_of_tensorflow_2(tmp_path):
    text = DATA.replace("import tensorflow as tf", "import tensorflow.compat.v1 as tf\n"
                                                   "tf.disable_v2_behavior()")
    text += ESTIMATOR.replace("found.make_one_shot_iterator()",
                              "tf.data.make_one_shot_iterator(found)")
    assert "\nended\n" in run(tmp_path, text + ENDED, 2)
