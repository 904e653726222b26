"""From training under TPUStrategy to `celosia serve`."""

import json

import numpy as np
import pytest

from e2e.tensorflow_files import START, run
from serving import Process

pytestmark = pytest.mark.extra(name="tensorflow")

TRAIN = """
import json
from sklearn.datasets import load_digits
digits = load_digits()
x, y = (digits.images / 16).astype("float32"), digits.target
tf.keras.utils.set_random_seed(1)
layers = tf.keras.layers
with strategy.scope():
    model = tf.keras.Sequential([
        layers.Input((8, 8), name="image"), layers.Flatten(), layers.Dense(32, 'relu'),
        layers.BatchNormalization(), layers.Dropout(0.2),
        layers.Dense(10, 'softmax', name="label")])
    model.compile('adam', 'sparse_categorical_crossentropy', metrics=['accuracy'])
model.fit(x[:512], y[:512], epochs=2, batch_size=128, verbose=0)
model.save(FOLDER + "/digits.keras")
model.export(FOLDER + "/digits/7", verbose=False)
tf.saved_model.save(model, FOLDER + "/digits/6")
predicted = model.predict(x[:11], batch_size=8, verbose=0)
print("predicted:", json.dumps({"images": x[:11].tolist(), "labels": predicted.tolist()}))
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with models, images, and what `predict` made of these on the chip."""
    folder = tmp_path_factory.mktemp("trained")
    text = run(folder, START + f"FOLDER = {str(folder)!r}\n" + TRAIN)
    line = next(line for line in text.splitlines() if line.startswith("predicted: "))
    found = json.loads(line.removeprefix("predicted: "))
    return folder, found["images"], np.array(found["labels"])


def ask(server, path, body=None):
    connection = server.connect(120)
    connection.request("POST" if body else "GET", path, body and json.dumps(body))
    response = connection.getresponse()
    answer = response.status, json.loads(response.read())
    connection.close()
    return answer


@pytest.mark.parametrize(("name", "version"), [("digits.keras", 1), ("digits", 7)])
def test_what_was_trained_here_is_served(trained, name, version):
    folder, images, labels = trained
    server = Process(folder / name, "--batch", "8")
    try:
        assert "gives label f32[8,10]" in server.said or name == "digits"
        for path in ("/v1/models/digits:predict", f"/v1/models/digits/versions/{version}:predict"):
            status, answer = ask(server, path, {"instances": images})
            assert status == 200, answer
            # The program is that of predict with the same rows in a run: equal, bit for bit.
            np.testing.assert_array_equal(answer["predictions"], labels)
        status, answer = ask(server, "/v1/models/digits:predict", {"inputs": images[:3]})
        assert (status, answer["outputs"]) == (200, labels[:3].tolist())
        status, answer = ask(server, "/v1/models/digits")
        assert answer["model_version_status"][0]["version"] == str(version)
        status, answer = ask(server, "/v1/models/digits/versions/6:predict", {"instances": images})
        assert status == 404
        assert answer["error"].endswith(f"the model must be digits, version {version}")
        assert server.end() == (0, "")
    finally:
        server.kill()


def test_what_cannot_be_served_is_said(tmp_path):
    text = run(tmp_path, f"""
import sys
import tensorflow as tf
from pathlib import Path
from celosia.serve import load_model
folder, layers = Path({str(tmp_path)!r}), tf.keras.layers
class Own(layers.Layer):
    def call(self, x):
        return x + 1
def sequential(*parts):
    return tf.keras.Sequential(parts)
sequential(layers.Input((4,)), Own()).save(folder / "own.keras")
sequential(layers.Input((None, 3)), layers.Dense(2)).save(folder / "dynamic.keras")
sequential(layers.Input((4,), batch_size=2), layers.Dense(2)).save(folder / "two.keras")
sequential(layers.Input((1,), dtype="string"), layers.StringLookup(vocabulary=["a"])).save(
    folder / "words.keras")
tf.saved_model.save(tf.Module(), str(folder / "bare"))
(folder / "torn.keras").write_bytes((folder / "own.keras").read_bytes()[:900])
(folder / "torn").mkdir()
(folder / "torn/saved_model.pb").write_bytes(b"no")
for name, batch in (("own.keras", 8), ("dynamic.keras", 8), ("two.keras", 8), ("words.keras", 8),
                    ("bare", 8), ("torn.keras", 8), ("torn", 8), ("own.keras", 0),
                    ("none.keras", 8)):
    try:
        load_model(folder / name, batch=batch)
    except (ValueError, OSError) as error:
        print(f"{{name}}|{{error}}".replace(str(folder) + "/", ""))
two = load_model(folder / "two.keras")
print("two|", two.batch, two.inputs[0].name)
""", module=None)
    told = [line.split("|", 1) for line in text.splitlines() if "|" in line]
    own = ("own.keras must be a model of layers that Keras has (one with others is served as "
           "model.export(DIR) writes it), not: Could not locate class 'Own'")
    bare = ("bare: signatures of a SavedModel must have serving_default, as model.export(DIR) "
            "writes it, not be none at all")
    wanted = (
        ("own.keras", own), ("dynamic.keras", "dynamic.keras: input "),
        ("two.keras", "two.keras: batch must be left out or 2, which input "),
        ("words.keras", "words.keras: input "), ("bare", bare),
        ("torn.keras", "torn.keras must be a zip file, as model.save writes it"),
        ("torn", "torn must be a SavedModel, not: "),
        ("own.keras", "batch must be at least 1, not 0"),
        ("none.keras", "[Errno 2] No such file"), ("two", " 2 "))
    assert [name for name, _ in told] == [name for name, _ in wanted], text
    for (name, said), (_, start) in zip(told, wanted, strict=True):
        assert said.startswith(start), (name, said)
    assert "must have a fixed shape but for its batch, not (None, None, 3)" in told[1][1]
    assert "must be of numbers, not strings" in told[3][1]
