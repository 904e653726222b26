"""Loops of one's own under TPUStrategy: replicas, what they share, data of any size."""

import pytest

from e2e.tensorflow_files import compare, told_by_both

pytestmark = pytest.mark.extra(name="tensorflow")

BEGIN = """
import json
import numpy as np
import tensorflow as tf
def say(name, value):
    name = f"{part}_{name}"
    parts = strategy.experimental_local_results(value)
    print(f"{name}: {json.dumps([np.asarray(each).tolist() for each in parts])}", flush=True)
rows = np.arange(22, dtype=np.float32).reshape(11, 2)
batches = tf.data.Dataset.from_tensor_slices(rows).batch(8)
"""
ROWS = """
part = "rows"
@tf.function
def step(batch):
    return strategy.run(lambda rows: tf.reduce_sum(rows, 1), args=(batch,))
for number, batch in enumerate(strategy.experimental_distribute_dataset(batches)):
    sums = step(batch)
    if number == 0:
        say("rows", sums)
    for op in ("SUM", "MEAN"):
        say(f"{op}{number}", strategy.reduce(op, sums, axis=0))
    say(f"gathered{number}", strategy.gather(sums, axis=0))
"""
STEPS = """
part = "steps"
data = strategy.distribute_datasets_from_function(
    lambda context: tf.data.Dataset.from_tensor_slices(rows[:8]).batch(
        context.get_per_replica_batch_size(8)).repeat())
@tf.function
def steps(iterator, count):
    total = tf.zeros(())
    for _ in tf.range(count):
        each = strategy.run(lambda rows: tf.reduce_sum(rows * rows), args=(next(iterator),))
        total += strategy.reduce(tf.distribute.ReduceOp.SUM, each, axis=None)
    return total
say("total", steps(iter(data), tf.constant(3)))
say("eagerly", strategy.reduce("SUM", strategy.run(
    lambda rows: tf.reduce_sum(rows), args=(next(iter(
        strategy.experimental_distribute_dataset(batches))),)), axis=None))
"""
REPLICAS = """
part = "replicas"
def fn():
    context = tf.distribute.get_replica_context()
    number = tf.cast(context.replica_id_in_sync_group, tf.float32)
    return (context.all_reduce("SUM", number + 1.), context.all_reduce("MEAN", number),
            context.all_gather(tf.reshape(number, (1,)), axis=0))
for name, value in zip(("sum", "mean", "gathered"), tf.function(lambda: strategy.run(fn))()):
    say(name, value)
numbers = strategy.experimental_distribute_values_from_function(
    lambda context: tf.constant(float(context.replica_id_in_sync_group)))
say("doubled", strategy.run(lambda number: number * 2, args=(numbers,)))
with strategy.scope():
    kept = tf.Variable(0., synchronization=tf.VariableSynchronization.ON_READ,
                       aggregation=tf.VariableAggregation.SUM)
    mean = tf.keras.metrics.Mean()
@tf.function
def step(batch):
    def add(rows):
        kept.assign_add(tf.reduce_sum(rows))
        mean.update_state(rows)
    strategy.run(add, args=(batch,))
step(next(iter(strategy.experimental_distribute_dataset(batches))))
say("kept", tf.convert_to_tensor(kept))
say("metric", mean.result())
"""
# On the host replicas without a row, or variables that a step makes, are refused.
BY_HAND = """
part = "by_hand"
tf.keras.utils.set_random_seed(3)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Input((2,)),
                                 tf.keras.layers.Dense(8, activation="tanh"),
                                 tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam(0.01)
    optimizer.build(model.trainable_variables)
    mean = tf.keras.metrics.Mean()
    loss_of = tf.keras.losses.MeanSquaredError(reduction=None)
def fn(x, y):
    with tf.GradientTape() as tape:
        each = loss_of(y, model(x, training=True))
        loss = tf.nn.compute_average_loss(each, global_batch_size=8)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    mean.update_state(each)
    return loss
@tf.function
def step(batch):
    return strategy.reduce("SUM", strategy.run(fn, args=batch), axis=None)
data = tf.data.Dataset.from_tensor_slices(
    (rows[:8] / 10, rows[:8].sum(1, keepdims=True) / 20)).batch(8).repeat(4)
for number, batch in enumerate(strategy.experimental_distribute_dataset(data)):
    say(f"loss{number}", step(batch))
say("mean", mean.result())
say("steps", optimizer.iterations.numpy())
"""


@pytest.fixture(scope="module", params=[1, 8])
def told(request, tmp_path_factory):
    """What all parts say with chips and without: a file each."""
    return told_by_both(tmp_path_factory.mktemp("loops"),
                        BEGIN + ROWS + STEPS + REPLICAS + BY_HAND, request.param)


def part(told, name):
    return [{key: value for key, value in each.items() if key.startswith(f"{name}_")}
            for each in told]


def test_each_replica_has_its_rows_also_none(told):
    compare(*part(told, "rows"))


def test_steps_within_one_function(told):
    compare(*part(told, "steps"))


def test_what_replicas_know_of_one_another(told):
    compare(*part(told, "replicas"))


def test_training_by_hand(told):
    compare(*part(told, "by_hand"), near=r"by_hand_(loss\d|mean)")
