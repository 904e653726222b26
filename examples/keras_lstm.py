"""A recurrent network in Keras: an LSTM reads an image row by row.

JAX_PLATFORMS=celosia python examples/keras_lstm.py [--mnist DIR]
"""

import argparse
import os

os.environ["KERAS_BACKEND"] = "jax"

import digits
import keras

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--mnist", metavar="DIR", help="MNIST's four files; else scikit-learn's digits")
parser.add_argument("--epochs", type=int, default=8)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--limit", type=int, help="use this many images only")
args = parser.parse_args()

keras.utils.set_random_seed(0)
(x_train, y_train), (x_test, y_test) = digits.load(args.mnist)
x_train, y_train = x_train[:args.limit], y_train[:args.limit]
x_test, y_test = x_test[:args.limit], y_test[:args.limit]

model = keras.Sequential([
    keras.layers.Input(x_train.shape[1:]),  # rows are steps, the pixels of a row their features
    keras.layers.LSTM(64),
    keras.layers.Dense(10),
])
model.compile(
    optimizer=keras.optimizers.Adam(1e-2),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(x_train, y_train, batch_size=args.batch, epochs=args.epochs, verbose=2)
loss, accuracy = model.evaluate(x_test, y_test, batch_size=args.batch, verbose=0)
print(f"test loss {loss:.4f}, test accuracy {accuracy:.2%}")
