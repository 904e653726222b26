"""Save a trained model and answer with it: Keras' file format, then orbax.

JAX_PLATFORMS=celosia python examples/reload.py
"""

import argparse
import os
import tempfile
from pathlib import Path

os.environ["KERAS_BACKEND"] = "jax"

import digits
import keras
import numpy as np
import orbax.checkpoint

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--mnist", metavar="DIR", help="MNIST's four files; else scikit-learn's digits")
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--limit", type=int, help="use this many images only")
parser.add_argument("--out", metavar="DIR", help="where to save; else a folder that is removed")
args = parser.parse_args()


def network():
    """Return a network with new weights."""
    return keras.Sequential([
        keras.layers.Input(x_train.shape[1:]),
        keras.layers.Flatten(),
        keras.layers.Dense(128, activation="relu"),
        keras.layers.Dense(10, activation="softmax"),
    ])


keras.utils.set_random_seed(0)
(x_train, y_train), (x_test, y_test) = digits.load(args.mnist)
x_train, y_train = x_train[:args.limit], y_train[:args.limit]
x_test, y_test = x_test[:args.limit], y_test[:args.limit]

model = network()
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(x_train, y_train, epochs=args.epochs, verbose=2)
answers = model.predict(x_test, verbose=0)
print(f"trained: test accuracy {(answers.argmax(1) == y_test).mean():.2%}")

with tempfile.TemporaryDirectory() as temporary:
    folder = Path(args.out or temporary).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    model.save(folder / "model.keras")
    weights = [variable.value for variable in model.weights]
    with orbax.checkpoint.StandardCheckpointer() as checkpointer:
        checkpointer.save(folder / "weights", weights, force=True)

    loaded = keras.saving.load_model(folder / "model.keras")
    same = np.array_equal(loaded.predict(x_test, verbose=0), answers)
    print("model.keras: " + ("the same answers" if same else "other answers"))

    with orbax.checkpoint.StandardCheckpointer() as checkpointer:
        restored = checkpointer.restore(folder / "weights", weights)
    loaded = network()
    loaded.set_weights(restored)
    same = np.array_equal(loaded.predict(x_test, verbose=0), answers)
    print("orbax: " + ("the same answers" if same else "other answers"))
