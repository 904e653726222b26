"""Quantisation in Keras: a network is trained in float32 and answers in int8.

JAX_PLATFORMS=celosia python examples/keras_int8.py [--mnist DIR]
"""

import argparse
import os

os.environ["KERAS_BACKEND"] = "jax"

import digits
import keras

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--mnist", metavar="DIR", help="MNIST's four files; else scikit-learn's digits")
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--limit", type=int, help="use this many images only")
args = parser.parse_args()

keras.utils.set_random_seed(0)
(x_train, y_train), (x_test, y_test) = digits.load(args.mnist)
x_train, y_train = x_train[:args.limit], y_train[:args.limit]
x_test, y_test = x_test[:args.limit], y_test[:args.limit]

model = keras.Sequential([
    keras.layers.Input(x_train.shape[1:]),
    keras.layers.Flatten(),
    keras.layers.Dense(256, activation="relu"),
    keras.layers.Dense(256, activation="relu"),
    keras.layers.Dense(10, activation="softmax"),
])
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x_train, y_train, batch_size=args.batch, epochs=args.epochs, verbose=2)


def accuracy():
    """Return the share of the test images that are read right."""
    return (model.predict(x_test, batch_size=args.batch, verbose=0).argmax(1) == y_test).mean()


print(f"float32: test accuracy {accuracy():.2%}")
model.quantize("int8")
print(f"int8: test accuracy {accuracy():.2%}")
