"""Files of TensorFlow in the style of its articles, run with chips and without."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

from e2e.forks import run_forked

ROOT = Path(__file__).parents[2]

START = """
import os
import tensorflow as tf
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(
    tpu='grpc://' + os.environ['COLAB_TPU_ADDR'])
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
print("All devices: ", len(tf.config.list_logical_devices('TPU')))
strategy = tf.distribute.TPUStrategy(resolver)
"""
HOST = """
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(
    cpu, [tf.config.LogicalDeviceConfiguration()] * DEVICES)
strategy = tf.distribute.MirroredStrategy([f"/cpu:{i}" for i in range(DEVICES)])
"""
#: After either: a small model of digits, `train`, and `say` of what is found.
MAKE = """
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


def environment(devices):
    """Return what a program finds in its environment."""
    return {**os.environ, "CELOSIA_DEVICES": str(devices), "CELOSIA_STRICT": "1",
            "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}


def process(words, devices=1, module: str | None = "celosia.tensorflow", cwd=ROOT, **more):
    """Run a file with its arguments as a user does, and return how it ended; ``module`` None:
    without a chip.
    """
    start = [sys.executable, *(["-m", module] if module else [])]
    return subprocess.run([*start, *map(str, words)], env={**environment(devices), **more},
                          cwd=cwd, text=True, capture_output=True)


def run(tmp_path, text, devices=1, module: str | None = "celosia.tensorflow"):
    """Return what a file prints."""
    path = tmp_path / "train.py"
    path.write_text(text)
    done = run_forked([path], module, ROOT, environment(devices))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def losses(text):
    return np.array([float(each) for each in re.findall(r"- loss: ([\d.]+)", text)])


def found(text):
    """Return what lines like ``name: [1, 2]`` of the output say."""
    lines = (line.partition(": ") for line in text.splitlines()
             if re.match(r"(?!celosia)\w+: [\[{\d-]", line))
    return {name: json.loads(value) for name, _, value in lines}


def told_by_both(tmp_path, text, devices):
    """Return what a file says with chips and what it says without."""
    return [found(run(tmp_path, start.replace("DEVICES", str(devices)) + text, devices, module))
            for start, module in ((START, "celosia.tensorflow"), (HOST, None))]


def compare(chip, host, near=""):
    """Compare what was told: equal, but close where the name matches ``near``."""
    assert chip
    assert list(chip) == list(host)
    for name, value in chip.items():
        if re.fullmatch(near, name):
            np.testing.assert_allclose(value, host[name], rtol=0.02, atol=0.01, err_msg=name)
        else:
            assert value == host[name], name
