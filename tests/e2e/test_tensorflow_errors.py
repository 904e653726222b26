"""What TPUStrategy cannot do, in TensorFlow's types of errors and with lines of the user's file."""

import json
import re

import pytest

from e2e.forks import run_forked
from e2e.tensorflow_files import environment, run

pytestmark = pytest.mark.extra(name="tensorflow")

#: Each case prints the type and the message of what it raises; "LINE": its first line.
CASES = """
import json
import os
import tensorflow as tf
distribute = tf.distribute
told = {}
def case(function):
    try:
        found = function()
    except Exception as error:
        first = str(function.__code__.co_firstlineno + 2)
        told[function.__name__] = [type(error).__name__, str(error).replace(
            f"train.py:{first} ", "train.py:LINE ")]
    else:
        raise AssertionError((function.__name__, found))
strategy = distribute.TPUStrategy(distribute.cluster_resolver.TPUClusterResolver('nonsense'))
outside = tf.Variable(1.0)
rows = tf.constant([1., -1.])
def huge(x):
    wide = tf.broadcast_to(x, (60000, 60000))
    return tf.reduce_sum(tf.matmul(wide + x, wide))
@case
def address():
    return distribute.cluster_resolver.TPUClusterResolver(tpu=5)
@case
def resolver():
    return distribute.TPUStrategy("grpc://10.0.0.2:8470")
@case
def nested():
    with strategy.scope(), distribute.TPUStrategy().scope():
        return None
@case
def variable():
    return strategy.run(lambda: outside + 1)
@case
def strings():
    return strategy.run(lambda x: x, (tf.constant(["a"]),))
@case
def host():
    return strategy.run(lambda x: (tf.as_string(x), tf.py_function(abs, [x], "float32")), (rows,))
@case
def dynamic():
    return strategy.run(lambda x: tf.boolean_mask(x, x > 0), (rows,))
@case
def memory():
    return strategy.run(huge, (rows[:1],))
@case
def memory_in_a_function():
    return tf.function(lambda x: strategy.run(huge, (x,)))(rows[:1])
table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1, 2], [3, 4]), -1)
@case
def lookup():
    return tf.function(lambda x: strategy.run(lambda x: table.lookup(x), (x,)))(tf.constant([1]))
class Odd(tf.keras.layers.Layer):
    def call(self, x):
        y = tf.cast(x, tf.float64)
        return tf.cast(y * 1.5, tf.float32)
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(8), Odd()])
    model.compile('adam', 'mse')
@case
def fit():
    return model.fit(tf.ones((8, 8)), tf.ones((8, 8)), verbose=0)
@case
def shapes():
    rows = tf.data.Dataset.from_tensor_slices(tf.ones((3, 8))).batch(4)
    [batch] = strategy.experimental_distribute_dataset(rows)
    return strategy.reduce("SUM", strategy.run(lambda x: x, (batch,)), axis=None)
print("told", json.dumps(told))
"""
ADDRESS = ["ValueError", "tpu must be an address, a name or None, not 5"]
RESOLVER = ["ValueError", ("tpu_cluster_resolver must be a TPUClusterResolver or None, not "
                           "'grpc://10.0.0.2:8470'")]
VARIABLE = ["ValueError", ("variable Variable:0 must be made in the scope of the strategy: "
                           "<lambda> uses it on 2 replicas")]
SHAPES = ["ValueError", ("values of replicas must have one shape to be reduced without an axis, "
                         "not (1, 8) and (2, 8)")]
BRIDGE = "<lambda> has what TensorFlow's bridge to XLA cannot lower:\n"


def test_what_cannot_be_done_is_said(tmp_path):
    text = run(tmp_path, CASES, devices=2)
    [line] = re.findall(r"^told (.*)", text, re.MULTILINE)
    told = json.loads(line)
    assert told["address"] == ADDRESS
    assert told["resolver"] == RESOLVER
    assert told["nested"][1].startswith("Mixing different tf.distribute.Strategy objects")
    assert told["variable"] == VARIABLE
    kind, said = told["strings"]
    assert (kind, said.startswith(BRIDGE)) == ("UnimplementedError", True), said
    assert "LINE (tensors_0): _Arg is no operation of XLA with T=DT_STRING" in said
    # All at once, each with its line.
    kind, said = told["host"]
    assert (kind, said.startswith(BRIDGE)) == ("UnimplementedError", True), said
    assert "LINE (AsString): AsString is no operation of XLA\n" in said
    assert "LINE (EagerPyFunc): EagerPyFunc is no operation of XLA" in said
    kind, said = told["lookup"]
    assert kind == "UnimplementedError", said
    assert "LookupTableFindV2 is no operation of XLA" in said
    kind, said = told["dynamic"]
    assert kind == "UnimplementedError"
    assert said.startswith("<lambda> has what the graph cannot express:\n")
    assert re.search(r"LINE \(boolean_mask/Where\): shape must be known before", said)
    # Of the program, what it needs and for which tensors; from within a function likewise.
    assert told["memory"] == told["memory_in_a_function"]
    kind, said = told["memory"]
    assert kind == "ResourceExhaustedError"
    assert said.startswith("the program must fit 4294963200 bytes of external memory, not need ")
    assert re.search(r"14,400,000,000  \S+ f32\[1, 60000, 60000\]", said)
    assert "  4  tensors_0 f32[1]\n" in said
    kind, said = told["fit"]
    assert kind == "UnimplementedError", said
    lines = CASES.splitlines()
    cast, product = (next(i for i, line in enumerate(lines, 1) if each in line)
                     for each in ("y = tf.cast", "y * 1.5"))
    assert f"train.py:{cast} (sequential_1/odd_1/Cast): stablehlo.convert: elements must" in said
    assert f"train.py:{product} (sequential_1/odd_1/mul): stablehlo.multiply: elements" in said
    assert told["shapes"] == SHAPES


def test_an_environment_that_is_wrong_is_said_at_once(tmp_path):
    (tmp_path / "train.py").write_text("raise AssertionError")
    wrong = {"CELOSIA_DEVICES": "many", "CELOSIA_PRESET": "cor", "CELOSIA_BACKEND": "chip"}
    done = run_forked([tmp_path / "train.py"], "celosia.tensorflow", tmp_path,
                      {**environment(1), **wrong})
    assert done.returncode == 1
    [last] = done.stderr.splitlines()[-1:]
    assert last.startswith("ValueError: CELOSIA_BACKEND must be one of model, rtl, twin, cocotb, "
                           "not 'chip'; CELOSIA_PRESET must be one of ")
    assert last.endswith(", not 'cor'; CELOSIA_DEVICES must be a number from 1 to 64, not 'many'")
