# ruff: noqa: E501  articles are quoted as they are
"""What articles about TPUs begin with, character by character, on one chip and on eight."""

import gzip
import os
import re
import struct
import subprocess
import sys

import numpy as np
import pytest

from e2e.forks import run_forked
from e2e.tensorflow_files import ROOT, environment, process

pytestmark = pytest.mark.extra(name="tensorflow")

BEGINNINGS = {
    "address": """
import tensorflow as tf
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu='grpc://10.0.0.2:8470')
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
""",
    "colab": """
import os
import tensorflow as tf
assert 'COLAB_TPU_ADDR' in os.environ, 'ERROR: Not connected to a TPU runtime'
print('Found TPU at: {}'.format('grpc://' + os.environ['COLAB_TPU_ADDR']))
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu='grpc://' + os.environ['COLAB_TPU_ADDR'])
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
print("All devices: ", tf.config.list_logical_devices('TPU'))
""",
    "empty": """
import tensorflow as tf
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu='')
tf.config.experimental_connect_to_cluster(resolver)
# This is the TPU initialization code that has to be at the beginning.
tf.tpu.experimental.initialize_tpu_system(resolver)
print("All devices: ", tf.config.list_logical_devices('TPU'))
""",
    "local": """
import tensorflow as tf
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu='local')
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.experimental.TPUStrategy(resolver)
""",
    "none": """
import tensorflow as tf
try:
    tpu = tf.distribute.cluster_resolver.TPUClusterResolver()
    print('Running on TPU ', tpu.master())
except ValueError:
    tpu = None
if tpu:
    tf.config.experimental_connect_to_cluster(tpu)
    tf.tpu.experimental.initialize_tpu_system(tpu)
    strategy = tf.distribute.experimental.TPUStrategy(tpu)
else:
    strategy = tf.distribute.get_strategy()
print("REPLICAS: ", strategy.num_replicas_in_sync)
""",
    "connect": """
import tensorflow as tf
resolver = tf.distribute.cluster_resolver.TPUClusterResolver.connect()
strategy = tf.distribute.TPUStrategy(resolver)
print("REPLICAS: ", strategy.num_replicas_in_sync)
""",
    "spelling": """
import os
import tensorflow as tf
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu='grpc://' + os.environ['COLAB_TPU_ADDR'])
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental_initialize_tpu_system(resolver)
tpu_strategy = tf.distribute.experimental.TPUStrategy(resolver)
""",
    "worker": """
import tensorflow as tf
from tensorflow.keras.mixed_precision import experimental as mixed_precision
policy = mixed_precision.Policy('mixed_float16')
mixed_precision.set_policy(policy)
print('Compute dtype: %s' % policy.compute_dtype)
print('Variable dtype: %s' % policy.variable_dtype)
import tensorflow.keras.mixed_precision.experimental as other
other.set_policy(tf.keras.mixed_precision.experimental.Policy('mixed_bfloat16'))
print(other.global_policy().name)
tf.keras.mixed_precision.set_global_policy('float32')
""",
}
#: The article's model lacks a Flatten.
MODEL = """
import tensorflow as tf
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu='grpc://10.0.0.2:8470')
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
"""
TRAINED = """
(x_train, y_train), (x_test, y_test) = tf.keras.datasets.mnist.load_data()
x_train, x_test = x_train / 255.0, x_test / 255.0

def create_model():
  return tf.keras.models.Sequential([FIRST
    tf.keras.layers.Dense(512, activation='relu'),
    tf.keras.layers.Dropout(0.2),
    tf.keras.layers.Dense(10)
  ])

with strategy.scope():
  model = create_model()
  model.compile(optimizer='adam',
                loss='sparse_categorical_crossentropy',
                metrics=['accuracy'])

model.fit(x_train, y_train, epochs=5, batch_size=1024)
"""
#: Nothing answers there.
ELSEWHERE = """
import os
import tensorflow as tf
os.environ['https_proxy'] = 'http://127.0.0.1:9'
tf.keras.datasets.mnist.load_data('other.npz')
"""
FLATTEN = "\n    tf.keras.layers.Flatten(input_shape=(28, 28)),"
HOST = """
import numpy as np
import tensorflow as tf
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(
    cpu, [tf.config.LogicalDeviceConfiguration()] * DEVICES)
strategy = tf.distribute.MirroredStrategy([f"/cpu:{i}" for i in range(DEVICES)])
ZEROS = [(np.zeros((64, 28, 28)), np.zeros(64, int))] * 2
"""
#: Runs files one after the other; says how each ended.
DRIVER = """
import runpy, sys
for path in sys.argv[1:]:
    print("==", path.rsplit("/", 1)[1])
    try:
        runpy.run_path(path, run_name="__main__")
        print("== well")
    except Exception as error:
        print("== raised", type(error).__name__, error)
"""
MIXED = """
import numpy as np
for name in ("mixed_float16", "mixed_bfloat16"):
    tf.keras.mixed_precision.experimental.set_policy(name)
    tf.keras.utils.set_random_seed(1)
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.Input((16,)), tf.keras.layers.Dense(8, activation='relu'),
                                     tf.keras.layers.Dropout(0.2), tf.keras.layers.Dense(10)])
        model.compile(tf.keras.optimizers.Adam(0.02), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(64, 16)).astype('float32'), rng.integers(0, 10, 64)
    losses = model.fit(x, y, epochs=3, batch_size=32, verbose=0).history["loss"]
    print(name, *losses, type(model.optimizer).__name__, model.predict(x[:8], verbose=0).dtype,
          model.layers[0].kernel.dtype)
    if name == "mixed_float16":
        scale, counter = model.optimizer.dynamic_scale, model.optimizer.step_counter
        assert (float(scale.numpy()), int(counter.numpy())) == (2.0 ** 15, 6), (scale, counter)
        before = model.layers[0].kernel.numpy()
        # One replica alone has what overflows: all leave the step out.
        x[0] = 70000
        x[1:] = 0
        model.train_on_batch(x[:32], y[:32])
        print("scale", float(scale.numpy()), int(counter.numpy()), (model.layers[0].kernel.numpy() == before).all())
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A small MNIST, put where Keras looks by the command for it."""
    folder = tmp_path_factory.mktemp("mnist")
    rng = np.random.default_rng(0)
    for name, count in (("train", 64), ("t10k", 16)):
        y = np.arange(count, dtype=np.uint8) % 10
        x = rng.integers(0, 30, (count, 28, 28), np.uint8)
        x[np.arange(count), 2 * y] = 255  # a line for each digit
        for kind, array in (("images-idx3", x), ("labels-idx1", y)):
            head = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
            (folder / f"{name}-{kind}-ubyte.gz").write_bytes(gzip.compress(head + array.tobytes()))
    home = tmp_path_factory.mktemp("home")
    subprocess.run([sys.executable, "-m", "celosia", "data", "mnist", str(folder)], check=True,
                   env={**os.environ, "KERAS_HOME": str(home)}, cwd=ROOT)
    return home


def run(folder, home, files, devices, *, chip=True):
    """Return what each of some files prints, by name."""
    (folder / "driver.py").write_text(DRIVER)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    words = [folder / "driver.py", *(folder / f"{name}.py" for name in files)]
    # Keras reads where its home is when it is imported.
    done = (process(words, devices, KERAS_HOME=str(home)) if chip
            else run_forked(words, None, ROOT, environment(devices)))
    assert done.returncode == 0, done.stdout + done.stderr
    parts = re.split(r"^== (\w+)\.py\n", done.stdout, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("devices", [1, 8])
def test_beginnings_and_the_articles_model(tmp_path, home, devices):
    files = {**BEGINNINGS, "refused": MODEL + TRAINED.replace("FIRST", ""),
             "flatten": MODEL + TRAINED.replace("FIRST", FLATTEN), "mixed": MODEL + MIXED,
             "elsewhere": ELSEWHERE}
    found = run(tmp_path, home, files, devices)
    raised = {name: text for name, text in found.items() if not text.endswith("== well\n")}
    assert list(raised) == ["refused", "elsewhere"], "".join(raised.values())
    assert re.search(r"== raised FileNotFoundError MNIST must be in .*other\.npz, which is not there, "
                     r".*: `celosia data mnist DIR` puts it there, from a folder with its four IDX "
                     r"files", raised["elsewhere"]), raised["elsewhere"]
    stand = "chip (core, model) stands" if devices == 1 else "chips (core, model) stand"
    said = f"celosia: {devices} simulated {stand} for TPU grpc://10.0.0.2:8470\n"
    assert found["address"].startswith(said)
    assert "".join(found.values()).count("celosia: ") == 1
    assert found["colab"].startswith("Found TPU at: grpc://localhost:8470\nAll devices:  [Logical")
    assert found["empty"].count("LogicalDevice(name='/device:TPU:") == devices
    assert f"REPLICAS:  {devices}\n" in found["none"]
    assert f"REPLICAS:  {devices}\n" in found["connect"]
    assert found["worker"] == ("Compute dtype: float16\nVariable dtype: float32\n"
                               "mixed_bfloat16\n== well\n")
    assert len(re.findall(r"loss: [\d.]+", found["flatten"])) >= 5

    host = HOST.replace("DEVICES", str(devices)) + TRAINED.replace("FIRST", "").replace(
        "tf.keras.datasets.mnist.load_data()", "ZEROS")
    wanted = run(tmp_path, home, {"refused": host}, 1, chip=False)
    # The labels of MNIST, u8, are cast before.
    [stocks] = re.findall(r"== raised ValueError Dimensions .* for '{{node Equal_1", wanted["refused"])
    assert stocks in found["refused"]

    half, wide = (re.search(rf"{name} (.*)", found["mixed"]).group(1).split()
                  for name in ("mixed_float16", "mixed_bfloat16"))
    assert half[3:] == ["LossScaleOptimizer", "float16", "float32"]
    assert wide[3:] == ["Adam", "bfloat16", "float32"]
    for losses in (half, wide):
        assert float(losses[2]) < float(losses[0])
    assert "scale 16384.0 0 True\n" in found["mixed"]
